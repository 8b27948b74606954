"""The tables of a scenario, one module each."""

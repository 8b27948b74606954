"""Search over a space of parameters: optimum and sensitivity."""

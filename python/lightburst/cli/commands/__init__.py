"""Commands that run, study or show something, one module each."""

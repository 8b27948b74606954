"""Modules that all other layers use: units, errors, formatting, memory, files."""

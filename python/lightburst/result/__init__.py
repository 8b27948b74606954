"""Result of a run: summary, tables, metrics and files."""

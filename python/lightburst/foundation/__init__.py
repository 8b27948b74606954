"""What everything else stands on: units, errors, formatting, memory, files."""

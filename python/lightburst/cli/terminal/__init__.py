"""Terminal of a command: options, tables, streams, and the end by an error or a signal."""

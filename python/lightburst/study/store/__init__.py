"""Store of finished runs: an SQLite index, and files of tables."""

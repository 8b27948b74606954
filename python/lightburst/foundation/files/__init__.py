"""Directories of results, Parquet files, tables by name and checksums."""

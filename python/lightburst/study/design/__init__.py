"""Points of a study: the words of its file, axes, variants and samples."""

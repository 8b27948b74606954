"""Sphinx extensions of the documentation site: ``make docs``."""

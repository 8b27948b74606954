"""What the site of documentation needs beyond Sphinx: ``make docs``."""

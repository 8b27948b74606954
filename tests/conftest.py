"""What comes before all tests."""

import checked_core  # noqa: F401 - before the package

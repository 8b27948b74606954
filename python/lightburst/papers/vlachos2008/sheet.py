"""The claims of the slides as data."""

from typing import Final

from lightburst.papers.sheet import Sheet

SHEET: Final = Sheet.of(__package__)

"""Tables for terminals of any width: nothing is cut off, and text is never taken for markup."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from rich.console import Console
from rich.measure import Measurement
from rich.text import Text

if TYPE_CHECKING:
    from rich.table import Table

_WIDER_THAN_ANY: Final = 100_000


def console(width: int | None = None) -> Console:
    """Make a console as wide as the terminal or `width`, with markup disabled."""
    return Console(width=width, markup=False, emoji=False, highlight=False)


def show_table(table: Table, title: str = "") -> None:
    """Print a table as wide as the terminal, or wider if its longest words need it.

    In the latter case the terminal wraps the lines.

    Parameters
    ----------
    table : rich.table.Table
        Table; columns that are not ``no_wrap`` may be wrapped between words.
    title : str
        Title above the table.
    """
    for column in table.columns:
        cells = [str(cell) for cell in (column.header, *column.cells)]
        parts = (cell.splitlines() if column.no_wrap else cell.split() for cell in cells)
        column.min_width = max((cell_len(part) for words in parts for part in words), default=0)
    screen, wide = console(), console(_WIDER_THAN_ANY)
    if title:
        screen.print(Text(title, style="italic"), soft_wrap=True)
    # By default rich drops or truncates columns that do not fit.
    needed = Measurement.get(wide, wide.options, table).minimum
    console(max(screen.width, needed)).print(table, crop=False)

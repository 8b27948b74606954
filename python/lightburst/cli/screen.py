"""Tables on a terminal, narrow ones too: nothing vanishes, and no name is markup."""

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
    """Make a console as wide as the terminal, or as `width`, that takes no text for markup."""
    return Console(width=width, markup=False, emoji=False, highlight=False)


def show_table(table: Table, title: str = "") -> None:
    """Print a table as wide as the terminal, or as its longest words need.

    A terminal that is narrower than those words breaks the lines.

    Parameters
    ----------
    table : rich.table.Table
        Its columns may break between words where they are not ``no_wrap``.
    title : str
        Above it.
    """
    for column in table.columns:
        cells = [str(cell) for cell in (column.header, *column.cells)]
        parts = (cell.splitlines() if column.no_wrap else cell.split() for cell in cells)
        column.min_width = max((cell_len(part) for words in parts for part in words), default=0)
    screen, wide = console(), console(_WIDER_THAN_ANY)
    if title:
        screen.print(Text(title, style="italic"), soft_wrap=True)
    # Left to itself, rich lets columns vanish, or cuts them.
    needed = Measurement.get(wide, wide.options, table).minimum
    console(max(screen.width, needed)).print(table, crop=False)

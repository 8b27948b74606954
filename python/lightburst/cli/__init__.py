"""The command line. Only `main` is imported here: it must start at once."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Words after the name of the program; those of this process by default.

    Returns
    -------
    int
        0 when done, 2 for bad input, 130 when interrupted.
    """
    try:
        from lightburst.cli.app import app

        app(args=list(sys.argv[1:] if arguments is None else arguments), prog_name="lightburst")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:  # while the program itself was still being read
        print("lightburst: interrupted", file=sys.stderr)
        return 130
    return 0

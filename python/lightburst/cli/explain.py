"""``lightburst explain``: why a flow took as long as it did."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lightburst.cli.aside import run_aside
from lightburst.cli.options import choice, whole
from lightburst.cli.run import changed
from lightburst.cli.streams import warn
from lightburst.compile import check_seed
from lightburst.errors import InputError
from lightburst.report.explanation import WORST, explain
from lightburst.scenario import load

if TYPE_CHECKING:
    from collections.abc import Sequence


def explain_flow(path: str, settings: Sequence[str], flow: str, seed: str, format: str) -> None:
    """Run a scenario, follow one flow, and print where its time went.

    Parameters
    ----------
    path : str
        The scenario file.
    settings : sequence of str
        Changes, ``path=value`` each.
    flow, seed : str
        Number of the flow, or ``"worst"``, and seed of the run, as given.
    format : str
        ``"table"`` or ``"json"``.

    Raises
    ------
    InputError
        If anything of this cannot be used.
    """
    choice("--format", format, ("table", "json"))
    number = WORST if flow == WORST else whole("--flow", flow, 0, WORST)
    first = whole("--seed", seed, 0)
    check_seed(first, "--seed")
    try:
        found = explain(changed(load(path), settings), number, first, simulate=run_aside)
    except InputError as error:
        if error.path != "flow":
            raise
        raise InputError("--flow", error.given, error.allowed) from None
    if format == "json":
        print(json.dumps(found.as_dict(), indent=2, allow_nan=False))
    else:
        print(found)
        print(f"\ndigest {found.result.digest}")
    warn(found.result.warnings)

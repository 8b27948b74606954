"""``lightburst trace --network``: bursts on the links of a network, and causes of losses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from lightburst.cli.commands.run import changed
from lightburst.cli.terminal.aside import run_aside
from lightburst.cli.terminal.options import choice, seed_of
from lightburst.cli.terminal.streams import say, warn
from lightburst.experiment.network_trace import follow
from lightburst.foundation.errors import InputError
from lightburst.foundation.files.directory import check
from lightburst.scenario import load

if TYPE_CHECKING:
    from collections.abc import Sequence

# Options by the scenario fields that they set.
_OPTIONS: Final = {
    "measurement.network.links": "--links",
    "measurement.network.begin": "--from",
    "measurement.network.end": "--to",
    "measurement.network": "--network",
}


def trace_links(
    path: str,
    settings: Sequence[str],
    links: str | None,
    begin: str | None,
    end: str | None,
    seed: str,
    format: str,
    out: str | None,
) -> None:
    """Simulate a scenario, list the bursts lost on links, and write their trace.

    Parameters
    ----------
    path : str
        Path of the scenario file.
    settings : sequence of str
        Changes, ``path=value`` each.
    links, begin, end : str or None
        Links (``SOURCE:TARGET``, separated by commas), begin and end of the trace, as given on the
        command line.
    seed : str
        Seed of the run, as given on the command line.
    format : str
        ``"table"`` or ``"json"``.
    out : str or None
        Directory for tables, figures and the page.

    Raises
    ------
    InputError
        If an argument is invalid; nothing has been written then.
    """
    choice("--format", format, ("table", "json"))
    first = seed_of(seed)
    scenario = changed(load(path), settings)
    if out is not None:
        check(out)
    names = None if links is None else [name.strip() for name in links.split(",")]
    try:
        found = follow(
            scenario, first, {"links": names, "begin": begin, "end": end}, simulate=run_aside
        )
        directory = None if out is None else found.save(out)
    except InputError as error:
        raise _by_option(error) from None
    if format == "json":
        files = None if directory is None else [str(file) for file in sorted(directory.iterdir())]
        print(json.dumps({**found.as_dict(), "files": files}, indent=2, allow_nan=False))
    else:
        print(found)
        print(f"\ndigest {found.result.digest}")
        say(*(() if directory is None else sorted(directory.iterdir())))
    warn(found.result.warnings)


def _by_option(error: InputError) -> InputError:
    """Replace an invalid field by the option that sets it."""
    field = error.path.partition("[")[0]
    return InputError(_OPTIONS.get(field, error.path), error.given, error.allowed)

"""A saved result as what it was made from, so that it can be run again and looked into."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final, NamedTuple

from lightburst.errors import InputError
from lightburst.report.files import NETWORK, RUN, TRACE
from lightburst.scenario import Scenario
from lightburst.sums import verify

_WRITTEN: Final = "a scenario file, or a directory written by 'run --out' or 'trace --out'"


class Saved(NamedTuple):
    """What a saved result was made from.

    Attributes
    ----------
    scenario : Scenario
        What was run.
    seed : int
        Of the run.
    digest : str
        Of its columns.
    """

    scenario: Scenario
    seed: int
    digest: str


def load_saved(directory: str | Path) -> Saved:
    """Read from a saved result what it was made from.

    Parameters
    ----------
    directory : str or Path
        What ``lightburst run --out`` or ``trace --out`` wrote.

    Returns
    -------
    Saved

    Raises
    ------
    InputError
        If it holds nothing of that kind, or a file of it is damaged.
    """
    source = Path(directory)
    found = next((name for name in (RUN, NETWORK, TRACE) if (source / name).is_file()), None)
    if found is None:
        raise InputError("SCENARIO", str(source), _WRITTEN)
    verify(source, [found])
    try:
        made = json.loads((source / found).read_text(encoding="utf-8"))["provenance"]
        scenario, seed, digest = made["scenario"], int(made["seed"]), str(made["digest"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        what = f"{source / found} ({type(error).__name__}: {error})"
        raise InputError("SCENARIO", what, "the file as it was written") from error
    return Saved(Scenario.from_dict(scenario), seed, digest)


def check_same(saved: Saved, digest: str) -> None:
    """Refuse to tell of a saved result what happened in another run.

    Parameters
    ----------
    saved : Saved
        The result.
    digest : str
        That of the run now.

    Raises
    ------
    InputError
        If this version gives other results.
    """
    if saved.digest != digest:
        given = f"a result with the digest {saved.digest[:12]}..., which now has {digest[:12]}..."
        allowed = "a result of this version, with the files that the scenario names as they were"
        raise InputError("SCENARIO", given, allowed)

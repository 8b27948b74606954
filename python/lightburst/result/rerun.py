"""Scenario and seed of a saved result, to repeat its run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final, NamedTuple

from lightburst.foundation.errors import InputError
from lightburst.foundation.files.checksums import verify
from lightburst.result.files import NETWORK, RUN, TRACE
from lightburst.scenario import Scenario

_WRITTEN: Final = "a scenario file, or a directory written by 'run --out' or 'trace --out'"


class Saved(NamedTuple):
    """Origin of a saved result.

    Attributes
    ----------
    scenario : Scenario
        Scenario of the run.
    seed : int
        Seed of the run.
    digest : str
        Digest of its columns.
    """

    scenario: Scenario
    seed: int
    digest: str


def load_saved(directory: str | Path) -> Saved:
    """Read scenario, seed and digest from a saved result.

    Parameters
    ----------
    directory : str or Path
        Directory written by ``lightburst run --out`` or ``trace --out``.

    Returns
    -------
    Saved

    Raises
    ------
    InputError
        If the directory contains no such result, or a file is damaged.
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
    """Refuse to combine a saved result with a run that differs from it.

    Parameters
    ----------
    saved : Saved
        Saved result.
    digest : str
        Digest of the new run.

    Raises
    ------
    InputError
        If the digests differ.
    """
    if saved.digest != digest:
        given = f"a result with the digest {saved.digest[:12]}..., which now has {digest[:12]}..."
        allowed = "a result of this version, with the files that the scenario names as they were"
        raise InputError("SCENARIO", given, allowed)

"""Where a result comes from: enough to get the same bits again."""

import platform
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

# Changes whenever the same scenario and seed may give other columns or other summary figures, so
# that no study takes up stored runs of another model. It need not change with the version.
MODEL_VERSION: Final = 9


@dataclass(frozen=True, slots=True)
class Provenance:
    """What was run, by what, and the digests of what went in and what came out.

    Attributes
    ----------
    version : str
        Version of lightburst.
    model_version : int
        Changes when the model does; equal plans then give equal results.
    commit : str or None
        Commit of the source tree, with ``-dirty`` if it had changes; None for an installed wheel.
    python, numpy, machine : str
        Versions, and the kind of machine.
    created : str
        When the run ended, ISO 8601, UTC.
    scenario : mapping
        The whole scenario, with defaults and what follows from other fields.
    seed : int
        Seed of all random streams.
    plan_digest : str
        SHA-256 of the plan: settings, links and the flows that were drawn.
    digest : str
        SHA-256 of the columns of the result.
    """

    version: str
    model_version: int
    commit: str | None
    python: str
    numpy: str
    machine: str
    created: str
    scenario: Mapping[str, Any]
    seed: int
    plan_digest: str
    digest: str

    def as_dict(self) -> dict[str, Any]:
        """Give the fields as a dictionary that JSON can hold."""
        return asdict(self)


def trace(
    scenario: Mapping[str, Any], seed: int, plan_digest: str, digest: str, created: datetime
) -> Provenance:
    """Provenance of a run on this machine.

    Parameters
    ----------
    scenario : mapping
        The scenario as nested dictionaries of JSON values.
    seed : int
        Seed of the run.
    plan_digest, digest : str
        Digests of plan and result.
    created : datetime
        When the run ended.

    Returns
    -------
    Provenance
        Complete record.
    """
    from importlib.metadata import version

    return Provenance(
        version=version("lightburst"),
        model_version=MODEL_VERSION,
        commit=source_commit(),
        python=platform.python_version(),
        numpy=np.__version__,
        machine=f"{platform.system()} {platform.machine()}",
        created=created.astimezone(UTC).isoformat(timespec="seconds"),
        scenario=scenario,
        seed=seed,
        plan_digest=plan_digest,
        digest=digest,
    )


def of_study(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """Say where the outcome of many runs comes from.

    Parameters
    ----------
    scenario : mapping
        What they have in common, as nested dictionaries of JSON values.

    Returns
    -------
    dict of str to object
        As the fields of `Provenance`, but for seed and digests.
    """
    found = trace(scenario, 0, "", "", datetime.now(UTC)).as_dict()
    return {key: x for key, x in found.items() if key not in ("seed", "plan_digest", "digest")}


@cache
def source_commit() -> str | None:
    """Commit of the source tree that this package is run from.

    Returns
    -------
    str or None
        Hash, followed by ``-dirty`` when tracked files differ from it; None when the package is not
        run from its own git work tree.
    """
    root = Path(__file__).resolve().parents[2]
    # A wheel inside somebody else's repository must not report their commit.
    if not (root / "crates").is_dir() or not (root / ".git").exists():
        return None
    command = ["git", "-C", str(root), "describe", "--always", "--abbrev=40", "--dirty"]
    command += ["--exclude=*"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip()

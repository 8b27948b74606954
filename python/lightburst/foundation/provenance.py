"""Provenance of a result: all that is needed to reproduce it to the bit."""

import platform
import subprocess
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

# Increased whenever the same scenario and seed may give other columns or other metrics, so that no
# study reuses stored runs of another model. It need not change with the version.
MODEL_VERSION: Final = 15


@dataclass(frozen=True, slots=True)
class Provenance:
    """Scenario, seed, software versions, and the digests of plan and result.

    Attributes
    ----------
    version : str
        Version of lightburst.
    model_version : int
        Version of the model; with the same one, equal plans give equal results.
    commit : str or None
        Commit of the source tree, with ``-dirty`` if it had changes; None for an installed wheel.
    python, numpy, machine : str
        Versions of Python and NumPy, and the kind of machine.
    created : str
        End of the run, ISO 8601, UTC.
    scenario : mapping
        The whole scenario, with defaults and derived fields.
    seed : int
        Seed of all random streams.
    plan_digest : str
        SHA-256 of the plan: settings, links and flows.
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
        """Return the fields as a dictionary of JSON values."""
        return asdict(self)


def trace(
    scenario: Mapping[str, Any], seed: int, plan_digest: str, digest: str, created: datetime
) -> Provenance:
    """Return the provenance of a run on this machine.

    Parameters
    ----------
    scenario : mapping
        The scenario as nested dictionaries of JSON values.
    seed : int
        Seed of the run.
    plan_digest, digest : str
        Digests of plan and result.
    created : datetime
        End of the run.

    Returns
    -------
    Provenance
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
    """Return the provenance of the result of many runs.

    Parameters
    ----------
    scenario : mapping
        The common scenario of the runs, as nested dictionaries of JSON values.

    Returns
    -------
    dict of str to object
        The fields of `Provenance` except seed and digests.
    """
    found = trace(scenario, 0, "", "", datetime.now(UTC)).as_dict()
    return {key: x for key, x in found.items() if key not in ("seed", "plan_digest", "digest")}


@cache
def source_commit() -> str | None:
    """Return the commit of the source tree of this package.

    Returns
    -------
    str or None
        Hash, followed by ``-dirty`` if tracked files differ from the commit; None if the package
        does not run from its own git work tree.
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

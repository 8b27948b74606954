"""What a batch does first where it arrives: there may be another lightburst, or none.

The text of this module travels with each batch (`CALL`), and nothing else of ours that a worker
must know to read it. A worker of Dask that gets a task whose modules it cannot import closes, and
the task counts as what killed it. Text is also read by another Python than the driver's.
"""

from __future__ import annotations

from typing import Any, Final

#: What evaluates the text, and calls `computed` in it, on any worker.
CALL: Final = "exec(text, names := {}) or names['computed'](driver, batch)"


def computed(driver: dict[str, Any], batch: bytes) -> Any:
    """Compute a batch, if lightburst here is the driver's.

    Parameters
    ----------
    driver : dict of str to object
        The fields of the driver's `lightburst.study.workers.identity.Identity`.
    batch : bytes
        A pickled `lightburst.study.workers.remote.Batch`.

    Returns
    -------
    list of Answer, or (str, dict)
        What came of the runs; or the address of this worker, and the fields of its own identity.
    """
    import pickle

    from distributed import get_worker

    try:
        from lightburst.study.workers.identity import Identity, mine

        same = Identity(**driver).fits(mine())
    except Exception:  # whatever another lightburst has under these names
        same = False
    if not same:
        return str(get_worker().address), fields()
    from lightburst.study.workers.remote import compute

    return compute(pickle.loads(batch))


def fields() -> dict[str, Any]:
    """Find out which lightburst this process has: the fields of an `Identity`, or none."""
    import hashlib
    import platform
    from importlib.metadata import version
    from importlib.util import find_spec
    from pathlib import Path

    try:
        from lightburst.provenance import MODEL_VERSION

        package: Any = find_spec("lightburst")
        core = find_spec("lightburst._core")
        digest, folder = hashlib.sha256(), Path(package.origin).parent
        files = [*folder.rglob("*.py"), *([Path(core.origin)] if core and core.origin else [])]
        for file in sorted(files, key=lambda file: file.relative_to(folder).as_posix()):
            digest.update(file.read_bytes())
        return {
            "version": version("lightburst"),
            "model": MODEL_VERSION,
            "build": digest.hexdigest()[:12],
            "numpy": version("numpy"),
            "machine": f"{platform.system()} {platform.machine()}",
        }
    except Exception:  # none, or half of one
        return {}

"""Code that travels with a batch to a Dask worker, to check which lightburst is there.

The source text of this module is sent with each batch and evaluated by `CALL`, because the worker
may have another version of lightburst, or none. A Dask worker that receives a task whose modules it
cannot import closes, and the task is counted as having killed it. Source text also works if the
worker runs another version of Python.
"""

from __future__ import annotations

from typing import Any, Final

#: Expression that evaluates the source text and calls its `computed`, on any worker.
CALL: Final = "exec(text, names := {}) or names['computed'](driver, batch)"


def computed(driver: dict[str, Any], batch: bytes) -> Any:
    """Compute a batch, if this worker's lightburst is the same as the driver's.

    Parameters
    ----------
    driver : dict of str to object
        The fields of the driver's `lightburst.study.workers.identity.Identity`.
    batch : bytes
        A pickled `lightburst.study.workers.remote.Batch`.

    Returns
    -------
    list of Answer, or (str, dict)
        Results of the runs; or the address of this worker and the fields of its own identity, if
        lightburst differs.
    """
    import pickle

    from distributed import get_worker

    try:
        from lightburst.study.workers.identity import Identity, mine

        same = Identity(**driver).fits(mine())
    except Exception:  # another lightburst may raise anything
        same = False
    if not same:
        return str(get_worker().address), fields()
    from lightburst.study.workers.remote import compute

    return compute(pickle.loads(batch))


def fields() -> dict[str, Any]:
    """Return the fields of an `Identity` for this process; empty without lightburst."""
    import hashlib
    import platform
    from importlib.metadata import version
    from importlib.util import find_spec
    from pathlib import Path

    try:
        from lightburst.foundation.provenance import MODEL_VERSION

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
    except Exception:  # missing or incomplete installation
        return {}

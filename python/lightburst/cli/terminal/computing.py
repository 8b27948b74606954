"""Options that select the workers of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightburst.cli.terminal.options import only_with, whole
from lightburst.foundation.errors import InputError
from lightburst.study.workers.jobs import in_jobs, read_settings
from lightburst.study.workers.where import require, workers_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from lightburst.study.workers.interface import Workers


def computing(
    workers: str | None,
    dask: str | None,
    slurm: bool,
    pbs: bool,
    jobs: str | None,
    job: Sequence[str],
) -> AbstractContextManager[Workers]:
    """Set up the workers of a study.

    Parameters
    ----------
    workers, dask, jobs : str or None
        Number of threads, address of a cluster, number of jobs, as given on the command line.
    slurm, pbs : bool
        Whether to submit jobs to Slurm or to PBS.
    job : sequence of str
        Settings of a job, ``KEY=VALUE`` each.

    Returns
    -------
    context manager
        Provides the workers and closes them at its end.

    Raises
    ------
    InputError
        If options contradict each other, or one is invalid.
    """
    asked = {"--workers": workers is not None, "--dask": dask is not None}
    asked |= {"--slurm": slurm, "--pbs": pbs}
    given = [name for name, wanted in asked.items() if wanted]
    if len(given) > 1:
        raise InputError(given[1], f"beside {given[0]}", f"one of {', '.join(asked)}")
    if not slurm and not pbs:
        one = {"--jobs": jobs, "--job": job[0] if job else None}
        only_with("jobs", "with --slurm or --pbs", one)
        if dask is not None:
            return workers_of(dask, "--dask")
        return workers_of(None if workers is None else whole("--workers", workers, 1))
    system, path = given[0].removeprefix("--"), given[0]
    number = whole("--jobs", jobs or "1", 1)
    require("dask_jobqueue", path, "where dask-jobqueue is not installed")
    return in_jobs(system, number, read_settings(system, job, "--job"), path)

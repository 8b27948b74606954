"""Workers in the jobs of a batch system (Slurm or PBS), by dask-jobqueue.

The Dask scheduler runs in this process, on the machine that submits the jobs. The jobs connect to
it with keys for this study only. Settings come from Dask's configuration (``jobqueue.slurm``),
overridden by those of the user.

References
----------
.. [1] dask-jobqueue documentation, "Configuration" and "API" (`SLURMCluster`, `PBSCluster`).
"""

from __future__ import annotations

import inspect
import logging
import re
import shutil
import signal
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from lightburst.foundation.ending import orderly
from lightburst.foundation.errors import InputError, did_you_mean, show
from lightburst.study.workers.keys import keys_in, of_dask
from lightburst.study.workers.where import connected, require

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from distributed import Scheduler, Security

    from lightburst.study.workers.interface import Workers

#: Command that submits a job, by batch system.
SUBMIT: Final = {"slurm": "sbatch", "pbs": "qsub"}
# Settings of dask-jobqueue that are numbers, and those that are lists; the others are text.
_NUMBERS: Final = ("cores", "processes", "job_cpu", "death_timeout")
_LISTS: Final = (
    "job_directives_skip",
    "job_extra_directives",
    "job_script_prologue",
    "worker_extra_args",
)
# Parameters of dask-jobqueue that do not describe a job, or have been renamed.
_OTHER: Final = frozenset(
    (
        "base_class_kwargs",
        "config_name",
        "env_extra",
        "extra",
        "header_skip",
        "job_extra",
        "name",
        "nanny",
        "project",
        "scheduler",
        "self",
    )
)
_NEEDED: Final = ("cores", "memory")
# Values of ``security``, by the clients that may connect: those with the keys of this study, those
# with the keys of Dask's configuration, or all.
_SECURITY: Final = ("run", "dask", "none")
# A folder visible to the jobs, for the keys; in dask-jobqueue a setting of clusters, not of jobs.
_SHARED: Final = "shared_temp_directory"
# Worker dashboards are local only. Arguments of the user come after these and override them.
_NO_PAGES: Final = ("--no-dashboard", "--dashboard-address", "127.0.0.1:0")
_WHOLE: Final = re.compile("[0-9]{1,9}")


def read_settings(system: str, settings: Sequence[str], path: str) -> dict[str, Any]:
    """Read the settings of a job.

    Parameters
    ----------
    system : str
        ``"slurm"`` or ``"pbs"``.
    settings : sequence of str
        ``KEY=VALUE`` each, with the keys of dask-jobqueue; keys of lists may be repeated.
    path : str
        Origin of the settings, for messages.

    Returns
    -------
    dict of str to object
        Settings as arguments of dask-jobqueue.

    Raises
    ------
    InputError
        If a key is unknown, or a value is not a number where one is required.
    """
    known = _known(system)
    found: dict[str, Any] = {}
    for setting in settings:
        key, equals, text = (part.strip() for part in setting.partition("="))
        key = key.replace("-", "_")
        if key == "security" and text not in _SECURITY:
            raise InputError(path, show(setting), f"security={'|'.join(_SECURITY)}")
        if not equals or key not in known:
            allowed = f"KEY=VALUE with KEY one of {', '.join(known)}{did_you_mean(key, known)}"
            raise InputError(path, show(setting), allowed)
        if key in _LISTS:
            found.setdefault(key, []).append(text)
        elif key not in _NUMBERS:
            found[key] = text
        elif _WHOLE.fullmatch(text) and int(text) > 0:
            found[key] = int(text)
        else:
            raise InputError(path, show(setting), f"{key}=N with a whole number from 1")
    return found


def _known(system: str) -> list[str]:
    kind = _kind(system).job_cls
    from dask_jobqueue.core import Job

    names = [*inspect.signature(kind.__init__).parameters, *inspect.signature(Job).parameters]
    return sorted({*names, _SHARED} - _OTHER)


def _kind(system: str) -> Any:
    # Importing it replaces the handler of Ctrl-C by one that exits the process with code 0.
    hears = signal.getsignal(signal.SIGINT)
    import dask_jobqueue

    if signal.getsignal(signal.SIGINT) is not hears:
        signal.signal(signal.SIGINT, hears)
    return getattr(dask_jobqueue, f"{system.upper()}Cluster")


@contextmanager
def cluster_of(system: str, settings: Mapping[str, Any], path: str) -> Iterator[Any]:
    """Create a cluster without jobs, and close it at the end of the context.

    Parameters
    ----------
    system : str
        ``"slurm"`` or ``"pbs"``.
    settings : mapping of str to object
        Settings from `read_settings`.
    path : str
        Origin of the request, for messages.

    Yields
    ------
    JobQueueCluster
        Cluster with a running scheduler; ``job_script()`` returns the script to be submitted.

    Raises
    ------
    InputError
        If a setting is missing or invalid.
    """
    from dask import config

    _check(system, settings, path)
    kind = _kind(system)
    given = dict(settings)
    extra = given.pop("worker_extra_args", config.get(f"jobqueue.{system}.worker-extra-args"))
    with (
        _secured(system, given, path) as security,
        # Dask creates a folder for each scheduler and does not remove it.
        TemporaryDirectory(prefix="lightburst-") as scratch,
        config.set({"temporary-directory": scratch}),
    ):
        try:
            cluster = kind(
                scheduler_cls=_without_pages(),
                silence_logs=logging.CRITICAL,
                security=security,
                worker_extra_args=[*_NO_PAGES, *extra],
                # Replaces the options of the configuration, which could disable the keys.
                scheduler_options={"dashboard": False},
                **given,
            )
        except (OSError, RuntimeError, TypeError, ValueError) as error:
            raise _no_job(system, " ".join(str(error).split()), path) from error
        with _closed(cluster), orderly():
            yield cluster


@contextmanager
def _secured(system: str, given: dict[str, Any], path: str) -> Iterator[Security | None]:
    """Yield the keys of a cluster, after removing the related settings from `given`."""
    from dask import config

    who, protocol = given.pop("security", "run"), given.get("protocol")
    shared = given.pop(_SHARED, config.get(f"jobqueue.{system}.shared-temp-directory", None))
    if who == "none":
        yield None
        return
    if protocol is not None and protocol.removesuffix("://") != "tls":
        allowed = "tls://, or security=none where nobody else can reach the cluster"
        raise InputError(path, f"protocol={show(protocol)} beside security={who}", allowed)
    if who == "dask":
        yield of_dask(path, "security=dask")
        return
    require("cryptography", path, "where cryptography is not installed")
    with keys_in(Path(shared or "."), f"{path}: {_SHARED}") as security:
        yield security


def _without_pages() -> type[Scheduler]:
    """Return a scheduler class without a dashboard, on which anybody could view the work."""
    from distributed import Scheduler

    def listen_nowhere(self: Scheduler, *what: Any, **how: Any) -> None:
        pass

    return type("Scheduler", (Scheduler,), {"start_http_server": listen_nowhere})


def _check(system: str, settings: Mapping[str, Any], path: str) -> None:
    """Refuse a job without cores or memory, with an error message of lightburst."""
    import dask
    from dask.utils import parse_bytes

    asked = {key: dask.config.get(f"jobqueue.{system}.{key}", None) for key in _NEEDED}
    asked |= {key: settings[key] for key in _NEEDED if key in settings}
    for key, value in asked.items():
        if value is None:
            raise _no_job(system, f"{key} is missing", path)
    try:
        parse_bytes(asked["memory"])
    except ValueError:
        raise _no_job(system, f"memory is {show(asked['memory'])}", path) from None


def _no_job(system: str, words: str, path: str) -> InputError:
    allowed = (
        "cores and memory of a job, and what else the batch system asks for, as --job cores=16 "
        f"--job 'memory=64 GB' --job queue=short, or under jobqueue.{system} in "
        "~/.config/dask/jobqueue.yaml"
    )
    return InputError(path, f"settings that do not make a job ({words})", allowed)


@contextmanager
def in_jobs(system: str, number: int, settings: Mapping[str, Any], path: str) -> Iterator[Workers]:
    """Submit jobs for a study, and cancel the remaining ones at the end of the context.

    Parameters
    ----------
    system : str
        ``"slurm"`` or ``"pbs"``.
    number : int
        Number of jobs.
    settings : mapping of str to object
        Settings from `read_settings`.
    path : str
        Origin of the request, for messages.

    Raises
    ------
    InputError
        If the batch system is not available or refuses a job, or a setting is invalid.
    """
    require("dask_jobqueue", path, system)
    command = SUBMIT[system]
    if shutil.which(command) is None:
        given = f"a machine without '{command}'"
        raise InputError(path, given, "one that jobs are submitted from, such as the login node")
    with cluster_of(system, settings, path) as cluster:
        try:
            # Instead of cluster.scale(jobs=number), which would only log that a job is refused.
            for _ in range(number):
                cluster.worker_spec.update(cluster.new_worker_spec())
            cluster.sync(cluster._correct_state)
        except RuntimeError as error:
            words = " ".join(str(error).split())
            allowed = f"settings that '{command}' takes (--job KEY=VALUE)"
            raise InputError(path, f"a job that was refused ({words})", allowed) from error
        with connected(cluster, path, f"{number} jobs of {system}") as workers:
            yield workers


@contextmanager
def _closed(cluster: Any) -> Iterator[None]:
    """Close a cluster at the end, even if its jobs were refused, which Dask does not handle."""
    from distributed.core import Status

    try:
        yield
    finally:
        for job in cluster._created:
            if job.status == Status.created:
                job.status = Status.failed
        try:
            cluster.close()
        except AssertionError:  # a job that is still being cancelled
            cluster.status = Status.closed

"""Workers in the jobs of a batch system: Slurm or PBS, by dask-jobqueue.

The scheduler of Dask runs in this process, on the machine that submits the jobs; they connect to
it, with keys for this study alone. Settings come from Dask's own configuration
(``jobqueue.slurm``), and over them from the user.

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

from lightburst.ending import orderly
from lightburst.errors import InputError, did_you_mean, show
from lightburst.study.workers.keys import keys_in, of_dask
from lightburst.study.workers.where import connected, require

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from distributed import Scheduler, Security

    from lightburst.study.workers.interface import Workers

#: The command that submits a job, by the name of the batch system.
SUBMIT: Final = {"slurm": "sbatch", "pbs": "qsub"}
# What dask-jobqueue takes as a number, and what as a list; all else is text.
_NUMBERS: Final = ("cores", "processes", "job_cpu", "death_timeout")
_LISTS: Final = (
    "job_directives_skip",
    "job_extra_directives",
    "job_script_prologue",
    "worker_extra_args",
)
# Of its parameters those that are not about a job, or have been renamed.
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
# Who may talk to the cluster, by ``security``: who has the keys made for this study, who has those
# of Dask's configuration, or everybody.
_SECURITY: Final = ("run", "dask", "none")
# A folder that the jobs see, for the keys; dask-jobqueue has it for clusters and not for jobs.
_SHARED: Final = "shared_temp_directory"
# The pages of a worker are for its own machine. What the user asks for stands after it and counts.
_NO_PAGES: Final = ("--no-dashboard", "--dashboard-address", "127.0.0.1:0")
_WHOLE: Final = re.compile("[0-9]{1,9}")


def read_settings(system: str, settings: Sequence[str], path: str) -> dict[str, Any]:
    """Read settings of a job.

    Parameters
    ----------
    system : str
        ``"slurm"`` or ``"pbs"``.
    settings : sequence of str
        ``KEY=VALUE`` each, with the keys of dask-jobqueue; those that are lists may be repeated.
    path : str
        Where the user gave them, for messages.

    Returns
    -------
    dict of str to object
        As dask-jobqueue takes them.

    Raises
    ------
    InputError
        If a key is not one of these, or a value is no number where one is wanted.
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
    # It takes Ctrl-C for itself when it is imported, and would end this process with exit code 0.
    hears = signal.getsignal(signal.SIGINT)
    import dask_jobqueue

    if signal.getsignal(signal.SIGINT) is not hears:
        signal.signal(signal.SIGINT, hears)
    return getattr(dask_jobqueue, f"{system.upper()}Cluster")


@contextmanager
def cluster_of(system: str, settings: Mapping[str, Any], path: str) -> Iterator[Any]:
    """Make a cluster without jobs, which is closed at the end.

    Parameters
    ----------
    system : str
        ``"slurm"`` or ``"pbs"``.
    settings : mapping of str to object
        As `read_settings` gives them.
    path : str
        Where the user asked for it, for messages.

    Yields
    ------
    JobQueueCluster
        Whose scheduler runs; ``job_script()`` is what will be submitted.

    Raises
    ------
    InputError
        If a setting is missing or cannot be used.
    """
    from dask import config

    _check(system, settings, path)
    kind = _kind(system)
    given = dict(settings)
    extra = given.pop("worker_extra_args", config.get(f"jobqueue.{system}.worker-extra-args"))
    with (
        _secured(system, given, path) as security,
        # Dask makes a folder for each scheduler, and leaves it.
        TemporaryDirectory(prefix="lightburst-") as scratch,
        config.set({"temporary-directory": scratch}),
    ):
        try:
            cluster = kind(
                scheduler_cls=_without_pages(),
                silence_logs=logging.CRITICAL,
                security=security,
                worker_extra_args=[*_NO_PAGES, *extra],
                # Not those of the configuration, which could take the keys away.
                scheduler_options={"dashboard": False},
                **given,
            )
        except (OSError, RuntimeError, TypeError, ValueError) as error:
            raise _no_job(system, " ".join(str(error).split()), path) from error
        with _closed(cluster), orderly():
            yield cluster


@contextmanager
def _secured(system: str, given: dict[str, Any], path: str) -> Iterator[Security | None]:
    """Give the keys of a cluster, and take what is said of them out of its settings."""
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
    """Give a scheduler that has no pages: anybody could look at what is computed."""
    from distributed import Scheduler

    def listen_nowhere(self: Scheduler, *what: Any, **how: Any) -> None:
        pass

    return type("Scheduler", (Scheduler,), {"start_http_server": listen_nowhere})


def _check(system: str, settings: Mapping[str, Any], path: str) -> None:
    """Refuse a job without cores or memory, in our words."""
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
    """Submit jobs for a study, and cancel those that are left at its end.

    Parameters
    ----------
    system : str
        ``"slurm"`` or ``"pbs"``.
    number : int
        How many jobs.
    settings : mapping of str to object
        As `read_settings` gives them.
    path : str
        Where the user asked for it, for messages.

    Raises
    ------
    InputError
        If the batch system is not here, refuses a job, or a setting cannot be used.
    """
    require("dask_jobqueue", path, system)
    command = SUBMIT[system]
    if shutil.which(command) is None:
        given = f"a machine without '{command}'"
        raise InputError(path, given, "one that jobs are submitted from, such as the login node")
    with cluster_of(system, settings, path) as cluster:
        try:
            # As cluster.scale(jobs=number), which would only log that a job is refused.
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
    """Close a cluster at the end, also one whose jobs were refused, which Dask does not expect."""
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

"""Interprets a user's choice of workers for a study."""

from __future__ import annotations

import json
import logging
import re
import time
from contextlib import closing, contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from lightburst.foundation.cores import available_cores
from lightburst.foundation.ending import orderly
from lightburst.foundation.errors import InputError, show
from lightburst.foundation.units import as_python
from lightburst.study.workers.dask import PATIENCE_S, Dask
from lightburst.study.workers.keys import of_dask
from lightburst.study.workers.processes import Processes
from lightburst.study.workers.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from distributed import Client
    from distributed.deploy import Cluster

    from lightburst.study.workers.interface import Workers

    #: Number of threads, text that names a cluster, or an existing cluster.
    Where: TypeAlias = int | str | Client | Cluster | Workers | None

_WORDS: Final = (
    "local:N for N worker processes on this machine, or the scheduler of a Dask cluster: its "
    "address as tcp://HOST:PORT, or its file as NAME.json"
)
_ALLOWED: Final = (
    f"a whole number from 1, of threads; or a client or a cluster of Dask, or {_WORDS}"
)
_LOCAL: Final = re.compile(r"local:([0-9]{1,5})")
_ADDRESS: Final = re.compile(r"([a-z]+://)?[^\s/:]+(:[0-9]{1,5})|[a-z]+://\S+")
_ENDING: Final = ".json"


def workers_of(where: Where, path: str = "workers") -> AbstractContextManager[Workers]:
    """Create or connect to the workers of a study.

    Parameters
    ----------
    where : int, str, Client, Cluster or Workers, optional
        Number of threads, by default one per core; or text that names a Dask cluster; or an
        existing client, cluster or `Workers`.
    path : str
        Origin of the setting, for messages.

    Returns
    -------
    context manager
        Yields the `Workers`. Workers or clusters that were passed in stay open at its end.

    Raises
    ------
    InputError
        If `where` is invalid, the cluster does not answer, or the extra 'cluster' is not installed.
    """
    given = as_python(where)
    if given is None:
        return closing(Threads(available_cores()))
    if isinstance(given, int) and not isinstance(given, bool) and given >= 1:
        return closing(Threads(given))
    if hasattr(given, "answers"):
        return nullcontext(given)
    if isinstance(given, str):
        return _in_words(given.strip(), path)
    if type(given).__module__.partition(".")[0] in ("distributed", "dask_jobqueue") or hasattr(
        given, "scheduler_address"
    ):
        return _there(given, path)
    raise InputError(path, show(where), _ALLOWED)


def slots_of(where: Where) -> int:
    """Return how many runs are computed at once; 1 if that is unknown before connecting."""
    given = as_python(where)
    if given is None:
        return available_cores()
    return given if isinstance(given, int) else given.slots() if hasattr(given, "slots") else 1


def require(module: str, path: str, given: str) -> None:
    """Raise an error if a package is not installed.

    Parameters
    ----------
    module : str
        Name of the package's module.
    path, given : str
        Origin and value of the setting, for the message.

    Raises
    ------
    InputError
        If the package is not installed.
    """
    if find_spec(module) is None:
        allowed = "it when the extra 'cluster' is installed: pip install 'lightburst[cluster]'"
        raise InputError(path, given, allowed)


def _in_words(words: str, path: str) -> AbstractContextManager[Workers]:
    if match := _LOCAL.fullmatch(words):
        number = int(match[1])
        if number >= 1:
            return closing(Processes(number))
    elif _ADDRESS.fullmatch(words) or words.endswith(_ENDING):
        require("distributed", path, words)
        return _at(words, path)
    meant = words if path == "workers" else f"local:{words}"
    hint = f" (did you mean {meant}?)" if words.isdecimal() else ""
    raise InputError(path, show(words), f"{_WORDS}{hint}")


def _at(words: str, path: str) -> AbstractContextManager[Workers]:
    """Connect to a running scheduler by its address or its scheduler file."""
    if not words.endswith(_ENDING):
        return connected(words, path, words)
    try:
        address = json.loads(Path(words).read_text(encoding="utf-8"))["address"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        given = f"{words} ({getattr(error, 'strerror', None) or type(error).__name__})"
        allowed = "the file that 'dask scheduler --scheduler-file NAME.json' writes"
        raise InputError(path, given, allowed) from error
    return connected(address, path, f"{address} of {words}")


@contextmanager
def connected(to: Any, path: str, name: str) -> Iterator[Workers]:
    """Connect to a scheduler by address or cluster object, and disconnect at the end.

    Parameters
    ----------
    to : str or Cluster
        Address or cluster object.
    path, name : str
        Origin of the setting, and name of the cluster, for messages.

    Raises
    ------
    InputError
        If it does not answer, or its workers have a different lightburst.
    """
    from distributed import Client

    if isinstance(to, str) and to.startswith("tls://"):
        of_dask(path, name)
    begun = time.monotonic()
    with _silent("distributed.client"):
        try:
            client = Client(to, timeout=PATIENCE_S, set_as_default=False)
        except (OSError, ValueError) as error:
            waited = time.monotonic() - begun
            given = f"{name}, where no Dask scheduler has answered for {waited:.0f} s"
            allowed = (
                "the address of one that runs, as 'dask scheduler' prints it, or local:N for "
                "worker processes on this machine"
            )
            raise InputError(path, given, allowed) from error
        with client, closing(Dask(client, path, name)) as workers, orderly():
            yield workers


def _there(given: Any, path: str) -> AbstractContextManager[Workers]:
    """Use an existing client or cluster of the user, which stays open."""
    from distributed import Client

    if isinstance(given, Client):
        return closing(Dask(given, path, str(given.scheduler.address)))
    return connected(given, path, str(given.scheduler_address))


@contextmanager
def _silent(logger: str) -> Iterator[None]:
    """Silence a logger, whose messages duplicate lightburst's errors."""
    log = logging.getLogger(logger)
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(before)

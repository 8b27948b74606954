"""Keys for the cluster of one study, which prevent others from submitting work to it.

Dask evaluates all code that it receives. With TLS and private keys, the processes of the cluster
and the driver communicate only with holders of the same key, which only the owner of the study can
read.

References
----------
.. [1] Dask documentation, "TLS/SSL" (`Security`, `Security.temporary`): both sides present a
   certificate.
"""

from __future__ import annotations

import os
import shlex
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from lightburst.foundation.errors import InputError, show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from distributed import Security

_FOLDER: Final = ".lightburst-keys-"
# File mode bits that give access to users other than the owner.
_OTHERS: Final = 0o077


@contextmanager
def keys_in(folder: Path, path: str) -> Iterator[Security]:
    """Create keys in a folder that all machines of the cluster see, and delete them at the end.

    Parameters
    ----------
    folder : Path
        Parent folder, in which a folder readable only by its owner is created.
    path : str
        Origin of the setting, for messages.

    Raises
    ------
    InputError
        If the folder cannot be written, its file system does not support file modes, or its name is
        not safe in a job script.
    """
    from distributed import Security

    place = folder.expanduser().absolute()
    allowed = "a folder that all machines see and this one can write, with a name without blanks"
    if shlex.quote(str(place)) != str(place):
        raise InputError(path, show(str(place)), allowed)
    try:
        held = TemporaryDirectory(prefix=_FOLDER, dir=place)
    except OSError as error:
        raise InputError(path, f"{place} ({error.strerror})", allowed) from error
    with held as name:
        made = Security.temporary()
        files = {
            "certificate": _written(Path(name, "certificate.pem"), str(made.tls_ca_file)),
            "key": _written(Path(name, "key.pem"), str(made.tls_client_key)),
        }
        if any(Path(file).stat().st_mode & _OTHERS for file in (name, *files.values())):
            given = f"{place}, where others can read what its owner alone should"
            raise InputError(path, given, "a folder on a file system that keeps modes of files")
        certificate, key = files["certificate"], files["key"]
        yield Security(
            require_encryption=True,
            tls_ca_file=certificate,
            tls_client_cert=certificate,
            tls_client_key=key,
            tls_scheduler_cert=certificate,
            tls_scheduler_key=key,
            tls_worker_cert=certificate,
            tls_worker_key=key,
        )


def of_dask(path: str, name: str) -> Security:
    """Return the keys configured in Dask (``distributed.comm.tls``).

    Parameters
    ----------
    path, name : str
        Origin of the setting, and purpose of the keys, for messages.

    Raises
    ------
    InputError
        If the configuration lacks a key.
    """
    from distributed import Security

    found = Security()
    roles = ("client", "scheduler", "worker")
    files = {"ca-file": found.tls_ca_file}
    files |= {f"{role}.cert": getattr(found, f"tls_{role}_cert") for role in roles}
    if lacks := [key for key, file in files.items() if not file]:
        given = f"{name}, for which Dask's configuration has no {', '.join(lacks)}"
        allowed = "keys under distributed.comm.tls in ~/.config/dask, or in DASK_DISTRIBUTED__..."
        raise InputError(path, given, allowed)
    found.require_encryption = True
    return found


def _written(file: Path, content: str) -> str:
    """Write a file that is readable only by its owner from the moment of creation."""
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as held:
        held.write(content)
    return str(file)

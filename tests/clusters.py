"""Dask clusters on this machine for tests: processes that are killed, and old workers."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from distributed import Client, LocalCluster

_OLD = """
__version__ = "0.0.9"
"""


@contextmanager
def local(workers: int, **options: Any) -> Iterator[Any]:
    """A client of a cluster with this many workers, by default of one thread each."""
    how = {
        "threads_per_worker": 1,
        "host": "127.0.0.1",
        "dashboard_address": "127.0.0.1:0",
    } | options
    if not options.get("processes", True):
        del how["host"]  # an earlier version does not have one
    with (
        LocalCluster(n_workers=workers, silence_logs=50, **how) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def old_lightburst(folder: Path) -> Path:
    """Write a package of an earlier version, to be found first on a path."""
    package, about = folder / "lightburst", folder / "lightburst-0.0.9.dist-info"
    (package / "foundation").mkdir(parents=True)
    about.mkdir()
    (package / "__init__.py").write_text(_OLD)
    (package / "foundation" / "provenance.py").write_text("MODEL_VERSION = 7\n")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: lightburst\nVersion: 0.0.9\n")
    return folder


@contextmanager
def process(tool: str, *words: str, path: Path | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """A scheduler or a worker of Dask in a separate process, which is killed at the end."""
    command = [sys.executable, "-m", f"distributed.cli.dask_{tool}", *words]
    environment = dict(os.environ) if path is None else {**os.environ, "PYTHONPATH": str(path)}
    started = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield started
    finally:
        started.kill()
        started.wait()


@contextmanager
def old_worker(client: Any, folder: Path) -> Iterator[str]:
    """The address of an additional worker with an earlier version."""
    before = set(client.nthreads())
    words = ["--no-dashboard", "--no-nanny", "--nthreads", "1", "--host", "127.0.0.1"]
    with process("worker", client.scheduler.address, *words, path=old_lightburst(folder)):
        deadline = time.monotonic() + 60
        while not (new := set(client.nthreads()) - before):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        (address,) = new
        yield address
    while address in client.nthreads():
        time.sleep(0.05)

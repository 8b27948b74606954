"""Workers in jobs of Slurm and PBS: the submitted scripts, and a study computed by them."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import socket
import stat
import sys
from collections import Counter
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import psutil
import pytest
from dask import config
from distributed import Client, Security, rpc
from test_cluster_studies import KEPT, LONG, SIGNALS, has, interrupted
from test_study import outcome, slow_study

from clusters import local
from lightburst.cli import main
from lightburst.foundation.errors import InputError
from lightburst.study import execute
from lightburst.study.workers import keys
from lightburst.study.workers.jobs import cluster_of, in_jobs, read_settings
from lightburst.study.workers.keys import keys_in
from processes import everyone

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a shell")

ASKED = ["cores=16", "memory=64 GB", "walltime=02:00:00", "queue=short", "processes=2"]

# Runs the job here and now, as a batch system would on another machine.
SUBMIT = """#!/bin/sh
cp "$1" {folder}/job
sh {folder}/job > {folder}/out 2> {folder}/err &
echo $! > {folder}/pid
echo "{said}"
"""
CANCEL = """#!/bin/sh
echo "$1" > {folder}/cancelled
kill $(cat {folder}/pid)
"""
# The commands of each batch system, and the output of the first.
COMMANDS = {
    "slurm": ("sbatch", "scancel", "Submitted batch job 1"),
    "pbs": ("qsub", "qdel", "1.server"),
}


def lines(system: str, asked: list[str]) -> list[str]:
    with cluster_of(system, read_settings(system, asked, "--job"), f"--{system}") as cluster:
        return list(cluster.job_script().splitlines())


def test_the_job_of_slurm() -> None:
    script = lines("slurm", [*ASKED, "job_extra_directives=--exclusive"])
    assert script[0] == "#!/usr/bin/env bash"
    for line in (
        "#SBATCH -p short",
        "#SBATCH -n 1",
        "#SBATCH --cpus-per-task=16",
        "#SBATCH --mem=60G",
        "#SBATCH -t 02:00:00",
        "#SBATCH --exclusive",
    ):
        assert line in script
    check_command(script[-1])


def test_the_job_of_pbs() -> None:
    script = lines("pbs", ASKED)
    for line in (
        "#PBS -q short",
        "#PBS -l select=1:ncpus=16:mem=60GB",
        "#PBS -l walltime=02:00:00",
    ):
        assert line in script
    check_command(script[-1])


def check_command(line: str) -> None:
    """Two processes of eight threads and half of the memory each."""
    words = shlex.split(line)
    assert words[:3] == [sys.executable, "-m", "distributed.cli.dask_worker"]
    assert words[3].startswith("tls://")
    options = dict(pairwise(words))
    assert options["--nthreads"] == "8"
    assert options["--nworkers"] == "2"
    assert options["--memory-limit"] == "29.80GiB"


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("quue=short", r"given 'quue=short'; .* \(did you mean 'queue'\?\)"),
        ("cores", "given 'cores'; allowed: KEY=VALUE"),
        ("cores=many", "given 'cores=many'; allowed: cores=N with a whole number from 1"),
        ("cores=0", "given 'cores=0'; allowed: cores=N"),
    ],
)
def test_a_setting_that_is_none(setting: str, said: str) -> None:
    with pytest.raises(InputError, match=f"^--job: {said}"):
        read_settings("slurm", [setting], "--job")


@pytest.mark.parametrize("asked", [[], ["cores=4"], ["cores=4", "memory=much"]])
def test_settings_that_make_no_job(asked: list[str]) -> None:
    with pytest.raises(InputError, match=r"^--slurm: given settings that do not make a job \("):
        lines("slurm", asked)


def put(folder: Path, name: str, text: str, said: str = "") -> None:
    file = folder / name
    file.write_text(text.format(folder=folder, said=said))
    file.chmod(file.stat().st_mode | stat.S_IXUSR)


@pytest.fixture
def batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Both batch systems, and a directory to submit from."""
    for submit, cancel, said in COMMANDS.values():
        put(tmp_path, submit, SUBMIT, said)
        put(tmp_path, cancel, CANCEL)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("LIGHTBURST_TEST_MARK", str(tmp_path))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


def settings(system: str, folder: Path, *more: str) -> dict[str, Any]:
    here = ["cores=1", "memory=2 GB", f"local_directory={folder}", *more]
    return read_settings(system, here, "--job")


def listening(mark: Path) -> dict[str, set[tuple[str, int]]]:
    """The addresses on which this process and those of a job listen."""
    there = {"here": [psutil.Process()], "job": everyone(str(mark))}
    return {
        whose: {
            (one.laddr.ip, one.laddr.port)
            for process in processes
            for one in process.net_connections("tcp")
            if one.status == psutil.CONN_LISTEN
        }
        for whose, processes in there.items()
    }


async def asked(address: str, **how: Any) -> str:
    """Ask the process that listens at an address for its kind, as a client does first."""
    async with rpc(address, timeout=10, **how) as there:
        return str((await asyncio.wait_for(there.identity(), 60))["type"])


def kinds(security: Security | None, ports: set[tuple[str, int]]) -> Counter[str]:
    """Ask at all ports; some refuse to talk."""
    protocol = "tcp" if security is None else "tls"
    how = {} if security is None else {"connection_args": security.get_connection_args("client")}
    found: Counter[str] = Counter()
    for ip, port in ports:
        address = f"{protocol}://{ip.replace('0.0.0.0', '127.0.0.1')}:{port}"
        try:
            found[asyncio.run(asked(address, **how))] += 1
        except OSError:
            found["refused"] += 1
    return found


@pytest.mark.filterwarnings("ignore::lightburst.WorkerWarning")  # a job takes its time to begin
@pytest.mark.parametrize("system", COMMANDS)
def test_a_job_trusts_nobody_else(batch: Path, system: str) -> None:
    """Anyone who could talk to one of its ports could run code as the user."""
    before = listening(batch)["here"]
    with (
        cluster_of(system, settings(system, batch), f"--{system}") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        cluster.scale(jobs=1)
        client.wait_for_workers(1)
        address = cluster.scheduler_address
        assert address.startswith("tls://")
        (made,) = Path().glob(".lightburst-keys-*")
        modes = {file: stat.S_IMODE(file.stat().st_mode) for file in made.iterdir()}
        assert (stat.S_IMODE(made.stat().st_mode), set(modes.values())) == (0o700, {0o600})
        script = (batch / "job").read_text()
        assert not any(file.read_text().splitlines()[1] in script for file in modes)
        ports = listening(batch)
        ours = {(ip, port) for ip, port in ports["here"] - before if ip != "::"}
        theirs = {(ip, port) for ip, port in ports["job"] if ip != "::"}
        # The pages of a worker are for its own machine; the scheduler has none.
        pages = {(ip, port) for ip, port in theirs if ip == "127.0.0.1"}
        assert len(pages) == 1
        everywhere = ours | theirs - pages
        assert kinds(cluster.security, everywhere) == {"Scheduler": 1, "Nanny": 1, "Worker": 1}
        # Without the keys, and with others.
        for stranger in (None, Security.temporary()):
            assert kinds(stranger, everywhere) == {"refused": 3}
        with pytest.raises(OSError):
            Client(address.replace("tls", "tcp"), timeout=1, set_as_default=False)
        assert client.submit(sum, [1, 2]).result() == 3
    assert list(Path().iterdir()) == []


@pytest.mark.filterwarnings("ignore::lightburst.WorkerWarning")  # a job takes its time to begin
@pytest.mark.parametrize(
    ("system", "more"),
    [
        ("slurm", ["interface=lo"]),
        ("pbs", []),
        ("slurm", ["security=none", "protocol=tcp://", "interface=lo"]),
    ],
    ids=["slurm", "pbs", "open"],
)
def test_a_study_in_a_job(batch: Path, system: str, more: list[str]) -> None:
    # Another user's scheduler may have the usual port of a dashboard.
    with socket.socket() as other:
        with suppress(OSError):
            other.bind(("", 8787))
            other.listen()
        with in_jobs(system, 1, settings(system, batch, *more), f"--{system}") as workers:
            found = execute(slow_study(), workers=workers, progress=False)
    expected = outcome(execute(slow_study(), progress=False))
    pd.testing.assert_frame_equal(outcome(found), expected)
    script = (batch / "job").read_text()
    assert {"slurm": "#SBATCH --cpus-per-task=1", "pbs": "ncpus=1:"}[system] in script
    assert ("dask_worker tls://" in script) == ("security=none" not in more)
    assert (batch / "cancelled").read_text().startswith("1")
    assert list(Path().iterdir()) == []


def test_keys_of_the_users_own(batch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with keys_in(batch, "made") as made, config.set(of_config(made)):
        asked = settings("slurm", batch, "security=dask")
        with cluster_of("slurm", asked, "--slurm") as cluster:
            assert str(made.tls_worker_key) in cluster.job_script()
            assert list(Path().iterdir()) == []
    with (
        pytest.raises(InputError, match=r"^--slurm: given security=dask, for which Dask's conf"),
        cluster_of("slurm", asked, "--slurm"),
    ):
        pass


def of_config(security: Security) -> dict[str, str]:
    """Write keys as Dask's configuration has them."""
    tls = "distributed.comm.tls"
    found = {f"{tls}.ca-file": security.tls_ca_file}
    for role in ("client", "scheduler", "worker"):
        found[f"{tls}.{role}.cert"] = security.tls_worker_cert
        found[f"{tls}.{role}.key"] = security.tls_worker_key
    return found


@pytest.mark.filterwarnings("ignore::lightburst.WorkerWarning")  # a worker that takes its time
def test_a_cluster_with_keys_that_is_there(batch: Path) -> None:
    """`--dask tls://HOST:PORT` has its keys from Dask's configuration."""
    with keys_in(batch, "made") as made, local(1, security=made) as client:
        address = client.scheduler.address
        assert address.startswith("tls://")
        with config.set(of_config(made)):
            found = execute(slow_study(), workers=address, progress=False)
        with pytest.raises(InputError, match=r"^workers: given tls://.*, for which Dask's "):
            execute(slow_study(), workers=address, progress=False)
    assert len(found) == 60


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_cancels_the_jobs(batch: Path, number: signal.Signals) -> None:
    """And the keys are gone; batch systems take time to cancel, here until the job has ended."""
    Path("study.toml").write_text(LONG, encoding="utf-8")
    asked = ["cores=1", "memory=2 GB", "interface=lo", f"local_directory={batch}"]
    words = ["sweep", "study.toml", "--slurm", *(word for one in asked for word in ("--job", one))]
    said = interrupted(words, number, partial(has, 3), batch)
    assert said.splitlines()[-2:] == [f"lightburst: {KEPT}", f"lightburst: {SIGNALS[number]}"]
    assert (batch / "cancelled").read_text() == "1\n"
    assert {file.name for file in Path().iterdir()} == {"study.toml", ".lightburst"}


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("security=tls", "given 'security=tls'; allowed: security=run|dask|none"),
        ("securty=run", r"given 'securty=run'; .* \(did you mean 'security'\?\)"),
    ],
)
def test_keys_that_are_none(setting: str, said: str) -> None:
    with pytest.raises(InputError, match=f"^--job: {said.replace('|', '.')}"):
        read_settings("slurm", [setting], "--job")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["protocol=tcp://"], "--slurm: given protocol='tcp://' beside security=run; allowed: tls"),
        (["shared_temp_directory=/nowhere"], r"--slurm: shared_temp_directory: given /nowhere \("),
        (["shared_temp_directory=a b"], r"--slurm: shared_temp_directory: given '/.*; "),
    ],
)
def test_keys_that_cannot_be(batch: Path, more: list[str], said: str) -> None:
    with (
        pytest.raises(InputError, match=f"^{said}"),
        cluster_of("slurm", settings("slurm", batch, *more), "--slurm"),
    ):
        pass


def test_a_folder_that_others_can_read_has_no_keys(
    batch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on file systems without modes, where every file is readable by all."""
    chmod = Path.chmod
    open_ = os.open

    def opened(file: Any, flags: int, mode: int = 0o777, **how: Any) -> int:
        descriptor = open_(file, flags, mode, **how)
        if str(file).endswith(".pem"):
            chmod(Path(file), 0o644)
        return descriptor

    monkeypatch.setattr(os, "open", opened)
    with (
        pytest.raises(InputError, match="where others can read what its owner alone should"),
        keys.keys_in(batch / "here", "made"),
    ):
        pass
    assert list(Path().iterdir()) == []


def test_a_job_that_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "sbatch", "#!/bin/sh\necho 'invalid partition: short' >&2\nexit 1\n")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with (
        pytest.raises(InputError, match=r"^--slurm: given a job that was refused .*invalid part"),
        in_jobs("slurm", 1, settings("slurm", tmp_path, "interface=lo"), "--slurm"),
    ):
        pass


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--slurm"], "--slurm: given a machine without 'sbatch'; allowed: one that jobs are"),
        (["--pbs"], "--pbs: given a machine without 'qsub'; allowed: one that jobs are"),
        (["--slurm", "--pbs"], "--pbs: given beside --slurm; allowed: one of --workers, --dask"),
        (["--dask", "local:2", "--workers", "2"], "--dask: given beside --workers; allowed: one"),
        (["--jobs", "2"], "--jobs: given '2'; allowed: an option about jobs, with --slurm or"),
        (["--job", "cores=2"], "--job: given 'cores=2'; allowed: an option about jobs, with"),
        (["--slurm", "--jobs", "0"], "--jobs: given '0'; allowed: a whole number from 1"),
        (["--dask", "nowhere"], "--dask: given 'nowhere'; allowed: local:N for N worker"),
        (["--dask", "nix.json"], "--dask: given nix.json (No such file or directory); allowed"),
    ],
)
def test_options_that_contradict(
    options: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    study = Path(__file__).parents[2] / "examples/studies/recovery.toml"
    monkeypatch.chdir(tmp_path)
    assert main(["sweep", str(study), *options]) == 2
    assert capsys.readouterr().err.startswith(f"lightburst: {said}")
    assert list(tmp_path.iterdir()) == []

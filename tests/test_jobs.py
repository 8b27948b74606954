"""Workers in jobs of Slurm and PBS: what is submitted, and that it computes a study."""

from __future__ import annotations

import os
import shlex
import socket
import stat
import sys
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest

from lightburst.cli import main
from lightburst.errors import InputError
from lightburst.study import execute
from lightburst.study.workers.jobs import cluster_of, in_jobs, read_settings
from test_study import outcome, slow_study

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a shell")

ASKED = ["cores=16", "memory=64 GB", "walltime=02:00:00", "queue=short", "processes=2"]

# Runs the job here and now, as a batch system would on another machine.
SBATCH = """#!/bin/sh
cp "$1" {folder}/job
sh {folder}/job > {folder}/out 2> {folder}/err &
echo $! > {folder}/pid
echo "Submitted batch job 1"
"""
SCANCEL = """#!/bin/sh
echo "$1" > {folder}/cancelled
kill $(cat {folder}/pid)
"""


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
    assert words[3].startswith("tcp://")
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


def put(folder: Path, name: str, text: str) -> None:
    file = folder / name
    file.write_text(text.format(folder=folder))
    file.chmod(file.stat().st_mode | stat.S_IXUSR)


@pytest.mark.filterwarnings("ignore::lightburst.WorkerWarning")  # a job takes its time to begin
def test_a_study_in_a_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "sbatch", SBATCH)
    put(tmp_path, "scancel", SCANCEL)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    asked = ["cores=1", "memory=2 GB", "interface=lo", "worker_extra_args=--no-dashboard"]
    settings = read_settings("slurm", [*asked, f"local_directory={tmp_path}"], "--job")
    # Somebody else's scheduler may have the usual port of a dashboard.
    with socket.socket() as other:
        with suppress(OSError):
            other.bind(("", 8787))
            other.listen()
        with in_jobs("slurm", 1, settings, "--slurm") as workers:
            found = execute(slow_study(), workers=workers, progress=False)
    expected = outcome(execute(slow_study(), progress=False))
    pd.testing.assert_frame_equal(outcome(found), expected)
    assert "#SBATCH --cpus-per-task=1" in (tmp_path / "job").read_text()
    assert (tmp_path / "cancelled").read_text() == "1\n"


def test_a_job_that_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "sbatch", "#!/bin/sh\necho 'invalid partition: short' >&2\nexit 1\n")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    settings = read_settings("slurm", ["cores=1", "memory=2 GB", "interface=lo"], "--job")
    with (
        pytest.raises(InputError, match=r"^--slurm: given a job that was refused .*invalid part"),
        in_jobs("slurm", 1, settings, "--slurm"),
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
    study = Path(__file__).parents[1] / "examples/studies/recovery.toml"
    monkeypatch.chdir(tmp_path)
    assert main(["sweep", str(study), *options]) == 2
    assert capsys.readouterr().err.startswith(f"lightburst: {said}")
    assert list(tmp_path.iterdir()) == []

"""A store that cannot be written, another user's or an archive's, can still be read."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lightburst.cli import main
from lightburst.study import Store
from stores import SCENARIOS, SEEDS, fill, planned

RUNS = SCENARIOS * SEEDS
# The user root ignores file modes, unless it gives up that right.
_AS_USER = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]
STUDY = """
seeds = 2
[over]
switching.buffer_ports = [0, 1]
[scenario]
topology = { kind = "fat-tree", k = 4 }
switching = { kind = "hybrid" }
transport = { kind = "sawl" }
[scenario.workload]
kind = "poisson"
arrival_rate = "1e6 /s"
flows = 8
size = { kind = "constant", value = "9 kB" }
"""

pytestmark = pytest.mark.skipif(
    os.name != "posix" or (os.geteuid() == 0 and shutil.which("setpriv") is None),
    reason="a user for whom modes of files count",
)


@contextmanager
def unwritable(folder: Path) -> Iterator[None]:
    """No file in a folder can be written or created."""
    places = [folder, *folder.rglob("*")]
    before = {place: stat.S_IMODE(place.stat().st_mode) for place in places}
    held = {file: file.read_bytes() for file in places if file.is_file()}
    for place in places:
        place.chmod(before[place] & ~0o222)
    try:
        yield
    finally:
        for place, mode in before.items():
            place.chmod(mode)
    assert {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()} == held


def asked(*words: object) -> tuple[int, str, str]:
    """Call a command as a user to whom the modes of files apply."""
    command = [sys.executable, "-m", "lightburst.cli", *map(str, words)]
    if os.geteuid() == 0:
        command = [*_AS_USER, *command]
    run = subprocess.run(command, capture_output=True, text=True)
    return run.returncode, run.stdout, run.stderr


def closed(folder: Path) -> None:
    fill(folder / "runs")


def killed(folder: Path) -> None:
    """All runs are in the log, and no process has it open."""
    with Store(folder / "while") as store:
        store.database.execute("PRAGMA wal_autocheckpoint = 0")
        for run in planned():
            store.put(run, {"x": 1.0})
        (folder / "runs").mkdir()
        for name in ("index.sqlite", "index.sqlite-wal"):
            shutil.copyfile(folder / "while" / name, folder / "runs" / name)


@pytest.mark.parametrize("made", [closed, killed])
def test_it_is_listed_and_checked(tmp_path: Path, made: Callable[[Path], None]) -> None:
    made(tmp_path)
    with unwritable(tmp_path / "runs"):
        code, said, wrong = asked("store", "list", tmp_path / "runs")
        assert (code, wrong) == (0, "")
        assert said.splitlines()[1].split()[4] == str(RUNS)
        assert asked("store", "check", tmp_path / "runs") == (0, f"{RUNS} runs are sound\n", "")
        assert asked("store", "failed", tmp_path / "runs")[0] == 0
        for command in (["retry"], ["clean", "--yes"]):
            code, _, wrong = asked("store", command[0], tmp_path / "runs", *command[1:])
            assert (code, wrong.count("\n")) == (2, 1)
            assert wrong.startswith(f"lightburst: store: given {tmp_path / 'runs'} (")


def test_it_is_read_while_its_owner_writes(tmp_path: Path) -> None:
    closed(tmp_path)
    with Store(tmp_path / "runs") as store:
        store.put(planned()[0], {"x": 1.0})
        assert (tmp_path / "runs/index.sqlite-shm").exists()
        with unwritable(tmp_path / "runs"):
            assert asked("store", "check", tmp_path / "runs")[1] == f"{RUNS} runs are sound\n"


def test_a_damaged_row_is_found(tmp_path: Path) -> None:
    closed(tmp_path)
    with Store(tmp_path / "runs") as store:
        store.database.execute("UPDATE runs SET metrics = '{}' WHERE seed = '3'")
    with unwritable(tmp_path / "runs"):
        code, said, _ = asked("store", "check", tmp_path / "runs")
        assert (code, f"{SCENARIOS} rows are damaged" in said) == (1, True)


def test_a_sweep_reads_it_and_says_once_where_it_needs_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(STUDY, encoding="utf-8")
    words = ["sweep", "study.toml", "--format", "csv"]
    assert main(words) == 0
    table = capsys.readouterr().out
    with unwritable(Path(".lightburst")):
        assert asked(*words) == (0, table, "")
        code, said, wrong = asked(*words, "--set", "switching.buffer_ports=[0,1,2]")
    assert (code, said) == (2, "")
    assert wrong == (
        "lightburst: store: given .lightburst/runs (it cannot be written), and 2 runs that are not "
        "in it; allowed: one that has all runs, or one that can be written\n"
    )


def test_the_size_is_that_of_all_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The texts of the rows are the smaller part."""
    path = tmp_path / "runs"
    fill(path)
    for name, size in (("columns/a.parquet", 300_000), ("tables/b.parquet", 2_000_000)):
        (path / name).parent.mkdir()
        (path / name).write_bytes(bytes(size))
    on_disk = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    index = (path / "index.sqlite").stat().st_size
    assert main(["store", "list", str(path)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == (
        f"on the disk: {on_disk / 1e6:.3f} MB (index {index / 1e3:.1f} kB, columns 300 kB, "
        "tables 2 MB)"
    )
    assert main(["store", "list", str(path), "--format", "json"]) == 0
    [found] = json.loads(capsys.readouterr().out)
    assert found["store_bytes"] == on_disk > found["bytes"]

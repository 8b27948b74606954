"""The location of a store: a folder, the file of an earlier version, and its disk."""

import shutil
import sqlite3
import subprocess
import sys
import warnings
from contextlib import closing
from pathlib import Path

import pytest

from lightburst.cli import main
from lightburst.foundation.errors import InputError, StoreWarning
from lightburst.study import Store
from lightburst.study.store import place
from lightburst.study.store.place import network_of
from lightburst.study.store.upkeep import clean, examined
from processes import started
from stores import INDEX, digests, fill, planned, truth

TAKEN = "was one file, with 24 runs, and is a folder now"


def one_file(file: Path) -> None:
    """Write a store as the previous version did: one file, and tables beside it."""
    fill(file)
    (file / INDEX).rename(file.with_name("index"))
    shutil.rmtree(file)
    file.with_name("index").rename(file)
    with closing(sqlite3.connect(file)) as database, database:
        database.executescript("DROP VIEW status; DROP TABLE failures; PRAGMA user_version = 2")
    file.with_name(f"{file.name}.tables").mkdir()
    (file.with_name(f"{file.name}.tables") / "a-1-flows.parquet").write_bytes(b"flows")


def check(folder: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with Store(folder) as store:
            assert store.find(digests()) == truth()
            assert store.failures() == {}
    assert (folder / "tables" / "a-1-flows.parquet").read_bytes() == b"flows"
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]
    assert examined(folder).sound


@pytest.mark.parametrize("name", ["runs", "runs.sqlite"])
def test_the_one_file_of_an_earlier_version_becomes_a_folder(tmp_path: Path, name: str) -> None:
    """Also a name with the suffix of the former default."""
    one_file(tmp_path / name)
    with pytest.warns(StoreWarning, match=f"{name} {TAKEN}"):
        Store(tmp_path / "runs").close()
    check(tmp_path / "runs")


def test_the_file_that_the_commands_used_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(".lightburst").mkdir()
    one_file(Path(".lightburst/runs.sqlite"))
    assert main(["store", "list"]) == 0
    said = capsys.readouterr()
    assert "made up" in said.out
    assert TAKEN in said.err
    check(Path(".lightburst/runs"))


def test_one_that_is_in_use_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "_PATIENCE_S", 0.1)
    one_file(tmp_path / "runs")
    with closing(sqlite3.connect(tmp_path / "runs")) as other:
        other.execute("SELECT count(*) FROM runs").fetchone()
        with pytest.raises(InputError, match="in use by another process"):
            Store(tmp_path / "runs")
    assert (tmp_path / "runs").is_file()
    with pytest.warns(StoreWarning, match=TAKEN):
        Store(tmp_path / "runs").close()
    check(tmp_path / "runs")


@pytest.mark.parametrize("step", [1, 2, 3])
def test_a_process_that_is_killed_meanwhile_leaves_all_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """Killed before each of the three renames; the next process continues."""
    one_file(tmp_path / "runs")
    program = f"""
import os
from pathlib import Path
from lightburst.study import Store
rename, left = Path.rename, [{step}]
def renamed(*words):
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), 9)
    return rename(*words)
Path.rename = renamed
Store(sys.argv[1])
"""
    process = started(program, tmp_path / "runs")
    process.communicate(timeout=60)
    assert process.returncode == -9
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StoreWarning)
        Store(tmp_path / "runs").close()
    check(tmp_path / "runs")


def test_two_processes_at_once_take_it_over_once(tmp_path: Path) -> None:
    one_file(tmp_path / "runs")
    program = """
import warnings
from lightburst.study import Store
from stores import digests
warnings.simplefilter("ignore")
print("ready", flush=True)
sys.stdin.readline()
print(len(Store(sys.argv[1]).find(digests())))
"""
    command = [
        sys.executable,
        "-c",
        f"import sys; sys.path.insert(0, {str(Path(__file__).parents[1])!r})",
    ]
    command[-1] += program
    both = [
        subprocess.Popen(
            [*command, str(tmp_path / "runs")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for process in both:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in both:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    assert [process.communicate(timeout=60)[0] for process in both] == ["24\n", "24\n"]
    check(tmp_path / "runs")


def test_another_process_may_create_the_store_while_its_folder_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "runs").mkdir()
    listed = Path.iterdir

    def listed_later(folder: Path) -> list[Path]:
        (tmp_path / "runs" / INDEX).touch()
        return list(listed(folder))

    monkeypatch.setattr(Path, "iterdir", listed_later)
    with Store(tmp_path / "runs") as store:
        assert len(store) == 0


def test_a_damaged_file_of_an_earlier_version_is_mended(tmp_path: Path) -> None:
    one_file(tmp_path / "runs")
    held = bytearray((tmp_path / "runs").read_bytes())
    held[20:29] = b"\xff" * 9
    (tmp_path / "runs").write_bytes(held)
    with pytest.raises(InputError, match="'lightburst store clean' keeps what can be read"):
        Store(tmp_path / "runs")
    assert clean(tmp_path / "runs") == tmp_path / "runs.damaged"
    with pytest.warns(StoreWarning, match=TAKEN):
        Store(tmp_path / "runs").close()
    with Store(tmp_path / "runs") as store:
        assert store.find(digests()) == truth()


MOUNTS = r"""
22 27 0:21 / /proc rw - proc proc rw
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,discard
30 27 0:40 / /net rw,relatime shared:9 master:2 - nfs4 server:/all rw,vers=4.2
31 30 254:1 / /net/a/disk rw - xfs /dev/sdb1 rw
32 27 0:41 / /data\040of\040all rw - lustre 10.0.0.1@tcp:/scratch rw
33 27 0:42 / /mnt/a rw - cifs //server/share rw
34 27 0:43 / /mnt/a rw - ext4 /dev/sdc1 rw
35 27 0:44 / /mnt/s rw - fuse.sshfs me@server: rw
broken line
"""


@pytest.mark.parametrize(
    ("folder", "said"),
    [
        ("/net/a/study/.lightburst/runs", "nfs4, server:/all"),
        ("/net/a/disk/runs", ""),
        ("/network/runs", ""),
        ("/data of all/runs", "lustre, 10.0.0.1@tcp:/scratch"),
        ("/mnt/a/runs", ""),  # the last mount there
        ("/mnt/s/runs", "fuse.sshfs, me@server:"),
        ("/tmp/../net/runs", "nfs4, server:/all"),
        ("/", ""),
    ],
)
def test_network_file_systems_are_known(tmp_path: Path, folder: str, said: str) -> None:
    (tmp_path / "mounts").write_text(MOUNTS, encoding="utf-8")
    assert network_of(Path(folder), tmp_path / "mounts") == said


def test_without_a_table_of_mounts_nothing_is_said(tmp_path: Path) -> None:
    assert network_of(tmp_path, tmp_path / "nowhere") == ""


@pytest.mark.skipif(not Path("/proc/self/mountinfo").exists(), reason="Linux")
def test_the_disk_of_the_tests_is_of_this_machine(tmp_path: Path) -> None:
    assert network_of(tmp_path) == ""


def test_there_one_process_has_the_store_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"1 0 0:1 / / rw - ext4 /dev/a rw\n2 1 0:2 / {tmp_path} rw - nfs s:/h rw\n")
    monkeypatch.setattr(place, "_MOUNTS", mounts)
    monkeypatch.setattr("lightburst.study.store.schema.PATIENCE_S", 0.1)
    with pytest.warns(StoreWarning, match=r"on a network file system \(nfs, s:/h\)"):
        store = Store(tmp_path / "runs")
    with store, warnings.catch_warnings():
        warnings.simplefilter("ignore", StoreWarning)
        for run in planned():
            store.put(run, truth()[run.key])
        # No memory is shared, so no other process can use it.
        assert {file.name for file in (tmp_path / "runs").iterdir()} == {INDEX, f"{INDEX}-wal"}
        with pytest.raises(InputError, match="used by another process"):
            Store(tmp_path / "runs")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StoreWarning)
        with Store(tmp_path / "runs") as again:
            assert again.find(digests()) == truth()


def test_what_is_no_store_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "notes.txt").write_text("dear diary")
    (tmp_path / "folder.sqlite").write_text("dear diary")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"folder \(it is something else\); allowed: a folder"):
        Store(tmp_path / "folder")
    Store(tmp_path / "empty").close()
    assert (tmp_path / "empty" / INDEX).is_file()
    assert {path.name for path in tmp_path.iterdir()} == {"folder", "folder.sqlite", "empty"}
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["notes.txt"]

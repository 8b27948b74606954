"""Result directories: replaced in one step, whole after a kill at any moment, damage named."""

import errno
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lightburst.foundation.errors import InputError
from lightburst.foundation.files import directory
from lightburst.foundation.files.checksums import SUMS, listed, seal, verify

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes as POSIX has them")

OLD, NEW = "the earlier result", "the new result"
# More system calls than a write with its cleanup needs: a test that reaches this number has killed
# at every one.
MOST = 400


def fill(text: str) -> Callable[[Path], object]:
    def write(fresh: Path) -> None:
        for name in ("run.json", "flows.parquet"):
            (fresh / name).write_text(text)

    return write


def content(target: Path) -> str:
    """The text of a result, if it is complete."""
    verify(target, ["run.json", "flows.parquet"])
    assert {entry.name for entry in target.iterdir()} >= {"run.json", "flows.parquet", SUMS}
    [text] = {(target / name).read_text() for name in ("run.json", "flows.parquet")}
    return text


def stopped(work: Callable[[], object], moment: int, how: str) -> bool:
    """Call a function in a process that is stopped before its n-th system call.

    Python's audit hooks run just before each call to open, make, rename, remove, lock, list.
    Returns whether the process was stopped.
    """
    process = os.fork()
    if process == 0:
        passed = 0

        def hook(event: str, arguments: object) -> None:
            nonlocal passed
            passed += 1
            if passed == moment and how == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            if passed == moment:
                raise KeyboardInterrupt

        sys.addaudithook(hook)
        code = 0
        try:
            work()
        except KeyboardInterrupt:
            code = 1
        finally:
            os._exit(code)
    return os.waitpid(process, 0)[1] != 0


@pytest.mark.parametrize("how", ["kill", "interrupt"])
@pytest.mark.parametrize("exchange", [True, False])
def test_whoever_is_stopped_leaves_the_earlier_result_or_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exchange: bool, how: str
) -> None:
    if not exchange:
        monkeypatch.setattr(directory, "_exchange", lambda one, other: False)
    target, seen = tmp_path / "out", []
    for moment in range(1, MOST):
        directory.replace(target, fill(OLD))
        assert [entry.name for entry in tmp_path.iterdir()] == ["out"]
        if not stopped(lambda: directory.replace(target, fill(NEW)), moment, how):
            break
        if exchange:  # the result is there without any repair
            seen.append(content(target))
        directory.restore(target)
        assert content(target) in (OLD, NEW)
        assert [entry.name for entry in tmp_path.iterdir()] == ["out"]
    else:
        pytest.fail("never done")
    assert moment > 10
    assert content(target) == NEW
    if exchange:
        assert set(seen) == {OLD, NEW}
        assert seen == sorted(seen)  # "the earlier" to "the new", once


@pytest.mark.parametrize("how", ["kill", "interrupt"])
def test_an_addition_that_is_stopped_can_be_made_again(tmp_path: Path, how: str) -> None:
    target = tmp_path / "out"

    def page(fresh: Path) -> None:
        (fresh / "index.html").write_text("page")

    for moment in range(1, MOST):
        directory.replace(target, fill(OLD))
        ran = stopped(lambda: directory.amend(target, page), moment, how)
        assert content(target) == OLD
        directory.check(target)  # every file in it counts as written by lightburst
        directory.amend(target, page)
        verify(target, listed(target))
        assert "index.html" in listed(target)
        if not ran:
            break
    else:
        pytest.fail("never done")
    assert moment > 10


def test_a_working_directory_in_use_is_left_alone(tmp_path: Path) -> None:
    other = tmp_path / "other"

    def meanwhile(fresh: Path) -> None:
        directory.replace(other, fill(OLD))
        fill(NEW)(fresh)

    directory.replace(tmp_path / "out", meanwhile)
    assert (content(tmp_path / "out"), content(other)) == (NEW, OLD)
    assert len(list(tmp_path.iterdir())) == 2


def test_nothing_of_a_user_s_is_cleared_away(tmp_path: Path) -> None:
    for name in (
        ".lightburst",
        ".lightburst-backup",
        ".lightburst-work-new",
        "a/.lightburst-work-",
    ):
        (tmp_path / name / "runs").mkdir(parents=True)
    before = {entry.name for entry in tmp_path.iterdir()}
    directory.replace(tmp_path / "out", fill(OLD))
    directory.replace(tmp_path / "out", fill(NEW))
    assert {entry.name for entry in tmp_path.iterdir()} == {*before, "out"}


def test_a_file_system_that_cannot_exchange_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Library:
        def renameat2(self, *arguments: object) -> int:
            return -1

    monkeypatch.setattr("ctypes.CDLL", lambda *_, **__: Library())
    for code, text in ((errno.EINVAL, NEW), (errno.ENOSYS, OLD)):
        monkeypatch.setattr("ctypes.get_errno", lambda code=code: code)
        directory.replace(tmp_path / "out", fill(text))
        directory.replace(tmp_path / "out", fill(text))
        assert content(tmp_path / "out") == text
    monkeypatch.setattr("ctypes.get_errno", lambda: errno.EACCES)
    with pytest.raises(InputError, match="Permission denied"):
        directory.replace(tmp_path / "out", fill(NEW))
    assert content(tmp_path / "out") == OLD
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_a_disk_without_room_leaves_no_pieces(tmp_path: Path) -> None:
    target = directory.replace(tmp_path / "out", fill(OLD))

    def large(fresh: Path) -> None:
        (fresh / "flows.parquet").write_bytes(bytes(100_000))

    before = {entry: entry.read_bytes() for entry in target.iterdir()}
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
    try:
        with pytest.raises(InputError, match=r"--out: given .*File too large"):
            directory.replace(target, large)
        with pytest.raises(InputError, match=r"DIR: given .*File too large"):
            directory.amend(target, large)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert {entry: entry.read_bytes() for entry in target.iterdir()} == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_the_sums_are_those_of_sha256sum(tmp_path: Path) -> None:
    target = directory.replace(tmp_path / "out", fill(OLD))
    command = ["sha256sum", "--check", "--strict", SUMS]
    said = subprocess.run(command, cwd=target, capture_output=True, text=True, check=True)
    assert said.stdout == "flows.parquet: OK\nrun.json: OK\n"


@pytest.mark.parametrize(
    "line", ["../victim", "/victim", "a/b", "..", "", "name\x1b[2J", "two  names", "a\\b"]
)
def test_a_name_in_the_sums_is_never_a_path(tmp_path: Path, line: str) -> None:
    target = directory.replace(tmp_path / "out", fill(OLD))
    with (target / SUMS).open("a") as sums:
        sums.write(f"{'0' * 64}  {line}\n")
    with pytest.raises(InputError, match=rf"^DIR: given .*{SUMS} \(damaged\)"):
        listed(target)
    with pytest.raises(InputError, match="--out"):
        directory.replace(target, fill(NEW))


def test_what_is_missing_or_never_ends_is_named(tmp_path: Path) -> None:
    target = directory.replace(tmp_path / "out", fill(OLD))
    (target / "run.json").unlink()
    with pytest.raises(InputError, match=r"run\.json \(missing; SHA256SUMS"):
        content(target)
    (target / "run.json").symlink_to("/dev/zero")
    with pytest.raises(InputError, match=r"run\.json \(missing; SHA256SUMS"):
        content(target)
    with pytest.raises(InputError, match=rf"'notes' \(not in .*{SUMS}\)"):
        verify(target, ["notes"])
    with pytest.raises(InputError, match=f"without {SUMS}"):
        verify(tmp_path, ["run.json"])


def test_nothing_is_amended_where_a_folder_is_in_the_way(tmp_path: Path) -> None:
    def fill(fresh: Path) -> None:
        for name in ("a.txt", "index.html"):
            (fresh / name).write_text("new")

    (tmp_path / "a.txt").write_text("old")
    seal(tmp_path)
    before = (tmp_path / SUMS).read_text()
    (tmp_path / "index.html").mkdir()
    with pytest.raises(InputError, match="Is a directory"):
        directory.amend(tmp_path, fill)
    assert sorted(file.name for file in tmp_path.iterdir()) == [SUMS, "a.txt", "index.html"]
    assert (tmp_path / "a.txt").read_text() == "old"
    assert (tmp_path / SUMS).read_text() == before

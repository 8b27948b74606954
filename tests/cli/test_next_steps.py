"""The further questions that a run prints: commands that work as printed."""

import shlex
from pathlib import Path

import pytest

from lightburst.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples"
SMALL = ("topology.k=4", "switching.buffer_ports=2", "workload.senders=4", "workload.rounds=1")
INCAST = [word for change in SMALL for word in ("--set", change)]
# The example, the name of the file, and options.
CASES = {
    "incast": ("incast", "it's an incast.toml", [*INCAST, "--seed", "7"]),
    "saved": ("path", "path.toml", ["--metric", "m=mean of bytes", "--out", "o ut"]),
}


def commands(text: str) -> dict[str, str]:
    """The command of each question after ``next:``."""
    after = text.partition("\nnext:\n")[2].splitlines()
    return dict(line.strip().split("  ", 1) for line in after)


@pytest.mark.parametrize("case", CASES)
def test_each_command_works_as_it_stands(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    example, name, options = CASES[case]
    monkeypatch.chdir(tmp_path)
    Path(name).write_text((EXAMPLES / f"{example}.toml").read_text("utf-8"), "utf-8")
    assert main(["run", name, *options]) == 0
    asked = commands(capsys.readouterr().out)
    for command in asked.values():
        for single in command.split(" && "):
            # Split as in a shell; a process for each would spend a minute on imports.
            program, *words = shlex.split(single)
            assert program == "lightburst"
            assert main(words) == 0, single
            assert capsys.readouterr().err == ""
    saved = "o ut" if case == "saved" else f"out/{Path(name).stem}"
    made = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("index.html")}
    assert made == {f"{saved}/index.html"}
    assert [key.split()[0] for key in asked] == ["why", "its", "pictures", "means"]


def test_the_same_run_is_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("path.toml").write_text((EXAMPLES / "path.toml").read_text("utf-8"), "utf-8")
    options = ["--set", "name=a b", "--seed", "3", "--metric", "m=mean of bytes"]
    assert main(["run", "path.toml", *options]) == 0
    asked = commands(capsys.readouterr().out)
    same = "path.toml --set 'name=a b' --seed 3"
    full = "path.toml --set 'name=a b' --metric 'm=mean of bytes' --seed 3"
    assert [command.strip() for command in asked.values()] == [
        f"lightburst explain {same} --flow worst",
        f"lightburst trace {same} --flow 0 --out out/path-flow-0",
        f"lightburst run {full} --out out/path && lightburst report out/path",
        f"lightburst run {full} --replications 10",
    ]


@pytest.mark.parametrize("words", [["--format", "json"], ["--format", "csv"]])
def test_nothing_of_it_where_a_program_reads(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(EXAMPLES / "path.toml"), *words]) == 0
    found = capsys.readouterr()
    assert "next:" not in found.out + found.err


@pytest.mark.parametrize(
    ("example", "kind", "questions"),
    [("path", "datagram", ["why", "pictures"]), ("obs-nsfnet", "bursts", ["pictures"])],
)
def test_what_makes_no_sense_is_not_offered(
    example: str, kind: str, questions: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Datagrams have no window, bursts no packets, and no seed follows the last one."""
    options = ["--set", f"transport.kind={kind}"]
    options += ["--set", "workload.duration=100 us"] if kind == "bursts" else []
    assert main(["run", str(EXAMPLES / f"{example}.toml"), *options, "--seed", str(2**64 - 1)]) == 0
    assert [key.split()[0] for key in commands(capsys.readouterr().out)] == questions


def test_no_packets_of_subflows_are_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each subflow counts its own data, so that an explanation of the flow is refused."""
    monkeypatch.chdir(tmp_path)
    options = [word for change in SMALL for word in ("--set", change)]
    options += ["--set", "transport.kind=tcp", "--set", "transport.subflows=2"]
    assert main(["run", str(EXAMPLES / "incast.toml"), *options]) == 0
    assert [key.split()[0] for key in commands(capsys.readouterr().out)] == ["pictures", "means"]

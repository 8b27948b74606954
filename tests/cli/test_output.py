"""Output of the command line: forbidden paths, closed streams, and limited terminals."""

import io
import itertools
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import cast

import pandas as pd
import pytest
from matplotlib.legend import Legend
from rich.table import Column, Table

import lightburst as lb
from lightburst.cli import main
from lightburst.cli.terminal.screen import show_table
from lightburst.cli.terminal.streams import _without
from lightburst.papers.figure import COLUMNS, Figure
from lightburst.plots import static

NAME = "Größe – [red]x[/] :smile: $x^$"
SCENARIO = f"""name = "{NAME}"
[topology]
kind = "path"
links = 2
[switching]
kind = "electronic"
[groups."[/x]".transport]
kind = "tcp"
[groups."[/x]".workload]
kind = "pairs"
size = {{ kind = "constant", value = "9 kB" }}
[groups."_y :smile:".workload]
kind = "pairs"
size = {{ kind = "constant", value = "9 MB" }}
[groups."_y :smile:".transport]
kind = "tcp"
"""


@pytest.fixture(autouse=True)
def in_a_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("names.toml").write_text(SCENARIO, encoding="utf-8")


def shell(words: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run the command line, called ``$L``, in a shell."""
    program = f'"{sys.executable}" -m lightburst.cli'
    return subprocess.run(
        ["sh", "-c", words.replace("$L", program)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("$L list >/dev/full", 1, "lightburst: standard output: No space left on device\n"),
        ("$L run --help >/dev/full", 1, "lightburst: standard output: No space left on device\n"),
        ("$L list >&-", 1, "lightburst: standard output: Bad file descriptor\n"),
        ("$L list 2>&-", 0, ""),
        ("$L run nothing.toml 2>&-", 2, ""),
        ("$L run nothing.toml 2>/dev/full", 2, ""),
        ("$L run nothing.toml >&- 2>&- <&-", 2, ""),
        *(
            (f"{{ $L {command}; echo $? >&2; }} | true", 0, "0\n")
            for command in ("schema", "--help", "run names.toml", "run names.toml --replications 2")
        ),
    ],
)
def test_a_stream_that_cannot_be_written(words: str, code: int, said: str) -> None:
    done = shell(words)
    assert (done.returncode, done.stderr) == (code, said)


def test_what_was_asked_for_is_written_even_if_nobody_listens() -> None:
    done = shell("$L run names.toml --format json --out saved <&- >&- 2>&-")
    assert done.returncode == 1
    assert len(pd.read_parquet("saved/flows.parquet")) == 2


def test_ascii_only() -> None:
    done = shell("$L run names.toml", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert r"Gr\xf6\xdfe - [red]x[/] :smile: $x^$: electronic" in done.stdout
    assert " us |" in done.stdout
    assert done.stdout.isascii()


def test_our_own_words_have_a_form_in_ascii() -> None:
    words = "3 µs – 10\u00a0km … é \u4e2d"
    found = "".join(
        c if c.isascii() else _without(UnicodeEncodeError("ascii", c, 0, 1, ""))[0] for c in words
    )
    assert found == r"3 us - 10 km ... \xe9 \u4e2d"


@pytest.mark.parametrize("columns", [1, 20, 40, 80, 200])
def test_no_value_vanishes_however_narrow_the_terminal(
    columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert main(["run", "names.toml"]) == 0
    out = capsys.readouterr().out
    words = out.split()
    for name in ("[/x]", ":smile:", "retransmissions", "percentile", "Gb/s", "$x^$:"):
        assert name in words
    assert "…" not in out
    assert "above 10 MB" not in out
    assert "100 kB to 10 MB" in out


def test_a_table_is_no_wider_than_the_terminal_if_its_words_allow_that(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    table = Table("words", Column("value", no_wrap=True))
    table.add_row("some words that are more than a line of forty", "12.5 Gb/s of 13 Gb/s")
    show_table(table)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) == 40
    assert any("12.5 Gb/s of 13 Gb/s" in line for line in lines)


def test_a_file_name_is_printed_and_not_obeyed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", "names.toml", "--out", "\x1b[31mred"]) == 0
    out = capsys.readouterr().out
    assert r"\x1b[31mred/trace.pcapng" in out
    assert "\x1b" not in out


def test_an_unknown_option_is_printed_and_not_obeyed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "names.toml", "--\x1b[31m" + "x" * 5000]) == 2
    err = capsys.readouterr().err
    assert err.rstrip("\n").isprintable()
    assert len(err) < 1500


def test_a_name_is_no_formula_in_the_pictures_of_a_trace() -> None:
    name = "$x^$ \u4e2d"  # text that is no formula, with a character missing in the font
    scenario = lb.load("names.toml").with_({"name": name, "measurement.trace": [0]})
    Path("named.toml").write_text(scenario.to_toml(), encoding="utf-8")
    assert main(["trace", "named.toml", "--out", "traced"]) == 0
    assert Path("traced", "time-sequence.png").stat().st_size > 10_000


def test_names_stand_in_a_figure_as_they_are() -> None:
    labels, dashes = ("$x^$", "_hidden", "a_b^{c}", r"\frac"), ("$\\", "_x")
    lines = itertools.product(labels, dashes, (-9, 8))
    rows = [(label, dash, 10.0**x, 1.0, 1.0, 1.0, 1) for label, dash, x in lines]
    data = pd.DataFrame(rows, columns=list(COLUMNS))
    figure = Figure(
        "id", "$title^$", "$caption^$", "$x^$", "$y^$", labels, dashes, data, x_log=True
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        canvas = static.draw([figure])
        canvas.savefig(io.BytesIO(), format="png")
    legends = cast(list[Legend], canvas.findobj(Legend))
    shown = [text.get_text() for legend in legends for text in legend.get_texts()]
    assert shown == [*labels, *dashes]
    ticks = [label.get_text() for label in canvas.axes[0].get_xticklabels()]
    assert {"10⁻⁹", "10⁸"} & set(ticks)


@pytest.mark.parametrize("answer", ["", "n", "maybe"])
def test_very_many_runs_ask_first(
    answer: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["run", "names.toml", "--replications", "1000000"]
    said = "--replications: given 1,000,000 runs; allowed: up to 10,000, or any number with --yes"
    assert main(words) == 2
    assert capsys.readouterr().err == f"lightburst: {said}\n"
    asked: list[str] = []
    monkeypatch.setattr("lightburst.experiment.replicate.replicate", lambda *_: asked.append("ran"))
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{answer}\n"))
    for stream in (sys.stdin, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    assert main(words) == 2
    assert (
        capsys.readouterr().err == f"lightburst: 1,000,000 runs. Go on? [y/N] lightburst: {said}\n"
    )
    assert not asked


def test_there_are_no_more_runs_than_seeds(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "names.toml", "--yes", "--seed", "9", "--replications", f"{2**64}"]
    assert main(words) == 2
    said = f"--replications: given {2**64}; allowed: up to {2**64 - 9}: there are no more seeds"
    assert capsys.readouterr().err == f"lightburst: {said}\n"


@pytest.mark.parametrize("agreed", ["--yes", "y", "YES"])
def test_who_agrees_gets_very_many_runs(agreed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class StartedError(Exception):
        pass

    def replicate(_scenario: lb.Scenario, seeds: range, _own: object, **_how: object) -> None:
        assert seeds == range(1, 10_002)
        raise StartedError

    monkeypatch.setattr("lightburst.experiment.replicate.replicate", replicate)
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{agreed}\n"))
    for stream in (sys.stdin, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    words = ["run", "names.toml", "--replications", "10001"]
    with pytest.raises(StartedError):
        main([*words, "--yes"] if agreed == "--yes" else words)


EXTREMES = (
    ["--set", 'groups.a.workload={kind="poisson",load=1e-300,flows=3}'],
    ["--set", 'groups.a.workload={kind="poisson",arrival_rate="1e-300 /s",duration="1 ps"}'],
    ["--set", 'groups.a.workload.size={kind="pareto",shape=1e-300,minimum="1 B"}'],
    ["--set", 'groups.a.workload.size={kind="lognormal",mu=40,sigma=20}'],
)


@pytest.mark.parametrize("words", EXTREMES, ids=range(len(EXTREMES)))
def test_no_warning_of_numpy_reaches_the_user(words: list[str]) -> None:
    # All warnings are errors here.
    renamed = SCENARIO.replace('"[/x]"', "a")
    Path("extreme.toml").write_text(renamed, encoding="utf-8")
    limit = ["--set", "measurement.time_limit=1 ms"]
    assert main(["run", "extreme.toml", *words, *limit]) in (0, 2)


@pytest.mark.parametrize("model", ["padhye1998", "yu2004"])
@pytest.mark.parametrize("loss", ["1e-9", "0.999999999999"])
@pytest.mark.parametrize("window", ["1", "1e9"])
@pytest.mark.parametrize("time", ["1 ps", "4000000 s"])
def test_no_warning_of_numpy_comes_out_of_a_formula(
    model: str, loss: str, window: str, time: str
) -> None:
    words = ["--loss", loss, "--window", window, "--ack-every", window, "--timeout", time]
    if model == "yu2004":
        words += ["--assembly-time", "0 s,1 ps,4000000 s", "--flavour", "sack,new-reno,reno"]
    assert main(["model", model, *words, "--round-trip", time]) == 0

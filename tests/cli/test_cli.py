"""The command line as a user sees it: its output, its files, and its errors."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import pytest

from lightburst.cli import main
from lightburst.foundation.support import is_support
from lightburst.result.labels import words_of
from processes import started

SCENARIO = """
name = "small"
[topology]
kind = "fat-tree"
k = 4
[switching]
kind = "hybrid"
buffer_ports = 2
[transport]
kind = "sawl"
[workload]
kind = "poisson"
arrival_rate = "1e6 /s"
flows = 40
size = { kind = "constant", value = "30 kB" }
"""

SUMMARY = [
    "throughput_bps", "makespan_s", "flows", "finished", "unfinished",
    "active_flows", "offered_bps", "delivered_bytes",
    "retransmissions", "spurious_bytes", "fast_retransmits", "false_fast_retransmits", "timeouts",
    "false_timeouts", "reordered", "loss_per_hop", "loss_per_hop_count", "loss_per_hop_of",
    "loss_end_to_end", "loss_end_to_end_count", "loss_end_to_end_of", "drops_missed", "bursts",
    "burst_loss", "burst_loss_count", "burst_loss_of",
    "burst_loss_per_hop", "burst_loss_per_hop_count", "burst_loss_per_hop_of",
    "burst_mean_packets", "burst_mean_bytes", "assembly_mean_s", "timed_flows",
    "completion_time_mean_s", "completion_time_median_s", "completion_time_p99_s",
    "slowdown_mean", "slowdown_median", "slowdown_p99", "conversions_per_delivered_bit",
    "energy_j", "packet_hops", "events", "wall_s", "digest",
]  # fmt: skip


@pytest.fixture
def scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "small.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """Make a directory that lightburst did not write."""
    directory = tmp_path / "notes"
    directory.mkdir()
    (directory / "mine.txt").write_text("dear")
    return directory


def contents(directory: Path) -> set[str]:
    return {str(path.relative_to(directory)) for path in directory.rglob("*")}


def test_a_run_prints_a_table_that_people_read(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(scenario), "--seed", "3"]) == 0
    out = capsys.readouterr().out
    assert "small: hybrid, sawl; seed 3" in out
    assert "Gb/s" in out
    assert contents(scenario.parent) == {"small.toml"}


def test_json_has_the_stable_keys_in_base_units(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(scenario), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == [
        "seed",
        *SUMMARY,
        "window",
        "size_classes",
        "weak",
        "fairness",
        "warnings",
        "provenance",
    ]
    assert found["seed"] == 1
    assert found["flows"] == 40
    assert found["delivered_bytes"] == 40 * 30_000
    assert found["throughput_bps"] == pytest.approx(8 * 1.2e6 / found["makespan_s"])
    assert found["provenance"]["version"] == version("lightburst")
    assert found["provenance"]["scenario"]["switching"]["buffer_ports"] == 2


def test_set_changes_one_field_or_the_whole_switch(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    digests = set()
    for change in (
        ["switching.buffer_ports=0"],
        ["switching.kind=all-optical"],
        ["switching.kind=electronic"],
        ["switching.kind=electronic", "workload.flows=20"],
    ):
        options = [word for setting in change for word in ("--set", setting)]
        assert main(["run", str(scenario), "--format", "json", *options]) == 0
        found = json.loads(capsys.readouterr().out)
        digests.add(found["digest"])
        assert found["flows"] == (20 if len(change) == 2 else 40)
    # Without ports the switch is equal to the all-optical one bit for bit.
    assert len(digests) == 3


def test_the_same_seed_gives_the_same_digest_and_another_one_does_not(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = []
    for seed in ("7", "7", "8"):
        assert main(["run", str(scenario), "--format", "json", "--seed", seed]) == 0
        found.append(json.loads(capsys.readouterr().out)["digest"])
    assert found[0] == found[1] != found[2]


def test_csv_has_one_line_for_each_seed(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(scenario), "--format", "csv", "--replications", "3"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["seed"] for row in rows] == ["1", "2", "3"]
    names = list(rows[0])
    assert names[: 1 + len(SUMMARY)] == ["seed", *SUMMARY]
    by_size = names[1 + len(SUMMARY) : -1]
    assert by_size[0] == "flows[below 100 kB]"
    assert len(by_size) == 3 * 9
    assert names[-1] == "warnings"
    assert len({row["digest"] for row in rows}) == 3
    assert main(["run", str(scenario), "--format", "csv", "--seed", "2"]) == 0
    single = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert single[0]["digest"] == rows[1]["digest"]


def test_replications_give_means_with_intervals(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(scenario), "--format", "json", "--replications", "5"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["seeds"] == [1, 2, 3, 4, 5]
    throughput = found["summary"]["throughput_bps"]
    values = [run["throughput_bps"] for run in found["runs"]]
    assert throughput["mean"] == pytest.approx(sum(values) / 5)
    assert throughput["ci_low"] < throughput["mean"] < throughput["ci_high"]
    assert found["summary"]["energy_j"] == {"mean": None, "ci_low": None, "ci_high": None}
    assert "digest" not in found["summary"]


def test_a_saved_run_and_its_page(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(scenario), "--out", "saved"]) == 0
    saved = scenario.parent / "saved"
    assert contents(saved) == {
        "flows.parquet",
        "links.parquet",
        "switches.parquet",
        "run.json",
        "SHA256SUMS",
    }
    capsys.readouterr()
    assert main(["report", "saved"]) == 0
    page = Path(capsys.readouterr().out.strip())
    assert page.resolve() == saved / "index.html"
    text = page.read_text(encoding="utf-8")
    assert "What the switches did" in text
    assert json.loads((saved / "run.json").read_text())["provenance"]["digest"] in text
    # A later run replaces the earlier one, page and all.
    assert main(["run", str(scenario), "--out", "saved"]) == 0
    assert "index.html" not in contents(saved)


def test_saved_replications_and_their_page(scenario: Path) -> None:
    assert main(["run", str(scenario), "--replications", "3", "--out", "saved"]) == 0
    saved = scenario.parent / "saved"
    assert contents(saved) == {"runs.parquet", "replications.json", "SHA256SUMS"}
    assert main(["report", "saved"]) == 0
    assert "3 seeds, 1 to 3" in (saved / "index.html").read_text(encoding="utf-8")


def test_pages_have_the_rows_that_the_command_prints(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """TCP through electronic switches: no bursts, no scripted drops, no energy, no buffer."""
    electronic = SCENARIO.replace('"hybrid"\nbuffer_ports = 2', '"electronic"')
    scenario.write_text(electronic.replace("sawl", "tcp"), encoding="utf-8")
    meaningless = {"drops_missed", "energy_j", "assembly_mean_s", "unfinished", "digest"}
    meaningless |= {key for key in SUMMARY if key.startswith(("burst", "false", "spurious"))}
    # All segments arrive in order and in time.
    meaningless |= {"fast_retransmits", "reordered"}
    # They follow other metrics.
    meaningless |= {key for key in SUMMARY if is_support(key)}
    for number in ("1", "3"):
        command = ["run", str(scenario), "--replications", number, "--out", "saved"]
        assert main(command) == 0
        printed = capsys.readouterr().out
        assert main(["report", "saved"]) == 0
        text = Path(capsys.readouterr().out.strip()).read_text(encoding="utf-8")
        assert "<h1>small</h1>" in text
        rows = {key for key in SUMMARY if f"<td>{words_of(key)}</td>" in text}
        assert rows == {key for key in SUMMARY if f"│ {words_of(key)} " in printed}
        assert rows == set(SUMMARY) - meaningless
        assert not [key for key in meaningless - {"digest"} if f">{key}<" in text]
        assert "free port into the buffer" not in text


BAD: dict[str, tuple[list[str], list[str]]] = {
    "no such file": (["run", "nowhere.toml"], ["nowhere.toml"]),
    "a directory in place of a file": (["run", "."], ["file"]),
    "no equals sign": (
        ["run", "small.toml", "--set", "switching.buffer_ports"],
        ["--set", "PATH=VALUE"],
    ),
    "unknown key": (["run", "small.toml", "--set", "switching.colour=red"], ["switching.colour"]),
    "unknown kind": (
        ["run", "small.toml", "--set", "switching.kind=magic"],
        ["switching.kind", "magic", "all-optical"],
    ),
    "wrong unit": (
        ["run", "small.toml", "--set", "topology.link_rate=10 gb/s"],
        ["topology.link_rate", "10 gb/s", "Gb/s"],
    ),
    "odd k": (["run", "small.toml", "--set", "topology.k=5"], ["topology.k", "5", "even"]),
    "more buffer ports than ports": (
        ["run", "small.toml", "--set", "switching.buffer_ports=9"],
        ["switching.buffer_ports", "9"],
    ),
    "negative seed": (["run", "small.toml", "--seed", "-1"], ["--seed", "-1"]),
    "seed beyond 64 bits": (["run", "small.toml", "--seed", str(2**64)], ["seed", str(2**64)]),
    "seed in words": (["run", "small.toml", "--seed", "one"], ["--seed", "one"]),
    "no replications": (["run", "small.toml", "--replications", "0"], ["--replications", "0"]),
    "unknown format": (["run", "small.toml", "--format", "xml"], ["--format", "xml", "csv"]),
    "out is a file": (["run", "small.toml", "--out", "small.toml"], ["--out", "small.toml"]),
    "out below a file": (["run", "small.toml", "--out", "small.toml/x"], ["--out", "small.toml"]),
    "out holds other things": (
        ["run", "small.toml", "--out", "notes"],
        ["--out", "notes", "earlier result"],
    ),
    "out is the working directory": (
        ["run", "small.toml", "--out", "."],
        ["--out", "working directory"],
    ),
    "out where nobody writes": (["run", "small.toml", "--out", "/proc/x"], ["--out", "/proc/x"]),
    "replications to a file": (
        ["run", "small.toml", "--replications", "2", "--out", "small.toml"],
        ["--out", "small.toml"],
    ),
    "unknown paper": (["reproduce", "nobody1999"], ["nobody1999", "minakhmetov2018/fig2a"]),
    "unknown figure": (["reproduce", "minakhmetov2018/fig9"], ["fig9", "minakhmetov2018/fig2a"]),
    "no workers": (["reproduce", "minakhmetov2018", "--workers", "0"], ["--workers", "0"]),
    "reproduction to a file": (
        ["reproduce", "minakhmetov2018", "--quick", "--out", "small.toml"],
        ["--out", "small.toml"],
    ),
    "unknown topic": (["list", "colours"], ["list", "colours", "topologies"]),
    "nothing saved there": (["report", "."], ["DIR", "reproduce --out"]),
    "unknown command": (["simulate"], ["no such command 'simulate'; allowed: run, sweep, opt"]),
    "unknown model": (["model", "yu2003"], ["no such command 'yu2003'; allowed: yu2004, padhye"]),
    "unknown option": (
        ["run", "small.toml", "--sed", "1"],
        ["no such option: --sed; allowed: --set, --seed, ", ", --out, --yes, --help"],
    ),
    "unknown option of all": (["--nope"], ["no such option: --nope; allowed: --version, --help"]),
    "no scenario": (["run"], ["scenario: given nothing; allowed: a TOML file"]),
    "no loss": (["model", "yu2004"], ["--loss: given nothing; allowed: loss probability"]),
    "two scenarios": (
        ["run", "small.toml", "b.toml"],
        ["extra argument(s) (b.toml); allowed: lightburst run [OPTIONS] {scenario}"],
    ),
    "an option without its value": (["run", "small.toml", "--seed"], ["'--seed' requires"]),
    "a flag with a value": (["reproduce", "x", "--quick=3"], ["'--quick' does not take"]),
    "a trace as CSV": (
        ["trace", "small.toml", "--format", "csv"],
        ["--format: given 'csv'; allowed: one of table, json"],
    ),
    "claims as CSV": (["reproduce", "x", "--format", "csv"], ["--format", "table, json"]),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gets_one_message_and_leaves_nothing(
    name: str, scenario: Path, notes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, words = BAD[name]
    before = contents(scenario.parent)
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("lightburst: ")
    assert said.err.count("\n") == 1
    for word in words:
        assert word in said.err
    assert contents(scenario.parent) == before


@pytest.mark.parametrize("words", [[], ["model"]])
def test_without_words_there_is_help(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    said = capsys.readouterr()
    assert "Usage: lightburst" in said.out
    assert said.err == ""


def test_every_error_of_a_file_is_told_at_once(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = SCENARIO.replace("k = 4", "k = 5").replace("flows = 40", "flows = 0")
    scenario.write_text(broken, encoding="utf-8")
    assert main(["run", str(scenario)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert any("topology.k" in line for line in lines)
    assert any("workload.flows" in line for line in lines)


def test_a_damaged_result_is_named_and_not_replaced(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(scenario), "--out", "saved"]) == 0
    (scenario.parent / "saved" / "flows.parquet").write_bytes(b"no parquet")
    capsys.readouterr()
    assert main(["report", "saved"]) == 2
    assert "flows.parquet (damaged" in capsys.readouterr().err
    assert "index.html" not in contents(scenario.parent / "saved")


def test_list_names_all_that_a_scenario_can_say(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    lines = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines())
    assert lines["switches"].startswith("all-optical, hybrid, electronic, burst")
    assert "minakhmetov2018/fig2a" in lines["papers"]
    for topic, names in lines.items():
        assert main(["list", topic]) == 0
        out = capsys.readouterr().out
        assert all(name in out for name in names.split(", "))
        assert not set("`*") & set(out)
    assert main(["list", "switches"]) == 0
    out = capsys.readouterr().out
    assert "buffer_ports = 2" in out
    assert "queue_size = 900 kB" in out
    assert "ecn_threshold = off" in out


def test_the_schema_is_json_and_knows_the_kinds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert {"topology", "switching", "transport", "workload"} <= set(schema["properties"])


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "lightburst.cli", *words]


def test_the_version_comes_at_once() -> None:
    heavy = "pandas", "matplotlib", "altair", "numpy", "pydantic"
    code = (
        "import sys; from lightburst.cli import main; code = main(['--version']); "
        f"sys.exit(code or any(name in sys.modules for name in {heavy!r}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"lightburst {version('lightburst')}\n"


def test_a_run_reads_in_no_papers_and_no_pictures(scenario: Path) -> None:
    heavy = "lightburst.papers", "lightburst.models", "scipy.stats", "matplotlib", "altair"
    code = (
        "import sys; from lightburst.cli import main; code = main(['run', 'small.toml']); "
        f"sys.exit(code or any(name in sys.modules for name in {heavy!r}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], timeout=60, check=False, cwd=scenario.parent
    )
    assert done.returncode == 0


def test_a_reader_that_goes_away_is_no_error(scenario: Path) -> None:
    producer = subprocess.Popen(
        command("schema"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert producer.stdout is not None
    assert producer.stderr is not None
    producer.stdout.close()
    said = producer.stderr.read()
    producer.stderr.close()
    assert producer.wait(60) == 0
    assert said == ""


def finished_runs(directory: Path) -> int:
    store = directory / ".lightburst" / "runs" / "index.sqlite"
    if not store.is_file():
        return 0
    with contextlib.closing(sqlite3.connect(store)) as database:
        try:
            return int(database.execute("SELECT count(*) FROM runs").fetchone()[0])
        except sqlite3.OperationalError:  # the table is not there yet
            return 0


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
@pytest.mark.parametrize("several", [False, True])
def test_ctrl_c_ends_and_keeps_what_was_finished(scenario: Path, several: bool) -> None:
    if several:
        words = ["--replications", "100000", "--yes"]
    else:
        words = ["--set", "workload.flows=2000000", "--set", "topology.k=16"]
    words = ["run", str(scenario), "--out", "saved", *words]
    program = "from lightburst.cli import main; sys.exit(main())"
    process = started(program, *words, cwd=scenario.parent)
    time.sleep(3)
    patience = time.monotonic() + 60
    while several and not finished_runs(scenario.parent) and time.monotonic() < patience:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert out == ""
    assert "lightburst: interrupted" in err
    assert "Traceback" not in err
    assert "saved" not in contents(scenario.parent)
    assert ("finished runs are kept" in err) == several
    assert bool(finished_runs(scenario.parent)) == several

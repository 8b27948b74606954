"""The memory of a run, and its estimate."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import psutil
import pytest

import lightburst as lb
from lightburst.cli import main
from lightburst.compile import compile_plan, estimate_memory
from lightburst.foundation import memory
from memory_scenarios import scenarios

# The largest resident set, in KiB. That of getrusage begins with that of the process before it.
PEAK = dedent(
    """
    def peak():
        lines = open("/proc/self/status").read().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    """
)
# The paper's path: p = 0.001 and W_m = 50, so that both the window and losses are at work.
RUN = PEAK + dedent(
    """
    import json, sys
    import lightburst as lb

    path = {
        "name": "yu2004's path",
        "topology": {"kind": "obs-path", "access_rate": "1 Gb/s"},
        "switching": {"kind": "burst", "assembly": {"kind": "timer", "time": "1 ms"}},
        "loss": {"probability": 0.001},
        "transport": {"kind": "tcp", "segment_size": "1 kB", "advertised_window": 50},
        "workload": {"kind": "pairs", "size": {"kind": "constant", "value": "1000 TB"}},
        "measurement": {"time_limit": sys.argv[1], "synchronisation": {"bin": "1 ms"}},
    }
    result = lb.run(lb.Scenario.from_dict(path), seed=1)
    print(json.dumps([int(result.flows["delivered_bytes"].sum()) // 960, peak()]))
    """
)


def segments_and_peak(time_limit: str) -> tuple[int, int]:
    """Run in a separate process, whose peak is no other test's; in KiB."""
    words = [sys.executable, "-c", RUN, time_limit]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    segments, peak = json.loads(done.stdout)
    return segments, peak


LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the system says it on Linux alone")


@LINUX
def test_ten_times_the_simulated_time_takes_the_same_memory() -> None:
    (few, before), (many, after) = segments_and_peak("300 s"), segments_and_peak("3000 s")
    number_each = (many - few) * 8 / 1024
    assert number_each > 10_000, "eight bytes a segment would not be seen"
    grown = after - before
    assert grown < 2_000, f"{grown} KiB; eight bytes a segment are {number_each:.0f}"


# Short connections one after the other: some ten are in progress at once.
CONNECTIONS = PEAK + dedent(
    """
    import sys
    from lightburst import Scenario, run

    short = {
        "topology": {"kind": "fat-tree", "k": 4},
        "switching": {"kind": "electronic"},
        "transport": {"kind": "tcp", "preset": "datacentre"},
        "workload": {
            "kind": "poisson",
            "arrival_rate": "1e5 /s",
            "duration": sys.argv[1],
            "size": {"kind": "constant", "value": "9 kB"},
        },
    }
    result = run(Scenario.from_dict(short), 1)
    assert result.metrics["finished"] == result.metrics["flows"]
    print(result.metrics["flows"], result.columns["flows"].nbytes + result.plan.nbytes, peak())
    """
)


@LINUX
def test_of_connections_that_are_over_only_their_rows_are_left() -> None:
    """Ten times the simulated time: some eight numbers a flow, and six more while it is summed up.

    The two endpoints of a connection take 1,000 bytes, and its row, all numbers of 64 bits, 200.
    """
    found = []
    for duration in ("0.5 s", "5 s"):
        words = [sys.executable, "-c", CONNECTIONS, duration]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        found.append([int(number) for number in done.stdout.split()])
    flows, rows, peak = (after - before for before, after in zip(*found, strict=True))
    assert flows > 440_000
    assert rows / flows < 68, f"{rows / flows:.0f} bytes are kept"
    assert peak * 1024 / flows < 130, f"{peak * 1024 / flows:.0f} bytes at the peak"


# Runs a scenario and reads all tables, as a user would; prints peak and estimate in MiB.
WHOLE = PEAK + dedent(
    """
    import json, sys
    import pandas, scipy.sparse.csgraph  # what the tables import is no part of a run
    import lightburst as lb
    from lightburst.simulation import simulate
    from lightburst.foundation.memory import held_memory
    from lightburst.trace.network import NetworkTrace

    estimate, seen = simulate.estimate_memory, []

    def kept(plan, *others):
        # What is there before, but for the plan, of which the estimate knows.
        seen.append(held_memory() - plan.nbytes + estimate(plan, *others))
        return seen[-1]

    simulate.estimate_memory = kept
    scenario, before = lb.Scenario.from_dict(json.loads(sys.argv[1])), None
    if scenario.measurement.network is not None:
        # How many bursts there are is known from a run without a trace.
        before = lb.run(scenario.with_(measurement__network=None), seed=1)
        seen.clear()
    result = lb.run(scenario, seed=1, before=before)
    result.record, result.flows, result.links, result.switches
    if result.scenario.measurement.network is not None:
        NetworkTrace.of(result)
    if result.scenario.measurement.reordering is not None:
        result.reordering
    if result.scenario.measurement.synchronisation is not None:
        result.synchronisation
    if result.scenario.measurement.trace:
        result.trace.segments, result.trace.windows, result.trace.bursts, result.trace.hops
    if result.scenario.measurement.sample is not None:
        result.samples.links, result.samples.switches
    print(json.dumps([seen[0] / 2**20, peak() / 1024]))
    """
)
QUICK = ("hybrid, small", "TCP", "datagrams", "datagrams in one queue", "trace", "samples")


def estimate_and_peak(scenario: dict[str, Any]) -> tuple[float, float]:
    """Run in a separate process, whose peak is no other test's; in MiB."""
    words = [sys.executable, "-W", "ignore", "-c", WHOLE, json.dumps(scenario)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    estimate, peak = json.loads(done.stdout)
    return estimate, peak


def hold(found: dict[str, tuple[float, float]]) -> None:
    """Print the table, and check each row."""
    print(f"\n{'MiB':26}{'estimate':>10}{'peak':>8}{'ratio':>7}")
    for name, (estimate, peak) in found.items():
        print(f"{name:26}{estimate:10,.0f}{peak:8,.0f}{estimate / peak:7.2f}")
    assert [name for name, (estimate, peak) in found.items() if estimate < peak] == []
    assert [name for name, (estimate, peak) in found.items() if estimate > 1.5 * peak] == []


@LINUX
def test_the_estimate_is_never_below_the_peak_nor_far_above() -> None:
    every = scenarios(full=False)
    hold({name: estimate_and_peak(every[name]) for name in QUICK})


@LINUX
@pytest.mark.slow
@pytest.mark.parametrize("full", [False, True], ids=["of seconds", "of minutes"])
def test_the_estimate_of_scenarios_of_all_kinds(full: bool) -> None:
    """From 1.01 (datagrams in one queue, small) to 1.44 times the peak (windows in one queue)."""
    every = scenarios(full)
    assert len(every) >= 20
    hold({name: estimate_and_peak(scenario) for name, scenario in every.items()})


def test_made_bursts_take_the_memory_of_their_own_lengths() -> None:
    """Not that of the longest: the estimate was 9.8 GB for a run that takes 125 MB."""
    estimates = []
    for kind, key in (("constant", "value"), ("exponential", "mean")):
        scenario = {
            "topology": {"kind": "nsfnet"},
            "switching": {"kind": "obs", "ingress": "lose"},
            "transport": {"kind": "bursts", "packet_size": "1500 B"},
            "workload": {
                "kind": "poisson",
                "load": 0.1,
                "flows": 30_000,
                "between": "edges",
                "size": {"kind": kind, key: "1 MB"},
            },
        }
        plan = compile_plan(lb.Scenario.from_dict(scenario), 1)
        estimates.append(estimate_memory(plan) - plan.nbytes)
    assert estimates[1] == pytest.approx(estimates[0], rel=0.1)
    assert estimates[0] < 500e6


def test_senders_that_answer_marks_wait_for_no_timeout() -> None:
    """In the run none does; without marks a sixth of the connections is taken to wait 10 ms."""
    base = scenarios(full=False)["a large load"]

    def estimate(**switching: str) -> int:
        changed = {"kind": "electronic", "queue_size": "2 MB", **switching}
        scenario = lb.Scenario.from_dict({**base, "switching": changed})
        return estimate_memory(compile_plan(scenario, 1))

    early, late, never = (
        estimate(ecn_threshold="400 kB"),
        estimate(ecn_threshold="1 MB"),
        estimate(),
    )
    assert late == never
    assert early < 0.9 * never


def test_further_subflows_have_places_in_the_network() -> None:
    """Three million further numbers took 57 MiB more at the peak of a run: 20 B each."""
    base = scenarios(full=False)["TCP"]

    def estimate(subflows: int) -> float:
        transport = base["transport"] | {"subflows": subflows}
        scenario = lb.Scenario.from_dict({**base, "transport": transport})
        return estimate_memory(compile_plan(scenario, 1))

    flows = base["workload"]["flows"]
    assert 20 * 3 * flows < estimate(4) - estimate(1) < 40 * 3 * flows


def test_a_data_level_has_a_place() -> None:
    """40,000 connections of two subflows and 60 kB took 53 MB more at the peak of a run."""
    transport = {"kind": "tcp", "segment_size": "1500 B", "subflows": 2, "initial_window": 10}

    def estimate(**keys: bool) -> float:
        scenario = {
            "topology": {"kind": "fat-tree", "k": 4, "link_length": "1000 km"},
            "switching": {"kind": "electronic"},
            "transport": {**transport, **keys},
            "workload": {"kind": "poisson", "load": 0.9, "flows": 40_000, "size": "60 kB"},
        }
        return estimate_memory(compile_plan(lb.Scenario.from_dict(scenario), 1))

    for key in ("reinjection", "shared_window"):
        assert 40e6 < estimate(**{key: True}) - estimate() < 80e6


# Two pairs of hosts at 40 Gb/s, and 1 Gb/s between them, in 2 s: 166,666.7 segments.
DUMBBELL = """
[topology]
kind = "graph"
link_rate = "40 Gb/s"
links = [
    { source = "a", target = "s" }, { source = "b", target = "s" },
    { source = "s", target = "t", rate = "1 Gb/s" },
    { source = "t", target = "c" }, { source = "t", target = "d" },
]

[switching]
kind = "electronic"
queue_size = "150 kB"

[transport]
kind = "tcp"
segment_size = "1500 B"

[workload]
kind = "pairs"
size = { kind = "constant", value = "1000 TB" }

[measurement]
time_limit = "2 s"
"""


@pytest.fixture
def dumbbell(tmp_path: Path) -> Path:
    (tmp_path / "dumbbell.toml").write_text(DUMBBELL, "utf-8")
    return tmp_path / "dumbbell.toml"


@pytest.mark.parametrize(
    ("changes", "segments"),
    [
        ({}, 166_666),
        ({"topology.wavelengths": 3}, 500_000),
        ({"workload.size": {"kind": "constant", "value": "15 MB"}}, 10_000),
        ({"measurement.trace": [0, 1]}, 333_333),
    ],
)
def test_a_trace_has_what_the_slowest_certain_link_carries(
    dumbbell: Path, changes: dict[str, Any], segments: int
) -> None:
    scenario = lb.load(dumbbell).with_({"measurement.trace": [0], **changes})
    plain = estimate_memory(compile_plan(scenario.with_(measurement__trace=[]), 1))
    plan = compile_plan(scenario, 1)

    def known(*sent: int) -> int:
        flows = {"transmissions": np.array(sent, np.uint64)}
        return estimate_memory(plan, {"flows": flows}) - plain

    traced = len(plan.settings["trace"])
    assert known(0, 0) == 0
    assert estimate_memory(plan) - plain == pytest.approx(
        known(segments // traced, segments // traced), rel=1e-4
    )
    # Over three links, with an acknowledgement for every second one.
    assert known(1000, 1000) / traced / 1000 == 1.5 * (2 * 800 + 3 * 150) + 0.5 * 190


def test_explain_knows_what_its_first_run_sent(
    dumbbell: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A trace of flow 1 could be as large as the link allows; the flow has only half of it."""
    plan = compile_plan(lb.load(dumbbell).with_({"measurement.trace": [1]}), 1)
    needed = estimate_memory(plan)
    monkeypatch.setattr(memory, "available_memory", lambda: 0.8 * needed)
    assert lb.explain(dumbbell, 1).result.flows["transmissions"][1] > 0.4 * 166_666
    assert main(["trace", str(dumbbell), "--flow", "1"]) == 2
    said = capsys.readouterr().err
    assert "whose trace until measurement.time_limit (2 s) has up to 166,666 segments" in said


V1 = "31 23 0:28 / {point} rw - cgroup cgroup rw,memory\n"
V2 = "29 23 0:26 {inside} {point} rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")


def group(limit: int | str, used: int, version: int, spare: int = 0) -> dict[str, str]:
    """Files of a control group, in MiB."""
    most = limit if isinstance(limit, str) else str(limit * 2**20)
    names = {1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")}
    names[2] = ("memory.max", "memory.current", "inactive_file")
    stat = f"anon 5\n{names[version][2]} {spare * 2**20}\n"
    return {
        names[version][0]: most + "\n",
        names[version][1]: str(used * 2**20),
        "memory.stat": stat,
    }


@pytest.mark.parametrize(
    ("cgroup", "mounts", "groups", "left"),
    [
        # Version 2: the one above is tighter; the outermost has no files.
        (
            "0::/a/b\n",
            V2.format(inside="/", point="/sys/fs/cgroup"),
            {"sys/fs/cgroup/a/b": group(40, 10, 2), "sys/fs/cgroup/a": group(30, 25, 2)},
            5,
        ),
        # The group itself is tighter, and its file cache can be reclaimed; the parent has no limit.
        (
            "0::/a/b\n",
            V2.format(inside="/", point="/sys/fs/cgroup"),
            {"sys/fs/cgroup/a/b": group(40, 35, 2, 3), "sys/fs/cgroup/a": group("max", 99, 2)},
            8,
        ),
        # A container that sees its own group as the outermost, by namespace or by mount.
        ("0::/\n", V2.format(inside="/", point="/g"), {"g": group(20, 13, 2)}, 7),
        ("0::/box/1\n", V2.format(inside="/box/1", point="/g"), {"g": group(20, 13, 2)}, 7),
        # Version 1, beside an empty version 2.
        (
            "4:memory,hugetlb:/job/step\n2:cpu:/x\n0::/\n",
            V1.format(point="/m") + V2.format(inside="/", point="/u"),
            {"m/job/step": group(60, 1, 1), "m/job": group(50, 39, 1), "m": group(2**43, 0, 1)},
            11,
        ),
        # The group uses more than its limit.
        ("0::/\n", V2.format(inside="/", point="/g"), {"g": group(20, 25, 2)}, 0),
    ],
)
def test_the_tightest_control_group_counts(
    tmp_path: Path, cgroup: str, mounts: str, groups: dict[str, dict[str, str]], left: int
) -> None:
    write(tmp_path, {"proc/self/cgroup": cgroup, "proc/self/mountinfo": mounts})
    for place, files in groups.items():
        write(tmp_path / place, files)
    assert memory.available_memory(tmp_path) == left * 2**20


def test_without_control_groups_the_machine_counts(tmp_path: Path) -> None:
    assert 0 < memory.available_memory(tmp_path) <= psutil.virtual_memory().total


def limited(arguments: list[str], gigabytes: int) -> subprocess.CompletedProcess[str]:
    """Run the command with few addresses."""
    program = (
        "import resource, sys\n"
        f"resource.setrlimit(resource.RLIMIT_AS, ({gigabytes} * 2**30,) * 2)\n"
        "from lightburst.cli import main\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    words = [sys.executable, "-c", program, *arguments]
    return subprocess.run(words, capture_output=True, text=True, check=False)


@LINUX
def test_what_ulimit_leaves_is_not_exceeded(dumbbell: Path) -> None:
    wanted = ["--set", "transport.kind=datagram", "--set", "measurement.time_limit=200 s"]
    done = limited(["run", str(dumbbell), *wanted], 6)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("lightburst: scenario: given one that needs about ")
    assert len(done.stderr.splitlines()) == 1

"""How much memory a run takes, and what is said of it before."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

import lightburst as lb
from lightburst.cli import main
from lightburst.compile import compile_plan, estimate_memory, memory

# The paper's path: p = 0.001 and W_m = 50, so that both the window and losses are at work.
RUN = dedent(
    """
    import json, resource, sys
    import lightburst as lb

    path = {
        "name": "yu2004's path",
        "topology": {"kind": "obs-path", "access_rate": "1 Gb/s"},
        "switching": {"kind": "burst", "assembly": {"kind": "timer", "time": "1 ms"}},
        "loss": {"probability": 0.001},
        "transport": {"kind": "tcp", "segment_size": "1 kB", "advertised_window": 50},
        "workload": {"kind": "pairs", "size": {"kind": "constant", "value": "1000 TB"}},
        "measurement": {"time_limit": sys.argv[1]},
    }
    result = lb.run(lb.Scenario.from_dict(path), seed=1)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps([int(result.flows["delivered_bytes"].sum()) // 960, peak]))
    """
)


def segments_and_peak(time_limit: str) -> tuple[int, int]:
    """Run in a process of its own, whose peak is no other test's; in KiB."""
    words = [sys.executable, "-c", RUN, time_limit]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    segments, peak = json.loads(done.stdout)
    return segments, peak


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB on Linux alone")
def test_ten_times_the_simulated_time_takes_the_same_memory() -> None:
    (few, before), (many, after) = segments_and_peak("300 s"), segments_and_peak("3000 s")
    number_each = (many - few) * 8 / 1024
    assert number_each > 10_000, "eight bytes a segment would not be seen"
    grown = after - before
    assert grown < 2_000, f"{grown} KiB; eight bytes a segment are {number_each:.0f}"


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
    each = memory._BYTES_PER_TRACED_SEGMENT + 3 * memory._BYTES_PER_TRACED_HOP
    assert estimate_memory(plan) - plain == segments * each
    assert estimate_memory(plan, np.array([5, 7], np.uint64)) - plain == sum(
        (5, 7)[flow] * each for flow in plan.settings["trace"]
    )


def test_explain_knows_what_its_first_run_sent(
    dumbbell: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A trace of flow 1 could be as large as the link allows; the flow has only half of it."""
    each = memory._BYTES_PER_TRACED_SEGMENT + 3 * memory._BYTES_PER_TRACED_HOP
    monkeypatch.setattr(memory, "available_memory", lambda: 0.8 * 166_666 * each)
    assert lb.explain(dumbbell, 1).result.flows["transmissions"][1] > 0.4 * 166_666
    assert main(["trace", str(dumbbell), "--flow", "1"]) == 2
    said = capsys.readouterr().err
    assert "whose trace until measurement.time_limit (2 s) has up to 166,666 segments" in said

"""How much memory a run takes does not depend on how long it simulates."""

from __future__ import annotations

import json
import subprocess
import sys
from textwrap import dedent

import pytest

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

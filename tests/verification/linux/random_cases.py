"""Random cases for the recorder, and the comparison of their recordings with the core's sender.

``random_cases.py FROM TO DIR`` records the cases of these seeds, three at most where a recording
differs, and prints the fields that differ. The ticks of the kernel have a phase that no recording
tells: a case counts as equal if it is for one of 80 phases. Run with tests and tests/verification
on PYTHONPATH, as root.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

from linux.core import replay
from linux.recorded import RUNGS, Row, differences

_RECORDER = Path(__file__).with_name("record.py")
_PHASES_US = range(0, 32_000, 400)
_REPEATS = 3


def random_case(seed: int) -> dict[str, Any]:
    """A connection with losses, lost acknowledgements, reordering and marks."""
    random = Random(seed)
    pick = random.choice
    case: dict[str, Any] = {
        "cc": pick(["reno", "cubic"]),
        "segments": pick([20, 60, 150, 300]),
        "rtt_ms": pick([10.0, 20.0, 40.0, 80.0]),
        "rate_mbps": pick([6.0, 12.0, 30.0, 0]),
        "buffer": pick([None, None, 20, 60]),
        "sack": random.random() < 0.85,
        "dsack": random.random() < 0.8,
        "ecn": random.random() < 0.25,
        "ack_every": pick([1, 1, 2]),
        "initcwnd": pick([None, None, 3, 20, 40]),
        "limit_s": 8.0,
    }
    # The echoes of delayed acknowledgements are not in a recording.
    case["timestamps"] = case["ack_every"] == 1 and random.random() < 0.4
    n = case["segments"]
    case["drops"] = sorted(map(list, random_drops(random, n)))
    if random.random() < 0.3:
        case["ack_drops"] = sorted(random.sample(range(1, n + 1), min(n, pick([1, 3, 10]))))
    if random.random() < 0.35:
        held = random.sample(range(1, n - 15 if n > 20 else 5), pick([1, 2, 3]))
        case["holds"] = [[segment, pick([2, 4, 8, 15])] for segment in sorted(held)]
    if case["ecn"]:
        case["marks"] = [[random.randint(1, n), 1] for _ in range(pick([1, 2, 5]))]
    settings = {
        "recovery": [1, 3, 5],
        "frto": [0],
        "early_retrans": [0, 3],
        "reordering": [5, 8],
    }
    case["sysctl"] = {
        f"net.ipv4.tcp_{name}": pick(values)
        for name, values in settings.items()
        if random.random() < 0.2
    }
    return case


def random_drops(random: Random, n: int) -> set[tuple[int, int]]:
    """Single losses, bursts and tails, as segment and number of its transmission."""
    drops: set[tuple[int, int]] = set()
    for _ in range(random.choice([0, 1, 2, 3, 6, 12])):
        first = random.randint(1, n)
        length = random.choice([3, 5, 9]) if random.random() < 0.4 else 1
        drops |= {(segment, 1) for segment in range(first, min(n + 1, first + length))}
    drops |= {(segment, 2) for segment, _ in sorted(drops) if random.random() < 0.15}
    if random.random() < 0.3:
        drops |= {(segment, 1) for segment in range(n - random.choice([0, 1, 2, 5]), n + 1)}
    return drops


def record(case: dict[str, Any], folder: Path, name: str) -> Row:
    """Record a case in a process of its own, which gets a network namespace."""
    given, out = folder / f"{name}.case.json", folder / f"{name}.json"
    given.write_text(json.dumps(case))
    found = os.environ | {"PYTHONPATH": str(_RECORDER.parents[1])}
    subprocess.run([sys.executable, _RECORDER, given, out], check=True, env=found)
    recorded: Row = json.loads(out.read_text())
    return recorded | {"id": name, "stable": dict.fromkeys(RUNGS, True)}


def compared(recorded: Row) -> list[str]:
    """Fields in which the core's sender differs from a recording, at the best phase of ticks."""
    best: list[str] | None = None
    for phase in _PHASES_US:
        found = differences(recorded, replay(recorded, phase_us=phase))
        if not found:
            return []
        best = found if best is None else min(best, found, key=len)
    return best or []


def main(first: str, end: str, folder: str) -> None:
    equal = 0
    for seed in range(int(first), int(end)):
        for repeat in range(_REPEATS):
            found = compared(record(random_case(seed), Path(folder), f"{seed}-{repeat}"))
            if not found:
                equal += 1
                break
        else:
            print(seed, *found, sep="\n  ", flush=True)
    print(f"{equal} of {int(end) - int(first)} cases equal")


if __name__ == "__main__":
    main(*sys.argv[1:])

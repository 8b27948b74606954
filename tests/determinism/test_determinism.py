"""Same plan, same seed, same bits: on threads, in processes, and again."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lightburst.compile import compile_plan
from lightburst.scenario import Scenario
from lightburst.simulation.simulate import run

# Packets of TCP may overtake each other here.
pytestmark = pytest.mark.filterwarnings("ignore:.* retransmissions by flows without losses")

SEEDS = (1, 2, 3, 4)
SWITCHES = ("all-optical", "hybrid", "electronic", "burst")
TRANSPORTS = ("saw", "sawl", "tcp", "datagram")
# Further required settings of each kind of switch.
MORE = {"burst": {"assembly": {"kind": "mixed", "time": "2 us", "size": "30 kB"}}}


def scenario(switch: str, transport: str, choice: str = "free") -> Scenario:
    """Enough load on a small fat-tree for drops, buffering and retransmissions."""
    return Scenario.from_dict(
        {
            "topology": {"kind": "fat-tree", "k": 4},
            "routing": {"choice": choice},
            "switching": {"kind": switch, **MORE.get(switch, {})},
            "loss": {"probability": 0.01} if switch == "burst" else None,
            "transport": {"kind": transport},
            "workload": {
                "kind": "poisson",
                "arrival_rate": "1e7 /s",
                "flows": 128,
                "size": {"kind": "lognormal", "mu": 9.48, "sigma": 2.0, "max": "1 MiB"},
            },
        }
    )


ALL = [(switch, transport) for switch in SWITCHES for transport in TRANSPORTS]


def digests() -> list[str]:
    """Digests of all combinations and seeds, in a fixed order."""
    return [run(scenario(*names), seed).digest for names in ALL for seed in SEEDS]


@pytest.fixture(scope="module")
def expected() -> list[str]:
    first = digests()
    # Another seed, switch or transport is another result; else this file would prove nothing. (A
    # SAW and a SAWL run without loss never wait for a timer and may be equal.)
    assert len(set(first)) >= len(first) * 2 // 3
    return first


def test_repetition(expected: list[str]) -> None:
    assert digests() == expected


@pytest.mark.parametrize("threads", [1, 2])
def test_threads(expected: list[str], threads: int) -> None:
    with ThreadPoolExecutor(threads) as pool:
        runs = [pool.submit(run, scenario(*names), seed) for names in ALL for seed in SEEDS]
        assert [one.result().digest for one in runs] == expected


def test_two_processes(expected: list[str]) -> None:
    program = (
        "import json, sys; sys.path.insert(0, sys.argv[1])\n"
        "from test_determinism import digests\n"
        "print(json.dumps(digests()))\n"
    )
    command = [sys.executable, "-c", program, str(Path(__file__).parent)]
    # Another hash seed: nothing may depend on the order of a Python set or dictionary of strings.
    processes = [
        subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env={"PYTHONHASHSEED": hash_seed}
        )
        for hash_seed in ("1", "2")
    ]
    answers = [process.communicate(timeout=120)[0] for process in processes]
    assert [json.loads(answer) for answer in answers] == [expected, expected]


def test_other_sizes_leave_arrivals_and_pairs_alone() -> None:
    plan = compile_plan(scenario("hybrid", "sawl"), 1)
    other = scenario("hybrid", "sawl").with_({"workload.size.mu": 5})
    for name in ("start_ps", "source", "destination"):
        assert (compile_plan(other, 1).flows[name] == plan.flows[name]).all()
    assert (compile_plan(other, 1).flows["bytes"] != plan.flows["bytes"]).any()

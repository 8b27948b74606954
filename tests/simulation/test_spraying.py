"""Spraying over spines of which one is slow or broken: the table of docs/scenario.md."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import lightburst as lb

ROOT = Path(__file__).parents[2]
SPINES, MESSAGES, SIZE = 4, 2, 10_000_000
#: Seconds that a packet of 1,086 bytes takes on a link of 10 Gb/s, and packets of a message.
PACKET, PACKETS = 1086 * 8 / 10e9, -(-SIZE // 1024)
#: No message ends before its packets have left its host: 8.48 ms.
BOUND = PACKETS * PACKET

#: Settings of the choice, in the order of the table.
CHOICES: list[dict[str, int]] = [
    {"loss_penalty": 0},
    {},
    {"mark_penalty": 15},
    {"recycled": 8},
]


def _links(slow: str) -> list[dict[str, str]]:
    length = {"length": "10 m"}
    up = [
        {"source": leaf, "target": f"spine{n}", "rate": slow if n == 3 else "10 Gb/s"} | length
        for n in range(SPINES)
        for leaf in ("left", "right")
    ]
    hosts = [("left", "a"), ("left", "b"), ("right", "c"), ("right", "d")]
    return up + [
        {"source": host, "target": leaf, "rate": "10 Gb/s"} | length for leaf, host in hosts
    ]


Run = Callable[..., lb.Result]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run two messages from left to right; `slow`: a spine has 1 Gb/s, else it goes down."""
    flows = tmp_path_factory.mktemp("flows") / "flows.csv"
    flows.write_text(f"source,destination,start_s,size_bytes\n0,2,0,{SIZE}\n1,3,0,{SIZE}\n")

    @cache
    def result(*, slow: bool, reordering: int = 100, **choice: Any) -> lb.Result:
        scenario: dict[str, Any] = {
            "topology": {
                "kind": "graph",
                "links": _links("1 Gb/s" if slow else "10 Gb/s"),
                "hosts": "leaves",
            },
            "switching": {
                "kind": "electronic",
                "queue_size": "unlimited",
                "ecn_threshold": "10 kB",
            },
            "routing": {"choice": {"kind": "entropy-spray"} | choice},
            "transport": {
                "kind": "rdma",
                "congestion_control": "line-rate",
                "recovery": {"kind": "selective-repeat", "reordering": reordering},
                "max_inflight": "100 kB",
                "acknowledgement_timeout": "1 ms",
            },
            "workload": {"kind": "table", "file": str(flows)},
        }
        if not slow:
            scenario["events"] = [{"at": "1 ms", "link": ["left", "spine3"], "state": "down"}]
            scenario["restoration"] = {"delay": "never"}
        return lb.run(lb.Scenario.from_dict(scenario), seed=1)

    return result


def _end(result: lb.Result) -> float:
    """When the last message was received, in units of the bound."""
    assert result.flows.received_s.notna().all()
    return float(result.flows.received_s.max()) / BOUND


def _to_last_spine(result: lb.Result) -> int:
    links = result.links
    return int(links.units[(links.source == "left") & (links.target == "spine3")].iloc[0])


def test_oblivious_spraying_waits_for_its_slowest_spine(run: Run) -> None:
    """About a quarter of the values leads there, where a packet takes ten times as long."""
    result = run(slow=True, loss_penalty=0)
    units = _to_last_spine(result)
    assert units == pytest.approx(MESSAGES * PACKETS / SPINES, rel=0.25)
    assert _end(result) == pytest.approx(units * 10 * PACKET / BOUND, rel=0.002)
    assert result.flows.retransmissions.sum() == 0


def test_values_that_are_passed_over_leave_a_slow_spine(run: Run) -> None:
    """After each mark one turn is passed over, or 15; recycled values follow the rates."""
    ends = [_end(run(slow=True, **choice)) for choice in CHOICES]
    assert ends == pytest.approx([4.22, 2.42, 1.35, 1.0], rel=0.01)
    assert _to_last_spine(run(slow=True, recycled=8)) <= 1 + 1.01 * BOUND / (10 * PACKET)


def test_values_that_are_passed_over_leave_a_broken_spine(run: Run) -> None:
    """Oblivious spraying loses a quarter of what it sends; the timer alone tells, each 1 ms."""
    lost = [int(run(slow=False, **choice).flows.retransmissions.sum()) for choice in CHOICES]
    assert lost[0] > 10 * lost[1] == 10 * lost[2] > 1000 * lost[3] > 0
    ends = [_end(run(slow=False, **choice)) for choice in CHOICES]
    assert ends[0] > 5 * ends[1] == 5 * ends[2] > 15 * ends[3]
    assert ends[3] < 1.12


def test_packets_that_overtake_are_told(run: Run) -> None:
    """Nothing is lost; without `reordering` the receiver takes late packets for losses."""
    assert run(slow=True, recycled=8).warnings == ()
    with pytest.warns(lb.RunWarning, match="were unnecessary: paths of different delay"):
        result = run(slow=True, reordering=0, recycled=8)
    again, needless = (
        int(result.flows[name].sum()) for name in ("retransmissions", "spurious_retransmissions")
    )
    assert 0 < needless <= again
    assert result.warnings == (
        f"{needless} of {again} retransmissions were unnecessary: paths of different delay changed "
        "the order (routing.choice = 'entropy-spray'), for which reordering of the recovery allows",
    )


def test_the_numbers_are_those_of_the_page(run: Run) -> None:
    page = (ROOT / "docs" / "scenario.md").read_text(encoding="utf-8")
    for choice in CHOICES:
        own = "".join(f", {key} = {value}" for key, value in choice.items())
        name = f'{{ kind = "entropy-spray"{own} }}' if own else '"entropy-spray"'
        ends = [1e3 * BOUND * _end(run(slow=slow, **choice)) for slow in (True, False)]
        row = " | ".join(f"{end:.3g} ms" for end in ends)
        assert f"| `{name}` | {row} |" in page

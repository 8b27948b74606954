"""How far packets come out of order: exact, by theory, and by the flow's own table."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

import lightburst as lb
from lightburst.foundation.errors import InputError

#: 14.9 us more than 100 m.
LONGER = {"length": "3.08 km"}
#: A packet leaves each microsecond and draws one of two paths, on which waits are short.
TWO_WAYS: dict[str, Any] = {
    "topology": {
        "kind": "graph",
        "links": [
            {"source": "a", "target": "A"},
            {"source": "A", "target": "B", "name": "short", "rate": "100 Gb/s"},
            {"source": "A", "target": "B", "name": "long", "rate": "100 Gb/s", **LONGER},
            {"source": "B", "target": "b", "rate": "100 Gb/s"},
        ],
        "link_rate": "10 Gb/s",
        "link_length": "100 m",
    },
    "routing": {"choice": "random"},
    "switching": {"kind": "electronic"},
    "transport": {
        "kind": "datagram",
        "segment_size": "1250 B",
        "header_size": "0 B",
        "spacing": "constant",
    },
    "workload": {"kind": "pairs", "size": "25 MB"},
    "measurement": {"reordering": {"displacement_threshold": 50}},
}


def run(**changes: Any) -> lb.Result:
    return lb.run(lb.Scenario.from_dict({**TWO_WAYS, **changes}), seed=3)


def of(result: lb.Result, metric: str) -> dict[int, int]:
    table = result.reordering.query("metric == @metric")
    return dict(zip(table["value"].tolist(), table["packets"].tolist(), strict=True))


def test_datagrams_over_two_ways_are_overtaken_as_chance_has_it() -> None:
    """A packet on the longer path is passed by those of the next 14 on the shorter one."""
    result = run()
    (sent,) = result.flows["transmissions"].tolist()
    extents = of(result, "extent")
    assert sum(extents.values()) == sent
    # It took the longer path, and one of the next 14 the shorter one.
    low, high = stats.binom.interval(0.999, sent, 0.5)
    assert low <= sent - extents[0] <= high
    # With that probability the next packet was the first to pass it; up to 13 more arrived between
    # the two, and the earlier packets on the longer path.
    assert max(extents) <= 14 + 13
    # Displacements to the back equal those to the front in sum.
    displacements = of(result, "displacement")
    assert sum(displacements.values()) == sent
    assert sum(value * number for value, number in displacements.items()) == 0
    assert -15 < min(displacements) < -9
    assert 9 < max(displacements) < 15


def test_the_degree_of_n_reordering_has_the_law_that_chance_gives_it() -> None:
    """Before a late packet, slot by slot backwards, came one of the shorter path or none, then
    perhaps one of the longer path, which ends the run: n has (1 + z) / (3 - z), P(n) = 4 / 3^(n +
    1), P(n > 2) = 2 / 27.
    """
    result = run()
    (sent,) = result.flows["transmissions"].tolist()
    degrees = of(result, "n-reordering")
    for n in (1, 2, 3, 4):
        low, high = stats.binom.interval(0.999, sent, 0.5 * 4 / 3 ** (n + 1))
        assert low <= degrees[n] <= high
    # Those that a sender with a duplicate threshold of three takes for lost.
    low, high = stats.binom.interval(0.999, sent, 0.5 * 2 / 27)
    assert low <= sum(number for n, number in degrees.items() if n >= 3) <= high


def test_nothing_is_out_of_order_on_one_way() -> None:
    result = run(routing={"choice": "flow-hash"})
    (sent,) = result.flows["transmissions"].tolist()
    for metric in ("extent", "n-reordering", "displacement", "buffer-occupancy"):
        assert of(result, metric) == {0: sent}
    assert result.reordering["share"].tolist() == [1.0] * 4


def test_where_nothing_is_sent_again_the_table_of_flows_has_the_same_extents() -> None:
    transport = {
        "kind": "tcp",
        "segment_size": "1250 B",
        "header_size": "0 B",
        "recovery": {"kind": "sack", "duplicate_threshold": 100},
        "advertised_window": 60,
    }
    result = run(transport=transport, workload={**TWO_WAYS["workload"], "size": "1 MB"})
    (row,) = result.flows.to_dict("records")
    assert row["retransmissions"] == 0
    extents = of(result, "extent")
    late = np.repeat(list(extents), list(extents.values()))
    late = late[late > 0]
    assert row["reordered"] == late.size > 100
    assert row["reorder_extent_mean"] == pytest.approx(late.mean())
    assert row["reorder_extent_max"] == late.max()


def test_looking_moves_no_digest_and_is_refused_where_it_was_not_asked_for() -> None:
    size = {**TWO_WAYS["workload"], "size": "100 kB"}
    looked, not_looked = run(workload=size), run(workload=size, measurement={})
    assert looked.digest == not_looked.digest
    assert looked.scenario.canonical_json() == not_looked.scenario.canonical_json()
    with pytest.raises(InputError, match=r"measurement\.reordering: given nothing"):
        _ = not_looked.reordering
    with pytest.raises(InputError, match=r"displacement_threshold: given 0"):
        run(measurement={"reordering": {"displacement_threshold": 0}})

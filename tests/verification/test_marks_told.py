"""Counts of marks (AccECN, RFC 9768): what the sender is told, in the twin and in the core."""

from typing import Any

import pytest
from compare import differences
from plans import (
    GIGABIT,
    MICROSECOND,
    Plan,
    core,
    electronic,
    flow_table,
    settings,
    table,
    tcp,
    twin,
)
from twin.accurate import Feedback
from twin.units import Packet


def plan(recovery: str, **changes: Any) -> Plan:
    """Two flows that begin at once, over a slow link whose queue marks from 20 kB on."""
    transport = tcp(
        recovery,
        segment_bytes=1_000,
        advertised_window_bytes=200_000,
        congestion_control={"kind": "dctcp", "g": 0.0625},
        ecn="accurate",
        **changes,
    )
    links = table(
        [(0, 4), (1, 4), (2, 5), (3, 5), (4, 5)],
        hosts=4,
        rates=[10 * GIGABIT] * 4 + [GIGABIT],
        delays=[50_000] * 4 + [50 * MICROSECOND],
    )
    flows = flow_table((0, 2, 0, 900_000), (1, 3, 0, 700_000))
    return Plan(settings(4, 6, electronic(None, 20_000), transport), links, flows)


@pytest.mark.parametrize("recovery", ["reno", "sack", "rack-tlp"])
@pytest.mark.parametrize("every", [1, 2])
def test_the_sender_is_told_of_each_mark_of_the_switch(
    recovery: str, every: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Conservation, if no acknowledgement is lost; the core does the same as the twin."""
    told: list[int] = []
    hear = Feedback.hear

    def heard(self: Feedback, packet: Packet, una: int) -> int:
        told.append(hear(self, packet, una))
        return told[-1]

    monkeypatch.setattr(Feedback, "hear", heard)
    given = plan(recovery, acknowledge_every=every)
    expected, found = twin(given), core(given)
    assert differences(expected, found) == []
    assert expected["flows"]["retransmissions"].sum() == 0
    assert sum(told) == expected["switches"]["marked"].sum() > 100
    assert max(told) == every

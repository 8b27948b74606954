"""The twin's reports of acknowledgements to a window law, calculated by hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from plans import electronic, loss, lossy, one_flow, tcp
from plans import twin as run
from twin.law import Report
from twin.law_names import LAWS
from twin.laws import Reno
from twin.recoveries import RECOVERIES

M = 1500
SEGMENTS = 30


@dataclass
class Reported:
    """The report of an acknowledgement to a law, with its round trip and delivery rate."""

    report: Report
    rtt: int | None
    rate: tuple[int, int] | None


def told(
    monkeypatch: pytest.MonkeyPatch, recovery: str, lost: list[int], **changes: Any
) -> list[Reported]:
    """Run a flow over a long path that loses these segments once, numbered from 1."""
    found = []

    class Listener(Reno):
        """Reno's law, which also wants reports."""

        reports = True

        def report(self, report: Report) -> None:
            found.append(Reported(report, self.rtt, self.rate))

    monkeypatch.setitem(LAWS, "reno", Listener)
    drops = [{"segments": [segment, segment], "transmission": 1} for segment in lost]
    transport = tcp(recovery, acknowledge_every=1, **changes)
    plan = one_flow(3, electronic(), transport, SEGMENTS * M, metres=100_000, loss=loss(*drops))
    flows = run(plan._replace(links=lossy(plan.links, 2)))["flows"]
    assert flows["timeouts"].tolist() == [0]
    return found


def test_sack_tells_what_was_delivered_and_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [it.report for it in told(monkeypatch, "sack", [3, 4, 7])]
    # With 5, 6 and 8 SACKed 3 and 4 are lost, with 8, 9 and 10 segment 7 is, too.
    expected = [
        *[(1, 0, "open")] * 4,
        (1, 2, "recovery"),
        (1, 0, "recovery"),
        (1, 1, "recovery"),
    ]
    assert [(it.delivered // M, it.lost // M, it.phase) for it in found[:7]] == expected
    assert sum(it.lost for it in found) == 3 * M
    assert found[-1].phase == "open"


@pytest.mark.parametrize("recovery", RECOVERIES)
def test_each_byte_is_delivered_once_and_the_lost_segment_is_lost_once(
    recovery: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [it.report for it in told(monkeypatch, recovery, [3])]
    assert sum(it.delivered for it in found) == sum(it.acknowledged for it in found) == SEGMENTS * M
    assert [it.lost for it in found if it.lost] == [M]
    assert {it.phase for it in found} <= {"open", "recovery"}
    # At the end no data is left for the window.
    assert [found[0].application_limited, found[-1].application_limited] == [False, True]


def test_with_a_window_of_one_segment_the_rate_is_a_segment_in_a_round_trip(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    changes = {"initial_window_bytes": M, "advertised_window_bytes": M}
    # The first segment waits behind the end of the handshake: its round trip is longer, and with it
    # the time between its transmission and that of the second.
    for it in told(monkeypatch, "reno", [], **changes)[2:]:
        assert it.rtt is not None
        assert it.rate == (M, it.rtt)
        assert it.report.flight == 0

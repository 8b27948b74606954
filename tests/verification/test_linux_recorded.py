"""The sender of Linux, as the tests model it, against recordings of the kernel itself."""

from __future__ import annotations

from typing import Any

import pytest
from linux.evidence import Evidence
from linux.recorded import Replay, cases, differences
from linux.reduction import Reduction
from linux.sender import Sender
from linux.timers import Timers

from blocks import in_blocks


def differing(name: str) -> list[str]:
    """Stable fields of a recorded case in which the model differs."""
    recorded = cases()[name]
    return differences(recorded, Replay(recorded).log)


@in_blocks("name", sorted(cases()), size=37)
def test_each_acknowledgement_releases_what_it_released_in_the_kernel(name: str) -> None:
    assert differing(name) == []


def test_every_mechanism_is_in_some_case() -> None:
    assert len(cases()) == 148
    states = {
        row["ca_state"] for one in cases().values() for row in one["log"] if "ca_state" in row
    }
    assert states == {"Open", "Disorder", "CWR", "Recovery", "Loss"}


def nothing(*_: Any) -> bool:
    return False


#: A mechanism switched off, and a case that depends on it.
BROKEN = [
    (Timers, "schedule_probe", "reno/tail-1"),
    (Reduction, "try_undo_dsack", "reno/reorder-10"),
    (Reduction, "try_undo_loss", "cubic/spike-600ms-frto"),
    (Evidence, "check_reordering", "reno/reorder-10-ts"),
    (Reduction, "reduce_cwnd", "reno/loss-30"),
    (Sender, "restart", "reno/idle-restart"),
]


@pytest.mark.parametrize(("owner", "mechanism", "name"), BROKEN)
def test_the_recordings_see_a_mechanism_that_is_switched_off(
    owner: type, mechanism: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, mechanism, nothing)
    assert differing(name)

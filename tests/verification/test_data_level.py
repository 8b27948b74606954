"""Reinjection and the window that subflows share: exact answers by hand, and the twin."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from compare import check_conservation, check_equal
from multipath_plans import level_plan
from plans import ENGINES, SECOND, START, Plan, compiled, core
from test_multipath import CONTROL, DELAY, SEGMENT, TX, over_two, units
from twin import Columns

import lightburst as lb
from blocks import in_blocks

Engine = Callable[[Plan], Columns]
engines = pytest.mark.parametrize("engine", ENGINES)

#: The way of a segment over four links, and that of an acknowledgement back.
THERE, BACK = 4 * (TX + DELAY), 4 * (CONTROL + DELAY)
#: The initial timeout.
RTO = SECOND
NEVER = 2**64 - 1


def failing(size: int, dead: tuple[int, int], until: int | None = None, **changes: Any) -> Plan:
    """A flow with two subflows and initial windows of two; a link loses all up to a time."""
    plan = over_two(size, **{"initial_window_bytes": 2 * SEGMENT, **changes})
    (link,) = np.flatnonzero((plan.links["from"] == dead[0]) & (plan.links["to"] == dead[1]))
    rows = [[int(link), 0, 1.0, 1.0]]
    if until is not None:
        rows.append([int(link), until, 0.0, 0.0])
    return plan._replace(settings={**plan.settings, "changes": {"losses": rows}})


def counts(result: Columns, *names: str) -> list[int]:
    """Counts of the only flow."""
    return [int(result["flows"][name][0]) for name in names]


@engines
def test_what_a_dead_path_holds_is_sent_over_the_other_after_a_timeout(engine: Engine) -> None:
    """Segments 2 and 3 are lost on the second path, for ever.

    At the timeout their subflow sends segment 2 again, and the other one both behind it. The run
    ends by itself with the next expiry of the dead subflow, which is reset.
    """
    result = engine(failing(4 * SEGMENT, (2, 4), reinjection=True))
    received = START + RTO + 2 * TX + THERE
    assert counts(result, "received_ps", "acknowledged_ps") == [received, received + BACK]
    names = ("transmissions", "retransmissions", "reinjections", "duplicates", "timeouts", "drops")
    assert counts(result, *names) == [7, 1, 2, 0, 1, 3]
    assert int(result["totals"]["end_ps"]) == START + RTO + 2 * RTO


@engines
def test_without_reinjection_the_data_waits_for_its_path(engine: Engine) -> None:
    """The path is back before the timeout: two windows of one segment and of two."""
    result = engine(failing(4 * SEGMENT, (2, 4), START + RTO // 2))
    received = START + RTO + THERE + BACK + THERE
    assert counts(result, "received_ps", "delivered_bytes") == [received, 4 * SEGMENT]


@engines
def test_data_that_comes_over_both_paths_counts_once(engine: Engine) -> None:
    """The path is back before the timeout, and both subflows send segments 2 and 3.

    The acknowledgement of segment 2 comes to the dead subflow before that of all data comes to the
    other, so it sends segment 3 again, too.
    """
    plan = failing(4 * SEGMENT, (2, 4), START + RTO // 2, reinjection=True)
    result = engine(plan)
    received = START + RTO + 2 * TX + THERE
    assert counts(result, "received_ps", "acknowledged_ps") == [received, received + BACK]
    names = ("transmissions", "retransmissions", "reinjections", "duplicates", "delivered_bytes")
    assert counts(result, *names) == [8, 2, 2, 2, 4 * SEGMENT]
    # Over the second path segments 2 and 3 twice, the FIN and the last ACK; two were lost.
    assert units(plan, result, 2, 4) == 6


@engines
def test_a_short_last_segment_is_sent_again_as_short(engine: Engine) -> None:
    short = 500
    result = engine(failing(3 * SEGMENT + short, (2, 4), reinjection=True))
    received = START + RTO + TX + THERE + TX * short // SEGMENT
    assert counts(result, "received_ps", "delivered_bytes") == [received, 3 * SEGMENT + short]


@engines
def test_a_subflow_that_gives_up_does_not_end_a_connection_whose_data_goes_on(
    engine: Engine,
) -> None:
    once = {"max_retransmissions": 1}
    result = engine(failing(4 * SEGMENT, (2, 4), reinjection=True, **once))
    received = START + RTO + 2 * TX + THERE
    assert counts(result, "received_ps", "status") == [received, 0]
    lost = engine(failing(4 * SEGMENT, (2, 4), **once))
    assert counts(lost, "received_ps", "status") == [NEVER, 4]


@engines
def test_the_subflows_share_a_window(engine: Engine) -> None:
    """A window of two segments: the first subflow has two rounds, the other nothing to send."""
    whole = {"advertised_window_bytes": 2 * SEGMENT, "initial_window_bytes": 2 * SEGMENT}
    plan = over_two(4 * SEGMENT, shared_window=True, **whole)
    result = engine(plan)
    received = START + THERE + BACK + TX + THERE
    assert counts(result, "received_ps", "acknowledged_ps") == [received, received + BACK]
    # The FIN and the ACK of its answer.
    assert units(plan, result, 2, 4) == 2
    alone = engine(over_two(4 * SEGMENT, **whole))
    assert counts(alone, "received_ps") == [START + 3 * TX + THERE + CONTROL]


@engines
def test_a_hole_on_one_path_stops_the_other_until_it_is_filled(engine: Engine) -> None:
    """A window of four: segments 0 and 1 are lost, 2 and 3 acknowledged by their own subflow.

    With a window of two the acknowledgement of segment 0 lets the first subflow send 1 again and 4,
    that of 1, with all before 4, lets it send 5, and the second subflow 6 and 7, at once.
    """
    window = {"advertised_window_bytes": 4 * SEGMENT, "shared_window": True}
    plan = failing(8 * SEGMENT, (2, 3), START + RTO // 2, **window)
    result = engine(plan)
    filled = START + RTO + 2 * (THERE + BACK)
    assert counts(result, "received_ps") == [filled + 2 * TX + THERE]
    # Over the second path segments 2, 3, 6 and 7, the FIN and the last ACK.
    assert units(plan, result, 2, 4) == 6


@in_blocks("seed", range(300))
def test_core_equals_twin_with_a_data_level(seed: int) -> None:
    check_equal(level_plan(seed, ["packets", "packets", "bursts", "headers"][seed % 4]))


@pytest.mark.parametrize("seed", [1, 2])
def test_messages_that_wait_for_others_go_on_when_their_data_is_there(seed: int) -> None:
    """A ring all-reduce: data that comes again over a further subflow starts no message again."""
    scenario = {
        "topology": {"kind": "fat-tree", "k": 4},
        "switching": {"kind": "electronic"},
        "transport": {
            "kind": "tcp",
            "segment_size": "1500 B",
            "min_timeout": "1 ms",
            "initial_timeout": "1 ms",
            "advertised_window": 6,
            "initial_window": 4,
            "subflows": 2,
            "reinjection": True,
            "shared_window": True,
        },
        "loss": {"probability": 0.03},
        "workload": {"kind": "collective", "operation": "all-reduce", "ranks": 6, "size": "1 MB"},
    }
    plan = compiled(lb.Scenario.from_dict(scenario), seed)
    check_equal(plan)
    flows = core(plan)["flows"]
    assert (flows["status"] == 0).all()
    assert flows["reinjections"].sum() > 100


def test_each_byte_counts_once_and_some_are_sent_over_two_subflows() -> None:
    finished = reinjections = 0
    for seed in range(200):
        plan = level_plan(seed, ["packets", "bursts"][seed % 2])
        result = core(plan)
        check_conservation(plan, result)
        rows, size = result["flows"], plan.flows["bytes"]
        delivered = rows["delivered_bytes"].astype(np.uint64)
        assert (delivered <= size).all()
        assert ((rows["status"] == 0) == (delivered == size)).all()
        finished += int((rows["status"] == 0).sum())
        reinjections += int(rows["reinjections"].sum()) if "reinjections" in rows else 0
    assert finished > 250
    assert reinjections > 200

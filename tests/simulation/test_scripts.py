"""Scripts of ``[loss]`` that mark, hold and stall: each on one path, to the picosecond."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lightburst as lb
from lightburst.trace import FlowTrace
from lightburst.trace.flow import ARRIVED, FORWARD, SENT

MICROSECOND = 10**6
# A segment of 1,000 bytes takes 1 us on the fibre, and no time that matters elsewhere.
SEGMENT, BYTE = MICROSECOND, 1000
SCENARIO: dict[str, Any] = {
    "topology": {
        "kind": "obs-path",
        "core_nodes": 0,
        "access_rate": "80 Tb/s",
        "access_delay": "0 s",
        "fibre_rate": "8 Gb/s",
        "fibre_delay": "1 ms",
    },
    "switching": {"kind": "electronic", "queue_size": "unlimited"},
    "transport": {
        "kind": "tcp",
        "preset": "linux",
        "segment_size": "1 kB",
        "header_size": "52 B",
        "control_size": "1 B",
        "acknowledge_every": 1,
        "initial_window": 20,
    },
    "workload": {"kind": "pairs", "size": {"kind": "constant", "value": "18960 B"}},
    "measurement": {"trace": [0]},
}


def run(**loss: Any) -> lb.Result:
    return lb.run(lb.Scenario.from_dict({**SCENARIO, "loss": loss}), seed=1)


def arrivals(result: lb.Result) -> tuple[list[int], list[int]]:
    """Numbers of the data segments in the order of their arrival, and their times in ps."""
    rows = FlowTrace.of(result, 0).segments
    data = ((rows["flags"] & FORWARD) > 0) & (rows["payload"] > 0) & (rows["event"] == ARRIVED)
    return (rows["sequence"][data] // 948 + 1).tolist(), rows["time_ps"][data].tolist()


def test_without_scripts_twenty_segments_arrive_one_after_the_other() -> None:
    numbers, times = arrivals(run())
    assert numbers == list(range(1, 21))
    assert set(np.diff(times).tolist()) == {SEGMENT}


@pytest.mark.filterwarnings("ignore::lightburst.RunWarning")
@pytest.mark.parametrize(("segment", "later"), [(1, 1), (5, 2), (12, 7)])
def test_a_held_segment_follows_so_many_later_ones(segment: int, later: int) -> None:
    result = run(holds=[{"segments": [segment, segment], "later": later}])
    numbers, times = arrivals(result)
    expected = [number for number in range(1, 21) if number != segment]
    expected.insert(segment - 1 + later, segment)
    assert numbers[:20] == expected
    # The link transmits without a pause, the held segment in its new place.
    assert set(np.diff(times[:20]).tolist()) == {SEGMENT}
    assert result.columns["drops"]["units"].tolist() == [1]


@pytest.mark.filterwarnings("ignore::lightburst.RunWarning")
def test_held_segments_release_each_other_in_the_order_in_which_they_came() -> None:
    """Segments 5 and 6 both follow 8; 6 counts for 3, which follows two of 5, 6, 8 and 9."""
    holds = [{"segments": [5, 6], "later": 2}, {"segments": [3, 3], "later": 5}]
    numbers, _ = arrivals(run(holds=holds))
    assert numbers[:12] == [1, 2, 4, 7, 8, 5, 6, 3, 9, 10, 11, 12]


def test_a_segment_with_nothing_behind_it_stays_until_its_retransmission() -> None:
    with pytest.warns(lb.RunWarning, match=r"later packets overtook held ones \(loss.holds\)"):
        result = run(holds=[{"segments": [20, 20], "later": 1}])
    numbers, _ = arrivals(result)
    assert numbers == list(range(1, 21))
    assert result.columns["totals"]["units_in_flight"] == 1
    assert result.flows.retransmissions.sum() == 1


def test_a_stall_delays_the_segment_and_all_behind_it() -> None:
    stalls = [{"segments": [8, 8], "duration": "30 us"}, {"burst": 12, "duration": "7 us"}]
    result = run(stalls=stalls)
    numbers, times = arrivals(result)
    assert numbers == list(range(1, 21))
    gaps = np.diff(times).tolist()
    assert (gaps.pop(10), gaps.pop(6)) == (8 * MICROSECOND, 31 * MICROSECOND)
    assert set(gaps) == {SEGMENT}
    assert busy_ps(result) == busy_ps(run())


def busy_ps(result: lb.Result) -> int:
    """Time for which the fibre of the data transmitted."""
    return int(result.columns["links"]["busy_ps"].max())


def test_a_stall_takes_no_room_in_the_queue() -> None:
    """Behind the stalled segment 19 others wait, and no more."""
    stalls = [{"burst": 1, "duration": "1 ms"}]
    for size, lost in [("20 kB", 0), ("19 kB", 1)]:
        switching = {"kind": "electronic", "queue_size": size}
        table = {**SCENARIO, "switching": switching, "loss": {"stalls": stalls}}
        flows = lb.run(lb.Scenario.from_dict(table), seed=1).flows
        assert flows["drops"].sum() == lost


@pytest.mark.filterwarnings("ignore::lightburst.RunWarning")
def test_a_stall_is_idle_time_at_each_instant() -> None:
    """Counters of a run that ends within the pause."""
    scenario = lb.Scenario.from_dict(
        {
            **SCENARIO,
            "loss": {"stalls": [{"segments": [8, 8], "duration": "300 us"}]},
            "measurement": {"time_limit": "2.1 ms"},
        }
    )
    # Seven segments, and the SYN and the ACK of the handshake with a byte each.
    assert busy_ps(lb.run(scenario, seed=1)) == 7 * SEGMENT + 2 * BYTE


@pytest.mark.parametrize("recovery", ["sack", "rack-tlp"])
def test_a_mark_reduces_the_window_as_one_of_a_switch(recovery: str) -> None:
    scenario = lb.Scenario.from_dict(
        {
            **SCENARIO,
            "loss": {"marks": [{"segments": [10, 10]}]},
            "transport": {**SCENARIO["transport"], "ecn": True},
        }
        | ({} if recovery == "rack-tlp" else {"transport": sack()})
    )
    result = lb.run(scenario, seed=1)
    assert np.isfinite(FlowTrace.of(result, 0).windows["slow_start_threshold"]).any()
    assert result.flows.retransmissions.sum() == 0


def sack() -> dict[str, Any]:
    """The sender of the RFCs, which negotiates ECN."""
    own = {key: value for key, value in SCENARIO["transport"].items() if key != "preset"}
    return {**own, "recovery": "sack", "ecn": True}


def test_a_mark_without_ecn_changes_nothing() -> None:
    marked = run(marks=[{"segments": [3, 3]}])
    assert arrivals(marked) == arrivals(run())
    assert not np.isfinite(FlowTrace.of(marked, 0).windows["slow_start_threshold"]).any()


def test_a_lost_segment_is_not_held() -> None:
    result = run(drops=[{"burst": 4}], holds=[{"segments": [4, 4], "later": 2}])
    numbers, _ = arrivals(result)
    assert numbers[:19] == [1, 2, 3, *range(5, 21)]
    assert result.columns["drops"]["units"].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        ({"holds": [{"segments": [3, 3]}]}, r"loss.holds\[0\].later"),
        ({"holds": [{"later": 2}]}, r"loss.holds\[0\]: given none of them"),
        ({"holds": [{"burst": 1, "later": 0}]}, r"loss.holds\[0\].later"),
        ({"marks": [{"acknowledgements": [1, 2]}]}, r"loss.marks\[0\].acknowledgements"),
        ({"stalls": [{"burst": 2, "duration": "0 s"}]}, r"loss.stalls\[0\].duration"),
        ({"stalls": [{"burst": 2, "duration": "2000 s"}]}, r"loss.stalls\[0\].duration"),
        ({"marks": [{"flow": 7, "burst": 1}]}, r"loss.marks\[0\].flow: given 7"),
    ],
)
def test_scripts_that_cannot_be_are_refused(loss: dict[str, Any], words: str) -> None:
    with pytest.raises(lb.InputError, match=words):
        run(**loss)


def test_among_reserved_links_only_losses_are_possible() -> None:
    switching = {"kind": "obs", "assembly": {"kind": "timer", "time": "1 us"}}
    table = {**SCENARIO, "switching": switching, "loss": {"holds": [{"burst": 1, "later": 2}]}}
    with pytest.raises(lb.InputError, match=r"loss.holds\[0\]: given a script; .*header packets"):
        lb.Scenario.from_dict(table)


def test_scripts_that_never_occur_are_warnings() -> None:
    with pytest.warns(lb.RunWarning) as found:
        run(
            marks=[{"segments": [90, 90]}],
            holds=[{"window": 900, "later": 3}],
            stalls=[{"burst": 90, "duration": "1 us"}],
        )
    said = " ".join(str(one.message) for one in found)
    assert "loss.marks[0] (flow = 0, segments = [90, 90]) never occurred" in said
    assert "loss.holds[0] (flow = 0, window = 900) never occurred" in said
    assert "loss.stalls[0] (flow = 0, burst = 90) never occurred" in said


def test_segments_leave_their_host_as_without_scripts() -> None:
    """A script acts on the link, not on the sender."""

    def sent(result: lb.Result) -> list[int]:
        rows = FlowTrace.of(result, 0).segments
        data = ((rows["flags"] & FORWARD) > 0) & (rows["payload"] > 0) & (rows["event"] == SENT)
        times: list[int] = rows["time_ps"][data].tolist()
        return times

    held = run(stalls=[{"burst": 2, "duration": "5 us"}])
    assert sent(held) == sent(run())

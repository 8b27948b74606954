"""The counts from one time on to before another: against the twin, and in sums."""

from typing import Any

import numpy as np
import pytest
from compare import check_equal, differences
from plans import Plan, core
from random_plans import random_plan
from twin import Columns

from lightburst.result.metrics import digest

KINDS = ("packets", "bursts", "headers", "crowds")
#: Columns that a window has as they are at its end, and those that are no whole numbers.
NO_SUMS = {"waiting_bytes", "units_in_flight", "buffer_max_bytes"}
TABLES = ("links", "switches", "classes", "totals")

each = pytest.mark.parametrize("kind", KINDS)


def seen_in(plan: Plan, begin: int, end: int) -> Columns:
    """Run a plan, and have a window of it."""
    return core(with_window(plan, begin, end))


def with_window(plan: Plan, begin: int, end: int) -> Plan:
    """The plan, with a window."""
    own = {"from_ps": begin, "until_ps": end}
    return Plan({**plan.settings, "window": own}, *plan[1:])


def without_window(plan: Plan) -> Plan:
    """The plan, which counts over the whole run."""
    return Plan({**plan.settings, "window": None}, *plan[1:])


def busy_time(plan: Plan) -> tuple[int, int]:
    """When the first flow starts, and when most of the run is over."""
    begin, end = int(plan.flows["start_ps"][0]), core(plan)["totals"]["transmitted_until_ps"]
    return begin, max(end, begin + 10)


def of_window(columns: Columns) -> Columns:
    """The counts of the window alone."""
    return {name: columns[f"window_{name}"] for name in TABLES if f"window_{name}" in columns}


def sums(columns: Columns) -> dict[tuple[str, str], Any]:
    """All of them that add up, by table and name."""
    return {
        (table, name): np.asarray(value)
        for table, counts in of_window(columns).items()
        for name, value in counts.items()
        if name not in NO_SUMS
    }


@each
def test_the_core_counts_in_a_window_what_the_twin_does(kind: str) -> None:
    parts = 0
    for seed in range(100, 108):
        plan = without_window(random_plan(seed, kind))
        begin, end = busy_time(plan)
        for tenths in ((0, 4), (3, 7), (6, 30)):
            cut = with_window(plan, *(begin + (end - begin) * tenth // 10 for tenth in tenths))
            if cut.settings["window"]["from_ps"] >= cut.settings["window"]["until_ps"]:
                continue
            check_equal(cut)
            found = core(cut)
            carried = found["window_links"]["bytes"].sum()
            parts += bool(0 < carried < found["links"]["bytes"].sum())
    assert parts > 5


@each
def test_windows_side_by_side_add_up_and_look_without_a_trace(kind: str) -> None:
    """[0, a), [a, b) and [b, end] are [0, end], to the last unit, byte and picosecond."""
    for seed in range(200, 220):
        plan = without_window(random_plan(seed, kind))
        begin, end = busy_time(plan)
        a, b = (max(begin + (end - begin) * part // 100, 1) for part in (23, 71))
        b = max(b, a + 1)
        whole = core(plan)
        runs = [seen_in(plan, *span) for span in ((0, a), (a, b), (0, b), (b, 2**64 - 1))]
        first, second, both, last = map(sums, runs)
        for key, value in both.items():
            close = np.isclose if value.dtype == np.float64 else np.equal
            assert np.all(close(first[key] + second[key], value)), (seed, key)
            table, name = key
            assert np.all(close(value + last[key], whole[table][name])), (seed, key)
        for run in runs:
            assert digest(run) == digest(whole)
            assert differences({n: whole[n] for n in ("links", "switches", "totals")}, run) == []
        peaks = [run["window_switches"]["buffer_max_bytes"] for run in runs]
        assert np.array_equal(np.maximum(peaks[0], peaks[1]), peaks[2])
        highest = whole["switches"]["buffer_max_bytes"]
        assert np.array_equal(np.maximum(peaks[2], peaks[3]), highest)


@each
def test_what_is_offered_in_a_window_is_lost_or_delivered_there_or_has_been_on_its_way(
    kind: str,
) -> None:
    for seed in range(300, 320):
        plan = without_window(random_plan(seed, kind))
        begin, end = busy_time(plan)
        a, b = (begin + 1 + (end - begin) * part // 100 for part in (31, 83))
        before, within = seen_in(plan, 0, a), seen_in(plan, a, b + 1)
        then, now = before["window_totals"], within["window_totals"]
        ended = now["units_delivered"] + now["units_dropped"]
        under_way = now["units_in_flight"] - then["units_in_flight"]
        assert now["units_created"] == ended + under_way, seed
        # A whole run ends as many bursts as it made, except for those in flight and held.
        counts = within["totals"]
        gone = counts["bursts_lost"] + counts["bursts_delivered"]
        assert 0 <= counts["bursts_created"] - gone <= counts["units_in_flight"]
        if "window_classes" in within:
            for name, total in (("bursts", "bursts_created"), ("bursts_lost", "bursts_lost")):
                assert within["window_classes"][name].sum() == now[total]
        # Every drop of a switch is counted at one of its links.
        of_switches = plan.links["from"] >= plan.settings["hosts"]
        reasons = (n for n in within["window_switches"] if n.startswith("dropped_"))
        dropped = sum(int(within["window_switches"][name].sum()) for name in reasons)
        assert dropped == within["window_links"]["dropped"][of_switches].sum(), seed


def test_a_window_ends_with_the_run_and_is_empty_behind_it() -> None:
    plan = without_window(random_plan(1, "packets"))
    end = core(plan)["totals"]["end_ps"]
    assert not any(np.any(value) for value in sums(seen_in(plan, end + 1, end + 2)).values())
    found = seen_in(plan, 0, 2**64 - 1)
    for table, counts in of_window(found).items():
        for name, value in counts.items():
            assert np.array_equal(value, found[table][name])

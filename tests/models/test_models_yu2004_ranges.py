"""The ATO, ATI and LRI ranges: surfaces made by hand, and properties of the closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lightburst.models import yu2004
from lightburst.models.yu2004 import Flow, gains, surface_ranges, written


def test_ranges_of_any_table() -> None:
    times = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    ratio = np.array([1.0, 1.2, 1.5, 1.04, 0.8, np.nan])
    optimal = yu2004.assembly_time_optimal(50 * ratio, 50)
    insensitive = yu2004.assembly_time_insensitive(50 * ratio, 50)
    assert yu2004.intervals(times, optimal) == [(2, 3)]
    assert yu2004.intervals(times, insensitive) == [(1, 1), (4, 4)]
    assert yu2004.intervals(times, yu2004.assembly_time_optimal(ratio, 1, 0.3)) == [(3, 3)]
    assert not np.any(optimal & insensitive)
    assert yu2004.assembly_time_insensitive(7, 7, 0.0)
    assert yu2004.intervals(times, times > 9) == []
    np.testing.assert_array_equal(
        yu2004.loss_rate_insensitive([[99, 80], [96, 40]], 100, 0.05), [[True, False]] * 2
    )
    with pytest.raises(ValueError, match="tolerance"):
        yu2004.assembly_time_optimal(1, 1, 1.0)
    with pytest.raises(ValueError, match="grid"):
        yu2004.intervals([2.0, 1.0], [True, True])


TIMES, LOSSES = [1e-5, 1e-4, 1e-3, 1e-2], [0.001, 0.01, 0.1]
SURFACE = [
    [100.0, 105.0, 111.0, 89.0],  # over 100: within, within, above, below
    [95.0, 110.0, 90.0, 105.0],  # over 95: 1, 1.16, 0.947, 1.105
    [50.0, 20.0, 99.9, math.nan],  # over 50: 1, 0.4, 2, unknown
]


def test_the_ranges_of_a_surface_made_by_hand() -> None:
    found = surface_ranges(LOSSES, TIMES, SURFACE)
    assert found.optimal == ([(1e-3, 1e-3)], [(1e-4, 1e-4), (1e-2, 1e-2)], [(1e-3, 1e-3)])
    assert found.insensitive == (
        [(1e-5, 1e-4)], [(1e-5, 1e-5), (1e-3, 1e-3)], [(1e-5, 1e-5)],
    )  # fmt: skip
    # Columns over their first: 0.95, 0.5; 1.048, 0.19; 0.81, 0.9; 1.18.
    only = [(0.001, 0.001)]
    assert found.loss_insensitive == ([(0.001, 0.01)], [(0.001, 0.01)], [*only, (0.1, 0.1)], only)


def test_the_tolerance_and_what_is_compared_with_can_be_given() -> None:
    exact = surface_ranges(LOSSES, TIMES, SURFACE, tolerance=0.0)
    assert exact.insensitive == ([(1e-5, 1e-5)],) * 3
    assert exact.optimal[0] == [(1e-4, 1e-3)]
    found = surface_ranges(LOSSES, TIMES, SURFACE, unassembled=[80, 95, 100], lossless=[105] * 4)
    assert found.optimal == ([(1e-5, 1e-2)], [(1e-4, 1e-4), (1e-2, 1e-2)], [])
    assert found.insensitive[2] == [(1e-3, 1e-3)]
    assert found.loss_insensitive[0] == [(0.001, 0.01)]
    assert found.loss_insensitive[2] == [(0.001, 0.001), (0.1, 0.1)]
    for bad in (np.transpose(SURFACE), SURFACE[:2]):
        with pytest.raises(ValueError, match="throughput"):
            surface_ranges(LOSSES, TIMES, bad)


def test_the_ranges_of_the_closed_forms_are_those_of_their_algebra() -> None:
    # (27) over itself without assembly is sqrt(1 + lambda T_b) / (1 + 2 T_b/RTT_0).
    rate, trip, p = 1000.0, 0.1, 1e-3
    ratio = 1.1**2
    times = np.linspace(0, 4, 400_001)
    flow = Flow(
        loss=[[p]], assembly_time_s=times, access_rate=rate, round_trip_s=trip, timeout_s=1,
        window_limit=1e9,
    )  # fmt: skip
    found = surface_ranges([p], times, yu2004.throughput.square_root_throughput(flow))
    # Above: 1 + rate t > 1.1^2 (1 + 2 t/trip)^2, between the roots of a quadratic.
    ends = np.sort(np.roots([4 * ratio / trip**2, 4 * ratio / trip - rate, ratio - 1]))
    ((first, last),) = found.optimal[0]
    assert (first, last) == pytest.approx(ends, abs=1e-5)
    low = np.max(np.roots([4 * 0.81 / trip**2, 4 * 0.81 / trip - rate, 0.81 - 1]))
    (start, begins), (after, ends_at) = found.insensitive[0]
    assert (start, ends_at) == pytest.approx((0, low), abs=1e-5)
    assert (begins, after) == pytest.approx(ends, abs=2e-5)
    losses = np.geomspace(1e-5, 0.5, 20_000)
    wide = flow.changed(loss=losses[:, np.newaxis], assembly_time_s=[0.0], window_limit=50)
    full = yu2004.throughput.window_throughput(wide)
    curve = surface_ranges(losses, [0.0], yu2004.throughput.sack_at_limit(wide), lossless=full)
    ((_, until),) = curve.loss_insensitive[0]
    # (28) over (29), without its timeouts: (75 + (1-p)/p) / (50 (1/(50p) + 50/8 + 3/2)) = 0.9,
    # so 75 p + 1 - p = 0.9 + 348.75 p.
    assert until == pytest.approx(0.1 / 274.75, rel=1e-3)


def test_a_range_is_written_in_words() -> None:
    assert written([]) == "none"
    assert written([(1e-5, 0.1), (3.16228, 3.16228)]) == "1e-05 to 0.1, 3.16"
    assert written([(0.5, 2.0)], "{:.0%}".format) == "50% to 200%"


def test_assembly_pays_at_a_high_rate_and_seems_to_at_a_low_one() -> None:
    times = np.geomspace(1e-5, 30, 60)
    high = Flow(
        loss=0.01, assembly_time_s=times, access_rate=125e3, round_trip_s=0.135, timeout_s=0.2,
        window_limit=50,
    )  # fmt: skip
    alone = yu2004.predict(high.changed(assembly_time_s=0), "sack").throughput
    pays = yu2004.assembly_time_optimal(yu2004.predict(high, "sack").throughput, alone)
    ((first, last),) = yu2004.intervals(times, pays)
    assert first < 1e-4 < 1e-1 < last < 1
    # At 1.25 segments a second the same forms exceed the capacity of the access link.
    low = high.changed(access_rate=1.25, round_trip_s=18, loss=0.003, assembly_time_s=9)
    assert gains.assembly_ratio(low, "sack") > 1.5
    assert yu2004.broken_assumptions(low, "sack")["above-access-rate"]

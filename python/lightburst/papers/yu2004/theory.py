"""The paper's closed forms at the points of the studies."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from lightburst.models.yu2004 import Flow, predict
from lightburst.papers.yu2004.points import LOW, SEGMENT_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lightburst.models.yu2004.flow import FloatArray
    from lightburst.papers.yu2004.points import Point

# Section V.A, at 1.25 kB/s: the round trip without assembly is 18 s at p = 0.003 and 5.4 s at 0.1,
# because the window waits at the access link.
ROUND_TRIPS: Final = ((0.003, 18.0), (0.1, 5.4))
_POWER: Final = math.log(5.4 / 18.0) / math.log(0.1 / 0.003)
_TICK_S: Final = 0.01


def round_trip_s(point: Point) -> float:
    """Round trip in seconds, without assembly, that the closed forms are given.

    It is what the signal takes. At 1.25 kB/s it is a power of p through the paper's two values, and
    not more than a full window takes on the access link.
    """
    signal = point.propagation + point.extra
    if point.access > LOW:
        return signal
    (p, longest), _ = ROUND_TRIPS
    queue = point.window * SEGMENT_BYTES / point.access
    return min(longest * float((point.p / p) ** _POWER), signal + queue)


def flow_of(points: Sequence[Point]) -> Flow:
    """Give points with losses to the closed forms, as arrays of shape (points,).

    The timeout is that of a steady round trip: one tick above it, and not below the minimum.
    """
    trips = np.array([round_trip_s(point) for point in points])
    times = np.array([point.time for point in points])
    least = np.array([point.min_timeout for point in points])
    return Flow(
        loss=[point.p for point in points],
        assembly_time_s=times,
        access_rate=[point.access / SEGMENT_BYTES for point in points],
        round_trip_s=trips,
        timeout_s=np.maximum(least, trips + 2 * times + _TICK_S),
        window_limit=[float(point.window) for point in points],
        rounds_per_increase=[float(point.b) for point in points],
    )


def throughput(points: Sequence[Point]) -> FloatArray:
    """Throughput of SACK in segments/s by the corrected (26) and (28); nothing is clipped."""
    return np.asarray(predict(flow_of(points), "sack").throughput)

"""Points of the paper's studies in the paper's units, and their closed forms."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from lightburst.models.yu2004 import Flow, predict
from lightburst.papers.design import seconds
from lightburst.papers.paper import packaged
from lightburst.papers.runs import Runs, of_means
from lightburst.papers.yu2004.senders import SACK
from lightburst.scenario import Scenario
from lightburst.scenario.reading.messages import kinds
from lightburst.scenario.transport import Tcp

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from lightburst.models.yu2004.flow import FloatArray
    from lightburst.papers.yu2004.senders import Sender

# Useful bits of a segment: 1 kB minus 40 B of headers.
PAYLOAD_BITS: Final = 8 * 960
SEGMENT_BYTES: Final = 1000
METRIC: Final = "segments_per_s"

# Access bandwidths of section V.A in bytes a second; tables and traces use 125 kB/s ("low", section
# V.B).
HIGH: Final = 125e6
MEDIUM: Final = 500e3
TABLES: Final = 125e3
LOW: Final = 1250.0

# At 1.25 kB/s a window of 50 takes 40 s; the largest timeout must exceed a round trip.
_LONGEST_TIMEOUT_AT_LOW: Final = "1000 s"
_HOPS_THERE_AND_BACK: Final = 10

# Section V.A, at 1.25 kB/s: the round trip without assembly is 18 s at p = 0.003 and 5.4 s at 0.1,
# because the window waits at the access link.
ROUND_TRIPS: Final = ((0.003, 18.0), (0.1, 5.4))
_POWER: Final = math.log(5.4 / 18.0) / math.log(0.1 / 0.003)


class Point(NamedTuple):
    """One scenario of the studies; bandwidth in bytes a second, times in seconds."""

    access: float  # access bandwidth
    time: float  # assembly time T_b
    p: float  # loss probability of a burst of data
    # The sender, see `Sender`.
    recovery: str = SACK.recovery
    halving: str = SACK.halving
    bug_fix: bool = SACK.bug_fix
    partial: str = SACK.partial
    exit_growth: bool = SACK.exit_growth
    limited: bool = SACK.limited
    window: int = 50  # W_m in segments
    b: int = 1  # segments for each ACK
    min_timeout: float = 0.2
    tick: float = 0.01  # granularity of the sender's clock
    ack_loss: float = 0.0  # loss probability of a burst of ACKs
    initial_window: int = 1  # in segments
    propagation: float = 0.1  # round trip of the signal alone
    extra: float = 0.0  # round trip added on the receiver's link
    assembled: bool = True  # whether ACKs are assembled
    every_link: bool = False  # p applies to each fibre instead of the whole path

    def by(self, sender: Sender) -> Point:
        """Return the same point with another sender."""
        return self._replace(**sender._asdict())

    @property
    def segments_per_burst(self) -> float:
        """S = min(lambda T_b + 1, W_m), section II.A."""
        return min(self.access / SEGMENT_BYTES * self.time + 1, float(self.window))

    def settings(self) -> dict[str, object]:
        """Return the point as settings of a scenario, by path."""
        delay = seconds(self.propagation / _HOPS_THERE_AND_BACK)
        recovery: dict[str, object] = {
            "bug_fix": self.bug_fix,
            "partial_acknowledgement": self.partial,
            "window_growth_on_exit": self.exit_growth,
            # The two families differ in this option as they do in `halving`.
            "full_acknowledgement": "ssthresh" if self.halving == "window" else "flight-size",
            "limited_transmit": self.limited,
            "duplicate_sack": False,
        }
        known = kinds(Tcp.model_fields["recovery"])[self.recovery].model_fields
        own = {key: value for key, value in recovery.items() if key in known}
        return {
            "topology.access_rate": f"{8 * self.access:.12g} b/s",
            "topology.access_delay": delay,
            "topology.fibre_delay": delay,
            "topology.extra_round_trip": seconds(self.extra),
            "switching.assembly.time": seconds(self.time),
            "switching.assemble_acknowledgements": self.assembled,
            "loss.probability": self.p,
            "loss.acknowledgement_probability": self.ack_loss,
            "loss.on": "every-link" if self.every_link else "first-link",
            "transport.congestion_control": {"kind": "reno", "halving": self.halving},
            "transport.recovery": {"kind": self.recovery, **own},
            "transport.advertised_window": self.window,
            "transport.acknowledge_every": self.b,
            "transport.min_timeout": seconds(self.min_timeout),
            "transport.clock_granularity": seconds(self.tick),
            "transport.max_timeout": _LONGEST_TIMEOUT_AT_LOW if self.access <= LOW else "64 s",
            "transport.initial_window": self.initial_window,
        }


def assembly_time(access: float, burst: int) -> float:
    """Assembly time in seconds for bursts of S segments: (S - 1) / lambda."""
    return (burst - 1) * SEGMENT_BYTES / access


def rate_name(access: float) -> str:
    """Write an access bandwidth as the paper does: ``125 MB/s``."""
    for unit, size in (("MB/s", 1e6), ("kB/s", 1e3)):
        if access >= size:
            return f"{access / size:g} {unit}"
    return f"{access:g} B/s"


def base() -> Scenario:
    """Load the paper's scenario: SACK at 125 MB/s with T_b = 1 ms and p = 0.01."""
    return packaged(__package__)


def runs_of(table: pd.DataFrame) -> Runs[Point]:
    """Group runs by point: one row per run, with the fields of `Point`, ``seed`` and the metrics.

    Throughput counts segments of 960 useful bytes delivered in order, over the whole run: set-up
    and first slow start cost under 0.1 % of 10,000 s, and under 0.5 % of 100,000 s at 1.25 kB/s.
    Runs of equal seeds draw the same losses, burst by burst. Senders with equal behaviour have the
    same throughput; others soon have other segments in the lost bursts. Means over the same seeds
    suit both.
    """
    rates = table.assign(**{METRIC: table["throughput_bps"] / PAYLOAD_BITS})
    return Runs.of(rates, Point, Point._fields, METRIC, of_means)


def carried(runs: Runs[Point], point: Point) -> tuple[float, float]:
    """Return all segments, and retransmissions, as shares of the access link's capacity."""
    most = runs.total(point, "makespan_s") * point.access / SEGMENT_BYTES
    new = 8 * runs.total(point, "delivered_bytes") / PAYLOAD_BITS
    again = runs.total(point, "retransmissions")
    return (new + again) / most, again / most


def round_trip_s(point: Point) -> float:
    """Round trip in seconds without assembly, as input of the closed forms.

    The propagation time. At 1.25 kB/s, instead, a power of p through the paper's two values,
    limited by the time of a full window on the access link.
    """
    signal = point.propagation + point.extra
    if point.access > LOW:
        return signal
    (p, longest), _ = ROUND_TRIPS
    queue = point.window * SEGMENT_BYTES / point.access
    return min(longest * float((point.p / p) ** _POWER), signal + queue)


def flow_of(points: Sequence[Point]) -> Flow:
    """Convert points with losses into a `Flow`, with arrays of shape (points,).

    The timeout is that of a constant round trip: one tick more, and at least the minimum.
    """
    return Flow(
        loss=[point.p for point in points],
        assembly_time_s=[point.time for point in points],
        access_rate=[point.access / SEGMENT_BYTES for point in points],
        round_trip_s=[round_trip_s(point) for point in points],
        timeout_s=[
            max(point.min_timeout, round_trip_s(point) + 2 * point.time + point.tick)
            for point in points
        ],
        window_limit=[float(point.window) for point in points],
        rounds_per_increase=[float(point.b) for point in points],
    )


def throughput(points: Sequence[Point]) -> FloatArray:
    """Throughput of SACK in segments/s by the corrected (26) and (28); nothing is clipped."""
    return np.asarray(predict(flow_of(points), "sack").throughput)

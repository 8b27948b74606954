"""The points of the paper's studies, in the paper's units, and its closed forms at them."""

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
from lightburst.scenario.explain import kinds
from lightburst.scenario.transport import Tcp

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from lightburst.models.yu2004.flow import FloatArray
    from lightburst.papers.yu2004.senders import Sender

# Useful bytes of a segment: 1 kB less 40 B of headers.
PAYLOAD_BITS: Final = 8 * 960
SEGMENT_BYTES: Final = 1000
METRIC: Final = "segments_per_s"

# Section V.A, in bytes a second; the tables and the traces have 125 kB/s ("low", section V.B).
HIGH: Final = 125e6
MEDIUM: Final = 500e3
TABLES: Final = 125e3
LOW: Final = 1250.0

# At 1.25 kB/s a window of 50 takes 40 s: a timeout must be allowed to be longer than a round trip.
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
    assembled: bool = True  # whether ACKs are
    every_link: bool = False  # each fibre loses with probability p, not the path as a whole

    def by(self, sender: Sender) -> Point:
        """Give the same point with another sender."""
        return self._replace(**sender._asdict())

    @property
    def segments_per_burst(self) -> float:
        """S = min(lambda T_b + 1, W_m), section II.A."""
        return min(self.access / SEGMENT_BYTES * self.time + 1, float(self.window))

    def settings(self) -> dict[str, object]:
        """Say in the scenario's words what a point is: values by path."""
        delay = seconds(self.propagation / _HOPS_THERE_AND_BACK)
        recovery: dict[str, object] = {
            "bug_fix": self.bug_fix,
            "partial_acknowledgement": self.partial,
            "window_growth_on_exit": self.exit_growth,
            # The two families differ here as they do in what they halve.
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
    """Assembly time in seconds at which S segments make a burst: (S - 1) / lambda."""
    return (burst - 1) * SEGMENT_BYTES / access


def rate_name(access: float) -> str:
    """Write an access bandwidth as the paper does: ``125 MB/s``."""
    for unit, size in (("MB/s", 1e6), ("kB/s", 1e3)):
        if access >= size:
            return f"{access / size:g} {unit}"
    return f"{access:g} B/s"


def base() -> Scenario:
    """Read the paper's scenario: SACK at 125 MB/s with T_b = 1 ms and p = 0.01."""
    return packaged(__package__)


def runs_of(table: pd.DataFrame) -> Runs[Point]:
    """Sort runs by point: a row for each run, the fields of `Point`, ``seed`` and the metrics.

    Throughput is what arrived in order, in segments of 960 useful bytes, over the whole run: set-up
    and first slow start cost under 0.1 % of 10,000 s, and under 0.5 % of 100,000 s at 1.25 kB/s.
    Runs of the same seed draw the same losses, burst by burst. Senders that do the same have the
    same throughput, others soon meet them with other segments: means of paired seeds suit both.
    """
    rates = table.assign(**{METRIC: table["throughput_bps"] / PAYLOAD_BITS})
    return Runs.of(rates, Point, Point._fields, METRIC, of_means)


def carried(runs: Runs[Point], point: Point) -> tuple[float, float]:
    """Give all segments, and those sent again, over what the access link could have carried."""
    most = runs.total(point, "makespan_s") * point.access / SEGMENT_BYTES
    new = 8 * runs.total(point, "delivered_bytes") / PAYLOAD_BITS
    again = runs.total(point, "retransmissions")
    return (new + again) / most, again / most


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

"""``congestion_control`` of `rdma`: laws of the sending rate or the window; one table per law."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from lightburst.foundation.units import (
    SIZE,
    Duration,
    PositiveDuration,
    Quantity,
    Rate,
    format_duration,
    parse_duration,
    parse_rate,
    parse_size,
)
from lightburst.scenario.fields import Named, Real, Whole, refuse_at
from lightburst.scenario.section import Section


class LineRate(Section):
    """No congestion control: each message at the rate of its host's link."""

    kind: Literal["line-rate"] = "line-rate"


class Dcqcn(Section):
    """DCQCN (Zhu et al. 2015).

    Attributes
    ----------
    notification_interval, alpha_interval, timer : int
        Picoseconds.
    byte_counter : int
        Bytes.
    additive_increase, hyper_increase, min_rate : int
        Bits per second.
    """

    kind: Literal["dcqcn"] = "dcqcn"
    notification_interval: PositiveDuration = Field(
        parse_duration("50 us"),
        description=(
            "N: least time from one congestion notification packet (CNP) of a receiver to the next "
            "of the same message."
        ),
    )
    g: Annotated[float, Real(0, 1)] = Field(
        1 / 256, description="Weight of a notification in alpha, which is the depth of the cut."
    )
    alpha_interval: PositiveDuration = Field(
        parse_duration("55 us"),
        description="K: time without a notification after which alpha falls. More than N.",
    )
    timer: PositiveDuration = Field(
        parse_duration("55 us"),
        description="Time T after which the rate rises: with 55 us it is fair fast enough (6.1).",
    )
    byte_counter: Annotated[int, Quantity(SIZE, positive=True)] = Field(
        parse_size("10 MB"), description="Bytes B, useful ones, after which the rate rises."
    )
    fast_recovery: Annotated[int, Whole(1, 10**6)] = Field(
        5,
        description=(
            "F: expiries of the timer or of the byte counter, since the last notification, that "
            "halve the distance to the target rate; later ones also raise the target."
        ),
    )
    additive_increase: Rate = Field(
        parse_rate("40 Mb/s"), description="R_AI: step of the target rate."
    )
    hyper_increase: Rate = Field(
        parse_rate("400 Mb/s"),
        description=(
            "R_HAI: step once both counters have expired more than F times. The paper gives none; "
            "QCN, from which the phase is, has steps of 5 and 50 Mb/s, so this is ten times R_AI."
        ),
    )
    min_rate: Rate = Field(
        parse_rate("1 Mb/s"),
        description=(
            "Least rate after a cut. The paper names none; the network adapters have 1 Mb/s "
            "(`rpg_min_rate`)."
        ),
    )


class Hpcc(Section):
    """HPCC (Li et al. 2019): the window follows the load that each output of the path tells.

    Attributes
    ----------
    base_round_trip : int
        Picoseconds.
    """

    kind: Literal["hpcc"] = "hpcc"
    eta: Annotated[float, Real(1e-3, 1)] = Field(
        0.95, description="Target utilisation of the links (3.3)."
    )
    base_round_trip: PositiveDuration = Field(
        parse_duration("13 us"),
        description=(
            "T: round trip of the network without queues, one for all flows. The paper's "
            "simulations have 13 us, a little more than their longest. The window is at most what "
            "the link of the host sends in T, so flows with a longer round trip cannot fill it."
        ),
    )
    max_stage: Annotated[int, Whole(1, 10**6)] = Field(
        5,
        description=(
            "maxStage: additive increases in a row before the window is divided by the utilisation "
            "again (3.3)."
        ),
    )
    flows: Annotated[float, Real(1, 1e9)] = Field(
        100.0,
        description=(
            "N: flows expected at one link. The window grows by (1 - eta) / N of the largest one "
            "(3.3): with 100 Gb/s, T and eta as above 100 give about 80 bytes."
        ),
    )


class Ndp(Section):
    """NDP (Handley et al. 2017): a first window unasked, then a packet for each pull.

    The receiver has one queue of pulls for all its messages.
    """

    kind: Literal["ndp"] = "ndp"
    first_window: Annotated[int, Whole(1, 10**6)] = Field(
        30,
        description=(
            "IW: packets that are sent before the first pull, at the rate of the link; again after "
            "a timeout. The paper's simulations have 30; less than the link sends in a round trip "
            "leaves it idle."
        ),
    )


class Timely(Section):
    """TIMELY (Mittal et al. 2015): the rate follows the gradient of the round-trip time.

    Attributes
    ----------
    low_threshold, high_threshold, min_round_trip : int
        Picoseconds.
    additive_increase, min_rate : int
        Bits per second.
    """

    kind: Literal["timely"] = "timely"
    low_threshold: PositiveDuration = Field(
        parse_duration("50 us"), description="T_low: round trip below which the rate rises anyway."
    )
    high_threshold: PositiveDuration = Field(
        parse_duration("500 us"),
        description="T_high: round trip above which the rate falls anyway. At least T_low.",
    )
    min_round_trip: PositiveDuration = Field(
        parse_duration("20 us"),
        description=(
            "minRTT: the unit of the gradient. The paper's network has 20 us without queues; a "
            "constant, so that the gradient does not depend on the first round trips."
        ),
    )
    alpha: Annotated[float, Real(0, 1)] = Field(
        0.875, description="Weight of a new difference of round trips in the average."
    )
    beta: Annotated[float, Real(0, 1)] = Field(
        0.8, description="Part of the gradient by which the rate falls."
    )
    additive_increase: Rate = Field(
        parse_rate("10 Mb/s"),
        description="delta: step of the rate; five times that from the fifth step in a row on.",
    )
    min_rate: Rate = Field(
        parse_rate("10 Mb/s"),
        description=(
            "Least rate: a step. The paper names none. The gradient of an incast can cut to the "
            "least at once, and acknowledgements must still come sooner than the timeout: packets "
            "that are sent again give no round trip, so the rate would stay."
        ),
    )

    @model_validator(mode="after")
    def _thresholds(self) -> Self:
        if self.low_threshold > self.high_threshold:
            given, limit = format_duration(self.low_threshold), format_duration(self.high_threshold)
            raise refuse_at("low_threshold", given, f"at most high_threshold ({limit})")
        return self


#: A window in packets, which may be a part of one.
Packets = Annotated[float, Real(1e-6, 1e9)]


class Swift(Section):
    """Swift (Kumar et al. 2020): the window follows the distance of the round trip to a target.

    Attributes
    ----------
    base_target, hop_target, flow_range : int
        Picoseconds.
    """

    kind: Literal["swift"] = "swift"
    base_target: PositiveDuration = Field(
        parse_duration("20 us"),
        description=(
            "Target of the round trip, besides what path and flows add. The paper leaves the "
            "constants to the operator: those of this table are of htsim's `swift.cpp`, if nothing "
            "else is said."
        ),
    )
    hop_target: Duration = Field(
        parse_duration("3.05 us"),
        description="Target added for each switch on the path: htsim has 20/6.55 us.",
    )
    flow_range: Duration = Field(
        parse_duration("100 us"),
        description=(
            "fs_range: most that is added as the window shrinks, since many flows share a link: "
            "nothing from `flow_max_window` on, all from `flow_min_window` down."
        ),
    )
    flow_min_window: Packets = Field(0.1, description="fs_min_cwnd, in packets.")
    flow_max_window: Packets = Field(
        100.0, description="fs_max_cwnd, in packets. More than `flow_min_window`."
    )
    increase: Packets = Field(
        1.0, description="ai: packets by which the window grows in a round trip below the target."
    )
    beta: Annotated[float, Real(0, 1)] = Field(
        0.8, description="Part of the excess over the target by which the window shrinks."
    )
    max_decrease: Annotated[float, Real(0, 1)] = Field(
        0.5, description="max_mdf: largest part of the window that one decrease takes."
    )
    min_window: Packets = Field(
        0.01, description="Least window in packets: htsim has 10 bytes. At most `max_window`."
    )
    max_window: Packets = Field(1000.0, description="Largest window in packets.")
    first_window: Packets = Field(
        10.0,
        description=(
            "Window at first, in packets, limited to the two before. The paper names none; ten "
            "are usual for TCP (RFC 6928)."
        ),
    )
    reset_after: Annotated[int, Whole(1, 10**6)] = Field(
        5, description="RETX_RESET_THRESHOLD: timeouts in a row that leave the least window."
    )

    @model_validator(mode="after")
    def _windows(self) -> Self:
        for least, most in (("flow_min_window", "flow_max_window"), ("min_window", "max_window")):
            low, high = getattr(self, least), getattr(self, most)
            if low > high or (low == high and least == "flow_min_window"):
                word = "at most" if least == "min_window" else "less than"
                raise refuse_at(least, f"{low:g}", f"{word} {most} ({high:g})")
        return self


RateLaw = Annotated[
    Dcqcn | Hpcc | LineRate | Ndp | Swift | Timely, Field(discriminator="kind"), Named()
]

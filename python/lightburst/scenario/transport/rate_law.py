"""``congestion_control`` of `rdma`: laws of the sending rate; one table per law."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from lightburst.foundation.units import (
    SIZE,
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


RateLaw = Annotated[Dcqcn | LineRate | Timely, Field(discriminator="kind"), Named()]

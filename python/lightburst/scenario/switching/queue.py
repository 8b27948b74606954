"""``queue`` of an electronic switch: the discipline of its output queues."""

from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import Field, model_validator

from lightburst.foundation.units import (
    SIZE,
    TIME,
    Quantity,
    format_duration,
    format_size,
    parse_size,
)
from lightburst.scenario.fields import Flag, Named, Real, Whole, refuse_at
from lightburst.scenario.section import Section
from lightburst.scenario.switching.lines import Drr, Prio

_Time = Annotated[int, Quantity(TIME, positive=True, largest="1000 s")]
_SHORTEST_UPDATE: Final = 10**6
_SMALLEST_QUANTUM: Final = 256
_Size = Annotated[int, Quantity(SIZE, positive=True, largest="1 GB")]


class DropTail(Section):
    """First in, first out; a unit that finds no room is dropped."""

    kind: Literal["drop-tail"] = "drop-tail"


class CoDel(Section):
    """Controlled delay (RFC 8289): drops at the departure while the delay is above a target.

    Attributes
    ----------
    target, interval : int
        Picoseconds.
    """

    kind: Literal["codel"] = "codel"
    target: _Time = Field(
        5 * 10**9,
        description=(
            "Delay in the queue that is acceptable for good. The default is that of RFC 8289 for "
            "the Internet; in a data centre a share of 5 % to 10 % of the round trip."
        ),
    )
    interval: _Time = Field(
        100 * 10**9,
        description=(
            "Time for which the delay must be above the target before the first drop; about the "
            "largest round trip. Further drops follow after interval / sqrt(n)."
        ),
    )
    ecn: Flag = Field(
        False,
        description=(
            "Whether packets of senders with `ecn`, `dctcp` or `dcqcn` are marked, not dropped."
        ),
    )


class Red(Section):
    """Random early detection (Floyd and Jacobson 1993), by default gentle.

    Attributes
    ----------
    min_threshold, max_threshold, mean_packet : int
        Bytes.
    """

    kind: Literal["red"] = "red"
    min_threshold: Annotated[int, Quantity(SIZE)] = Field(
        parse_size("45 kB"),
        description="Average queue from which on units are dropped: five full segments.",
    )
    max_threshold: _Size = Field(
        parse_size("135 kB"),
        description=(
            "Average queue at which the probability of a drop is `max_probability`; three times "
            "`min_threshold`, as the authors recommend."
        ),
    )
    max_probability: Annotated[float, Real(0, 1)] = Field(
        0.02, description="Probability of a drop at `max_threshold`; 1/50 in the paper."
    )
    weight: Annotated[float, Real(0, 1)] = Field(
        0.002, description="Weight of the present queue in the average, w_q of the paper."
    )
    mean_packet: _Size = Field(
        parse_size("9 kB"),
        description=(
            "Size of a typical packet: the average falls during idle time as if so many packets "
            "had found an empty queue."
        ),
    )
    gentle: Flag = Field(
        True,
        description=(
            "Whether the probability rises from `max_probability` to 1 between `max_threshold` and "
            "twice that (Floyd 2000). If not, all units are dropped above `max_threshold`."
        ),
    )
    ecn: Flag = Field(
        False,
        description=(
            "Whether packets of senders with `ecn`, `dctcp` or `dcqcn` are marked, and not dropped "
            "early."
        ),
    )

    @model_validator(mode="after")
    def _thresholds(self) -> Self:
        if self.min_threshold >= self.max_threshold:
            given, limit = format_size(self.min_threshold), format_size(self.max_threshold)
            raise refuse_at("min_threshold", given, f"less than max_threshold, {limit}")
        return self


class Pie(Section):
    """Proportional integral controller enhanced (RFC 8033): random drops, by the queue's delay.

    Attributes
    ----------
    target, update, burst : int
        Picoseconds.
    mean_packet : int
        Bytes.
    """

    kind: Literal["pie"] = "pie"
    target: _Time = Field(
        15 * 10**9,
        description=(
            "Delay in the queue that is aimed at. This default and the others are those of "
            "RFC 8033 for the Internet; a data centre needs `target` and `update` of about a round "
            "trip, with an `alpha` and a `beta` that are as many times larger as `target` is less."
        ),
    )
    update: _Time = Field(
        15 * 10**9,
        description="Time from one update of the probability to the next; at least 1 us.",
    )
    alpha: Annotated[float, Real(0, 1e9)] = Field(
        0.125,
        description="Change of the probability at an update, per second of delay above `target`.",
    )
    beta: Annotated[float, Real(0, 1e9)] = Field(
        1.25,
        description=(
            "Change of the probability at an update, per second by which the delay has grown since "
            "the last one."
        ),
    )
    burst: Annotated[int, Quantity(TIME, largest="1000 s")] = Field(
        150 * 10**9,
        description="Time for which nothing is dropped early after the queue was short.",
    )
    mean_packet: _Size = Field(
        parse_size("9 kB"),
        description=(
            "Size of a typical packet: nothing is dropped early behind two of them or less."
        ),
    )
    ecn: Flag = Field(
        False,
        description=(
            "Whether packets of senders with `ecn`, `dctcp` or `dcqcn` are marked, and not dropped "
            "early."
        ),
    )
    mark_below: Annotated[float, Real(0, 1)] = Field(
        0.1,
        description="Probability from which on packets are dropped even if they can be marked.",
    )

    @model_validator(mode="after")
    def _updates(self) -> Self:
        if self.update < _SHORTEST_UPDATE:
            raise refuse_at("update", format_duration(self.update), "at least 1 us")
        return self


class FqCoDel(Section):
    """Flow queue CoDel (RFC 8290): flows in queues that take turns, each with CoDel.

    Attributes
    ----------
    target, interval : int
        Picoseconds.
    quantum : int
        Bytes.
    """

    kind: Literal["fq-codel"] = "fq-codel"
    target: _Time = Field(
        5 * 10**9,
        description="Delay in a queue that is acceptable for good, as that of `codel`.",
    )
    interval: _Time = Field(
        100 * 10**9,
        description=(
            "Time for which the delay must be above the target before the first drop, as that of "
            "`codel`."
        ),
    )
    flows: Annotated[int, Whole(1, 65_536)] = Field(
        1024,
        description="Number of queues. Flows with the same hash share one.",
    )
    quantum: _Size = Field(
        parse_size("9 kB"),
        description=(
            "Bytes that a queue may send in its turn: a full segment, as RFC 8290 recommends. At "
            "least 256 B, as in Linux."
        ),
    )
    ecn: Flag = Field(
        False,
        description=(
            "Whether packets of senders with `ecn`, `dctcp` or `dcqcn` are marked and not dropped "
            "by CoDel. Without room they are dropped."
        ),
    )

    @model_validator(mode="after")
    def _turns(self) -> Self:
        if self.quantum < _SMALLEST_QUANTUM:
            raise refuse_at("quantum", format_size(self.quantum), "at least 256 B")
        return self


class DualPi2(Section):
    """Coupled dual queue with PI2 (RFC 9332), for low latency beside classic senders (L4S).

    Attributes
    ----------
    target, update, l4s_threshold, l4s_range : int
        Picoseconds.
    quantum : int
        Bytes.
    """

    kind: Literal["dualpi2"] = "dualpi2"
    target: _Time = Field(
        15 * 10**9,
        description=(
            "Delay in the classic queue that is aimed at. This default and the others are those of "
            "RFC 9332 for the Internet, with round trips of up to 100 ms; a data centre needs them "
            "shorter, with an `alpha` and a `beta` that are as many times larger."
        ),
    )
    update: _Time = Field(
        15 * 10**9,
        description="Time from one update of the base probability to the next; at least 1 us.",
    )
    alpha: Annotated[float, Real(0, 1e9)] = Field(
        0.15,
        description=(
            "Change of the base probability at an update, per second of delay above `target`."
        ),
    )
    beta: Annotated[float, Real(0, 1e9)] = Field(
        3.0,
        description=(
            "Change of the base probability at an update, per second by which the delay has grown "
            "since the last one."
        ),
    )
    coupling: Annotated[float, Real(0.1, 100)] = Field(
        2.0,
        description=(
            "Coupling factor k: packets of `dctcp` are marked with k times the base probability, "
            "others marked or dropped with its square."
        ),
    )
    l4s_threshold: Annotated[int, Quantity(TIME, largest="1000 s")] = Field(
        800 * 10**6,
        description="Delay in the queue of `dctcp` from which on its packets are marked anyway.",
    )
    l4s_range: Annotated[int, Quantity(TIME, largest="1000 s")] = Field(
        400 * 10**6,
        description="Further delay over which the likelihood of these marks rises from 0 to 1.",
    )
    quantum: _Size = Field(
        parse_size("9 kB"),
        description="Bytes that the classic queue may send in its turn. At least 256 B.",
    )
    l4s_weight: Annotated[int, Whole(1, 1000)] = Field(
        9,
        description="How many times more the queue of `dctcp` may send in its turn.",
    )

    @model_validator(mode="after")
    def _turns(self) -> Self:
        if self.update < _SHORTEST_UPDATE:
            raise refuse_at("update", format_duration(self.update), "at least 1 us")
        if self.quantum < _SMALLEST_QUANTUM:
            raise refuse_at("quantum", format_size(self.quantum), "at least 256 B")
        return self


class Marking(Section):
    """Drop-tail that marks between two thresholds: the congestion point of DCQCN (Zhu et al. 2015).

    Attributes
    ----------
    min_threshold, max_threshold : int
        Bytes.
    """

    kind: Literal["marking"] = "marking"
    min_threshold: Annotated[int, Quantity(SIZE)] = Field(
        parse_size("5 kB"), description="K_min: queue up to which no arriving packet is marked."
    )
    max_threshold: _Size = Field(
        parse_size("200 kB"), description="K_max: queue above which each arriving packet is marked."
    )
    max_probability: Annotated[float, Real(0, 1)] = Field(
        0.01, description="P_max: probability of a mark at `max_threshold`; 0 at `min_threshold`."
    )

    @model_validator(mode="after")
    def _thresholds(self) -> Self:
        if self.min_threshold >= self.max_threshold:
            given, limit = format_size(self.min_threshold), format_size(self.max_threshold)
            raise refuse_at("min_threshold", given, f"less than max_threshold, {limit}")
        return self


class Trim(Section):
    """A packet without room loses its payload, and its header overtakes the data (NDP).

    Attributes
    ----------
    header, header_queue : int
        Bytes.
    """

    came_later: ClassVar[frozenset[str]] = frozenset({"return_to_sender"})

    kind: Literal["trim"] = "trim"
    packets: Annotated[int, Whole(1, 1_000_000)] = Field(
        8,
        description=(
            "Number of packets with data that may wait at an output, besides the one that is "
            "transmitted."
        ),
    )
    header: _Size = Field(64, description="Size of a packet without its payload.")
    header_queue: Annotated[int, Quantity(SIZE)] = Field(
        parse_size("72 kB"),
        description=(
            "Bytes of packets without data that may wait at an output. The default is the memory "
            "of eight full segments."
        ),
    )
    weight: Annotated[int, Whole(1, 1_000_000)] = Field(
        10,
        description=(
            "Number of packets without data that leave for each packet with data, while both wait."
        ),
    )
    tail: Annotated[float, Real(0, 1)] = Field(
        0.5,
        description=(
            "Probability that the last packet that waits is trimmed, in place of the arriving one."
        ),
    )
    return_to_sender: Flag = Field(
        False,
        description=(
            "Whether the header of a trimmed packet that finds no room goes back to the sender of "
            "the packet, in place of being lost (3.2.4). Optional in NDP."
        ),
    )


Queue = Annotated[
    DropTail | CoDel | Red | Pie | FqCoDel | Prio | Drr | DualPi2 | Marking | Trim,
    Field(
        discriminator="kind",
        description=(
            "Discipline of the output queues. `queue_size` is the limit of each. With "
            '`"drop-tail"` a unit is dropped only if it finds no room.'
        ),
    ),
    Named(),
]

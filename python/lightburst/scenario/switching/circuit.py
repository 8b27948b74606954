"""Circuit switches, whose matchings follow a schedule or the demand."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from lightburst.foundation.units import (
    SIZE,
    TIME,
    Quantity,
    format_size,
    parse_duration,
    parse_size,
)
from lightburst.scenario.fields import DataFile, Flag, Lists, Named, Whole, refuse_at
from lightburst.scenario.section import Section
from lightburst.scenario.switching.base import BaseSwitch, Unlimited
from lightburst.scenario.switching.packet_network import PacketNetwork

_HUNDRED_PACKETS = parse_size("900 kB")
#: Racks of a network of circuits; the simulator numbers them in 16 bits.
MOST_RACKS = 4096
#: Size up to which a flow is short with `opera`, where none is given.
SHORT_SIZE = parse_size("15 MB")
Forwarding = Literal["direct", "valiant", "rotor-lb", "opera"]
_Matching = tuple[Annotated[int, Whole(0, MOST_RACKS - 1)], ...]
#: For each circuit switch its matchings, slot by slot.
Turns = tuple[tuple[tuple[int, ...], ...], ...]


class RotorSchedule(Section):
    """Cyclic shifts of the racks, dealt out to the circuit switches (RotorNet 2017)."""

    kind: Literal["rotor"] = "rotor"


class RoundRobinSchedule(Section):
    """Pairings of all racks as in a tournament; every circuit switch turns through all of them."""

    kind: Literal["round-robin"] = "round-robin"


class RandomSchedule(Section):
    """Random pairings of all racks, dealt out to the circuit switches (Opera 2020)."""

    kind: Literal["random"] = "random"


class GivenSchedule(Section):
    """Matchings of your own, in the scenario or in a file."""

    alternatives: ClassVar[tuple[tuple[str, ...], ...]] = (("matchings", "file"),)
    kind: Literal["given"] = "given"
    matchings: (
        Annotated[
            tuple[tuple[_Matching, ...], ...],
            Lists(
                "a list for each circuit switch, of matchings, each a list of the numbers of "
                "racks: [[[1, 2, 0], [2, 0, 1]]]"
            ),
        ]
        | None
    ) = Field(
        None,
        description=(
            "For each circuit switch its matchings, slot by slot; a matching lists for each rack "
            "the number of the rack to which its circuit leads. Afterwards the first one follows "
            "again."
        ),
    )
    file: DataFile | None = Field(
        None,
        description=(
            "The same as a CSV file with a heading and the columns `switch`, `slot`, `rack` and "
            "`to`, all numbers from 0: in this slot of this circuit switch the circuit of the rack "
            "leads to another one. Each switch begins again after its last slot. A relative name "
            "is relative to the directory of the scenario file."
        ),
    )


class Scheduler(Section):
    """Matchings computed from the bytes that wait."""

    delay: Annotated[int, Quantity(TIME, largest="1 s")] = Field(
        parse_duration("20 us"),
        description=(
            "Time from the look at what waits in the racks to the start of the slot for which it "
            "decides; with `guard` longer than the delay of each link to a circuit switch, so that "
            "racks know of a circuit before it opens."
        ),
    )


class GreedyScheduler(Scheduler):
    """The pair of racks with the most bytes first, then the next that is possible."""

    kind: Literal["greedy"] = "greedy"


class HungarianScheduler(Scheduler):
    """The matching with the most bytes."""

    kind: Literal["hungarian"] = "hungarian"


class IslipScheduler(Scheduler):
    """Requests, grants and accepts with round-robin pointers (McKeown 1999)."""

    kind: Literal["islip"] = "islip"
    iterations: Annotated[int, Whole(1, MOST_RACKS)] = Field(
        4,
        description=(
            "Rounds of request, grant and accept in each slot; it ends before if one adds no pair."
        ),
    )


class BirkhoffScheduler(Scheduler):
    """Matchings that are held as long as they are needed (Solstice 2015)."""

    kind: Literal["birkhoff"] = "birkhoff"
    frame: Annotated[int, Whole(1, 10**6)] = Field(
        32, description="Most slots of a circuit switch for which one look decides."
    )


Schedule = Annotated[
    RotorSchedule
    | RoundRobinSchedule
    | RandomSchedule
    | GivenSchedule
    | GreedyScheduler
    | HungarianScheduler
    | IslipScheduler
    | BirkhoffScheduler,
    Field(
        discriminator="kind",
        description=(
            'Matchings over time. `"rotor"`: the n - 1 cyclic shifts of n racks, dealt out to the '
            "circuit switches in turn; each switch turns through its own (RotorNet, Mellette et "
            'al. 2017). `"round-robin"`: the n - 1 rounds of a tournament of n racks, an even '
            "number; each circuit switch turns through all, the switches evenly apart. "
            '`"random"`: these rounds with the racks in random order, shuffled and dealt out in '
            "turn, so that the circuits of a slot are a random regular graph (Opera, Mellette et "
            "al. 2020); another seed is another schedule. "
            '`"given"`: matchings of your own. '
            "The others are schedulers, which compute "
            'matchings from the bytes that wait in the racks: `"greedy"`, `"hungarian"`, `"islip"` '
            'and `"birkhoff"`.'
        ),
    ),
    Named(),
]


class Circuit(BaseSwitch):
    """Circuit switches that turn through matchings of racks, whose switches wait for circuits.

    The switches with hosts are those of racks; all others are circuit switches. Each rack has one
    link to each circuit switch.

    Attributes
    ----------
    slot, guard : int
        Picoseconds.
    short_size : int or None
        Bytes; None without `opera`, or for 15 MB.
    queue_size : int or None
        Bytes; None for unlimited.
    """

    came_later: ClassVar[frozenset[str]] = frozenset({"staggered", "short_size", "packet"})

    kind: Literal["circuit"] = "circuit"
    schedule: Schedule = RotorSchedule()
    slot: Annotated[int, Quantity(TIME, positive=True, largest="1 s")] = Field(
        parse_duration("100 us"),
        description=(
            "Time for which a matching lasts, `guard` included. With the default of both, circuits "
            "are open for 90 % of the time, as in Opera."
        ),
    )
    guard: Annotated[int, Quantity(TIME, largest="1 s")] = Field(
        parse_duration("10 us"),
        description=(
            "Time at the beginning of each slot in which the switch changes its matching and "
            "nothing passes; less than `slot`, by a full segment at least."
        ),
    )
    staggered: Flag = Field(
        False,
        description=(
            "Whether the circuit switches change one after another, as in Opera: the slots of "
            "switch `c` of `u` begin `c slot / u` later. Otherwise all change at once."
        ),
    )
    forwarding: Forwarding = Field(
        "direct",
        description=(
            'Way of a packet. `"direct"`: it waits for a circuit to its own rack. `"valiant"`: it '
            "takes whatever circuit is open, and waits at the rack where that one leads for a "
            'circuit to its own rack. `"rotor-lb"`: the same, but only with the time of a circuit '
            'that packets for its rack leave over. `"opera"`: packets of short flows, and those '
            "without data, go at once over the circuits of the present, hop by hop on a shortest "
            "way; all others as with `direct`."
        ),
    )
    short_size: Annotated[int, Quantity(SIZE, positive=True)] | None = Field(
        None,
        description=("Largest size of a short flow, with `opera` alone; `15 MB` if not given."),
    )
    queue_size: Unlimited = Field(
        _HUNDRED_PACKETS,
        description=(
            "Size of each queue of a rack: those for circuits, and that of each host; at least a "
            "segment."
        ),
    )

    packet: PacketNetwork | None = Field(
        None,
        description=(
            "A packet network beside the circuits, an electronic switch with a link to each rack: "
            "short flows, or the begin of all, need not wait for a circuit."
        ),
    )

    @model_validator(mode="after")
    def _fit(self) -> "Circuit":
        if self.short_size is not None and self.forwarding != "opera":
            allowed = "none: only forwarding = 'opera' has short flows"
            raise refuse_at("short_size", format_size(self.short_size), allowed)
        if self.staggered and isinstance(self.schedule, Scheduler):
            raise refuse_at(
                "staggered", "true", "false with a scheduler, which decides for all at once"
            )
        return self

    def largest_unit(self) -> tuple[str, int | None]:
        """Return the size of a queue."""
        return "queue_size", self.queue_size

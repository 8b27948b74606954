"""Packet network beside circuits."""

from typing import Annotated, Literal

from pydantic import Field

from lightburst.foundation.units import RATE, SIZE, Quantity, parse_size
from lightburst.scenario.section import Section
from lightburst.scenario.switching.base import Unlimited

_HUNDRED_PACKETS = parse_size("900 kB")
#: Size up to which a flow goes by packets, where none is given.
_THRESHOLD = parse_size("100 kB")


class PacketNetwork(Section):
    """An electronic switch that joins all racks, beside their circuits.

    Attributes
    ----------
    rate : int
        Bits per second.
    threshold : int
        Bytes.
    queue_size, ecn_threshold : int or None
        Bytes; None for unlimited, and for no marking.
    """

    rate: Annotated[int, Quantity(RATE, positive=True)] = Field(
        description=(
            "Rate of the link of each rack to the packet network, and of the one back. RotorNet "
            "has a tenth to a fifth of what the circuits of a rack carry."
        )
    )
    by: Literal["size", "age"] = Field(
        "size",
        description=(
            'What decides which packets it carries. `"size"`: those of flows with at most '
            '`threshold` bytes, mice. `"age"`: of every flow the packets that lie within its first '
            "`threshold` bytes, so that no size need be known. In either case those without data."
        ),
    )
    threshold: Annotated[int, Quantity(SIZE)] = Field(
        _THRESHOLD, description="Most bytes of a flow that go by packets."
    )
    queue_size: Unlimited = Field(
        _HUNDRED_PACKETS,
        description=(
            "Size of each of its queues: that of each rack towards it, and that of its switch "
            "towards each rack; at least a segment."
        ),
    )
    ecn_threshold: Annotated[int | None, Quantity(SIZE, word="off")] = Field(
        None, description="Backlog of these queues from which arriving packets are marked (ECN)."
    )

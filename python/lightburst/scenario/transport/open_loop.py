"""Open-loop transports: datagrams of hosts, and bursts of edges."""

from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import Field, model_validator

from lightburst.foundation.units import RATE, SIZE, Quantity, Size, format_size, parse_size
from lightburst.scenario.fields import refuse_at
from lightburst.scenario.transport.base import BaseTransport, SegmentSize

#: Kinds without connections.
OPEN_LOOP: Final = ("datagram", "bursts")


class OpenLoop(BaseTransport):
    """Fields of the open-loop transports, which send at given times.

    Attributes
    ----------
    rate : int or None
        Bits a second; None for the rate of the source's link.
    """

    rate: Annotated[int | None, Quantity(RATE, positive=True, word="link")] = Field(
        None,
        description=(
            'Mean rate of a flow on the wire while it sends; `"link"` is the rate of its host\'s '
            "link."
        ),
    )
    spacing: Literal["poisson", "constant"] = Field(
        "poisson",
        description=(
            'Gaps between datagrams. `"poisson"`: exponential, with one before the first '
            "datagram, so that departures are a Poisson process from the flow's start. "
            "That gap is in the completion time: where a flow is a single datagram, to see it wait "
            'in a queue, take `"constant"`: all the same, the first datagram at the start.'
        ),
    )


class Datagram(OpenLoop):
    """Open loop: datagrams at given times, without acknowledgements or retransmissions."""

    kind: Literal["datagram"] = "datagram"


class Bursts(OpenLoop):
    """Open loop: bursts created by the edge of the source, for the edge of the destination.

    Attributes
    ----------
    segment_size, header_size : int
        Bytes.
    packet_size : int or None
        Bytes; None for a burst of one packet.
    """

    came_later: ClassVar[frozenset[str]] = frozenset({"packet_size"})

    kind: Literal["bursts"] = "bursts"
    segment_size: SegmentSize = Field(
        parse_size("10 MB"),
        description=(
            "Size of a burst, header included; the last one of a flow has what is left, and a flow "
            "that fits into one is one. The default is more than the bursts of most studies have, "
            "so that a flow of the workload is a burst."
        ),
    )
    header_size: Size = Field(0, description="Part of each burst that carries no useful data.")
    packet_size: Annotated[
        int | None, Quantity(SIZE, positive=True, largest="1 GB", word="segment_size")
    ] = Field(
        None,
        description=(
            "Size of the packets of which a burst is made: the segments of the papers on burst "
            "segmentation, which cuts a burst between two of them. The last packet has what is "
            "left, the first has the header. Without it a burst is one packet, which cannot be cut."
        ),
    )
    spacing: Literal["poisson", "constant"] = Field(
        "constant",
        description=(
            'Gaps between the bursts of a flow, with a mean of `segment_size / rate`. `"poisson"`: '
            "exponential, with one before the first burst, so that they are a Poisson process from "
            'the flow\'s start. `"constant"`: all the same, the first burst at the start.'
        ),
    )

    @model_validator(mode="after")
    def _packets_fit(self) -> Self:
        size = self.packet_size
        if size is not None and not self.header_size < size <= self.segment_size:
            allowed = (
                f"more than header_size ({format_size(self.header_size)}) and at most segment_size "
                f"({format_size(self.segment_size)})"
            )
            raise refuse_at("packet_size", format_size(size), allowed)
        return self

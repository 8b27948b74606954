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
            'Mean rate of a flow on the wire, headers included; `"link"` is the rate of the '
            "host's link."
        ),
    )
    spacing: Literal["poisson", "constant"] = Field(
        "poisson",
        description=(
            'Gaps between datagrams. `"poisson"`: exponential, with a gap before the first '
            "datagram, so that departures are a Poisson process from the flow's start. The "
            "completion time includes that gap: to measure the wait of single-datagram flows in a "
            'queue, use `"constant"`: equal gaps, with the first datagram at the start.'
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
            "Size of a burst, header included. The last burst of a flow has the remaining bytes, "
            "and a flow that fits into one burst has a single one. The default is more than the "
            "bursts of most studies have, so that each flow of the workload is one burst."
        ),
    )
    header_size: Size = Field(0, description="Part of each burst without useful data.")
    packet_size: Annotated[
        int | None, Quantity(SIZE, positive=True, largest="1 GB", word="segment_size")
    ] = Field(
        None,
        description=(
            "Size of the packets in a burst: the segments of the papers on burst segmentation, "
            "which cuts a burst between two of them. The last packet has the remaining bytes, the "
            "first has the header. By default a burst is one packet, which cannot be cut."
        ),
    )
    spacing: Literal["poisson", "constant"] = Field(
        "constant",
        description=(
            'Gaps between the bursts of a flow, with a mean of `segment_size / rate`. `"poisson"`: '
            "exponential, with a gap before the first burst, so that departures are a Poisson "
            'process from the flow\'s start. `"constant"`: equal gaps, with the first burst at the '
            "start."
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

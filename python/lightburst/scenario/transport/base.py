"""Fields shared by all transports."""

from math import ceil
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from lightburst.foundation.formatting import exactly
from lightburst.foundation.units import (
    SIZE,
    PositiveDuration,
    Quantity,
    Size,
    format_duration,
    format_size,
    parse_duration,
    parse_size,
)
from lightburst.scenario.fields import Flag, Whole, refuse_at
from lightburst.scenario.section import Section

# The simulator counts the bytes of a unit in 32 bits and its transmission time in picoseconds.
SegmentSize = Annotated[int, Quantity(SIZE, positive=True, largest="1 GB")]
#: Most retransmissions before an endpoint gives up.
Retransmissions = Annotated[int | None, Whole(1, word="unlimited")]


def require_control_fits(control_size: int, segment_size: int) -> None:
    """Refuse control segments that are larger than data segments."""
    if control_size > segment_size:
        allowed = f"at most segment_size ({format_size(segment_size)})"
        raise refuse_at("control_size", format_size(control_size), allowed)


class BaseTransport(Section):
    """Fields of every transport.

    Attributes
    ----------
    segment_size, header_size : int
        Bytes.
    """

    segment_size: SegmentSize = Field(
        parse_size("9 kB"),
        description=(
            "Largest data segment on the wire, header included; the last one of a flow may be "
            "smaller. The default is the MTU of minakhmetov2018; yu2004 has 1 kB."
        ),
    )
    header_size: Size = Field(
        0,
        description="Part of each segment without useful data. The papers mention none.",
    )

    @property
    def payload(self) -> int:
        """Useful bytes of a full segment."""
        return self.segment_size - self.header_size

    @model_validator(mode="after")
    def _header_fits(self) -> Self:
        if self.header_size >= self.segment_size:
            raise refuse_at(
                "header_size",
                format_size(self.header_size),
                f"less than segment_size ({format_size(self.segment_size)})",
            )
        return self


class Connection(BaseTransport):
    """Fields of every transport with acknowledgements, a set-up and a close.

    Attributes
    ----------
    initial_timeout, max_timeout : int
        Picoseconds.
    control_size : int
        Bytes.
    max_retransmissions : int or None
        None is unlimited.
    growth : str
        Name of the field by which an expiry multiplies the timeout.
    """

    came_later: ClassVar[frozenset[str]] = frozenset({"max_retransmissions", "handshake"})
    growth: ClassVar[str]

    control_size: SegmentSize = Field(
        parse_size("64 B"),
        description=(
            "Size of SYN, FIN and acknowledgements, independent of their options; also the least "
            "size of a data segment."
        ),
    )
    initial_timeout: PositiveDuration = Field(
        parse_duration("1 s"),
        description=(
            "Timeout before the first round-trip time is known (RFC 6298, 2.1). At least so long "
            "that `backoff` lengthens it by a picosecond."
        ),
    )
    max_timeout: PositiveDuration = Field(
        parse_duration("60 s"),
        description=(
            "Largest timeout (RFC 6298, 2.5). At least the transmission time of a segment on the "
            "links of the flows' hosts: otherwise each segment would be retransmitted before its "
            "transmission ends."
        ),
    )
    receiver_timers: Flag = Field(
        True,
        description=(
            "Whether the receiver retransmits SYN+ACK and FIN+ACK by its own timer (RFC 9293)."
        ),
    )
    handshake: Flag = Field(
        True,
        description=(
            "Whether SYN, SYN+ACK and ACK precede the data. Without them the first window leaves "
            "at the start of the flow, as with the one-way agents of ns-2: no round-trip time is "
            "known until data is acknowledged. The close with FIN, which those agents lack, stays."
        ),
    )
    max_retransmissions: Retransmissions = Field(
        None,
        description=(
            "Most retransmissions of the same segment (SYN, data, FIN) by an endpoint's timer "
            "before the endpoint gives up: R2 of RFC 9293, 3.8.3. Linux has 15 for data "
            "(`tcp_retries2`), about 15 minutes, and 6 for a SYN. No limit by default: a flow "
            "should not end without a completion time, and the published settings have no limit."
        ),
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.initial_timeout > self.max_timeout:
            raise refuse_at(
                "initial_timeout",
                format_duration(self.initial_timeout),
                f"at most max_timeout ({format_duration(self.max_timeout)})",
            )
        require_control_fits(self.control_size, self.segment_size)
        factor = getattr(self, self.growth)
        # An increase of less than half a picosecond is lost by rounding.
        stays = factor * self.initial_timeout - self.initial_timeout < 0.5
        if stays and self.initial_timeout < self.max_timeout:
            least = ceil(0.5 / (factor - 1))
            raise refuse_at(
                "initial_timeout",
                format_duration(self.initial_timeout),
                f"at least {format_duration(least)}, so that {self.growth} ({exactly(factor)}) "
                "lengthens it after each expiry",
            )
        return self

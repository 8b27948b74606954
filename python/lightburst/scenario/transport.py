"""``[transport]``: how a flow's data is sent."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from lightburst.scenario.fields import Real, Section, refuse_at
from lightburst.units import (
    RATE,
    SIZE,
    PositiveDuration,
    Quantity,
    Size,
    format_duration,
    format_size,
    parse_duration,
    parse_size,
)

# The simulator counts the bytes of a unit in 32 bits and its transmission time in picoseconds.
_LARGEST_UNIT = Quantity(SIZE, positive=True, largest="1 GB")
_Segment = Annotated[int, _LARGEST_UNIT]


class _Transport(Section):
    """What every transport has.

    Attributes
    ----------
    segment_size, header_size : int
        Bytes.
    """

    segment_size: _Segment = Field(
        parse_size("9 kB"), description="Largest data segment on the wire, header included."
    )
    header_size: Size = Field(0, description="Part of each segment that carries no useful data.")

    @model_validator(mode="after")
    def _header_fits(self) -> Self:
        if self.header_size >= self.segment_size:
            raise refuse_at(
                "header_size",
                format_size(self.header_size),
                f"less than segment_size ({format_size(self.segment_size)})",
            )
        return self


class _StopAndWait(_Transport):
    """What both kinds of stop-and-wait have.

    Attributes
    ----------
    initial_timeout, max_timeout : int
        Picoseconds.
    control_size : int
        Bytes.
    """

    alpha: Annotated[float, Real(1, inclusive=False)] = Field(
        1.1, description="Factor on the timeout after each expiry."
    )
    beta: Annotated[float, Real(0, 1, inclusive=False)] = Field(
        0.5, description="Weight of a new round-trip time in the timeout."
    )
    initial_timeout: PositiveDuration = Field(
        parse_duration("1 ms"), description="Timeout before the first round-trip time is known."
    )
    max_timeout: PositiveDuration = Field(
        parse_duration("60 s"), description="The timeout never grows beyond this."
    )
    control_size: _Segment = Field(
        parse_size("64 B"), description="Size of SYN, FIN and acknowledgements."
    )
    receiver_timers: bool = Field(
        False, description="Whether the receiver repeats SYN+ACK and FIN+ACK by a timer of its own."
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.initial_timeout > self.max_timeout:
            raise refuse_at(
                "initial_timeout",
                format_duration(self.initial_timeout),
                f"at most max_timeout ({format_duration(self.max_timeout)})",
            )
        if self.control_size > self.segment_size:
            raise refuse_at(
                "control_size",
                format_size(self.control_size),
                f"at most segment_size ({format_size(self.segment_size)})",
            )
        return self


class Saw(_StopAndWait):
    """TCP stop-and-wait of Argibay-Losada et al., with the constants of minakhmetov2018."""

    kind: Literal["saw"] = "saw"


class Sawl(_StopAndWait):
    """Stop-and-wait-longer of minakhmetov2018: the timer waits `p` segment times more."""

    kind: Literal["sawl"] = "sawl"
    p: Annotated[float, Real(0, 10**6)] = Field(
        4.0, description="Segment transmission times added to the timeout."
    )


class Datagram(_Transport):
    """Open loop: datagrams at given times, nothing acknowledged, nothing sent again.

    Attributes
    ----------
    rate : int or None
        Bits a second; None is the rate of the source's link.
    """

    kind: Literal["datagram"] = "datagram"
    rate: Annotated[int | None, Quantity(RATE, positive=True, word="link")] = Field(
        None, description="Mean rate of a flow on the wire while it sends."
    )
    spacing: Literal["poisson", "constant"] = Field(
        "poisson", description="Gaps between datagrams: exponential, or all the same."
    )


Transport = Annotated[Saw | Sawl | Datagram, Field(discriminator="kind")]

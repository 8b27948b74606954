"""Stop-and-wait: one segment at a time."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from lightburst.foundation.units import PositiveDuration, parse_duration
from lightburst.scenario.fields import Flag, Real
from lightburst.scenario.transport.base import Connection


class _StopAndWait(Connection):
    """Fields of both kinds of stop-and-wait.

    Attributes
    ----------
    initial_timeout : int
        Picoseconds.
    """

    growth: ClassVar[str] = "alpha"

    alpha: Annotated[float, Real(1, 1e9, inclusive=False)] = Field(
        1.1, description="Factor on the timeout after each expiry."
    )
    beta: Annotated[float, Real(0, 1, inclusive=False)] = Field(
        0.5, description="Weight of a new round-trip time in the estimate of the timeout."
    )
    initial_timeout: PositiveDuration = Field(
        parse_duration("1 ms"),
        description=(
            "Timeout before the first round-trip time is known. At least so long that `alpha` "
            "lengthens it by a picosecond: 5 ps with the default."
        ),
    )
    receiver_timers: Flag = Field(
        False,
        description=(
            "Whether the receiver retransmits SYN+ACK and FIN+ACK by its own timer (RFC 9293), or "
            "answers only when the sender retransmits its SYN or FIN. minakhmetov2018 mentions "
            "neither; its timeout is the sender's, so the default is the latter."
        ),
    )


class Saw(_StopAndWait):
    """TCP stop-and-wait of Argibay-Losada et al., with the constants of minakhmetov2018."""

    kind: Literal["saw"] = "saw"


class Sawl(_StopAndWait):
    """Stop-and-wait-longer of minakhmetov2018: the timer is `p` segment times longer."""

    kind: Literal["sawl"] = "sawl"
    p: Annotated[float, Real(0, 10**6)] = Field(
        4.0,
        description=(
            'Addition to the timer, in transmission times of a full segment, "so as to give a '
            'chance to packets having traversed up to p buffers". minakhmetov2018 has 0 (which is '
            "`saw`), 1 and 4, and finds no gain above."
        ),
    )

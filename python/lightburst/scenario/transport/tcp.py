"""TCP: a congestion control, a loss recovery, and the choices that the standards leave.

Every default is the standard's; docs/scenario.md has the reason for each. What the ns-2 of 2004
does otherwise, which yu2004 used, is an option with that value named.
"""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from lightburst.scenario.fields import Flag, Real, Whole, refuse_at
from lightburst.scenario.transport.base import Connection
from lightburst.units import (
    SIZE,
    Duration,
    PositiveDuration,
    Quantity,
    format_duration,
    format_size,
    parse_duration,
)

CongestionControl = Literal["reno", "stop-and-wait"]
Recovery = Literal["tahoe", "reno", "new-reno", "sack", "sack1"]
# The options of a TCP header have 40 bytes: n blocks take 2 + 8 n, timestamps 10 and padding.
_MOST_BLOCKS, _MOST_BLOCKS_WITH_TIMESTAMPS = 4, 3


def rfc5681(segment: int) -> int:
    """Give the initial window of RFC 5681, section 3.1, for an SMSS; both in bytes."""
    if segment > 2190:
        return 2 * segment
    return 3 * segment if segment > 1095 else 4 * segment


def rfc3390(segment: int) -> int:
    """Give the initial window of RFC 3390, equation 1, for an MSS; both in bytes."""
    return min(4 * segment, max(2 * segment, 4380))


def rfc6928(segment: int) -> int:
    """Give the initial window of RFC 6928, equation 1, for an MSS; both in bytes."""
    return min(10 * segment, max(2 * segment, 14600))


INITIAL_WINDOWS = {"rfc6928": rfc6928, "rfc3390": rfc3390, "rfc5681": rfc5681}


class Tcp(Connection):
    """TCP with a choice of congestion control and of loss recovery.

    Attributes
    ----------
    acknowledgement_delay, min_timeout, clock_granularity : int
        Picoseconds.
    access_buffer : int or None
        Bytes; None is unlimited.
    """

    follows: ClassVar[frozenset[str]] = frozenset({"sack_blocks", "bug_fix"})

    kind: Literal["tcp"] = "tcp"
    congestion_control: CongestionControl = Field(
        "reno", description="How the window moves (`reno`: slow start and congestion avoidance)."
    )
    recovery: Recovery = Field("sack", description="How losses are found and what is sent again.")
    advertised_window: Annotated[int, Whole(1)] = Field(
        1000, description="Receiver's window W_m, in segments."
    )
    initial_window: Annotated[int | str, Whole(1, names=tuple(INITIAL_WINDOWS))] = Field(
        "rfc6928", description="Congestion window at the start: of an RFC, or in segments."
    )
    acknowledge_every: Annotated[int, Whole(1, 2)] = Field(
        2, description="Data segments for each acknowledgement (b); 2 delays it."
    )
    acknowledgement_delay: PositiveDuration = Field(
        parse_duration("40 ms"), description="A delayed acknowledgement waits no longer than this."
    )
    min_timeout: Duration = Field(
        parse_duration("1 s"), description="The timeout is never less, once a round trip is known."
    )
    clock_granularity: Duration = Field(
        parse_duration("1 ms"), description="G: least addend to the smoothed round-trip time."
    )
    backoff: Annotated[float, Real(1, inclusive=False)] = Field(
        2.0, description="Factor on the timeout after each expiry."
    )
    rtt_samples: Literal["one-at-a-time", "every-acknowledgement"] = Field(
        "one-at-a-time", description="Which round-trip times enter the timeout."
    )
    duplicate_threshold: Annotated[int, Whole(1, 1000)] = Field(
        3, description="Duplicate acknowledgements that tell a loss."
    )
    limited_transmit: Flag = Field(
        True, description="Whether the first duplicates let new segments go (RFC 3042)."
    )
    halving: Literal["flight-size", "window"] = Field(
        "flight-size", description="What is halved on a loss."
    )
    window_growth_on_exit: Flag = Field(
        False, description="Whether the acknowledgement that ends a recovery opens the window, too."
    )
    bug_fix: Flag = Field(
        True,
        description="No second fast retransmit for data sent before the last one, or a timeout; "
        "off for `tahoe` and `reno`.",
    )
    partial_acknowledgement: Literal["impatient", "slow-but-steady"] = Field(
        "impatient", description="New-Reno: which partial acknowledgements restart the timer."
    )
    full_acknowledgement: Literal["flight-size", "ssthresh"] = Field(
        "flight-size", description="New-Reno: the window after recovery."
    )
    rescue_retransmission: Flag = Field(
        True, description="SACK: one retransmission more when nothing else may be sent."
    )
    sack_blocks: Annotated[int, Whole(1, _MOST_BLOCKS)] = Field(
        _MOST_BLOCKS, description="SACK: blocks in an acknowledgement, at most; 3 with timestamps."
    )
    duplicate_sack: Flag = Field(
        True, description="SACK: whether duplicates are reported (RFC 2883)."
    )
    timestamps: Flag = Field(
        False, description="Whether segments carry the timestamps option (RFC 7323)."
    )
    access_buffer: Annotated[int | None, Quantity(SIZE, positive=True, word="unlimited")] = Field(
        None, description="Room at a host's interface; what does not fit is lost there."
    )

    @property
    def initial_window_bytes(self) -> int:
        """Congestion window at the start, in useful bytes."""
        if isinstance(self.initial_window, str):
            return INITIAL_WINDOWS[self.initial_window](self.payload)
        return self.initial_window * self.payload

    @model_validator(mode="after")
    def _standard(self) -> Self:
        # `recover` is RFC 6582's: the Tahoe and Reno of RFC 5681 do not know it.
        if self.recovery in ("tahoe", "reno") and "bug_fix" not in self.model_fields_set:
            # The usual way is closed to everybody, also to the table itself.
            object.__setattr__(self, "bug_fix", False)
        return self

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.min_timeout > self.max_timeout:
            raise refuse_at(
                "min_timeout",
                format_duration(self.min_timeout),
                f"at most max_timeout ({format_duration(self.max_timeout)})",
            )
        if self.timestamps and self.sack_blocks > _MOST_BLOCKS_WITH_TIMESTAMPS:
            if "sack_blocks" in self.model_fields_set:
                raise refuse_at(
                    "sack_blocks",
                    self.sack_blocks,
                    f"a whole number from 1 to {_MOST_BLOCKS_WITH_TIMESTAMPS} with timestamps, "
                    "which leave no room for more",
                )
            object.__setattr__(self, "sack_blocks", _MOST_BLOCKS_WITH_TIMESTAMPS)
        if self.access_buffer is not None and self.access_buffer < self.segment_size:
            raise refuse_at(
                "access_buffer",
                format_size(self.access_buffer),
                f"at least segment_size ({format_size(self.segment_size)}), or 'unlimited'",
            )
        return self

"""``recovery`` of `tcp`: how losses are found and what is sent again; one table for each."""

from typing import Annotated, Literal

from pydantic import Field

from lightburst.scenario.fields import Flag, Named, Section, Whole

# The options of a TCP header have 40 bytes: n blocks take 2 + 8 n, timestamps 10 and padding.
MOST_BLOCKS, MOST_BLOCKS_WITH_TIMESTAMPS = 4, 3

_GROWTH = "Whether the acknowledgement that ends a recovery opens the window, too."
_BUG_FIX = "No second fast retransmit for data sent before the last one, or a timeout."


class _Recovery(Section):
    """What every recovery has."""

    duplicate_threshold: Annotated[int, Whole(1, 1000)] = Field(
        3, description="Duplicate acknowledgements that tell a loss."
    )
    limited_transmit: Flag = Field(
        True, description="Whether the first duplicates let new segments go (RFC 3042)."
    )


class _Selective(_Recovery):
    """What every recovery has whose receiver sends SACK blocks."""

    sack_blocks: Annotated[int, Whole(1, MOST_BLOCKS)] = Field(
        MOST_BLOCKS, description="Blocks in an acknowledgement, at most; 3 with timestamps."
    )
    duplicate_sack: Flag = Field(True, description="Whether duplicates are reported (RFC 2883).")


class Tahoe(_Recovery):
    """A fast retransmission, then slow start."""

    kind: Literal["tahoe"] = "tahoe"
    bug_fix: Flag = Field(False, description=_BUG_FIX)


class RenoRecovery(_Recovery):
    """Fast retransmission and fast recovery (RFC 5681)."""

    kind: Literal["reno"] = "reno"
    bug_fix: Flag = Field(False, description=_BUG_FIX)
    window_growth_on_exit: Flag = Field(False, description=_GROWTH)


class NewReno(_Recovery):
    """Fast recovery that lasts until all that was outstanding is acknowledged (RFC 6582)."""

    kind: Literal["new-reno"] = "new-reno"
    bug_fix: Flag = Field(True, description=_BUG_FIX)
    window_growth_on_exit: Flag = Field(False, description=_GROWTH)
    partial_acknowledgement: Literal["impatient", "slow-but-steady"] = Field(
        "impatient", description="Which partial acknowledgements restart the timer."
    )
    full_acknowledgement: Literal["flight-size", "ssthresh"] = Field(
        "flight-size", description="The window after recovery."
    )


class Sack(_Selective):
    """Selective acknowledgements (RFC 6675)."""

    kind: Literal["sack"] = "sack"
    window_growth_on_exit: Flag = Field(False, description=_GROWTH)
    rescue_retransmission: Flag = Field(
        True, description="One retransmission more when nothing else may be sent."
    )


class Sack1(_Selective):
    """The older SACK of ns-2, which counts what is on its way."""

    kind: Literal["sack1"] = "sack1"
    bug_fix: Flag = Field(True, description=_BUG_FIX)


Recovery = Annotated[
    Tahoe | RenoRecovery | NewReno | Sack | Sack1, Named(), Field(discriminator="kind")
]

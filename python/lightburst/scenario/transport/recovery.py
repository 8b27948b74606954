"""``recovery`` of `tcp`: loss detection and retransmission; one table per recovery."""

from typing import Annotated, Literal

from pydantic import Field

from lightburst.scenario.fields import Flag, Named, Real, Whole
from lightburst.scenario.section import Section

# The options of a TCP header have 40 bytes: n blocks take 2 + 8 n, timestamps 10 and padding.
MOST_BLOCKS, MOST_BLOCKS_WITH_TIMESTAMPS = 4, 3
_NOT_IN_RFC_5681 = (
    "No second fast retransmission for data sent before the last one, or before a "
    "timeout: `recover` of RFC 6582, `bugFix_` of ns-2, whose default is on. RFC 5681 "
    "has no such rule: its Reno repairs a second hole of a window by a second fast "
    "retransmission, if enough duplicates come."
)
_GROWTH = "Whether the acknowledgement that ends a recovery also opens the window, as in ns-2."
_IN_RFC_6582 = (
    "No second fast retransmission for data sent before the last one, or before a "
    "timeout. RFC 6582 has this rule."
)


class _Recovery(Section):
    """Fields of every recovery."""

    duplicate_threshold: Annotated[int, Whole(1, 1000)] = Field(
        3,
        description=(
            "Duplicate acknowledgements after which a segment counts as lost (RFC 5681, 3.2)."
        ),
    )
    limited_transmit: Flag = Field(
        True,
        description=(
            "Whether each of the first duplicates allows a new segment to be sent (RFC 3042, which "
            "RFC 5681 recommends)."
        ),
    )


class _Selective(_Recovery):
    """Fields of every recovery with SACK blocks."""

    sack_blocks: Annotated[int, Whole(1, MOST_BLOCKS)] = Field(
        MOST_BLOCKS,
        description=(
            "Most SACK blocks in an acknowledgement. At most 4 fit into the options (RFC 2018); "
            "with `timestamps` at most 3, which is the default then, and 4 is refused."
        ),
    )
    duplicate_sack: Flag = Field(
        True, description="Whether the receiver reports segments received twice (RFC 2883)."
    )


class Tahoe(_Recovery):
    """A fast retransmission, then slow start."""

    kind: Literal["tahoe"] = "tahoe"
    bug_fix: Flag = Field(False, description=_NOT_IN_RFC_5681)


class RenoRecovery(_Recovery):
    """Fast retransmission and fast recovery (RFC 5681)."""

    kind: Literal["reno"] = "reno"
    bug_fix: Flag = Field(False, description=_NOT_IN_RFC_5681)
    window_growth_on_exit: Flag = Field(False, description=_GROWTH)


class NewReno(_Recovery):
    """Fast recovery that lasts until all outstanding data is acknowledged (RFC 6582)."""

    kind: Literal["new-reno"] = "new-reno"
    bug_fix: Flag = Field(True, description=_IN_RFC_6582)
    window_growth_on_exit: Flag = Field(False, description=_GROWTH)
    partial_acknowledgement: Literal["impatient", "slow-but-steady"] = Field(
        "impatient",
        description=(
            'Which partial acknowledgements restart the timer. `"impatient"`: the first of a '
            "recovery (RFC 6582, section 3.2, step 3; section 4 has the reason). "
            '`"slow-but-steady"`: each, as in the ns-2 of yu2004\'s time.'
        ),
    )
    full_acknowledgement: Literal["flight-size", "ssthresh"] = Field(
        "flight-size",
        description=(
            'The window after recovery (RFC 6582, section 3.2, step 3). `"flight-size"`: option '
            "1, at most the bytes in flight and a segment, which avoids a burst of segments. "
            '`"ssthresh"`: option 2.'
        ),
    )


class _Rfc6675(_Selective):
    """Fields of both recoveries with the rules of RFC 6675."""

    window_growth_on_exit: Flag = Field(False, description=_GROWTH)
    rescue_retransmission: Flag = Field(
        True,
        description=(
            "Whether one more segment is retransmitted when nothing else may be sent (RFC 6675, "
            "section 4, NextSeg, rule 4)."
        ),
    )


class Sack(_Rfc6675):
    """Selective acknowledgements (RFC 6675)."""

    kind: Literal["sack"] = "sack"


class RrTcp(_Rfc6675):
    """RFC 6675 with a duplicate threshold that adapts to the reordering (RR-TCP)."""

    kind: Literal["rr-tcp"] = "rr-tcp"
    avoidance_ratio: Annotated[float, Real(0, 1)] = Field(
        0.9,
        description=(
            "Fraction of the reordering events that the threshold must exceed: the FA ratio of "
            "Zhang et al. (2003). The threshold is never below `duplicate_threshold`."
        ),
    )
    remembered_events: Annotated[int, Whole(1, 1_000_000)] = Field(
        100, description="Number of the latest reordering events that determine the threshold."
    )
    undo: Flag = Field(
        True,
        description=(
            "Whether the window before a fast recovery is restored if the receiver reports all its "
            "retransmissions as duplicates (RFC 2883)."
        ),
    )


class Sack1(_Selective):
    """The older SACK of ns-2, which counts the segments in flight."""

    kind: Literal["sack1"] = "sack1"
    bug_fix: Flag = Field(True, description=_IN_RFC_6582)


class RackTlp(Section):
    """Losses by the time of sending (RFC 8985), with PRR, F-RTO and undo, as in Linux 6.18."""

    kind: Literal["rack-tlp"] = "rack-tlp"
    sack: Flag = Field(
        True,
        description=(
            "Whether the receiver sends SACK blocks. Without them losses are found by duplicate "
            "acknowledgements and repaired as in New-Reno (RFC 6582)."
        ),
    )
    sack_blocks: Annotated[int, Whole(1, MOST_BLOCKS)] = Field(
        MOST_BLOCKS,
        description=(
            "Most SACK blocks in an acknowledgement. At most 4 fit into the options (RFC 2018); "
            "with `timestamps` at most 3, which is the default then, and 4 is refused."
        ),
    )
    duplicate_sack: Flag = Field(
        True, description="Whether the receiver reports segments received twice (RFC 2883)."
    )
    duplicate_threshold: Annotated[int, Whole(1, 1000)] = Field(
        3,
        description=(
            "Segments SACKed beyond a hole, without SACK duplicate acknowledgements, after which "
            "the hole counts as lost if no reordering was seen (`tcp_reordering` of Linux; "
            "DupThresh of RFC 8985, 6.2)."
        ),
    )
    reordering_threshold: Flag = Field(
        True,
        description=(
            "Whether `duplicate_threshold` ends the wait for reordered segments as long as none "
            "was seen (RFC 8985, 6.2, step 4)."
        ),
    )
    static_reordering_window: Flag = Field(
        False,
        description=(
            "Whether the reordering window stays at a quarter of the least round trip; otherwise "
            "it widens with duplicate reports (RFC 8985, 6.2, step 4)."
        ),
    )
    tail_loss_probe: Flag = Field(
        True,
        description=(
            "Whether a segment is sent after about two round trips without an acknowledgement, so "
            "that a loss at the end needs no timeout (RFC 8985, 7)."
        ),
    )
    frto: Flag = Field(
        True,
        description=(
            "Whether new data follows the first retransmission after a timeout, to find out "
            "whether the timeout was spurious (RFC 5682)."
        ),
    )
    reduction: Literal["linux", "rfc6937", "rfc9937"] = Field(
        "linux",
        description=(
            'Proportional rate reduction: how the window falls in a recovery. `"rfc9937"`: in '
            "proportion to the segments in the network when it begins; beyond that one segment "
            "more than is delivered, unless an acknowledgement shows a further loss. "
            '`"linux"`: the same in proportion to the window. `"rfc6937"`: the segment more in any '
            "case (PRR-SSRB)."
        ),
    )
    restart_after_idle: Flag = Field(
        True,
        description=(
            "Whether the window falls by half for each timeout of an idle time (RFC 5681, 4.1)."
        ),
    )
    pacing: Flag = Field(
        False,
        description=(
            "Whether segments leave at the rate of Linux: the window per smoothed round trip, "
            "times 2 in the first half of slow start and 1.2 later."
        ),
    )


Recovery = Annotated[
    Tahoe | RenoRecovery | NewReno | Sack | RackTlp | RrTcp | Sack1,
    Named(),
    Field(discriminator="kind"),
]

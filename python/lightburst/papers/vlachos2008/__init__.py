"""vlachos2008: effect of burst assembly on the windows of TCP and on their synchronisation.

K. Vlachos, "Burstification effect on the TCP Synchronization and Congestion Window mechanism",
2008.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from lightburst.papers.paper import Paper, Part, Traced
from lightburst.papers.vlachos2008 import beyond, claims, figures, records, synchronised
from lightburst.papers.vlachos2008.design import blocks
from lightburst.papers.vlachos2008.points import measured_s, runs_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lightburst.papers.claims import Claim
    from lightburst.papers.runs import Runs
    from lightburst.papers.vlachos2008.points import Point

_SHORT: Final = "A preview: {:g} s in place of {:g} s are measured, of fewer seeds."


def _claims(
    judge: Callable[[Runs[Point]], Iterable[Claim]],
) -> Callable[[Runs[Point]], Iterable[Claim]]:
    """Wrap a function that judges claims, to mark the claims of a preview."""

    def judged(runs: Runs[Point]) -> list[Claim]:
        lengths = ((measured_s(runs, point), point.measured) for point in runs.points)
        short = min((both for both in lengths if both[0] < both[1]), default=())
        return [claim.noted(_SHORT.format(*short) if short else "") for claim in judge(runs)]

    return judged


PAPER: Final = Paper(
    name="vlachos2008",
    title="Burst assembly, windows of TCP, and flows in step",
    citation=(
        "K. Vlachos: Burstification effect on the TCP Synchronization and Congestion Window "
        "mechanism. Slides, 2008."
    ),
    parts={
        "segments": Part(
            "segments and flows in a burst, and the operating point",
            figures.contents,
            _claims(claims.operating_claims),
            lambda runs: [figures.operating(runs)],
        ),
        "bursts": Part(
            "bursts that a flow needs, and those that it loses",
            claims=_claims(partial(claims.checks, "bursts")),
        ),
        "throughput": Part(
            "mean, variance and extremes of the throughput of flows over the assembly time",
            figures.throughput,
            _claims(claims.throughput_claims),
        ),
        "traces": Part(
            "window, sequence and throughput of one flow for 1, 5 and 10 ms",
            claims=_claims(claims.trace_claims),
        ),
        "window-based": Part(
            "mean and variance with assembly by the window, for several (B, C)",
            figures.window_based_figures,
            _claims(claims.window_claims),
        ),
        "senders": Part(
            "SACK and other recoveries",
            figures.senders,
            _claims(claims.sender_claims),
        ),
        "synchronisation": Part(
            "what flows have together, with one, two and four queues for an egress",
            synchronised.figures,
            _claims(synchronised.claims),
        ),
        "beyond": Part(
            "the best (B, C) and the best time by a search, and mean against variance",
            beyond.figures,
            _claims(beyond.claims),
            lambda runs: [beyond.listing(runs)],
            beyond=True,
        ),
    },
    blocks=blocks,
    runs=runs_of,
    package=__package__,
    traced=Traced(records.record, records.figures, records.claims),
)

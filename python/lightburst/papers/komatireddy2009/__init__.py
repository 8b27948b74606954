"""komatireddy2009: source ordering for TCP over load-balanced burst-switched networks.

B. Komatireddy, N. Charbonneau, V. M. Vokkarane, "Source-Ordering for Improved TCP Performance over
Load-Balanced Optical Burst-Switched (OBS) Networks", 2009.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from lightburst.papers.komatireddy2009 import figures
from lightburst.papers.komatireddy2009.claims import beyond_claims, figure_claims
from lightburst.papers.komatireddy2009.design import blocks
from lightburst.papers.komatireddy2009.points import runs_of
from lightburst.papers.paper import Paper, Part


def _figure(part: str, shows: str) -> Part:
    return Part(shows, partial(figures.figures, part), partial(figure_claims, part))


PAPER: Final = Paper(
    name="komatireddy2009",
    title="Source ordering over load-balanced burst switching",
    citation=(
        "B. Komatireddy, N. Charbonneau, V. M. Vokkarane: Source-Ordering for Improved TCP "
        "Performance over Load-Balanced Optical Burst-Switched (OBS) Networks. 2009."
    ),
    parts={
        "fig3": _figure("fig3", "HighSpeed TCP over the delay differential of the two paths"),
        "fig4": _figure("fig4", "HighSpeed TCP over the largest burst"),
        "fig5": _figure("fig5", "HighSpeed TCP over the loss, 50 ms"),
        "fig6": _figure("fig6", "CUBIC over all three"),
        "fig7": _figure("fig7", "FAST over all three"),
        "beyond": Part(
            "bursts ordered at the destination, over the delay differential and the loss",
            figures.beyond,
            beyond_claims,
            beyond=True,
        ),
    },
    blocks=blocks,
    runs=runs_of,
    package=__package__,
)

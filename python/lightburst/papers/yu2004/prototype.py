"""Ours beside an event simulator of the same path that was written independently."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from lightburst.papers.claims import Claim, Verdict, known
from lightburst.papers.published import rows_of
from lightburst.papers.yu2004.grids import PROTOTYPE_SENDERS, TABLE_LOSSES, table_point
from lightburst.papers.yu2004.published import SHEET, TOLERANCE

if TYPE_CHECKING:
    from lightburst.papers.yu2004.points import Point
    from lightburst.papers.yu2004.runs import Runs

# By sender and loss rate.
PROTOTYPE: Final = {
    (row["sender"], TABLE_LOSSES[round(2 * (float(row["log10_p"]) + 3))]): float(
        row["segments_per_s"]
    )
    for row in rows_of(__package__, "prototype.csv")
}
_CORRECTED: Final = ("RFC 6675", TABLE_LOSSES[4])
_CORRECTION: Final = (
    "The prototype's 26.5 was corrected to 26.9-27.0 after three faults of its RFC senders were "
    "mended: FlightSize with what limited transmit sent, SACKed data sent again after a timeout, "
    "no recovery that begins at the recovery point."
)
_LIMITED: Final = (
    "The prototype may have had limited transmit on, as ns-2.35 has and ns-2 before 2002 had not: "
    "docs/yu2004-search.md judges it."
)


def check_point(sender: str, p: float) -> Point:
    """Give the point of a check value."""
    return table_point(5, p, PROTOTYPE_SENDERS[sender])


def prototype_claims(runs: Runs) -> list[Claim]:
    """Judge whether the two simulators agree, for each value of the prototype that we have run."""
    claims = []
    for (sender, p), published in PROTOTYPE.items():
        mean = runs.mean(check_point(sender, p))
        if not known(mean):
            continue
        slug = sender.replace(",", "").replace(" ", "-").lower()
        sheet = SHEET.told(slug=slug, sender=sender, power=math.log10(p), value=published)
        note = _CORRECTION if (sender, p) == _CORRECTED else ""
        bound = tuple(published * (1 + sign * TOLERANCE["check"]) for sign in (-1, 1))
        claim = sheet.judge("check", mean, note, bound=bound, published=published)
        claims.append(claim if claim.verdict is Verdict.HOLDS else claim.noted(_LIMITED))
    return claims

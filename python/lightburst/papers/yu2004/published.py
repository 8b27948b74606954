"""What the paper and the independent prototype give as numbers, and what they are held against."""

from __future__ import annotations

import math
from typing import Final

from lightburst.papers.published import printed, rows_of
from lightburst.papers.sheet import Sheet
from lightburst.papers.yu2004.design import TABLE_LOSSES

#: The claims, and the tolerances that they share.
SHEET: Final = Sheet.of(__package__)
TOLERANCE: Final = SHEET.tolerance

# Tables I and II: throughput over that of Reno. As text, because the digits say how far a number is
# rounded.
_PRINTED: Final = {
    (int(row["S"]), float(row["log10_p"]), row["flavour"]): row["over_reno"]
    for row in rows_of(__package__, "tables.csv")
}
#: Throughput at S = 5 in segments a second, of the independent prototype, by sender and loss rate.
PROTOTYPE: Final = {
    (row["sender"], TABLE_LOSSES[round(2 * (float(row["log10_p"]) + 3))]): float(
        row["segments_per_s"]
    )
    for row in rows_of(__package__, "prototype.csv")
}


def ratio_of(burst: int, p: float, kind: str) -> tuple[float, float]:
    """Look up a published ratio by S, loss rate and ``"new-reno"`` or ``"sack"``.

    With it comes by how much it may have been rounded. Most cells have two decimals, so that "1.1"
    may be 1.10 as well as 1.1; the wider reading is taken.
    """
    return printed(_PRINTED[burst, round(math.log10(p), 1), kind])

"""What the paper and the independent prototype give as numbers, and what they are held against."""

from __future__ import annotations

from typing import Final

from lightburst.papers.curves import Curve
from lightburst.papers.published import printed, rows_of
from lightburst.papers.sheet import Sheet

#: The claims, and the tolerances that they share.
SHEET: Final = Sheet.of(__package__)
TOLERANCE: Final = SHEET.tolerance

#: Tables I and II: throughput over that of Reno by S and flavour, then by loss rate.
#: Most cells have two decimals, so that "1.1" may be 1.10 as well; the wider reading is taken.
RATIOS: Final[dict[tuple[int, str], Curve]] = {}
for _row in rows_of(__package__, "tables.csv"):
    _curve = RATIOS.setdefault((int(_row["S"]), _row["flavour"]), {})
    _curve[10 ** float(_row["log10_p"])] = printed(_row["over_reno"])
#: Throughput at S = 5 in segments a second, of the independent prototype, by sender and loss rate.
PROTOTYPE: Final = {
    (row["sender"], 10 ** float(row["log10_p"])): float(row["segments_per_s"])
    for row in rows_of(__package__, "prototype.csv")
}

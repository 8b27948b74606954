"""Numbers of the paper and of the independent prototype, and the claims judged against them."""

from __future__ import annotations

from typing import Final

from lightburst.papers.curves import Curve
from lightburst.papers.published import by_point, printed, rows_of
from lightburst.papers.sheet import Sheet
from lightburst.papers.yu2004.points import Point

#: Claims, and the tolerances shared by them.
SHEET: Final = Sheet.of(__package__)
TOLERANCE: Final = SHEET.tolerance

#: Tables I and II: throughput over that of Reno by S, flavour and loss rate. Most cells have two
#: decimals, so "1.1" may also stand for 1.10; the wider interval is used.
RATIOS: Final[dict[int, dict[str, Curve]]] = {}
for _row in rows_of(__package__, "tables.csv"):
    _curve = RATIOS.setdefault(int(_row["S"]), {}).setdefault(_row["flavour"], {})
    _curve[10 ** float(_row["log10_p"])] = printed(_row["over_reno"])
#: Independent prototype: sender, point, and throughput in segments a second.
PROTOTYPE: Final = [
    (row["sender"], point, float(row["segments_per_s"]))
    for point, row in by_point(__package__, Point)
]

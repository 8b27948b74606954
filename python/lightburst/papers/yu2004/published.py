"""Tables I and II as they are printed."""

from __future__ import annotations

import math
from typing import Final

from lightburst.papers.yu2004.grids import TABLE_LOSSES

# By S and flavour: throughput over that of Reno at log10 p = -3, -2.5, -2, -1.5, -1, -0.5. As text,
# because the digits say how far a number is rounded.
_PRINTED: Final = {
    (5, "new-reno"): ("1.0", "1.1", "1.29", "1.19", "1.03", "0.93"),
    (5, "sack"): ("1.0", "1.07", "1.58", "1.4", "1.33", "1.07"),
    (25, "new-reno"): ("1.0", "0.94", "0.9", "0.76", "0.93", "1.06"),
    (25, "sack"): ("1.0", "1.03", "1.02", "1.1", "1.0", "1.0"),
}


def ratio_of(burst: int, p: float, kind: str) -> tuple[float, float]:
    """Look up a published ratio.

    Parameters
    ----------
    burst : int
        S: 5 (table I) or 25 (table II).
    p : float
        Loss rate, one of `TABLE_LOSSES`.
    kind : str
        ``"new-reno"`` or ``"sack"``.

    Returns
    -------
    tuple of float
        The ratio, and by how much it may have been rounded. Most cells have two decimals, so that
        "1.1" may be 1.10 as well as 1.1; the wider reading is taken.
    """
    place = [math.isclose(p, loss) for loss in TABLE_LOSSES].index(True)
    text = _PRINTED[burst, kind][place]
    return float(text), 0.5 * 10.0 ** -len(text.partition(".")[2])

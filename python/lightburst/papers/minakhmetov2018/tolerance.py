"""The tolerances of the claims, all from the spread that the paper tells of its own results.

Section 3: the standard deviation of the throughput is 0.144 to 0.196 of its mean, over a hundred
seeds for 10 m and 100 m and ten seeds for 1 km and 10 km.
"""

from __future__ import annotations

import math
from typing import Final

# One run deviates from the mean by at most this fraction of it.
SIGMA: Final = 0.196
# Two means of a hundred seeds are seen to differ from 5.4 % on, two means of ten from 17 % on.
VISIBLE_100: Final = 1 + 1.96 * math.sqrt(2) * SIGMA / math.sqrt(100)
VISIBLE_10: Final = 1 + 1.96 * math.sqrt(2) * SIGMA / math.sqrt(10)
# The interval of a published mean of ten seeds: Student's t for 9 degrees of freedom.
MEAN_OF_TEN: Final = 2.262 * SIGMA / math.sqrt(10)

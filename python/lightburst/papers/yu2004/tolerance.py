"""The tolerances of the claims, fixed before the runs, with where they come from."""

from __future__ import annotations

import math
from typing import Final

from lightburst.models.yu2004.ranges import ABOUT as ABOUT

# A mean is known to 1 % (the stopping rule), so that two means are seen to differ from 1.4 % on.
VISIBLE: Final = 1 + math.sqrt(2) * 0.01
# "Match well", "match approximately" (sections V.A and V.B): two surfaces that are drawn side by
# side, read by eye; typically a quarter apart, and nowhere a factor of two.
MATCH: Final = 0.25
MATCH_WORST: Final = 1.0
# Steps of half a decade, as the logarithmic axes of the assembly time may have them: "1 ms" and
# "the edge of the range" stand for half a decade to either side.
HALF_DECADE: Final = 10**0.5
# The check values are given to "about 1 %", and the project has set itself 3 %.
CHECK: Final = 0.03

"""``[protection]``: a backup path for each pair of edges, ready before anything fails."""

from typing import Annotated, Literal

from pydantic import Field

from lightburst.foundation.units import TIME, Duration, Quantity, parse_duration
from lightburst.scenario.section import Section


class Protection(Section):
    """A working and a backup path without a common link for each pair of switches with hosts.

    Attributes
    ----------
    detection, switching : int
        Picoseconds.
    wait_to_restore : int or None
        Picoseconds; None for paths that do not return.
    """

    scheme: Literal["1+1", "1:1"] = Field(
        description=(
            'The architecture (ITU-T G.808.1, RFC 4427). `"1+1"`: the ingress sends each packet '
            "over both paths, all the time, and the egress selects one of them. No packet is told "
            'of a failure, but all use links twice. `"1:1"`: units take one of the two paths. The '
            "egress notices a failure, tells the ingress over the backup path, and that changes "
            "the path. Until then other traffic alone uses the links of the backup path."
        ),
    )
    detection: Duration = Field(
        parse_duration("10 ms"),
        description=(
            "Time from the change of what comes over a path to its detection at the egress. A "
            "change that does not last longer is not noticed. The default is the limit of ITU-T "
            "G.841 for the detection of a failed signal."
        ),
    )
    switching: Duration = Field(
        parse_duration("50 ms"),
        description=(
            "Time of the switch from one path to the other, after it was decided: at the egress "
            'with `"1+1"`, at the ingress with `"1:1"`. The default is the limit of ITU-T G.841 '
            "after the detection."
        ),
    )
    wait_to_restore: Annotated[int | None, Quantity(TIME, word="never")] = Field(
        parse_duration("300 s"),
        description=(
            "Time for which the working path must have been whole again before units return to it "
            '(WTR; ITU-T G.841: 5 to 12 minutes). `"never"`: they do not return, as without '
            "reversion."
        ),
    )

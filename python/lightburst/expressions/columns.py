"""The columns of flows that an expression may name, and what kind of thing each holds."""

from enum import Enum
from types import MappingProxyType
from typing import Final

from lightburst import metrics
from lightburst.scenario.measurement import MEASUREMENTS
from lightburst.units import RATE, SIZE, TIME


class Kind(Enum):
    """What a part of an expression is; the value is how messages call it."""

    NUMBER = "a number"
    TIME = TIME.name
    SIZE = SIZE.name
    RATE = RATE.name
    TEXT = "text"
    NODE = "the name or number of a host"
    TRUTH = "a condition"


# Those that are held in a unit; with a number they can be multiplied.
DIMENSIONS: Final = MappingProxyType({Kind.TIME: TIME, Kind.SIZE: SIZE, Kind.RATE: RATE})
SUFFIXES: Final = MappingProxyType(
    {Kind.TIME: "_s", Kind.SIZE: "_bytes", Kind.RATE: "_bps"},
)
VALUES: Final = (Kind.NUMBER, *DIMENSIONS)

#: The columns of `lightburst.Result.flows`, by their names there.
COLUMNS: Final = MappingProxyType(
    {
        "group": Kind.TEXT,
        "source": Kind.NODE,
        "destination": Kind.NODE,
        **dict.fromkeys(("start_s", "received_s", "acknowledged_s"), Kind.TIME),
        **dict.fromkeys(("size_bytes", "delivered_bytes"), Kind.SIZE),
        **dict.fromkeys(("completion_time_s", "ideal_s"), Kind.TIME),
        "slowdown": Kind.NUMBER,
        "throughput_bps": Kind.RATE,
        **dict.fromkeys(
            ("transmissions", "retransmissions", "spurious_retransmissions"), Kind.NUMBER
        ),
        "spurious_bytes": Kind.SIZE,
        **dict.fromkeys(("fast_retransmits", "false_fast_retransmits"), Kind.NUMBER),
        **dict.fromkeys(("timeouts", "false_timeouts", "duplicates", "reordered"), Kind.NUMBER),
        **dict.fromkeys(("reorder_extent_mean", "reorder_extent_max", "drops"), Kind.NUMBER),
        **{name: Kind.NUMBER for one in MEASUREMENTS for name in one.flow_columns},
        "path_links": Kind.NUMBER,
        "status": Kind.TEXT,
    }
)
#: Of these the table has only those that the scenario asks for.
OF_GROUPS: Final = ("group",)
#: The words that a column of text can hold whatever the scenario is.
STATUSES: Final = metrics.STATUSES


def short_name(name: str) -> str:
    """Give the name of a column without its unit."""
    suffix = SUFFIXES.get(COLUMNS[name], "")
    return name.removesuffix(suffix) if suffix else name


#: What an expression may write for each column: its name without the unit, ``bytes``, its name.
NAMES: Final = MappingProxyType(
    {
        **{short_name(name): name for name in COLUMNS},
        "bytes": "size_bytes",
        **{name: name for name in COLUMNS},
    }
)

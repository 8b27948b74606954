"""The flow-table columns that an expression may name, and the kind of value in each."""

from enum import Enum
from types import MappingProxyType
from typing import Final

from lightburst.foundation.units import RATE, SIZE, TIME
from lightburst.result import metrics
from lightburst.scenario.tables.measurement import MEASUREMENTS


class Kind(Enum):
    """Kind of value of a part of an expression; the enum's value is its name in messages."""

    NUMBER = "a number"
    TIME = TIME.name
    SIZE = SIZE.name
    RATE = RATE.name
    TEXT = "text"
    NODE = "the name or number of a host"
    TRUTH = "a condition"


# Kinds with a unit; a quantity can be multiplied by a plain number.
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
        **dict.fromkeys(("timeouts", "false_timeouts", "duplicates"), Kind.NUMBER),
        **dict.fromkeys(("reinjections", "reordered"), Kind.NUMBER),
        **dict.fromkeys(("reorder_extent_mean", "reorder_extent_max", "drops"), Kind.NUMBER),
        **{
            name: Kind.TIME if name.endswith("_s") else Kind.NUMBER
            for one in MEASUREMENTS
            for name in one.flow_columns
        },
        "path_links": Kind.NUMBER,
        "status": Kind.TEXT,
    }
)
#: Columns that are in the flow table only if the scenario requests them.
OF_GROUPS: Final = ("group",)
#: Columns that are there only if some subflows send again what others hold.
OF_REINJECTION: Final = ("reinjections",)
#: The values of the column ``status``, the same for every scenario.
STATUSES: Final = metrics.STATUSES


def short_name(name: str) -> str:
    """Return the name of a column without its unit suffix."""
    suffix = SUFFIXES.get(COLUMNS[name], "")
    return name.removesuffix(suffix) if suffix else name


#: Column by accepted spelling: the name without its unit suffix, ``bytes``, or the full name.
NAMES: Final = MappingProxyType(
    {
        **{short_name(name): name for name in COLUMNS},
        "bytes": "size_bytes",
        **{name: name for name in COLUMNS},
    }
)

"""The contents of bursts, from all bursts made and from the trace of their losses."""

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt

from twin.network import Network
from twin.units import Burst

#: Columns of the numbers of segments and of flows.
TYPES = {"fate": "u1", "counted": "u1", "number": "i8", "bursts": "u8"}

Tables = dict[str, dict[str, npt.NDArray[Any]]]


def contents(network: Network, span: dict[str, int] | None, flows: int) -> Tables:
    """``bursts``, over the events in that time, and ``bursts_flows``, over all."""
    if span is None:
        return {}
    units = [
        (entry.what, (entry.time, entry.unit))
        for entry in network.trace
        if isinstance(entry.unit, Burst)
    ]
    fates = [
        [(burst.identity[0], burst) for burst in network.made_bursts],
        [unit for what, unit in units if what.startswith("drop")],
        [unit for what, unit in units if what in ("cut", "cut tail")],
        [unit for what, unit in units if what == "take apart"],
    ]
    rows: list[tuple[int, ...]] = []
    for fate, bursts in enumerate(fates):
        chosen = [one for time, one in bursts if span["from_ps"] <= time < span["until_ps"]]
        for counted, of in enumerate((segments_of, flows_of)):
            numbers = Counter(len(of(burst)) for burst in chosen)
            rows += [(fate, counted, *row) for row in sorted(numbers.items())]
    columns = zip(*rows, strict=True) if rows else [[], [], [], []]
    each = [Counter(flow for _, one in bursts for flow in flows_of(one)) for bursts in fates[:3]]
    names = ("bursts", "bursts_lost", "bursts_cut")
    return {
        "bursts": {
            name: np.array(column, kind)
            for (name, kind), column in zip(TYPES.items(), columns, strict=True)
        },
        "bursts_flows": {
            name: np.array([counts[flow] for flow in range(flows)], "u8")
            for name, counts in zip(names, each, strict=True)
        },
    }


def segments_of(burst: Burst) -> list[int]:
    """The flow of each packet with data."""
    return [packet.flow for packet in burst.packets if packet.payload]


def flows_of(burst: Burst) -> set[int]:
    """The flows with data among them."""
    return set(segments_of(burst))

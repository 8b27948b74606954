"""Recorded cases of the kernel as scenarios: path, scripts and receiver are ours, too."""

from __future__ import annotations

import warnings
from collections import Counter
from itertools import pairwise
from typing import Any

import lightburst as lb
from lightburst.measurement.trace_tables import EVENTS, FLAGS
from lightburst.scenario import Scenario
from linux.core import transport
from linux.recorded import Row

PACKET = 1500
"""Bytes of a full segment on the path; the recorder's queue counts in these."""
FAST = "100 Tb/s"
"""Rate of links on which no segment waits."""


def scenario(recorded: Row) -> Scenario:
    """The case as a scenario: one path, its scripts, and a flow of so many segments."""
    case = recorded["case"]
    sender = transport(case, recorded["id"])
    size = case["segments"] * sender.payload
    queue = "unlimited"
    if case["buffer"] and case["rate_mbps"]:
        # The recorder takes a segment while fewer than `buffer` wait, a part of one included.
        queue = f"{case['buffer'] * PACKET + PACKET - 1} B"
    table = sender.model_copy(
        update={
            "acknowledge_every": case["ack_every"],
            "acknowledgement_delay": int(case["ack_delay_ms"] * 1e9),
            "control_size": 1,
        }
    ).model_dump(mode="json", exclude_none=True)
    table["recovery"]["duplicate_sack"] = case["dsack"]
    table["recovery"]["sack_blocks"] = 3 if case["timestamps"] else 4
    rate = f"{case['rate_mbps']} Mb/s" if case["rate_mbps"] else FAST
    return Scenario.from_dict(
        {
            "topology": {
                "kind": "obs-path",
                "core_nodes": 0,
                "access_rate": FAST,
                "access_delay": "0 s",
                "fibre_rate": rate,
                "fibre_delay": f"{case['rtt_ms'] / 2} ms",
            },
            "switching": {"kind": "electronic", "queue_size": queue},
            "loss": scripts(case),
            "transport": table,
            "workload": {
                "kind": "pairs",
                "size": {"kind": "constant", "value": f"{size} B"},
                "writes": writes(case, sender.payload),
            },
            "measurement": {"trace": [0], "time_limit": "200 s"},
        }
    )


def writes(case: Row, payload: int) -> dict[str, str] | None:
    """The writes of the application, which are all alike; None if there is one."""
    if not case["writes"]:
        return None
    times, sizes = zip(*case["writes"], strict=True)
    (size,) = set(sizes)
    (interval,) = {later - time for time, later in pairwise(times)}
    return {"size": f"{size * payload} B", "interval": f"{interval} ms"}


def scripts(case: Row) -> dict[str, list[dict[str, Any]]]:
    """The scripts of the recorder as those of ``[loss]``."""

    def one(segment: int, nth: int, **more: Any) -> dict[str, Any]:
        return {"segments": [segment, segment], "transmission": nth, **more}

    # The SYN+ACK is the first unit back.
    back = [{"acknowledgements": [number + 1, number + 1]} for number in case["ack_drops"]]
    return {
        "drops": [one(*drop) for drop in case["drops"]] + back,
        "marks": [one(*mark) for mark in case["marks"]],
        "holds": [one(segment, 1, later=later) for segment, later in case["holds"]],
        "stalls": [one(seg, nth, duration=f"{ms} ms") for seg, nth, ms in case["spikes"]],
    }


def transmissions(recorded: Row) -> list[tuple[int, int]]:
    """Segments that the sender sends over the network, each with the number of its transmission."""
    return [one for _, one in timed_transmissions(recorded)]


def timed_transmissions(recorded: Row) -> list[tuple[float, tuple[int, int]]]:
    """The same with their times in microseconds since the first."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lb.RunWarning)
        result = lb.run(scenario(recorded), seed=1)
    packets = result.columns["trace_segments"]
    sent = (packets["event"] == EVENTS.index("sent")) & (packets["payload"] > 0)
    sent &= (packets["flags"] & FLAGS["from_source"]) > 0
    payload = transport(recorded["case"], recorded["id"]).payload
    times = Counter[int]()
    found = []
    at = packets["time_ps"][sent] / 10**6
    for time, sequence in zip(
        (at - at[0]).tolist(), packets["sequence"][sent].tolist(), strict=True
    ):
        segment = sequence // payload + 1
        times[segment] += 1
        found.append((time, (segment, times[segment])))
    return found

"""The tables of bursts in a trace: the fate of each, and the channels that it used."""

from typing import Any

import numpy as np
import numpy.typing as npt

from twin.link import Link
from twin.units import Burst, Trace, TraceEntry, Unit

NONE = 2**64 - 1
NOWHERE = 2**32 - 1
NO_REASON = 255
# Reasons of drops when another unit uses the wanted link.
BUSY = ("drop contention", "drop no_input_port", "drop buffer_full")
REASONS = [
    "contention",
    "no-input-port",
    "buffer-full",
    "queue-full",
    "no-channel",
    "late-header",
    "delay-lines-full",
    "hop-limit",
    "offset-used-up",
    "access-buffer-full",
    "random",
    "scripted",
    "cut",
    "link-down",
    "queue-flushed",
    "target-exceeded",
    "red-early",
    "red-forced",
    "pie-early",
    "dualpi2-early",
    "headroom-full",
]
BURST_TYPES = {
    "opened_ps": "u8",
    "closed_ps": "u8",
    "departure_ps": "u8",
    "number": "u8",
    "node": "u4",
    "of_node": "u4",
    "egress": "u4",
    "label": "u1",
    "packets": "u4",
    "bytes": "u8",
    "data": "u1",
    "arrival_ps": "u8",
    "lost": "u1",
    "reason": "u1",
    "lost_node": "u4",
    "lost_link": "u4",
    "lost_ps": "u8",
    "lost_start_ps": "u8",
    "holder_burst": "u8",
}
BOOKING_TYPES = {
    "link": "u4",
    "channel": "u2",
    "start_ps": "u8",
    "end_ps": "u8",
    "made_ps": "u8",
    "burst": "u8",
    "bytes": "u4",
}
CUT_TYPES = {
    "time_ps": "u8",
    "burst": "u8",
    "link": "u4",
    "start_ps": "u8",
    "packets": "u4",
    "bytes": "u4",
    "holder_burst": "u8",
}

Table = dict[str, npt.NDArray[Any]]
#: By the names of columns; a burst by its name.
Row = dict[str, int | str]


def reason_of(entry: TraceEntry) -> int:
    """The number of the reason of a drop."""
    reason = entry.what.removeprefix("drop ").removesuffix(" tail")
    return REASONS.index(reason.replace("_", "-"))


def burst_of(unit: Unit) -> str:
    """The name of a burst; none of a packet."""
    return unit.name if isinstance(unit, Burst) else ""


def table(rows: list[Row], types: dict[str, str], numbers: dict[str, int]) -> Table:
    """Columns from rows; the names of bursts become numbers."""

    def number(value: int | str) -> int:
        return numbers[value] if isinstance(value, str) else value

    return {
        name: np.array([number(row[name]) for row in rows], kind) for name, kind in types.items()
    }


def burst_rows(trace: Trace, traced: set[int], until: int) -> list[Row]:
    """The bursts that carried packets of the traced flows, or were made before `until`."""
    opened: dict[str, int] = {}
    rows: dict[str, Row] = {}
    kept: set[str] = set()
    held: set[str] = set()
    holders: dict[int | None, Unit] = {}
    # When the head of a burst arrives, known from its header, or leaves the ingress.
    due: dict[str, int | None] = {}
    for entry in trace:
        name, burst = entry.unit.name, entry.unit
        if entry.what in ("wait", "assemble"):
            opened.setdefault(name, entry.time)
        leaves = entry.what in ("launch", "beside", "send")
        if isinstance(burst, Burst) and leaves and name not in rows:
            assert entry.begins is not None
            rows[name] = first_row(burst, entry, opened[burst.packets[0].name])
            if burst.identity[0] < until or any(packet.flow in traced for packet in burst.packets):
                kept.add(name)
        if entry.what == "send":
            holders[entry.link] = burst
            if isinstance(burst, Burst) and burst.ends[0] == entry.node and name not in due:
                assert entry.begins is not None
                rows[name]["departure_ps"] = entry.begins
        elif entry.what in ("launch", "arrive"):
            due[name] = entry.begins
        elif entry.what in ("hold", "take apart") and name not in held:
            rows[name]["arrival_ps"] = entry.time
            held.add(name)
        elif entry.what.startswith("drop") and isinstance(burst, Burst):
            rows[name] |= lost(entry, holders, due)
        if entry.what == "send":
            due[name] = entry.begins
    return [row for name, row in rows.items() if name in kept]


def first_row(burst: Burst, entry: TraceEntry, opened: int) -> Row:
    """The row of a burst when it leaves."""
    assert entry.begins is not None
    made, nth = burst.identity
    return {
        "opened_ps": opened,
        "closed_ps": made,
        "departure_ps": entry.begins,
        "number": burst.name,
        "node": entry.node,
        "of_node": nth,
        "egress": burst.ends[1],
        "label": burst.label,
        "packets": len(burst.packets),
        "bytes": burst.size,
        "data": any(packet.payload for packet in burst.packets),
        "arrival_ps": NONE,
        "lost": 0,
        "reason": NO_REASON,
        "lost_node": NOWHERE,
        "lost_link": NOWHERE,
        "lost_ps": NONE,
        "lost_start_ps": NONE,
        "holder_burst": "",
    }


def lost(entry: TraceEntry, holders: dict[int | None, Unit], due: dict[str, int | None]) -> Row:
    """The columns of a dropped burst: place, time, and the holder of its channel."""
    assert entry.wanted is not None
    start, holder = due.get(entry.unit.name), ""
    if entry.what in BUSY:
        holder = burst_of(holders[entry.wanted])
    elif entry.reservation:
        holder = entry.reservation.burst.name
    return {
        "lost": 1,
        "reason": reason_of(entry),
        "lost_node": entry.node,
        "lost_link": entry.wanted,
        "lost_ps": entry.time,
        # Without a header the burst itself has arrived.
        "lost_start_ps": entry.time if start is None else start,
        "holder_burst": holder,
    }


def bursts(rows: list[Row], numbers: dict[str, int]) -> Table:
    """``trace_bursts``, in the order of their numbers."""
    order = sorted(rows, key=lambda row: numbers[str(row["number"])])
    return table(order, BURST_TYPES, numbers)


def reservations(
    trace: Trace, links: list[Link], kept: dict[str, Any], numbers: dict[str, int]
) -> Table:
    """``trace_bookings``: the channels and links that bursts used, with times."""
    channels: dict[tuple[str, int], int] = {}
    # The bytes of a burst that have left over a link, where its tail was cut off.
    short = {
        (before.burst.name, before.link, before.head): after.size
        for entry in trace
        if entry.shortened
        for before, after in [entry.shortened]
    }
    rows: list[Row] = []
    for entry in trace:
        if entry.reservation and entry.what == "reserve":
            channels[entry.unit.name, entry.reservation.link] = entry.reservation.channel
        if entry.what != "send" or not isinstance(entry.unit, Burst):
            continue
        assert entry.link is not None and entry.begins is not None
        size = short.get((entry.unit.name, entry.link, entry.begins), entry.unit.size)
        end = entry.begins + links[entry.link].tx(size)
        if entry.link in kept["links"] and entry.begins < kept["until_ps"]:
            rows.append(
                {
                    "link": entry.link,
                    "channel": channels.get((entry.unit.name, entry.link), 0),
                    "start_ps": entry.begins,
                    "end_ps": end,
                    "made_ps": entry.time,
                    "burst": entry.unit.name,
                    "bytes": size,
                }
            )
    there = [row for row in rows if int(row["end_ps"]) > kept["from_ps"]]
    there.sort(key=lambda row: (row["start_ps"], row["link"], row["channel"]))
    return table(there, BOOKING_TYPES, numbers)


def cuts(trace: Trace, links: list[Link], kept: dict[str, Any], numbers: dict[str, int]) -> Table:
    """``trace_cuts``: the pieces cut off bursts, with link and holder of the channel."""
    rows: list[tuple[int, int, Row]] = []
    for entry in trace:
        if entry.what not in ("cut", "cut tail") or entry.wanted not in kept["links"]:
            continue
        assert entry.wanted is not None and entry.begins is not None and entry.reservation
        size = sum(packet.size for packet in entry.unit.packets)
        end = entry.begins + links[entry.wanted].tx(size)
        if entry.begins >= kept["until_ps"] or end <= kept["from_ps"]:
            continue
        row: Row = {
            "time_ps": entry.time,
            "burst": entry.unit.name,
            "link": entry.wanted,
            "start_ps": entry.begins,
            "packets": len(entry.unit.packets),
            "bytes": size,
            "holder_burst": entry.reservation.burst.name,
        }
        rows.append((entry.time, entry.node, row))
    rows.sort(key=lambda row: row[:2])
    return table([row for *_, row in rows], CUT_TYPES, numbers)

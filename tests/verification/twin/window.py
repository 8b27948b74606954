"""The counts up to a time, and from one time to before another."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from twin.network import Network
from twin.switches import Switch

Tables = dict[str, dict[str, Any]]

SWITCH_COLUMNS = [
    "arrived",
    "forwarded",
    "buffered",
    "relayed",
    "packet_bytes",
    "circuit_bytes",
    "marked",
    "trimmed",
    "returned",
    "dropped_contention",
    "dropped_no_input_port",
    "dropped_buffer_full",
    "dropped_queue_full",
    "dropped_queue_flushed",
    "dropped_headroom_full",
    "dropped_target_exceeded",
    "dropped_red_early",
    "dropped_red_forced",
    "dropped_pie_early",
    "dropped_dualpi2_early",
    "dropped_no_channel",
    "dropped_late_header",
    "dropped_link_down",
    "dropped_delay_lines_full",
    "dropped_hop_limit",
    "dropped_offset_used_up",
    "bursts_delayed",
    "bursts_deflected",
    "bursts_cut",
    "packets_cut",
    "oe_bytes",
    "eo_bytes",
    "path_switches",
    "bursts_held",
    "hold_back_timeouts",
    "bursts",
    "burst_packets",
    "burst_bytes",
]
INTEGRALS = ["buffer_byte_ps", "assembly_wait_ps", "delay_line_ps", "held_ps"]
#: Values that are no sums: a window has them as they are at its end.
STATES = ["waiting_bytes", "units_in_flight", "copies_in_flight"]


class Counts:
    """The counts up to a time; exact, as Python's whole numbers."""

    def __init__(
        self,
        network: Network,
        switches: list[Switch],
        classes: int,
        delivered: int,
        until: int | None = None,
    ) -> None:
        """Without `until`: up to the end of the run, which is now."""
        end = network.events.now if until is None else until
        links, totals = network.links, network.totals
        self.switches = switches
        waiting = [link.waiting(end) for link in links]
        self.tables: dict[str, dict[str, list[int]]] = {
            "links": {
                "units": [len(link.transmissions) for link in links],
                "bytes": [link.given() - left for link, left in zip(links, waiting, strict=True)],
                "waiting_bytes": [
                    left + link.at_interface for link, left in zip(links, waiting, strict=True)
                ],
                "busy_ps": [link.busy(end) for link in links],
                "lost": [link.lost for link in links],
                "dropped": [link.dropped for link in links],
                **network.pauses.counts(end),
            },
            "switches": {
                **{name: [one.counters[name] for one in switches] for name in SWITCH_COLUMNS},
                "buffer_byte_ps": [one.area(until) for one in switches],
                "assembly_wait_ps": [one.assembly_wait for one in switches],
                "delay_line_ps": [one.delay_line_time for one in switches],
                "held_ps": [one.held_ps for one in switches],
            },
            "classes": {
                name: [count[group] for group in range(classes)]
                for name, count in (
                    ("bursts", network.bursts),
                    ("bursts_lost", network.bursts_lost),
                    ("bursts_delivered", network.bursts_delivered),
                )
            },
        }
        names = "units_created", "units_delivered", "units_dropped", "bursts_created"
        self.totals = {
            "delivered_bytes": delivered,
            **{name: totals[name] for name in (*names, "bursts_lost", "bursts_delivered")},
            "units_in_flight": len(network.alive),
            **network.copies.totals(),
        }

    def columns(self, before: "Counts | None" = None, span: tuple[int, int] = (0, 2**64)) -> Tables:
        """The counts since `before`, of the window `span`."""

        def since(table: str, name: str, now: list[int]) -> npt.NDArray[Any]:
            if before is not None and name not in STATES:
                then = before.tables[table][name]
                # Bytes of a unit in transmission are rounded, and may be one less a picosecond
                # later.
                now = [max(0, a - b) for a, b in zip(now, then, strict=True)]
            return np.array(now, np.float64 if name in INTEGRALS else np.uint64)

        found: Tables = {
            table: {name: since(table, name, now) for name, now in columns.items()}
            for table, columns in self.tables.items()
        }
        highest = [switch.peak(*span) for switch in self.switches]
        found["switches"]["buffer_max_bytes"] = np.array(highest, np.uint64)
        totals = {} if before is None else before.totals
        found["totals"] = {
            name: now - (0 if name in STATES else totals.get(name, 0))
            for name, now in self.totals.items()
        }
        return found


class Window:
    """The counts before any event at its begin, and at its end."""

    def __init__(self, span: dict[str, int] | None, count: Callable[[int | None], Counts]) -> None:
        self.span = span
        self.count = count
        self.taken: dict[str, Counts] = {}

    def before(self, time: int) -> None:
        """Take the counts that are due before an event at `time`."""
        for name, due in (self.span or {}).items():
            if due <= time and name not in self.taken:
                self.taken[name] = self.count(due)

    def tables(self, whole: Counts) -> Tables:
        """The counts of the window, in a run that ends with `whole`."""
        if self.span is None:
            return {}
        begin, end = self.span["from_ps"], self.span["until_ps"]
        last = self.taken.get("until_ps", whole)
        # Without a count at its begin the window begins with the run, or after its end.
        first = self.taken.get("from_ps", last if begin else None)
        span = (begin, end) if begin == 0 or "from_ps" in self.taken else (0, 2**64)
        found = last.columns(first, span)
        return {f"window_{name}": table for name, table in found.items()}

"""Telemetry in packets: docs/model.md, "Telemetry"."""

from collections import Counter
from dataclasses import replace
from typing import NamedTuple

from twin.link import Link
from twin.units import Packet, Unit


class Reading(NamedTuple):
    """What an output tells when a packet leaves its queue."""

    link: int
    time: int
    #: Bytes that wait, and bytes that left before.
    queue: int
    sent: int
    rate: int


class Telemetry:
    """Bytes that left the queue of each output so far."""

    def __init__(self) -> None:
        self.sent: Counter[int] = Counter()

    def leaves(self, unit: Unit, link: Link, now: int) -> Unit:
        """A unit that leaves the queue of an output, with a reading if it is asked for."""
        before = self.sent[link.index]
        self.sent[link.index] += unit.size
        if not (isinstance(unit, Packet) and unit.asks):
            return unit
        queue = sum(waiting.unit.size for waiting in link.queue)
        reading = Reading(link.index, now, queue, before, link.rate_at(now))
        return replace(unit, readings=(*unit.readings, reading))

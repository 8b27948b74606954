"""Runs of random plans with reservations of channels, and the causes of the reservations.

The reservations are those of the twin, which agrees with the core bit for bit.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from plans import Plan, traced
from random_plans import random_plan
from twin import Burst, Kept, Reservation, Trace, TraceEntry
from twin.obs import SCHEDULERS

#: Reasons of losses of bursts without a channel, for all resolvers.
NO_CHANNEL = ["no_channel", "delay_lines_full", "hop_limit", "offset_used_up"]
#: Some plans of each kind, by seed. A plan of crowds takes five times as long as another.
PLANS = [
    *((seed, "headers") for seed in range(20_420, 20_540)),
    *((seed, "crowds") for seed in range(20_420, 20_480)),
]


class Run(NamedTuple):
    """A plan, and its run in the twin."""

    plan: Plan
    trace: Trace
    #: In the order in which they were made, by number of the burst; with their final lengths.
    reservations: dict[int, list[Reservation]]
    #: The drop of each burst that was lost, by its number.
    losses: dict[int, TraceEntry]

    def own(self, node: int) -> dict[str, Any]:
        """The settings of a node."""
        switch = self.plan.nodes["switch"][node - self.plan.settings["hosts"]]
        own: dict[str, Any] = self.plan.settings["switches"][switch]
        return own

    def link(self, link: int, column: str) -> int:
        """A value of the table of links."""
        return int(self.plan.links[column][link])

    def fibres(self, node: int) -> list[int]:
        """The links from a node to other switches."""
        hosts, links = self.plan.settings["hosts"], self.plan.links
        return np.flatnonzero((links["from"] == node) & (links["to"] >= hosts)).tolist()

    def time(self, link: int, burst: Burst) -> int:
        """The transmission time of a burst."""
        return -(-8 * 10**12 * burst.size // self.link(link, "rate_bps"))

    def tx(self, reservation: Reservation) -> int:
        """The transmission time of the reserved part."""
        return -(-8 * 10**12 * reservation.size // self.link(reservation.link, "rate_bps"))

    def ends(self, reservation: Reservation) -> int:
        """When the reserved part has left."""
        return reservation.head + self.tx(reservation)

    def cut(self, before: Reservation, after: Reservation) -> int:
        """The transmission time of the packets cut off the head of a burst since a reservation."""
        piece = before.burst.size - after.burst.size
        return -(-8 * 10**12 * piece // self.link(after.link, "rate_bps"))

    def comes(self, reservation: Reservation) -> int:
        """When the head of the burst is at the next node."""
        return reservation.head + self.link(reservation.link, "delay_ps")

    @property
    def every(self) -> list[Reservation]:
        """All reservations."""
        return [
            reservation
            for reservations in self.reservations.values()
            for reservation in reservations
        ]

    def at(self, what: str) -> list[tuple[TraceEntry, Burst]]:
        """Times and nodes of an event of bursts."""
        found = [(entry, entry.unit) for entry in self.trace if entry.what == what]
        return [(entry, unit) for entry, unit in found if isinstance(unit, Burst)]


def exchange(reservations: list[Reservation], shortened: tuple[Reservation, Reservation]) -> None:
    """Replace a reservation by its rest."""
    before, after = shortened
    reservations[reservations.index(before)] = after


@cache
def run(plan_of: tuple[int, str]) -> Run:
    """A random plan in the twin."""
    plan = random_plan(*plan_of)
    trace = traced(plan)
    reservations: dict[int, list[Reservation]] = defaultdict(list)
    losses = {}
    for entry in trace:
        if isinstance(entry.unit, Burst):
            if entry.what == "reserve":
                assert entry.reservation is not None
                if entry.shortened:
                    exchange(reservations[entry.shortened[0].burst.number], entry.shortened)
                reservations[entry.unit.number].append(entry.reservation)
            elif entry.what.startswith("drop"):
                losses[entry.unit.number] = entry
    return Run(plan, trace, dict(reservations), losses)


class Step(NamedTuple):
    """The fate of a burst that requested a channel, and the earlier reservations.

    Its head was to leave at `head`, its header was handled at `handled`, its last reservation was
    `came`, and it had crossed `passed` fibres.
    """

    it: Run
    entry: TraceEntry
    handled: int
    head: int
    came: Reservation | None
    passed: int
    reserved: dict[int, list[Reservation]]
    #: Link, burst and head of those whose header is gone.
    sent: set[tuple[int, int, int]]
    kept: dict[tuple[int, int], list[Kept]]

    @property
    def node(self) -> int:
        """The node."""
        return self.entry.node

    @property
    def own(self) -> dict[str, Any]:
        """The settings of the node."""
        return self.it.own(self.node)

    @property
    def burst(self) -> Burst:
        """The burst."""
        assert isinstance(self.entry.unit, Burst)
        return self.entry.unit

    def resolver(self, kind: str) -> dict[str, Any] | None:
        """The settings of a resolver, if the node has it."""
        at_ingress = self.came is None and self.own["ingress"] == "delay"
        chain = () if at_ingress else self.own["contention"]
        return next((table for table in chain if table["kind"] == kind), None)

    def interval(self, delay: int = 0) -> tuple[int, int]:
        """The interval for which the burst wants a channel."""
        head = self.head + delay
        end = head + self.it.time(self.it.fibres(self.node)[0], self.burst)
        if self.own["signalling"] == "jit":
            return self.handled, end
        return max(self.handled, head - self.own["switching_time_ps"]), end

    def usable(self, link: int) -> range:
        """The channels of a link that the burst can use."""
        number = self.it.link(link, "channels")
        if self.came is None or self.own["conversion"]["kind"] == "full":
            return range(number)
        reach = self.own["conversion"].get("range", 0)
        return range(max(0, self.came.channel - reach), min(number, self.came.channel + reach + 1))

    def has_channel(self, link: int, delay: int = 0) -> bool:
        """Whether the scheduler finds any channel that the burst can use."""
        return any(self.is_free(link, channel, delay) for channel in self.usable(link))

    def is_free(self, link: int, channel: int, delay: int = 0) -> bool:
        """Whether the scheduler can have this channel."""
        start, end = self.interval(delay)
        on_it = [
            reservation for reservation in self.reserved[link] if reservation.channel == channel
        ]
        if SCHEDULERS[self.own["scheduler"]].fills_voids:
            return not any(reservation.overlaps(start, end) for reservation in on_it)
        return all(reservation.end <= start for reservation in on_it)


def steps(it: Run) -> Iterator[Step]:
    """Each request of a burst for a channel, with its reservation or its loss, in order."""
    handled: Counter[int] = Counter()
    reserved: dict[int, list[Reservation]] = defaultdict(list)
    kept: dict[tuple[int, int], list[Kept]] = defaultdict(list)
    sent: set[tuple[int, int, int]] = set()
    here: dict[int, tuple[int, int]] = {}
    way: dict[int, list[Reservation]] = defaultdict(list)
    for entry in it.trace:
        if not isinstance(entry.unit, Burst):
            continue
        node, number = entry.node, entry.unit.number
        if entry.what == "launch":
            assert entry.begins is not None
            here[number] = entry.time, entry.begins
        elif entry.what == "arrive":
            assert entry.begins is not None
            handled[node] = max(handled[node], entry.time)
            handled[node] += it.own(node)["header_processing_time_ps"]
            here[number] = handled[node], entry.begins
        elif entry.what == "send":
            assert entry.link is not None and entry.begins is not None
            sent.add((entry.link, number, entry.begins))
        elif entry.what == "delay":
            assert entry.kept is not None and entry.link is not None
            kept[entry.link, entry.kept.delay].append(entry.kept)
        elif entry.what == "reserve" or entry.what.removeprefix("drop ") in NO_CHANNEL:
            ready, head = here[number]
            before = way[number]
            if entry.reservation and entry.what == "reserve":
                head = entry.reservation.head - entry.reservation.delayed
            came = before[-1] if before else None
            yield Step(it, entry, ready, head, came, len(before), reserved, sent, kept)
            if entry.reservation and entry.what == "reserve":
                if entry.shortened:
                    exchange(reserved[entry.reservation.link], entry.shortened)
                before.append(entry.reservation)
                reserved[entry.reservation.link].append(entry.reservation)

"""When circuits are open: docs/model.md, "circuit"."""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any, NamedTuple

from twin.closures import Closures
from twin.events import Moment
from twin.network import TIMER, Network
from twin.schedulers import SCHEDULERS

#: The kinds of the timers of the scheduler, and of a rack at which a circuit opens.
DEMAND, GRANTED = 0, 1


class Opening(NamedTuple):
    """A circuit to `peer` from `start` on, or from the time asked for if that is later."""

    peer: int
    start: int
    end: int


class Scheduled:
    """Matchings that follow one another for all times."""

    def __init__(self, own: dict[str, Any], closures: Closures) -> None:
        self.closures = closures
        schedule = own["schedule"]
        self.slot: int = schedule["slot_ps"]
        self.guard: int = schedule["guard_ps"]
        self.turns = [[schedule["matchings"][i] for i in turn] for turn in schedule["turns"]]
        self.offsets: list[int] = schedule.get("offsets_ps") or [0 for _ in self.turns]
        # Whether the queues that a circuit serves change with the graph of the present.
        # The circuits that each unit has taken.
        self.taken: Counter[int] = Counter()
        self.found = cache(self._distances)
        self.by_graph = own["forwarding"] == "opera"

    def openings(self, core: int, rack: int, at: int, now: int) -> Iterator[Opening]:
        """The circuits of a rack at a switch: the rest of a slot, and a turn after it."""
        turn, offset = self.turns[core], self.offsets[core]
        first = (at - offset) // self.slot
        for number in range(first, first + len(turn) + 1):
            peer = turn[number % len(turn)][rack]
            begin = number * self.slot + offset
            end = begin + self.slot
            for start in sorted(self.starts(max(at, begin + self.guard), end)):
                if not self.closures.closed(core, rack, peer, start):
                    closes = self.closures.closes(core, rack, peer, start, end)
                    yield Opening(peer, start, closes)

    def ever(self, core: int, rack: int, peer: int) -> bool:
        """Whether a switch joins a rack with another at some time."""
        return any(matching[rack] == peer for matching in self.turns[core])

    def look_again(self, at: int) -> int | None:
        """When to look again after a turn that serves nothing: other links may be up then."""
        return next((time for time in self.closures.changes if time > at), None)

    def joins(self, rack: int, peer: int, at: int) -> bool:
        """Whether any circuit leads from a rack to another, at some time."""
        return any(
            matching[rack] == peer and not self.closures.closed(core, rack, peer, at)
            for core, turn in enumerate(self.turns)
            for matching in turn
        )

    def starts(self, start: int, end: int) -> set[int]:
        """The begin of an opening, and each time in it at which the graph of circuits changes."""
        starts = {start} | {time for time in self.closures.changes if start < time < end}
        for offset in self.offsets if self.by_graph else ():
            for number in range(-1, (end - start) // self.slot + 3):
                begin = ((start - offset) // self.slot + number) * self.slot + offset
                starts |= {t for t in (begin, begin + self.guard) if start < t < end}
        return starts

    def distances(self, to: int, at: int) -> dict[int, int]:
        """The number of circuits, of those open at a time, from each rack to one."""
        positions = []
        for turn, offset in zip(self.turns, self.offsets, strict=True):
            number, into = divmod(at - offset, self.slot)
            positions.append(number % len(turn) if into >= self.guard else None)
        return self.found(to, tuple(positions), self.closures.epoch(at))

    def _distances(self, to: int, positions: tuple[int | None, ...], epoch: int) -> dict[int, int]:
        """The distances with each switch at a position of its turn, or in its guard time."""
        at = self.closures.changes[epoch - 1] if epoch else 0
        joined = {
            ends
            for core, (turn, position) in enumerate(zip(self.turns, positions, strict=True))
            if position is not None
            for ends in enumerate(turn[position])
            if not self.closures.closed(core, *ends, at)
        }
        found, distance = {to: 0}, 0
        while True:
            distance += 1
            new = {a for a, b in joined if b in found and a not in found}
            if not new:
                return found
            found |= dict.fromkeys(new, distance)

    def joined(self, rack: int, peer: int, size: int) -> None:
        """A unit waits."""

    def left(self, rack: int, peer: int, size: int) -> None:
        """A unit has left."""


class Granted(NamedTuple):
    """A matching that was decided."""

    decided: int
    begin: int
    end: int
    matching: list[int | None]


class Demanded:
    """Matchings from what waits."""

    def __init__(
        self, own: dict[str, Any], network: Network, racks: list[int], cores: list[int]
    ) -> None:
        scheduler = own["scheduler"]
        self.slot: int = scheduler["slot_ps"]
        self.guard: int = scheduler["guard_ps"]
        self.delay: int = scheduler["delay_ps"]
        self.network, self.racks, self.cores = network, racks, cores
        self.closures = Closures(network, racks, cores)
        self.scheduler = SCHEDULERS[scheduler["kind"]](scheduler, len(racks))
        self.grants: list[list[Granted]] = [[] for _ in cores]
        self.changes: list[tuple[int, int, int, int]] = []
        self.armed = False

    def openings(self, core: int, rack: int, at: int, now: int) -> Iterator[Opening]:
        """The circuits of a rack at a switch of which it knows."""
        for decided, begin, end, matching in self.grants[core]:
            peer = matching[rack]
            if decided < now and at < end and peer is not None:
                yield Opening(peer, max(at, begin + self.guard), end)

    def joins(self, rack: int, peer: int, at: int) -> bool:
        """Circuits follow the demand."""
        return True

    def ever(self, core: int, rack: int, peer: int) -> bool:
        """Any switch may get any demand."""
        return True

    def look_again(self, at: int) -> int | None:
        """Racks are woken."""
        return None

    def joined(self, rack: int, peer: int, size: int) -> None:
        """A unit waits: the scheduler looks, if it does not anyway."""
        now = self.network.events.now
        self.changes.append((now, rack, peer, size))
        if not self.armed:
            self.arm(0)

    def left(self, rack: int, peer: int, size: int) -> None:
        """A unit has left."""
        self.changes.append((self.network.events.now, rack, peer, -size))

    def arm(self, begin: int) -> None:
        """Look again for the next slot for which that is not too late, from `begin` on."""
        while begin - self.delay <= self.network.events.now:
            begin += self.slot
        self.armed = True
        moment = Moment(TIMER, self.cores[0], 0, DEMAND)
        self.network.events.add(begin - self.delay, moment, lambda: self.look(begin))

    def before(self) -> list[list[int]]:
        """What waited before the present."""
        demand = [[0 for _ in self.racks] for _ in self.racks]
        for time, rack, peer, size in self.changes:
            if time < self.network.events.now:
                demand[rack][peer] += size
        return demand

    def look(self, begin: int) -> None:
        """Decide for the slots from `begin` on."""
        now = self.network.events.now
        self.armed = False
        demand = self.before()
        servable = [
            demand[a][b]
            for core, a, b in product(range(len(self.cores)), *2 * [range(len(self.racks))])
            if not self.closures.closed(core, a, b, begin)
        ]
        to_come = any(map(any, demand)) and any(time > begin for time in self.closures.changes)
        if not any(servable) and not to_come:
            if any(time == now and size > 0 for time, *_, size in self.changes):
                self.arm(begin)
            return
        last = begin
        self.scheduler.closed = lambda core, a, b: self.closures.closed(core, a, b, begin)
        turns = self.scheduler.decide([list(row) for row in demand])
        for core, turn in enumerate(turns):
            start = begin
            for matching, slots in turn:
                end = start + slots * self.slot
                self.grants[core].append(Granted(now, start, end, matching))
                for rack, peer in enumerate(matching):
                    if peer is not None and demand[rack][peer]:
                        self.wake(rack, core, start + self.guard)
                start = end
            last = max(last, start)
        self.arm(last)

    def wake(self, rack: int, core: int, opens: int) -> None:
        """Let a rack serve a circuit when it opens."""
        node = self.racks[rack]
        switch = self.network.switches[node - self.network.hosts]
        moment = Moment(TIMER, node, core, GRANTED)
        time = opens - switch.uplinks[core].delay
        self.network.events.add(time, moment, lambda: switch.serve(core))

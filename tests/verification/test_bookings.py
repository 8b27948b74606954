"""All bookings of a run, replayed: what must hold of them whatever the rules of the nodes are.

The bookings are those of the twin, which agrees with the core to the bit.
"""

from collections import Counter, defaultdict
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from plans import Plan, core, traced
from random_plans import random_plan
from twin import Booking, Burst, Trace, TraceEntry
from twin.obs import SCHEDULERS

VOID_FILLING = {"first-fit-vf", "lauc-vf", "random-fit"}
PLANS = range(20_000, 20_200)


class Run(NamedTuple):
    """A plan, and what the twin did with it."""

    plan: Plan
    trace: Trace
    #: In the order in which they were made, of each burst by its number.
    bookings: dict[int, list[Booking]]
    #: The drop of each burst that was lost, by its number.
    losses: dict[int, TraceEntry]

    def own(self, node: int) -> dict[str, Any]:
        """The settings of a node."""
        switch = self.plan.nodes["switch"][node - self.plan.settings["hosts"]]
        own: dict[str, Any] = self.plan.settings["switches"][switch]
        return own

    def link(self, link: int, column: str) -> int:
        """What the table of links says."""
        return int(self.plan.links[column][link])

    def tx(self, booking: Booking) -> int:
        """How long the burst takes."""
        return -(-8 * 10**12 * booking.burst.size // self.link(booking.link, "rate_bps"))

    def comes(self, booking: Booking) -> int:
        """When the head of the burst is at the next node."""
        return booking.head + self.link(booking.link, "delay_ps")

    @property
    def every(self) -> list[Booking]:
        """All bookings."""
        return [booking for bookings in self.bookings.values() for booking in bookings]

    def at(self, what: str) -> list[tuple[TraceEntry, Burst]]:
        """When and where something happened to bursts."""
        found = [(entry, entry.unit) for entry in self.trace if entry.what == what]
        return [(entry, unit) for entry, unit in found if isinstance(unit, Burst)]


@cache
def run(seed: int) -> Run:
    """A random plan in the twin."""
    plan = random_plan(seed, "headers")
    trace = traced(plan)
    bookings: dict[int, list[Booking]] = defaultdict(list)
    losses = {}
    for entry in trace:
        if isinstance(entry.unit, Burst):
            if entry.what == "book":
                assert entry.booking is not None
                bookings[entry.unit.number].append(entry.booking)
            elif entry.what.startswith("drop"):
                losses[entry.unit.number] = entry
    return Run(plan, trace, dict(bookings), losses)


each = pytest.mark.parametrize("seed", PLANS)


@each
def test_no_channel_is_booked_twice(seed: int) -> None:
    it = run(seed)
    by_channel: dict[tuple[int, int], list[Booking]] = defaultdict(list)
    for booking in it.every:
        assert 0 <= booking.channel < it.link(booking.link, "channels")
        by_channel[booking.link, booking.channel].append(booking)
    for bookings in by_channel.values():
        bookings.sort(key=lambda booking: booking.start)
        assert all(before.end <= after.start for before, after in pairwise(bookings))


@each
def test_the_booked_time_holds_the_burst(seed: int) -> None:
    it = run(seed)
    for booking in it.every:
        assert booking.start <= booking.head
        assert booking.end == booking.head + it.tx(booking)
        own = it.own(it.link(booking.link, "from"))
        if own["signalling"] == "jet":
            assert booking.head - booking.start <= own["switching_time_ps"]


@each
def test_a_burst_changes_its_channel_only_where_it_can(seed: int) -> None:
    it = run(seed)
    for bookings in it.bookings.values():
        for before, after in pairwise(bookings):
            conversion = it.own(it.link(after.link, "from"))["conversion"]
            if conversion["kind"] != "full":
                assert abs(after.channel - before.channel) <= conversion.get("range", 0)


@each
def test_no_burst_comes_before_its_node_is_ready(seed: int) -> None:
    """The header is handled, after all that came before it, and the path through the node set."""
    it = run(seed)
    handled: Counter[int] = Counter()
    late = 0
    for entry, burst in it.at("arrive"):
        node, own = entry.node, it.own(entry.node)
        handled[node] = max(handled[node], entry.time) + own["header_processing_time_ps"]
        assert entry.begins is not None
        ready = handled[node] + own["switching_time_ps"] <= entry.begins
        loss = it.losses.get(burst.number)
        lost_here = loss is not None and (loss.node, loss.what) == (node, "drop late_header")
        assert ready != lost_here
        late += lost_here
        for booking in it.bookings[burst.number]:
            if ready and it.link(booking.link, "from") == node:
                # Booked from then on at the earliest, or from the coming of the burst.
                assert handled[node] <= booking.start
    assert late == sum(loss.what == "drop late_header" for loss in it.losses.values())


@each
def test_what_is_booked_is_on_the_way_of_the_burst_and_comes(seed: int) -> None:
    """Or it is wasted, and the burst was lost further on, and nowhere else."""
    it = run(seed)
    lost_on_a_link = {number for number, loss in it.losses.items() if loss.link is not None}
    wasted = 0
    taken_apart = {burst.number: entry for entry, burst in it.at("take apart")}
    for number, bookings in it.bookings.items():
        for before, after in pairwise(bookings):
            assert it.link(after.link, "from") == it.link(before.link, "to")
            assert after.head == it.comes(before)
        first, last = bookings[0], bookings[-1]
        assert it.link(first.link, "from") == first.burst.ends[0]
        if number in it.losses:
            loss = it.losses[number]
            end = "from" if number in lost_on_a_link else "to"
            assert loss.node == it.link(last.link, end)
            if number in lost_on_a_link:
                assert loss.link == last.link
            wasted += len(bookings)
        elif number in taken_apart:
            assert it.link(last.link, "to") == last.burst.ends[1] == taken_apart[number].node
            assert taken_apart[number].time == it.comes(last) + it.tx(last)
    apart = sum(len(it.bookings[number]) for number in taken_apart)
    under_way = set(it.bookings) - set(it.losses) - set(taken_apart)
    assert len(it.every) == apart + wasted + sum(len(it.bookings[n]) for n in under_way)
    # The core has handed to its fibres what was booked, but for headers that wait at an ingress.
    hosts, units = it.plan.settings["hosts"], core(it.plan)["links"]["units"]
    fibres = (it.plan.links["from"] >= hosts) & (it.plan.links["to"] >= hosts)
    waiting = len(it.every) - len(it.at("send"))
    assert 0 <= waiting <= len(under_way)
    assert int(units[fibres].sum()) == len(it.every) - waiting


@each
def test_no_burst_vanishes(seed: int) -> None:
    it = run(seed)
    totals = core(it.plan)["totals"]
    made = {burst.number for _, burst in it.at("launch")}
    taken_apart = {burst.number for _, burst in it.at("take apart")}
    assert taken_apart.isdisjoint(it.losses)
    assert taken_apart | set(it.losses) <= made
    assert (len(made), len(it.losses)) == (totals["bursts_created"], totals["bursts_lost"])
    if totals["end_ps"] < it.plan.settings["time_limit_ps"]:
        assert taken_apart | set(it.losses) == made


@each
def test_a_burst_is_lost_for_want_of_a_channel_only_if_there_is_none(seed: int) -> None:
    """And with void filling only if each of those that it can use is booked at that time."""
    it = run(seed)
    booked: dict[int, list[Booking]] = defaultdict(list)
    head: dict[int, int] = {}
    came: dict[int, int] = {}
    for entry in it.trace:
        if not isinstance(entry.unit, Burst):
            continue
        number = entry.unit.number
        if entry.what in ("launch", "arrive"):
            assert entry.begins is not None
            head[number] = entry.begins
        elif entry.what == "book":
            assert entry.booking is not None
            booked[entry.booking.link].append(entry.booking)
            came[number] = entry.booking.channel
        elif entry.what == "drop no_channel":
            assert entry.wanted is not None
            check_no_channel(it, entry, head[number], came.get(number), booked[entry.wanted])


def check_no_channel(
    it: Run, loss: TraceEntry, head: int, came: int | None, booked: list[Booking]
) -> None:
    """Nothing that a burst could use was free, with the time to set up before it."""
    assert loss.wanted is not None and isinstance(loss.unit, Burst)
    own, number = it.own(loss.node), it.link(loss.wanted, "channels")
    end = head + it.tx(Booking(loss.wanted, 0, 0, head, 0, loss.unit))
    # At the earliest it wanted a channel from now on.
    start = loss.time if own["signalling"] == "jit" else head - own["switching_time_ps"]
    usable = range(number)
    if came is not None and own["conversion"]["kind"] != "full":
        reach = own["conversion"].get("range", 0)
        usable = range(max(0, came - reach), min(number, came + reach + 1))
    for channel in usable:
        on_it = [booking for booking in booked if booking.channel == channel]
        if own["scheduler"] in VOID_FILLING:
            assert any(booking.overlaps(start, end) for booking in on_it)
        else:
            assert any(booking.end > start for booking in on_it)
    if loss.booking is None:
        assert not usable or own["scheduler"] not in VOID_FILLING
    else:
        assert loss.booking in booked
        assert loss.booking.channel == usable[0]
        assert loss.booking.overlaps(start, end)


def test_the_plans_reach_everything() -> None:
    """What the tests above are worth."""
    counts = Counter[str]()
    for seed in PLANS:
        it = run(seed)
        reasons = Counter(loss.what for loss in it.losses.values())
        counts.update(set(reasons))
        for own in it.plan.settings["switches"]:
            word = own["conversion"]["kind"]
            words = {own["scheduler"], own["signalling"], word, own["ingress"]}
            counts.update(words if reasons["drop no_channel"] else ())
        changes = [(a.channel, b.channel) for way in it.bookings.values() for a, b in pairwise(way)]
        counts["channel changed"] += any(a != b for a, b in changes)
        counts["several channels"] += any(booking.channel > 1 for booking in it.every)
        counts["waits at the ingress"] += any(
            entry.begins > entry.time + 20_000_000
            for entry, _ in it.at("launch")
            if entry.begins is not None
        )
    expected = {*SCHEDULERS, "jet", "jit", "none", "limited", "full", "lose", "delay"}
    expected |= {f"drop {why}" for why in ("no_channel", "late_header", "random", "scripted")}
    expected |= {"channel changed", "several channels", "waits at the ingress"}
    assert {name: counts[name] for name in expected if counts[name] < 5} == {}

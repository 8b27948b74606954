"""All reservations of a run, replayed: their properties for any rules of the nodes."""

from collections import Counter, defaultdict
from itertools import pairwise

from plans import core
from reserved import NO_CHANNEL, PLANS, run, steps
from twin import Burst, Reservation
from twin.obs import SCHEDULERS

from blocks import in_blocks
from lightburst import _core

each = in_blocks("plan", PLANS)


@each
def test_no_channel_is_reserved_twice(plan: tuple[int, str]) -> None:
    it = run(plan)
    by_channel: dict[tuple[int, int], list[Reservation]] = defaultdict(list)
    for reservation in it.every:
        assert 0 <= reservation.channel < it.link(reservation.link, "channels")
        by_channel[reservation.link, reservation.channel].append(reservation)
    for reservations in by_channel.values():
        reservations.sort(key=lambda reservation: reservation.start)
        assert all(before.end <= after.start for before, after in pairwise(reservations))


@each
def test_the_reserved_time_holds_the_burst(plan: tuple[int, str]) -> None:
    it = run(plan)
    for reservation in it.every:
        assert reservation.start <= reservation.head
        assert reservation.end == reservation.head + it.tx(reservation)
        own = it.own(it.link(reservation.link, "from"))
        if own["signalling"] == "jet":
            assert reservation.head - reservation.start <= own["switching_time_ps"]


@each
def test_a_burst_changes_its_channel_only_where_it_can(plan: tuple[int, str]) -> None:
    it = run(plan)
    for reservations in it.reservations.values():
        for before, after in pairwise(reservations):
            conversion = it.own(it.link(after.link, "from"))["conversion"]
            if conversion["kind"] != "full":
                assert abs(after.channel - before.channel) <= conversion.get("range", 0)


@each
def test_no_burst_comes_before_its_node_is_ready(plan: tuple[int, str]) -> None:
    """The header is handled, after all earlier ones, and the path through the node is set."""
    it = run(plan)
    handled: Counter[int] = Counter()
    ready: dict[int, int | None] = {}
    for entry in it.trace:
        if not isinstance(entry.unit, Burst):
            continue
        node, number = entry.node, entry.unit.number
        if entry.what == "arrive":
            own = it.own(node)
            handled[node] = max(handled[node], entry.time) + own["header_processing_time_ps"]
            assert entry.begins is not None
            in_time = handled[node] + own["switching_time_ps"] <= entry.begins
            ready[number] = handled[node] if in_time else None
        elif entry.what == "drop late_header":
            assert ready.pop(number) is None
        elif entry.what == "reserve" and number in ready:
            # The earliest begin of the reservation.
            assert entry.reservation is not None
            since = ready.pop(number)
            assert since is not None and since <= entry.reservation.start
        elif entry.what in ("take apart", *(f"drop {why}" for why in NO_CHANNEL)):
            assert ready.pop(number, 0) is not None
    # The others have not yet reached their egress.
    assert None not in ready.values()


@each
def test_what_is_reserved_is_on_the_way_of_the_burst_and_comes(plan: tuple[int, str]) -> None:
    """Or the reservation is wasted: the burst was lost further on, and nowhere else."""
    it = run(plan)
    lost_on_a_link = {number for number, loss in it.losses.items() if loss.link is not None}
    wasted = 0
    taken_apart = {burst.number: entry for entry, burst in it.at("take apart")}
    # Some bursts are held for others when they have come.
    held = {burst.number: entry for entry, burst in it.at("hold")}
    tails = {number: entry.time for number, entry in (taken_apart | held).items()}
    for number, reservations in it.reservations.items():
        for before, after in pairwise(reservations):
            assert it.link(after.link, "from") == it.link(before.link, "to")
            assert after.head == it.comes(before) + it.cut(before, after) + after.delayed
        first, last = reservations[0], reservations[-1]
        assert it.link(first.link, "from") == first.burst.ends[0]
        if number in it.losses:
            loss = it.losses[number]
            end = "from" if number in lost_on_a_link else "to"
            assert loss.node == it.link(last.link, end)
            if number in lost_on_a_link:
                assert loss.link == last.link
            wasted += len(reservations)
        elif number in taken_apart:
            assert it.link(last.link, "to") == last.burst.ends[1] == taken_apart[number].node
            assert tails[number] == it.comes(last) + it.time(last.link, last.burst)
    apart = sum(len(it.reservations[number]) for number in taken_apart)
    under_way = set(it.reservations) - set(it.losses) - set(taken_apart)
    assert len(it.every) == apart + wasted + sum(len(it.reservations[n]) for n in under_way)
    # The core has handed the reserved bursts to its fibres, except for headers that wait at an
    # ingress.
    hosts, units = it.plan.settings["hosts"], core(it.plan)["links"]["units"]
    fibres = (it.plan.links["from"] >= hosts) & (it.plan.links["to"] >= hosts)
    waiting = len(it.every) - len(it.at("send"))
    assert 0 <= waiting <= len(under_way)
    assert int(units[fibres].sum()) == len(it.every) - waiting


@each
def test_no_burst_vanishes(plan: tuple[int, str]) -> None:
    it = run(plan)
    totals = core(it.plan)["totals"]
    made = {burst.number for _, burst in it.at("launch")}
    taken_apart = {burst.number for _, burst in it.at("take apart")}
    assert taken_apart.isdisjoint(it.losses)
    assert taken_apart | set(it.losses) <= made
    assert len(it.losses) == totals["bursts_lost"]
    ended = totals["end_ps"] < it.plan.settings["time_limit_ps"]
    orders = [own.get("ordering", {"kind": "none"}) for own in it.plan.settings["switches"]]
    if ended or {"kind": "source"} not in orders:
        assert len(made) == totals["bursts_created"]
    else:
        # Some may be held at their ingress.
        assert len(made) <= totals["bursts_created"]
    if ended:
        assert taken_apart | set(it.losses) == made


@each
def test_a_burst_is_lost_for_want_of_a_channel_only_if_there_is_none(plan: tuple[int, str]) -> None:
    """And with void filling only if each usable channel is reserved at that time."""
    for step in steps(run(plan)):
        loss = step.entry
        if loss.what == "reserve":
            continue
        assert loss.wanted is not None
        assert not step.has_channel(loss.wanted)
        usable = step.usable(loss.wanted)
        if loss.reservation is None:
            assert not usable or not SCHEDULERS[step.own["scheduler"]].fills_voids
        else:
            assert loss.reservation in step.reserved[loss.wanted]
            assert loss.reservation.channel == usable[0]
            assert loss.reservation.overlaps(*step.interval())


def test_the_plans_reach_everything() -> None:
    """The plans exercise the tests above."""
    counts = Counter[str]()
    for plan in PLANS:
        it = run(plan)
        reasons = Counter(loss.what for loss in it.losses.values())
        counts.update(set(reasons))
        for own in it.plan.settings["switches"]:
            word = own["conversion"]["kind"]
            words = {own["scheduler"], own["signalling"], word, own["ingress"]}
            lost = any(reasons[f"drop {why}"] for why in NO_CHANNEL)
            counts.update(words if lost else ())
        changes = [
            (a.channel, b.channel) for way in it.reservations.values() for a, b in pairwise(way)
        ]
        counts["channel changed"] += any(a != b for a, b in changes)
        counts["several channels"] += any(reservation.channel > 1 for reservation in it.every)
        counts["waits at the ingress"] += any(
            entry.begins > entry.time + 20_000_000
            for entry, _ in it.at("launch")
            if entry.begins is not None
        )
    expected = {*SCHEDULERS, "jet", "jit", "none", "limited", "full", "lose", "delay"}
    expected |= {f"drop {why}" for why in ("no_channel", "late_header", "random", "scripted")}
    expected |= {"channel changed", "several channels", "waits at the ingress"}
    assert {name: counts[name] for name in expected if counts[name] < 5} == {}


def test_core_and_twin_agree_on_the_schedulers_that_fill_voids() -> None:
    assert list(SCHEDULERS) == sorted(_core.registry()["schedulers"])
    filling = [name for name, scheduler in SCHEDULERS.items() if scheduler.fills_voids]
    assert filling == sorted(_core.registry()["void_filling_schedulers"])

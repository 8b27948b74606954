"""Resolvers for bursts without a channel: reservations of runs, replayed."""

from collections import Counter, defaultdict
from itertools import pairwise

from reserved import NO_CHANNEL, PLANS, Run, Step, run, steps
from twin import Burst, Kept

from blocks import in_blocks

each = in_blocks("plan", PLANS)
#: The other paths of a burst: link, total number of fibres, and whether the header is in time.
Ways = list[tuple[int, int, bool]]


@each
def test_a_delayed_burst_is_in_a_line_that_it_has_for_itself(plan: tuple[int, str]) -> None:
    it = run(plan)
    kept: dict[tuple[int, int, int], list[Kept]] = defaultdict(list)
    going_in: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    lines: dict[int, tuple[int, Kept]] = {}
    for entry in it.trace:
        if not isinstance(entry.unit, Burst):
            continue
        if entry.what == "delay":
            assert entry.kept is not None and entry.link is not None
            lines[entry.unit.number] = entry.link, entry.kept
        elif entry.what == "reserve":
            reservation = entry.reservation
            assert reservation is not None
            link, line = lines.pop(reservation.burst.number, (None, None))
            assert (reservation.delayed > 0) == (line is not None)
            if line is None:
                continue
            own = it.own(entry.node)
            table = next(table for table in own["contention"] if table["kind"] == "delay-line")
            assert link == reservation.link
            assert 1 <= line.delay <= table["delays"]
            assert reservation.delayed == line.delay * table["granularity_ps"]
            # The line is kept from the arrival of the burst until its tail is in, or out.
            came, tx = reservation.head - reservation.delayed, it.tx(reservation)
            assert line.start <= came
            assert line.end == (reservation.head if table["occupied"] == "inside" else came) + tx
            going_in[link, line.delay].append((came, came + tx))
            if table["lines"] is not None:
                assert 0 <= line.line < table["lines"]
                kept[link, line.delay, line.line].append(line)
    for several in kept.values():
        several.sort(key=lambda one: one.start)
        assert all(before.end <= after.start for before, after in pairwise(several))
    # With unlimited lines, the number in use is at most the number of channels.
    for (link, _), times in going_in.items():
        changes = sorted([(end, -1) for _, end in times] + [(start, 1) for start, _ in times])
        inside = most = 0
        for _, change in changes:
            inside += change
            most = max(most, inside)
        assert most <= it.link(link, "channels")


@each
def test_the_shortest_delay_is_taken_that_helps(plan: tuple[int, str]) -> None:
    """And no burst is lost that a delay would have saved."""
    for step in steps(run(plan)):
        table, reservation = step.resolver("delay-line"), step.entry.reservation
        if table is None:
            continue
        if step.entry.what != "reserve":
            assert step.entry.wanted is not None
            assert not helps(step, step.entry.wanted, range(1, table["delays"] + 1))
        elif reservation is not None and reservation.delayed:
            number = reservation.delayed // table["granularity_ps"]
            assert not step.has_channel(reservation.link)
            assert not helps(step, reservation.link, range(1, number))


def helps(step: Step, link: int, delays: range) -> bool:
    """Whether any of some delays would have given the burst a line and a channel."""
    table = step.resolver("delay-line")
    assert table is not None
    start, end = step.interval()
    for number in delays:
        delay = number * table["granularity_ps"]
        if table["occupied"] == "inside":
            end = step.interval(delay)[1]
        others = [one for one in step.kept[link, number] if one.start < end and one.end > start]
        in_use = {one.line for one in others}
        has_line = table["lines"] is None or len(in_use) < table["lines"]
        if has_line and step.has_channel(link, delay):
            return True
    return False


def distances(it: Run, egress: int) -> dict[int, int]:
    """Fibres from each switch to one of them."""
    hosts, links = it.plan.settings["hosts"], it.plan.links
    ends = list(zip(links["from"].tolist(), links["to"].tolist(), strict=True))
    before: dict[int, list[int]] = defaultdict(list)
    for source, target in ends:
        if source >= hosts:
            before[target].append(source)
    found, frontier = {egress: 0}, [egress]
    for node in frontier:
        for source in before[node]:
            if source not in found:
                found[source] = found[node] + 1
                frontier.append(source)
    return found


def is_in_time(step: Step, fibres: int) -> bool:
    """Whether a header is ahead of its burst after a number of further fibres."""
    own = step.own
    rate = own["control_rate_bps"]
    per_hop = own["header_processing_time_ps"]
    per_hop += -(-8 * 10**12 * own["header_bytes"] // rate) if rate else 0
    needed: int = fibres * per_hop + own["switching_time_ps"]
    return needed <= step.head - step.handled


def other_ways(step: Step, loops: bool) -> Ways:
    """The paths by links other than those wanted.

    Without loops only paths that certainly have none: not from a node that is further away.
    """
    far = distances(step.it, step.burst.ends[1])
    found: Ways = []
    for link in step.it.fibres(step.node):
        to = far[step.it.link(link, "to")]
        wanted = link == step.entry.wanted
        if step.it.plan.settings["choice"] == "free":
            wanted |= to < far[step.node]
        if not wanted and (loops or to <= far[step.node]):
            found.append((link, 1 + to, is_in_time(step, 1 + to)))
    return found


@each
def test_a_burst_is_deflected_by_the_nearest_way_that_is_open(plan: tuple[int, str]) -> None:
    """And none is lost with an open path."""
    it = run(plan)
    if it.plan.settings["routing"].get("metric") == "delay":
        return  # Of paths that are short in time the length does not give the number of fibres.
    deflected = {id(entry.unit) for entry, _ in it.at("deflect")}
    for step in steps(it):
        table, reservation = step.resolver("deflection"), step.entry.reservation
        if table is None:
            continue
        ways = other_ways(step, table["loops"])
        near = [way for way in ways if step.passed + way[1] <= table["hop_limit"]]
        in_time = [way for way in near if way[2]]
        if step.entry.what != "reserve":
            assert not any(step.has_channel(link) for link, _, _ in in_time)
            assert not (near and step.entry.what == "drop hop_limit")
            assert not (in_time and step.entry.what == "drop offset_used_up")
        elif reservation is not None and id(reservation.burst) in deflected:
            deflected.remove(id(reservation.burst))
            far = distances(it, reservation.burst.ends[1])
            fibres = 1 + far[it.link(reservation.link, "to")]
            assert step.passed + fibres <= table["hop_limit"]
            assert is_in_time(step, fibres)
            assert not any(step.has_channel(link) for link, n, _ in in_time if n < fibres)
    assert not deflected


@each
def test_a_deflected_burst_takes_shortest_ways_to_its_egress(plan: tuple[int, str]) -> None:
    """But where it is deflected again."""
    it = run(plan)
    if it.plan.settings["routing"].get("metric") == "delay":
        return  # Paths that are short in time.
    again = Counter(burst.number for _, burst in it.at("deflect"))
    for number, reservations in it.reservations.items():
        off_path = [reservation for reservation in reservations if reservation.burst.deflected]
        far = distances(it, reservations[0].burst.ends[1])
        ends = [(it.link(b.link, "from"), it.link(b.link, "to")) for b in off_path]
        assert sum(far[to] >= far[source] for source, to in ends) <= again[number]
        assert bool(off_path) == bool(again[number])


def test_the_plans_reach_everything() -> None:
    """The plans exercise the tests above."""
    counts = Counter[str]()
    for plan in PLANS:
        it = run(plan)
        counts.update({entry.what for entry in it.trace if isinstance(entry.unit, Burst)})
        kept = [entry.kept for entry in it.trace if entry.kept]
        counts["second line"] += any(one.line > 0 for one in kept)
        counts["longer delay"] += any(one.delay > 1 for one in kept)
        labels = [entry.unit for entry, _ in it.at("deflect") if it.plan.settings.get("label")]
        counts["off a path"] += bool(labels)
        for table in (table for own in it.plan.settings["switches"] for table in own["contention"]):
            if table["kind"] == "delay-line" and kept:
                counts[table["occupied"]] += 1
                counts["lines" if table["lines"] else "unlimited"] += 1
    expected = {*(f"drop {why}" for why in NO_CHANNEL), "delay", "deflect", "off a path"}
    expected |= {"second line", "longer delay", "inside", "entering", "lines", "unlimited"}
    assert {name: counts[name] for name in expected if counts[name] < 2} == {}

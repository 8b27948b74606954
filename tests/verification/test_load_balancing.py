"""Paths by load, and the order of bursts on them: core against twin, and invariants."""

from collections import Counter, defaultdict
from functools import cache

import pytest
from balanced_plans import balanced_plan
from compare import check_conservation, check_equal, check_same, check_stories, differences
from plans import Plan, Ran, core, ran
from twin import Burst

from blocks import in_blocks

KINDS = ["bursts", "headers"]
SEEDS = range(50_000, 50_060)

each = pytest.mark.parametrize("kind", KINDS)
seeds = in_blocks("seed", SEEDS, 20)


@cache
def run(seed: int, kind: str) -> Ran:
    """A random plan, run once for all tests."""
    return ran(balanced_plan(seed, kind))


@each
@seeds
def test_core_equals_twin(seed: int, kind: str) -> None:
    it = run(seed, kind)
    check_same(it.twin, it.core)


@pytest.mark.slow
@each
@in_blocks("seed", range(60_000, 61_000), 100)
def test_core_equals_twin_at_length(seed: int, kind: str) -> None:
    check_equal(balanced_plan(seed, kind))


@each
@seeds
def test_no_edge_reads_what_happens_elsewhere_at_its_instant(seed: int, kind: str) -> None:
    it = run(seed, kind)
    check_conservation(it.plan, it.core)
    shuffled = it.plan._replace(settings={**it.plan.settings, "shuffle": seed})
    assert differences(it.core, core(shuffled)) == []


def taken_apart(it: Ran) -> dict[tuple[int, ...], list[tuple[int, int]]]:
    """The bursts of each pair of edges, and each class, with the times of their disassembly."""
    found: dict[tuple[int, ...], list[tuple[int, int]]] = defaultdict(list)
    classes = "extra_offset_ps" in it.plan.settings["switches"][0]
    for entry in it.trace:
        if entry.what == "take apart":
            assert isinstance(entry.unit, Burst)
            group = it.plan.flows["group"][entry.unit.packets[0].flow] if classes else 0
            found[*entry.unit.ends, group].append((entry.time, entry.unit.sequence))
    return found


def ordering(plan: Plan) -> str:
    """The orderings of bursts."""
    (switch,) = plan.settings["switches"]
    kind: str = switch["ordering"]["kind"]
    return kind


@each
@seeds
def test_with_source_ordering_no_burst_overtakes_another(seed: int, kind: str) -> None:
    it = run(seed, kind)
    # Delays on the path are not known to the ingress.
    if not it.plan.settings["switches"][0].get("contention"):
        check_stories(it.trace)
        if ordering(it.plan) != "source":
            return
        for bursts in taken_apart(it).values():
            assert bursts == sorted(bursts, key=lambda burst: burst[1])


@each
@seeds
def test_with_destination_ordering_only_who_waits_for_too_long_is_passed(
    seed: int, kind: str
) -> None:
    it = run(seed, kind)
    timeouts = it.core["switches"]["hold_back_timeouts"]
    if ordering(it.plan) == "destination" and not timeouts.any():
        for bursts in taken_apart(it).values():
            assert bursts == sorted(bursts, key=lambda burst: burst[1])


def test_the_plans_reach_everything() -> None:
    """The plans exercise the tests above."""
    counts = Counter[str]()
    for kind in KINDS:
        for seed in SEEDS:
            it = run(seed, kind)
            plan, switches = it.plan, it.core["switches"]
            counted = ("path_switches", "bursts_held", "hold_back_timeouts")
            who = f"{kind} {ordering(plan)}"
            counts.update(f"{who}: {name}" for name in counted if switches[name].any())
            late = any(
                [n for _, n in bursts] != sorted(n for _, n in bursts)
                for bursts in taken_apart(it).values()
            )
            ways_out = bool(plan.settings["switches"][0].get("contention"))
            sure = ordering(plan) != "source" or not ways_out
            counts[f"{who}: out of order"] += late and sure
            counts[f"{who}: ways out"] += ways_out
    wanted = [
        f"{kind} {who}"
        for kind in KINDS
        for who in (
            "none: path_switches",
            "none: out of order",
            "source: bursts_held",
            "destination: bursts_held",
            "destination: hold_back_timeouts",
        )
    ] + ["headers none: ways out", "headers source: ways out"]
    assert {name: counts[name] for name in wanted if counts[name] < 3} == {}
    assert not any(counts[f"{kind} source: out of order"] for kind in KINDS)


def test_a_load_is_a_share_of_the_capacity() -> None:
    """Half the capacity is twice the load: paths are left as with half the threshold."""
    changed = 0
    for seed in SEEDS:
        plan = balanced_plan(seed, "headers")
        (number, *others) = set(plan.links["channels"].tolist())
        if others:
            continue
        fibres = (plan.links["from"] >= plan.settings["hosts"]) & (
            plan.links["to"] >= plan.settings["hosts"]
        )
        rate = int(plan.links["rate_bps"][fibres][0])
        own = {**plan.settings["balance"], "threshold": 0.015625, "capacity_bps": None}
        half = {**own, "threshold": 0.03125, "capacity_bps": rate * number // 2}
        runs = [
            core(plan._replace(settings={**plan.settings, "balance": balance}))
            for balance in (own, half)
        ]
        assert differences(*runs) == []
        changed += bool(runs[0]["switches"]["path_switches"].any())
    assert changed > 3

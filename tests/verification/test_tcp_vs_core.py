"""TCP, bursts and losses: the Rust core against the twin, bit for bit."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from compare import check_conservation, check_equal
from law_plans import law_plan
from plans import Plan, core, traced, twin
from random_plans import KINDS, overtaking_plan, random_plan
from random_transports import LAWS, RECOVERIES, WITH_SLOW_START
from twin import law_names
from twin.assembly import RULES
from twin.law import Report
from twin.laws import ByteCounting, HyStartPlusPlus

from blocks import in_blocks
from lightburst.trace.flow import FIN, FORWARD, LOST, REASONS, SYN

QUICK = range(250)
BRIEF = range(1_100, 1_200)
LONG = range(10_000, 13_000)
# Seed of a plan in which the round-trip time falls again in a conservative slow start.
GIVEN_UP = 131
# How `multi-queue` allocates flows to queues.
ALLOCATIONS = ("a-posteriori", "a-priori", "per-flow", "printed")

each = pytest.mark.parametrize("kind", KINDS)


def check(seed: int, draw: Callable[[int], Plan]) -> None:
    """The core gives the twin's result for a random plan; half of the plans are traced."""
    plan = draw(seed)
    if seed % 2:
        plan.settings["trace"] = sorted({seed % len(plan.flows["source"]), 0})
    check_equal(plan, stories=True)


@each
@in_blocks("seed", QUICK)
def test_core_equals_twin(seed: int, kind: str) -> None:
    check(seed, partial(random_plan, kind=kind))


@pytest.mark.slow
@each
@in_blocks("seed", LONG, 100)
def test_core_equals_twin_at_length(seed: int, kind: str) -> None:
    check(seed, partial(random_plan, kind=kind))


@in_blocks("seed", BRIEF)
def test_core_equals_twin_where_acknowledgements_overtake(seed: int) -> None:
    check(seed, overtaking_plan)


def test_what_an_old_acknowledgement_marks_is_scored_with_the_next_news() -> None:
    """One plan of the three thousand below depends on it: a hole that only an old one revealed."""
    check(12_782, overtaking_plan)


@pytest.mark.slow
@in_blocks("seed", LONG, 100)
def test_core_equals_twin_where_acknowledgements_overtake_at_length(seed: int) -> None:
    check(seed, overtaking_plan)


@pytest.mark.parametrize("law", LAWS)
@in_blocks("seed", range(6))
def test_core_equals_twin_where_windows_are_large(seed: int, law: str) -> None:
    check(seed, partial(law_plan, law=law))


def test_core_equals_twin_where_a_conservative_slow_start_is_given_up() -> None:
    for law in ("cubic", "reno"):
        check(GIVEN_UP, partial(law_plan, law=law))


def test_the_plans_above_use_hystart_plus_plus(monkeypatch: pytest.MonkeyPatch) -> None:
    """In each way: conservative slow starts begin, are given up, and end slow start."""
    stages = Counter[str]()

    class Watched(HyStartPlusPlus):
        def report(self, report: Report) -> None:
            before = self.baseline, self.first
            super().report(report)
            stages["begins"] += before[0] is None and self.baseline is not None
            stages["is given up"] += before[0] is not None and self.baseline is None
            stages["ends"] += before[1] and not self.first

    monkeypatch.setattr(law_names, "HyStartPlusPlus", Watched)
    for law in WITH_SLOW_START:
        for seed in (1, 3, 5):
            twin(law_plan(seed, law), [])
    assert min(stages["begins"], stages["ends"]) > 1
    twin(law_plan(GIVEN_UP, "reno"), [])
    assert stages["is given up"] > 0


def test_the_plans_above_use_abe(monkeypatch: pytest.MonkeyPatch) -> None:
    """Echoes reduce windows, by another factor than losses."""
    factors = set()

    def mark(self: ByteCounting, flight: int) -> None:
        factors.add(self.after_mark == self.factor)
        usual(self, flight)

    usual = ByteCounting.mark
    monkeypatch.setattr(ByteCounting, "mark", mark)
    for law in ("cubic", "reno"):
        for seed in range(6):
            twin(law_plan(seed, law), [])
    assert factors == {False, True}


def test_marks_are_echoed_and_not_always() -> None:
    """The plans of `dctcp` above exercise the law."""
    units = [entry.unit for seed in range(6) for entry in traced(law_plan(seed, "dctcp"))]
    echoes = {packet.echoes_mark for unit in units for packet in unit.packets}
    assert echoes == {False, True}


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
@in_blocks("seed", range(6, 200))
def test_core_equals_twin_where_windows_are_large_at_length(seed: int, law: str) -> None:
    check(seed, partial(law_plan, law=law))


@each
def test_conservation_at_every_instant(kind: str) -> None:
    """Whenever a run is stopped, each packet is delivered, dropped or in flight."""
    for seed in BRIEF:
        plan = random_plan(seed, kind)
        result = core(plan)
        check_conservation(plan, result)
        end, before = result["totals"]["end_ps"], Counter[str]()
        for tenth in range(10):
            limit = end * tenth // 10
            stopped = core(Plan({**plan.settings, "time_limit_ps": limit}, *plan[1:]))
            check_conservation(plan, stopped)
            for name in ("units_created", "units_delivered", "units_dropped", "bursts_created"):
                assert stopped["totals"][name] >= before[name], seed
                before[name] = stopped["totals"][name]


def kinds_of(packets: dict[str, np.ndarray[Any, Any]]) -> set[str]:
    """The kinds of some packets of connections."""
    data, flags = packets["payload"] > 0, packets["flags"]
    forward, syn, fin = ((flags & flag) > 0 for flag in (FORWARD, SYN, FIN))
    kinds = {
        "syn": forward & syn,
        "syn+ack": ~forward & syn,
        "data": data & ~fin,
        "data+fin": data & fin,
        "fin+ack": ~forward & fin,
    }
    return {name for name, chosen in kinds.items() if chosen.any()}


def happened(plan: Plan) -> set[str]:
    """The mechanisms used in a run."""
    every = list(range(len(plan.flows["source"])))
    result = core(Plan({**plan.settings, "trace": every}, *plan[1:]))
    tables = (*result["flows"].items(), *result["switches"].items())
    things = {name for name, column in tables if column.any()}
    packets = result["trace_segments"]
    lost = {name: column[packets["event"] == LOST] for name, column in packets.items()}
    things |= {f"drop {REASONS[reason]}" for reason in set(lost["reason"].tolist())}
    things |= {f"lost {kind}" for kind in kinds_of(lost)}
    if "classes" in result and np.count_nonzero(result["classes"]["bursts_lost"]) > 1:
        things.add("classes")
    if len(set(plan.kind_of)) > 1:
        things.add("several kinds of switch")
    if plan.settings["routing"].get("metric") == "delay":
        things.add("shortest by delay")
    if plan.paths is not None and len(plan.paths["path_source"]) > 1:
        things.add(f"label {plan.settings['label']}")
    rules = [rule for switch in plan.settings["switches"] if (rule := switch.get("assembly"))]
    things |= {f"assembly {rule['kind']}" for rule in rules}
    things |= {f"allocation {rule['allocation']['kind']}" for rule in rules if "allocation" in rule}
    transports = [group["transport"] for group in plan.settings["groups"]]
    kinds = sorted(transport["kind"].replace("sawl", "saw") for transport in transports)
    things |= {f"{one} beside {other}" for one, other in combinations(kinds, 2)}
    for transport in transports:
        if transport["kind"] == "tcp":
            things |= {
                transport["recovery"]["kind"],
                f"law {transport['congestion_control']['kind']}",
                f"delayed by {transport['acknowledge_every']}",
            }
    loss = plan.settings["loss"] or {}
    words = {"drops": "drop", "marks": "mark", "holds": "hold", "stalls": "stall"}
    scripts = [(words[key], script) for key in words for script in loss.get(key, ())]
    for (word, script), units in zip(scripts, result["drops"]["units"], strict=True):
        if units:
            things |= {f"{word} of {name}" for name in script}
    return things


def test_the_plans_use_each_mechanism() -> None:
    """In some of the plans, so the comparisons above cover it."""
    counts = Counter[str]()
    for kind in KINDS:
        for seed in QUICK[:100]:
            counts.update(happened(random_plan(seed, kind)))
    expected = {*RECOVERIES, "timeouts", "duplicates", "retransmissions", "assembly_wait_ps"}
    expected |= {f"drop {reason}" for reason in ("scripted", "random", "access-buffer-full")}
    expected |= {f"lost {kind}" for kind in ("syn", "syn+ack", "data", "data+fin", "fin+ack")}
    expected |= {"tcp beside tcp", "datagram beside tcp", "saw beside tcp"}
    expected |= {f"drop of {name}" for name in ("burst", "segments", "window", "acknowledgements")}
    for word in ("mark", "hold", "stall"):
        expected |= {f"{word} of {name}" for name in ("burst", "segments", "window")}
    expected |= {f"law {law}" for law in LAWS}
    expected |= {f"assembly {rule}" for rule in RULES}
    expected |= {"several kinds of switch", "shortest by delay", "classes"}
    expected |= {f"label {label}" for label in ("first", "random", "hash")}
    assert {name: counts[name] for name in expected if counts[name] < 5} == {}
    # A part of one assembly rule; `test_allocation` has separate plans for each.
    assert all(counts[f"allocation {kind}"] for kind in ALLOCATIONS)

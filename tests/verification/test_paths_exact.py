"""Metrics, wavelengths, and paths with labels, by hand and by statistics."""

from collections.abc import Callable

import numpy as np
import pytest
from plans import (
    ENGINES,
    MICROSECOND,
    Arrays,
    Plan,
    all_optical,
    burst,
    core,
    datagram,
    electronic,
    flow_columns,
    flow_table,
    hybrid,
    one_datagram_each,
    path_table,
    settings,
    table,
    tcp,
)
from scipy import stats
from twin import Columns

Engine = Callable[[Plan], Columns]
D, FULL = 50_000, 7_200_000
engines = pytest.mark.parametrize("engine", ENGINES)
#: Hosts 0 and 1 at the switches 2 and 3; a long link between these, and short ones over 4 and 5.
EDGES = [(0, 2), (1, 3), (2, 3), (2, 4), (4, 3), (4, 5), (5, 3)]
DELAYS = [D, D, 5 * D, D, 2 * D, D, D]
LINKS = table(EDGES, 2, delays=DELAYS)
PATHS = [(2, 3), (2, 4, 3), (2, 4, 5, 3)]


def took(engine: Engine, metric: str = "hops", *paths: tuple[int, ...], size: int = 9000) -> int:
    """Time of one datagram from host 0 to host 1 through all-optical switches."""
    chosen = settings(
        2,
        6,
        all_optical(),
        datagram(size),
        routing={"kind": "shortest-path", "metric": metric},
        label="first" if paths else None,
    )
    flows = one_datagram_each(flow_table((0, 1, 0, size)))
    result = engine(Plan(chosen, LINKS, flows, None, path_table(LINKS, *paths)))
    return int(result["flows"]["received_ps"][0])


@engines
def test_by_hops_or_by_delay(engine: Engine) -> None:
    assert took(engine) == 2 * D + 5 * D + FULL
    # Over 4 it is 3 D, and over 4 and 5 as well: two paths of one length, either may be taken.
    assert took(engine, "delay") == 2 * D + 3 * D + FULL


@engines
@pytest.mark.parametrize(("path", "delay"), [((2, 3), 5), ((2, 4, 3), 3), ((2, 4, 5, 3), 3)])
def test_a_given_path_is_taken(engine: Engine, path: tuple[int, ...], delay: int) -> None:
    for metric in ("hops", "delay"):
        assert took(engine, metric, path) == (2 + delay) * D + FULL


def used(plan: Plan, result: Columns) -> Arrays:
    """Units that left switch 2 for the switches 3 and 4, and that went from 4 to 3 and to 5."""
    units, ends = result["links"]["units"], (plan.links["from"], plan.links["to"])
    return {f"{a}-{b}": units[(ends[0] == a) & (ends[1] == b)] for a, b in [(2, 3), (4, 3), (4, 5)]}


def many(label: str, count: int, seed: int = 1, transport: str = "datagram") -> Plan:
    """Many small flows from host 0 to host 1, with three paths."""
    when = 20 * MICROSECOND * np.arange(count)
    flows = flow_columns(np.zeros(count), np.ones(count), when, np.full(count, 9000))
    if transport == "datagram":
        flows = one_datagram_each(flows)
    chosen = settings(
        2,
        6,
        electronic(),
        datagram() if transport == "datagram" else tcp(),
        label=label,
        seed=seed,
    )
    return Plan(chosen, LINKS, flows, None, path_table(LINKS, *PATHS))


@pytest.mark.parametrize("label", ["random", "hash"])
def test_labels_spread_evenly(label: str) -> None:
    """Each of three paths gets a third: of the packets, or of the flows."""
    plan = many(label, 3000)
    units = used(plan, core(plan))
    counts = [int(column[0]) for column in units.values()]
    assert sum(counts) == 3000
    assert stats.chisquare(counts).pvalue > 0.001
    assert max(counts) > min(counts)


def test_the_first_label_is_the_first_path() -> None:
    units = used(plan := many("first", 50), core(plan))
    assert [int(column[0]) for column in units.values()] == [50, 0, 0]


@engines
def test_a_hash_keeps_a_flow_on_one_path(engine: Engine) -> None:
    """A flow of many segments, whose packets at random would take all paths."""
    seen = set()
    for seed in range(12):
        plan = many("hash", 1, seed, "tcp")
        plan.flows["bytes"][:] = 200 * 1500
        counts = [int(column[0]) for column in used(plan, engine(plan)).values()]
        assert sorted(counts)[:2] == [0, 0]
        assert max(counts) >= 200
        seen.add(counts.index(max(counts)))
        plan.settings["label"] = "random"
        assert min(int(column[0]) for column in used(plan, engine(plan)).values()) > 30
    assert seen == {0, 1, 2}


@engines
@pytest.mark.parametrize("label", ["hash", "random"])
def test_the_ingress_gives_bursts_their_labels(engine: Engine, label: str) -> None:
    ways = set()
    for seed in range(6):
        plan = many(label, 60, seed)
        plan.settings["switches"] = [burst(time=MICROSECOND)]
        counts = [int(column[0]) for column in used(plan, engine(plan)).values()]
        assert sum(counts) == 60
        assert (np.count_nonzero(counts) == 1) == (label == "hash")
        ways.add(counts.index(max(counts)))
    assert len(ways) > 1


@engines
def test_a_buffer_serves_paths_and_shortest_ways_from_one_queue(engine: Engine) -> None:
    """Parallel links as one set: two units go at once, the third waits for the first to end."""
    # Hosts 0 to 2 at switch 4, host 3 at 5, two links from 4 to 5.
    edges = [(0, 4), (1, 4), (2, 4), (3, 5), (4, 5), (4, 5)]
    links = table(edges, 4, delays=D)
    flows = one_datagram_each(flow_table((0, 3, 0, 9000), (1, 3, 0, 9000), (2, 3, 0, 9000)))
    chosen = settings(4, 6, [hybrid(1), electronic()], datagram(), label="first")
    for paths in (path_table(links, (4, 5)), path_table(links)):
        result = engine(Plan(chosen, links, flows, [0, 1], paths))
        assert result["switches"]["buffered"].tolist() == [1, 2]
        ends = [3 * D + n * FULL for n in (2, 3, 4)]
        assert sorted(result["flows"]["received_ps"].tolist()) == ends

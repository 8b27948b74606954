"""What pauses of priority flow control did to a run, and could do: warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from lightburst.compile.offered import demands, edges_of
from lightburst.compile.ways import before
from lightburst.scenario.switching import Electronic, tables_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from lightburst.compile import Plan
    from lightburst.foundation.counts import Columns
    from lightburst.scenario import Scenario
    from lightburst.workload import Edges

# Links of a cycle that a warning names.
_MOST: Final = 8
# Steps of all ways beyond which no cycle is looked for: about ten seconds.
_MOST_STEPS: Final = 5 * 10**6


def has_pauses(scenario: Scenario) -> bool:
    """Return whether any switch of a scenario has priority flow control."""
    tables = tables_of(scenario.switching).values()
    return any(isinstance(table, Electronic) and table.pfc is not None for table in tables)


def caveats(
    scenario: Scenario, plan: Plan, columns: Columns, known: Sequence[str] | None = None
) -> Iterator[str]:
    """Yield warnings about pauses that never end, or might, and about losses in spite of them."""
    if "locked" not in columns:
        return
    if cycle := locked(columns):
        yield (
            "priority flow control has locked up: the links "
            f"{_named(plan, cycle)} pause and wait for each other in a cycle"
        )
    else:
        yield from foreseen(scenario, plan) if known is None else known
    switches = columns["switches"]
    lost = {
        "no headroom (pfc.headroom)": int(switches["dropped_headroom_full"].sum()),
        "a full queue (queue_size, shared_buffer)": int(switches["dropped_queue_full"].sum()),
    }
    found = [f"{number} packets found {what}" for what, number in lost.items() if number]
    if found:
        yield f"packets were lost in spite of priority flow control: {', '.join(found)}"


def foreseen(scenario: Scenario, plan: Plan) -> Iterator[str]:
    """Yield a warning if priority flow control could lock up; known before a run."""
    if cycle := possible_lock(scenario, plan):
        yield (
            "priority flow control could lock up with enough traffic: by the routes in use the "
            f"links {_named(plan, cycle)} can wait for each other in a cycle"
        )


def locked(columns: Columns) -> list[int]:
    """Return links whose pauses wait for each other, each for the next one; empty if none do."""
    table = columns["locked"]
    rows = zip(*(table[name].tolist() for name in ("link", "class", "behind")), strict=True)
    # Each of these waits for at least one other, so that going on from one to the next ends in a
    # cycle.
    behind: dict[tuple[int, int], int] = {}
    for link, number, other in rows:
        behind.setdefault((link, number), other)
    if not behind:
        return []
    lane, passed = min(behind), []
    while lane not in passed:
        passed.append(lane)
        lane = (behind[lane], lane[1])
    return [link for link, _ in passed[passed.index(lane) :]]


def _named(plan: Plan, links: Sequence[int]) -> str:
    ends = [(plan.links["from"][link], plan.links["to"][link]) for link in links[:_MOST]]
    names = [" - ".join(plan.name(int(node)) for node in pair) for pair in ends]
    more = len(links) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


def possible_lock(scenario: Scenario, plan: Plan) -> list[int]:
    """Return links each of which can have to pause for the next one, and the last for the first.

    A link that ends at a switch with flow control pauses for packets that wait there for another
    such link. The routes in use are those of the flows, and with connections their way back.

    Parameters
    ----------
    scenario : Scenario
        The scenario.
    plan : Plan
        The plan of the scenario.

    Returns
    -------
    list of int
        Links in the order of the cycle; empty if there is none, in a fat-tree, whose routes go up
        and then down, and in networks that are too large to look.
    """
    network = plan.network
    if network is None or plan.settings["routing"]["kind"] == "fat-tree":
        return []
    asks = np.array(["pfc" in table for table in plan.settings["switches"]])
    asks_at = np.concatenate([np.zeros(network.hosts, np.bool_), asks[plan.nodes["switch"]]])
    edges = edges_of(network)
    if not asks.any() or len(edges.names) * network.link_from.size > _MOST_STEPS:
        return []
    classes = class_of_groups(plan)[plan.group]
    for one in np.unique(classes):
        traffic = _traffic(plan, edges, classes == one)
        found = demands(network, plan.links["delay_ps"], scenario.routing, traffic)
        pairs = before(*zip(*found, strict=True)) if found else ()
        waits = {
            (last, link)
            for link, last in pairs
            if last is not None and asks_at[network.link_to[[last, link]]].all()
        }
        if cycle := _cycle(waits):
            return cycle
    return []


def class_of_groups(plan: Plan) -> NDArray[np.intp]:
    """Return the class of each group of flows that pauses alone: its line in the queues."""
    queue = plan.settings["switches"][0].get("queue", {})
    lines = queue.get("bands", range(len(queue.get("quanta_bytes", ()))))
    return np.array(list(lines) or [0] * len(plan.settings["groups"]), np.intp)


def _traffic(plan: Plan, edges: Edges, those: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the number of flows between edges, some of them; with connections both ways."""
    traffic = np.zeros((len(edges.names), len(edges.names)))
    ends = [edges.of_host[plan.flows[name]] for name in ("source", "destination")]
    two_ways = those & plan.by_flow(lambda transport: transport["kind"] != "datagram")
    np.add.at(traffic, tuple(end[those] for end in ends), 1.0)
    np.add.at(traffic, tuple(end[two_ways] for end in ends[::-1]), 1.0)
    np.fill_diagonal(traffic, 0.0)
    return traffic


def _cycle(arcs: set[tuple[int, int]]) -> list[int]:
    """Return the nodes of a cycle of a directed graph; empty if there is none."""
    import networkx as nx

    try:
        found = nx.find_cycle(nx.DiGraph(sorted(arcs)))
    except nx.NetworkXNoCycle:
        return []
    return [tail for tail, _ in found]

"""What the theory of loss asks of a scenario: Poisson streams of bursts over fibres.

This is the border between scenarios and closed forms, which know nothing of each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from lightburst.compile import Plan, compile_plan
from lightburst.compile.certain import certain_links
from lightburst.errors import InputError, combine
from lightburst.models.one_flow import outside
from lightburst.models.reduced_load import Link
from lightburst.scenario.switching import Obs
from lightburst.scenario.switching.obs import FullConversion
from lightburst.scenario.transport import Bursts
from lightburst.scenario.workload import Poisson
from lightburst.units import BITS_PER_BYTE, format_duration, format_size
from lightburst.workload import Edges, with_arrival_rate
from lightburst.workload.sizes import mean_size

if TYPE_CHECKING:
    from lightburst.models.checks import FloatArray
    from lightburst.scenario import Scenario

_MODEL: Final = "the theory of loss"
# Flows that are one burst, if none, or hardly any, is as large as so many mean ones.
_MEANS: Final = 20


@dataclass(frozen=True, slots=True)
class BurstNetwork:
    """Streams of bursts between edges, as `lightburst.models.reduced_load` takes them.

    Attributes
    ----------
    routes : list of tuple of int
        The switches on the way of each stream, by number.
    load : ndarray of float, shape (routes,)
        Erlangs: bursts a second times the time that one takes on a wavelength.
    wavelengths : dict of (int, int) to int
        Channels of each fibre on these routes.
    share : float
        Part of all bursts that go over fibres; the others stay at their edge.
    equal_offsets : bool
        Whether all bursts are booked in the order in which they come to a fibre.
    """

    routes: list[tuple[int, ...]]
    load: FloatArray
    wavelengths: dict[Link, int]
    share: float
    equal_offsets: bool

    @classmethod
    def from_scenario(cls, scenario: Scenario) -> BurstNetwork:
        """Read the streams of a scenario in which edges send bursts of their own.

        Parameters
        ----------
        scenario : Scenario
            With ``obs`` switching that loses at the ingress and has full conversion, the transport
            ``bursts``, and a ``poisson`` workload.

        Returns
        -------
        BurstNetwork
            With the loads of the scenario, which those of a run scatter about.

        Raises
        ------
        InputError
            With each field that is outside of what the theory assumes; if two edges have several
            shortest paths.
        """
        errors = tuple(_outside(scenario))
        if errors:
            raise combine(errors)
        (group,) = scenario.flow_groups
        # A few flows make the same network sooner.
        plan = compile_plan(scenario.with_({f"{group.path}workload": _FEW}), 1)
        nodes, of_host = np.unique(plan.next_to_hosts, return_inverse=True)
        edges = Edges(of_host, tuple(_name(plan, node) for node in nodes.tolist()))
        erlangs, share = _erlangs(scenario, plan, edges)
        first = np.unique(of_host, return_index=True)[1]
        pairs = np.argwhere(erlangs > 0)
        routes = _routes(plan, first[pairs])
        assert isinstance(scenario.switching, Obs)
        return cls(
            routes,
            erlangs[tuple(pairs.T)],
            _wavelengths(plan),
            share,
            scenario.switching.offset_of_hop == 0,
        )


_FEW: Final = {"kind": "pairs", "size": "1 kB"}


def _outside(scenario: Scenario) -> Iterator[InputError]:
    switching = scenario.switching
    if len(scenario.flow_groups) > 1:
        yield outside("groups", f"{len(scenario.flow_groups)} groups", _MODEL, "one kind of bursts")
        return
    if not isinstance(switching, Obs) or any(switching.others()):
        yield outside("switching.kind", f"'{switching.kinds}'", _MODEL, "booked channels: 'obs'")
        return
    if switching.ingress != "lose":
        words = "that no burst waits at its ingress: 'lose'"
        yield outside("switching.ingress", f"'{switching.ingress}'", _MODEL, words)
    if not isinstance(switching.conversion, FullConversion):
        given = f"'{switching.conversion.kind}'"
        yield outside("switching.conversion", given, _MODEL, "full conversion: 'full'")
    if switching.contention:
        given = ", ".join(f"'{one.kind}'" for one in switching.contention)
        yield outside("switching.contention", given, _MODEL, "that what finds no channel is lost")
    if switching.switching_time:
        given = format_duration(switching.switching_time)
        yield outside("switching.switching_time", given, _MODEL, "switching in no time: '0 s'")
    if switching.signalling != "jet":
        yield outside("switching.signalling", f"'{switching.signalling}'", _MODEL, "'jet'")
    if scenario.routing.labelled:
        yield outside("routing", "paths with labels", _MODEL, "one path for each pair of edges")
    if scenario.loss is not None:
        yield outside("loss", "a table", _MODEL, "that bursts are lost by contention alone")
    yield from _of_flows(scenario)


def _of_flows(scenario: Scenario) -> Iterator[InputError]:
    (group,) = scenario.flow_groups
    transport, workload = group.transport, group.workload
    if not isinstance(transport, Bursts):
        given = f"'{transport.kind}'"
        words = "bursts that come as a Poisson process: 'bursts'"
        yield outside(f"{group.transport_path}.kind", given, _MODEL, words)
        return
    if not isinstance(workload, Poisson):
        given = f"'{workload.kind}'"
        yield outside(f"{group.path}workload.kind", given, _MODEL, "Poisson arrivals: 'poisson'")
        return
    mean = mean_size(workload.size)
    least = mean if workload.size.kind == "constant" else _MEANS * mean
    if transport.payload < least:
        given = format_size(transport.segment_size)
        words = f"that a flow is one burst: at least {least + transport.header_size:,.0f} B"
        yield outside(f"{group.transport_path}.segment_size", given, _MODEL, words)


def _erlangs(scenario: Scenario, plan: Plan, edges: Edges) -> tuple[FloatArray, float]:
    """Give the load from each edge to each, shape (edges, edges), and the share that goes over."""
    (group,) = scenario.flow_groups
    workload = with_arrival_rate(group.workload, plan.senders("bursts"), edges)
    assert isinstance(workload, Poisson)
    assert workload.arrival_rate is not None
    fibres = plan.between_switches
    rates = np.unique(plan.links["rate_bps"][fibres])
    if rates.size > 1:
        raise outside("topology", "fibres of different rates", _MODEL, "one rate")
    bits = BITS_PER_BYTE * (mean_size(workload.size) + group.transport.header_size)
    part = (
        edges.shares(workload.destination_weights) if workload.between_edges else _of_hosts(edges)
    )
    apart = part * ~np.eye(len(edges.names), dtype=np.bool_)
    return workload.arrival_rate * bits / float(rates[0]) * apart, float(apart.sum())


def _of_hosts(edges: Edges) -> FloatArray:
    """Part of the flows from each edge to each other, if they go from any host to any other."""
    number = np.bincount(edges.of_host, minlength=len(edges.names)).astype(np.float64)
    hosts = number.sum()
    return np.asarray(np.outer(number, number) / (hosts * (hosts - 1)))


def _routes(plan: Plan, ends: np.ndarray) -> list[tuple[int, ...]]:
    """Give the switches on the one shortest path of each pair of hosts."""
    source, destination = ends.astype(np.uint32).T
    flows = {"source": source, "destination": destination}
    flow, link, _ = certain_links(replace(plan, flows=flows), np.arange(source.size))
    onward: list[dict[int, int]] = [{} for _ in range(source.size)]
    table = np.stack([flow, plan.links["from"][link], plan.links["to"][link]], axis=1)
    for which, here, there in table.tolist():
        onward[which][here] = there
    found = []
    for host, last, steps in zip(source.tolist(), destination.tolist(), onward, strict=True):
        way = [host]
        while way[-1] in steps:
            way.append(steps[way[-1]])
        if way[-1] != last:
            names = (_name(plan, int(plan.next_to_hosts[end])) for end in (host, last))
            given = f"several shortest paths from {' to '.join(names)}"
            raise outside("topology", given, _MODEL, "one shortest path for each pair of edges")
        found.append(tuple(way[1:-1]))
    return found


def _wavelengths(plan: Plan) -> dict[Link, int]:
    found: dict[Link, int] = {}
    for link in np.flatnonzero(plan.between_switches).tolist():
        ends = int(plan.links["from"][link]), int(plan.links["to"][link])
        if ends in found:
            given = f"parallel fibres from {_name(plan, ends[0])} to {_name(plan, ends[1])}"
            raise outside("topology", given, _MODEL, "one fibre between two nodes")
        found[ends] = int(plan.channels[link])
    return found


def _name(plan: Plan, node: int) -> str:
    return str(node) if plan.network is None else plan.network.name(node)

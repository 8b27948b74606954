"""Mean traffic that flows offer to circuits, against what these carry."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lightburst.compile.circuits.schedules import racks_of, rates_of
from lightburst.compile.offered import Pattern, edges_of, mean_bps
from lightburst.scenario.switching import Circuit
from lightburst.scenario.tables.workload import Poisson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from lightburst.compile.plan import Plan
    from lightburst.scenario import Scenario
    from lightburst.scenario.switching.packet_network import PacketNetwork
    from lightburst.topology import Network

    FloatArray = NDArray[np.float64]


class CircuitLoad(NamedTuple):
    """Circuits with the highest load.

    Attributes
    ----------
    circuits : str
        The circuits, in words.
    offered_bps, carried_bps : float
        Useful bits that are offered to them, and bits that they carry at most, in the mean.
    """

    circuits: str
    offered_bps: float
    carried_bps: float

    @property
    def load(self) -> float:
        """What is offered over what is carried."""
        return self.offered_bps / self.carried_bps


def hottest_circuits(scenario: Scenario, plan: Plan) -> CircuitLoad | None:
    """Return the circuits with the highest load that is certain, whichever way packets take.

    With one hop these are the circuits of a pair of racks. With `valiant` they are all circuits,
    for the least mean number of hops; otherwise those of a rack, as if no packet had a second hop.
    Beside a packet network they are those of a rack as well, with its link to that network.
    A slot is counted without its guard time, as if it were filled to the last bit.

    Parameters
    ----------
    scenario : Scenario
        The scenario.
    plan : Plan
        The plan of the scenario.

    Returns
    -------
    CircuitLoad or None
        None without circuits, without a group of flows that has an arrival rate, or if the mean
        size of the flows is not known.
    """
    switching, network = scenario.switching, plan.network
    if network is None or not isinstance(switching, Circuit):
        return None
    demand = _demand(scenario, plan, network)
    if demand is None or not demand.any():
        return None
    own = plan.settings["switches"][0]
    rates = rates_of(network).astype(np.float64)
    duty = 1 - switching.guard / switching.slot
    names = _names(network)
    beside = switching.packet
    if beside is None and switching.forwarding == "direct" and "schedule" in own:
        carried = _of_pairs(own["schedule"], rates, len(names)) * duty
        np.fill_diagonal(carried, np.inf)
        i, j = np.unravel_index(int((demand / carried).argmax()), demand.shape)
        ends = f"from {names[i]} to {names[j]}"
        return CircuitLoad(ends, float(demand[i, j]), float(carried[i, j]))
    of_rack = float(rates.sum()) * duty
    if beside is None and switching.forwarding == "valiant":
        # Even if one destination has all: each circuit to it is of use (n / 2 (n - 1) of them are).
        hops = 2 - 2 / len(names)
        return CircuitLoad("of all racks", float(demand.sum()) * hops, of_rack * len(names))
    ends, most = _hottest_rack(demand, names)
    if beside is not None:
        return CircuitLoad(f"{ends} and the packet network", most, of_rack + beside.rate)
    return CircuitLoad(ends, most, of_rack)


def packet_load(scenario: Scenario, plan: Plan) -> CircuitLoad | None:
    """Return the load of the packet network beside circuits, at its hottest rack.

    It is offered the part of the demand that the rule of `switching.packet` gives to it: the share
    of the useful bytes of the flows of this run, group by group.

    Parameters
    ----------
    scenario : Scenario
        The scenario.
    plan : Plan
        The plan of the scenario.

    Returns
    -------
    CircuitLoad or None
        None without a packet network beside circuits, and otherwise as `hottest_circuits`.
    """
    switching, network = scenario.switching, plan.network
    if network is None or not isinstance(switching, Circuit) or switching.packet is None:
        return None
    beside = switching.packet
    parts = [
        _part(beside, plan.flows["bytes"][plan.group == number], group.transport.payload)
        for number, group in enumerate(scenario.flow_groups)
    ]
    demand = _demand(scenario, plan, network, parts)
    if demand is None or not demand.any():
        return None
    return CircuitLoad(*_hottest_rack(demand, _names(network)), float(beside.rate))


def _names(network: Network) -> list[str]:
    return [network.name(int(rack)) for rack in racks_of(network)]


def _hottest_rack(demand: FloatArray, names: Sequence[str]) -> tuple[str, float]:
    """Return the rack that sends or receives most, in words, and its bits a second."""
    out, into = demand.sum(axis=1), demand.sum(axis=0)
    rack = int(np.maximum(out, into).argmax())
    word = "from" if out[rack] >= into[rack] else "to"
    return f"{word} {names[rack]}", float(max(out[rack], into[rack]))


def _part(beside: PacketNetwork, sizes: NDArray[np.uint64], payload: int) -> float:
    """Return the share of the bytes of flows that the rule gives to the packet network."""
    short = sizes <= np.uint64(beside.threshold)
    # Of a longer flow by age: the full packets that end within the threshold.
    first = beside.threshold // payload * payload if beside.by == "age" else 0
    taken = np.where(short, sizes, np.uint64(first)).sum(dtype=np.float64)
    return float(taken / max(float(sizes.sum(dtype=np.float64)), 1.0))


def _demand(
    scenario: Scenario, plan: Plan, network: Network, parts: Sequence[float] | None = None
) -> FloatArray | None:
    """Return the mean useful bits a second from each rack to each other one.

    `parts` are the parts of each group of flows that count; None for all.
    """
    edges = edges_of(network)
    demand = np.zeros((len(edges.names), len(edges.names)))
    for number, group in enumerate(scenario.flow_groups):
        if not isinstance(group.workload, Poisson):
            continue
        offered = mean_bps(group, plan, scenario, edges)
        if offered is None:
            return None
        part = 1.0 if parts is None else parts[number]
        demand += part * offered * Pattern.of(group.workload, network).matrix
    return demand


def _of_pairs(schedule: dict[str, list[list[int]]], rates: FloatArray, racks: int) -> FloatArray:
    """Return the mean rate from each rack to each other one, guard times included."""
    carried = np.zeros((racks, racks))
    matchings = np.array(schedule["matchings"])
    for rate, turn in zip(rates, schedule["turns"], strict=True):
        for number in turn:
            carried[np.arange(racks), matchings[number]] += rate / len(turn)
    return carried

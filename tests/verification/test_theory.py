"""The core against queueing theory: one output that many inputs want.

Units come in a Poisson stream, each from one of `INPUTS` hosts drawn at random. The theory ignores
that a host's units wait for each other on its interface; this happens to a unit with probability
`rho / INPUTS`, so no fraction is off by more than a few times that.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from plans import (
    Arrays,
    Edge,
    Plan,
    all_optical,
    core,
    datagram,
    electronic,
    flow_columns,
    hybrid,
    one_datagram_each,
    settings,
    star_edges,
    table,
)
from scipy import stats
from twin import Columns

from lightburst.scenario.tables.topology import Graph
from lightburst.topology import build_network

INPUTS = 400
SIZE = 1250
SERVICE = 1_000_000  # of SIZE at 10 Gb/s, in ps
DELAY = 50_000
REPLICATIONS = 16
SPAN = 60_000 * SERVICE


def poisson_times(rate: float, draw: np.random.Generator) -> npt.NDArray[np.int64]:
    """Instants of a Poisson process of `rate` for each service time, over the span."""
    return np.sort(draw.integers(0, SPAN, draw.poisson(rate * SPAN / SERVICE)))


def one_output(
    switch: dict[str, Any], load: float, replication: int, *, exponential: bool = False
) -> Plan:
    """Many inputs, one switch, one output; units of `SIZE` or of exponential size."""
    draw = np.random.default_rng([replication, round(1000 * load)])
    times = poisson_times(load, draw)
    sources = draw.integers(0, INPUTS, len(times))
    sizes = np.full(len(times), SIZE)
    if exponential:
        sizes = np.ceil(draw.exponential(SIZE, len(times))).astype(np.int64)
    edges, hosts, nodes = star_edges(INPUTS + 1)
    flows = flow_columns(sources, np.full(len(times), INPUTS), times, sizes)
    transport = {**datagram(int(sizes.max())), "control_bytes": 1}
    return Plan(
        settings(hosts, nodes, switch, transport, seed=replication),
        table(edges, hosts, delays=DELAY),
        one_datagram_each(flows),
    )


def measure(
    plan: Callable[[int], Plan],
    *what: Callable[[Columns], float],
    replications: int = REPLICATIONS,
) -> list[list[float]]:
    """Each of `what` in each of the replications."""
    results = [core(plan(replication)) for replication in range(replications)]
    return [[measured(result) for result in results] for measured in what]


def check(samples: list[float], theory: float, bias: float, within: float = 0.03) -> None:
    """The 99.9 % interval of the mean, widened by `bias`, holds `theory`, and is narrow."""
    deviation = float(np.std(samples, ddof=1)) / math.sqrt(len(samples))
    margin = float(stats.t.ppf(0.9995, len(samples) - 1)) * deviation + bias
    assert margin < within * theory
    assert abs(float(np.mean(samples)) - theory) < margin


def fraction(name: str) -> Callable[[Columns], float]:
    """The part of the units at the first switch that was counted under `name`."""
    return lambda result: float(result["switches"][name][0] / result["switches"]["arrived"][0])


def utilisation(result: Columns) -> float:
    """Part of the span during which the output was busy; it is the last link of the table."""
    return float(result["links"]["busy_ps"][-1]) / SPAN


def mean_held(result: Columns) -> float:
    """Mean number of units of `SIZE` that waited in the switch."""
    return float(result["switches"]["buffer_byte_ps"][0]) / (SIZE * SPAN)


def erlang_b(servers: int, load: float) -> float:
    """Erlang's loss formula, by its recursion."""
    blocked = 1.0
    for n in range(1, servers + 1):
        blocked = load * blocked / (n + load * blocked)
    return blocked


def md1_workload(load: float, services: float) -> float:
    """P(V <= t) / (1 - rho) of the M/D/1 workload, `t` in service times (Erlang 1909)."""
    return sum(
        (load * (k - services)) ** k / math.factorial(k) * math.exp(-load * (k - services))
        for k in range(int(services) + 1)
    )


@pytest.mark.parametrize("load", [0.2, 0.8, 2.0])
@pytest.mark.parametrize("exponential", [False, True])
def test_bufferless_output_is_erlang_b(load: float, exponential: bool) -> None:
    # Erlang's formula does not depend on the distribution of the sizes.
    losses, use = measure(
        lambda i: one_output(all_optical(), load, i, exponential=exponential),
        fraction("dropped_contention"),
        utilisation,
    )
    bias = 2 * load / INPUTS
    check(losses, load / (1 + load), bias)
    check(use, load / (1 + load), bias)


@pytest.mark.parametrize("choice", ["free", "random", "flow-hash"])
def test_choice_among_equal_outputs(choice: str) -> None:
    """Four equal paths: four servers for `free`, four single ones for the other choices."""
    ways, load, sinks = 4, 3.0, 50
    first = INPUTS + sinks
    last = first + 1 + ways
    edges: list[Edge] = [(host, first) for host in range(INPUTS)]
    edges += [(host, last) for host in range(INPUTS, first)]
    edges += [(switch, middle) for middle in range(first + 1, last) for switch in (first, last)]
    links = table(edges, first, delays=DELAY)

    def plan(replication: int) -> Plan:
        draw = np.random.default_rng(replication)
        times = poisson_times(load, draw)
        flows = flow_columns(
            draw.integers(0, INPUTS, len(times)),
            draw.integers(INPUTS, first, len(times)),
            times,
            np.full(len(times), SIZE),
        )
        return Plan(
            settings(
                first, last + 1, all_optical(), datagram(SIZE), choice=choice, seed=replication
            ),
            links,
            one_datagram_each(flows),
        )

    (losses,) = measure(plan, fraction("dropped_contention"), replications=8)
    theory = erlang_b(ways, load) if choice == "free" else erlang_b(1, load / ways)
    check(losses, theory, 2 * load / INPUTS * theory, within=0.05)


@pytest.mark.parametrize("exponential", [False, True])
@pytest.mark.parametrize(("wavelengths", "load"), [(1, 0.5), (4, 2.0), (8, 6.0)])
def test_a_fibre_of_several_wavelengths_is_erlang_b(
    wavelengths: int, load: float, exponential: bool
) -> None:
    """A bufferless node with one output fibre and full conversion: a server for each wavelength."""
    sinks = 50
    hosts = [{"source": f"in{i}", "target": "node"} for i in range(INPUTS)]
    hosts += [{"source": f"out{i}", "target": "end"} for i in range(sinks)]
    fibre = {"source": "node", "target": "end"}
    section = Graph.model_validate(
        {"kind": "graph", "links": [*hosts, fibre], "wavelengths": wavelengths}
    )
    network = build_network(section)
    links: Arrays = {
        "from": network.link_from,
        "to": network.link_to,
        "rate_bps": network.link_rate_bps,
        "delay_ps": network.link_delay_ps,
    }

    def plan(replication: int) -> Plan:
        draw = np.random.default_rng([replication, wavelengths])
        times = poisson_times(load, draw)
        sizes = np.full(len(times), SIZE)
        if exponential:
            sizes = np.ceil(draw.exponential(SIZE, len(times))).astype(np.int64)
        flows = flow_columns(
            draw.integers(0, INPUTS, len(times)),
            draw.integers(INPUTS, INPUTS + sinks, len(times)),
            times,
            sizes,
        )
        transport = {**datagram(int(sizes.max())), "control_bytes": 1}
        chosen = settings(network.hosts, network.nodes, all_optical(), transport, seed=replication)
        return Plan(chosen, links, one_datagram_each(flows))

    (losses,) = measure(plan, fraction("dropped_contention"), replications=12)
    theory = erlang_b(wavelengths, load)
    check(losses, theory, 2 * load / INPUTS * theory, within=0.05)


@pytest.mark.parametrize("load", [0.3, 0.7])
def test_hybrid_output_is_md1(load: float) -> None:
    """With ports enough and re-emission at the release it is an M/D/1 queue."""
    buffered, held, use, lost = measure(
        lambda i: one_output(hybrid(60, re_emission="cut-through"), load, i),
        fraction("buffered"),
        mean_held,
        utilisation,
        fraction("dropped_no_input_port"),
    )
    assert lost == [0.0] * REPLICATIONS
    bias = 2 * load / INPUTS
    check(buffered, load, bias * load)
    check(use, load, 0.0)
    # Pollaczek and Khinchine, for a constant service time.
    queue = load**2 / (2 * (1 - load))
    check(held, queue, bias * queue, within=0.06)


@pytest.mark.parametrize("load", [0.3, 0.7])
@pytest.mark.parametrize("exponential", [False, True])
def test_electronic_output_is_mg1(load: float, exponential: bool) -> None:
    buffered, use, held = measure(
        lambda i: one_output(electronic(), load, i, exponential=exponential),
        fraction("buffered"),
        utilisation,
        mean_held,
    )
    bias = 2 * load / INPUTS
    check(buffered, load, bias * load)
    check(use, load, 0.0)
    # Pollaczek and Khinchine: the squared coefficient of variation of the sizes is 1 or 0.
    queue = load**2 * (1 + exponential) / (2 * (1 - load))
    check(held, queue, bias * queue, within=0.1)


def test_completion_times_are_waits_of_md1() -> None:
    load = 0.7

    def mean_wait(replication: int) -> float:
        plan = one_output(electronic(), load, replication)
        took = core(plan)["flows"]["acknowledged_ps"] - plan.flows["start_ps"]
        return float(took.mean()) / SERVICE - 2 * (DELAY + SERVICE) / SERVICE

    theory = load / (2 * (1 - load))
    # On the interface a unit waits as in a queue with this load divided by the inputs.
    interface = load / INPUTS / (2 * (1 - load / INPUTS))
    check([mean_wait(i) for i in range(REPLICATIONS)], theory, 2 * interface, within=0.06)


@pytest.mark.parametrize("packets", [1, 2, 5])
def test_finite_queue(packets: int) -> None:
    """A unit is accepted if the backlog is at most `packets - 1` service times.

    Below that bound the workload is distributed as if there was none; with G the part of that
    distribution below it, divided by the probability of an idle output, the accepted fraction x
    satisfies x = (1 - rho x) G. For one packet G = 1: Erlang's formula.
    """
    load = 0.9
    (losses,) = measure(
        lambda i: one_output(electronic(packets * SIZE), load, i), fraction("dropped_queue_full")
    )
    below = md1_workload(load, packets - 1)
    theory = 1 - below / (1 + load * below)
    check(losses, theory, 2 * load / INPUTS * theory, within=0.06)


@pytest.mark.parametrize("services", [0.5, 1.0, 3.0])
def test_marking(services: float) -> None:
    """Marked: the part of the units that find at least a given workload (Erlang's M/D/1)."""
    load, threshold = 0.7, round(services * SIZE)
    (marked,) = measure(
        lambda i: one_output(electronic(threshold=threshold), load, i), fraction("marked")
    )
    # The backlog is rounded up to bytes: it reaches the threshold when it is a byte less.
    theory = 1 - (1 - load) * md1_workload(load, (threshold - 1) / SIZE)
    check(marked, theory, 2 * load / INPUTS * theory, within=0.08)

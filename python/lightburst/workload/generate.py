"""Generates the flows of a workload, at random where the workload says so."""

from collections.abc import Callable
from functools import partial, singledispatch
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lightburst.foundation.errors import InputError
from lightburst.foundation.formatting import exactly
from lightburst.foundation.units import PICOSECONDS_PER_SECOND, format_duration
from lightburst.scenario.tables.collective import Collective
from lightburst.scenario.tables.goal import Goal
from lightburst.scenario.tables.workload import (
    LATEST_START,
    Incast,
    Pairs,
    Poisson,
    Shuffle,
    Table,
    Workload,
)
from lightburst.workload import goal
from lightburst.workload.collective import make_messages
from lightburst.workload.demands import Demands
from lightburst.workload.edges import Edges, Indices
from lightburst.workload.flows import Flows
from lightburst.workload.sizes import draw_sizes
from lightburst.workload.streams import stream

_LATEST_S = LATEST_START / PICOSECONDS_PER_SECOND
Names = tuple[str, ...] | None
# Returns the random stream of a named part of the workload.
Streams = Callable[[str], np.random.Generator]


class Pairing(Protocol):
    """Draws pairs of source and destination."""

    def __call__(self, count: int, *, generator: np.random.Generator) -> tuple[Indices, Indices]:
        """Draw `count` pairs."""


# Number of flows drawn per block in a workload with a duration; the flows do not depend on it.
_BLOCK = 1024


def make_flows(
    workload: Workload,
    hosts: int,
    seed: int,
    names: Names = None,
    group: str | None = None,
    edges: Edges | None = None,
) -> Flows:
    """Generate the flows of a run.

    Parameters
    ----------
    workload : Workload
        The ``[workload]`` table, with an arrival rate (see
        `lightburst.workload.with_arrival_rate`).
    hosts : int
        Number of hosts. The flows depend on nothing else of the network except, for flows between
        edges, the assignment of hosts to edges, so that different switches and transports carry the
        same flows.
    seed : int
        Seed of the run.
    names : tuple of str, optional
        Names of the hosts, for demands and tables of flows that use names.
    group : str, optional
        Name of the group; each group has its own random streams.
    edges : Edges, optional
        Assignment of hosts to edges, for flows between edges and for demands.

    Returns
    -------
    Flows
        Sorted by start time.

    Raises
    ------
    InputError
        When there are too few hosts, or a file cannot be used.
    """
    draw = partial(stream, seed, group=group)
    if isinstance(workload, Poisson):
        return _poisson(workload, _pairs(workload, hosts, edges, names), draw)
    return _make(workload, hosts, names, draw)


@singledispatch
def _make(workload: Workload, hosts: int, names: Names, draw: Streams) -> Flows:
    raise AssertionError(f"no flows are made for {workload!r}")


def _pairs(workload: Poisson, hosts: int, edges: Edges | None, names: Names) -> Pairing:
    if not (workload.between_edges or workload.between_demands):
        return partial(_random_pairs, hosts)
    assert edges is not None
    if workload.between_demands:
        return Demands.of(workload, edges, names).pairs
    return partial(edges.pairs, weights=workload.destination_weights)


def _poisson(workload: Poisson, pairs: Pairing, draw: Streams) -> Flows:
    if workload.duration is not None:
        return _until(workload, workload.duration, pairs, draw)
    assert workload.flows is not None
    assert workload.arrival_rate is not None
    # Unit gaps are scaled: another rate gives the same flows, only faster or slower.
    gaps = draw("arrivals").standard_exponential(workload.flows)
    with np.errstate(over="ignore", divide="ignore"):  # an infinite start exceeds the limit below
        start = np.cumsum(gaps) / workload.arrival_rate
    if start[-1] > _LATEST_S:
        raise InputError(
            "workload.arrival_rate",
            f"{exactly(workload.arrival_rate)} /s, with which the last flow starts after "
            f"{start[-1]:g} s",
            f"a rate with which all flows start within {_LATEST_S:g} s",
        )
    source, destination = pairs(workload.flows, generator=draw("pairs"))
    return _flows(workload, source, destination, _picoseconds(start), draw)


def _until(workload: Poisson, duration: int, pair: Pairing, draw: Streams) -> Flows:
    """Draw blocks until one ends after the duration, then drop the flows that start after it.

    The first block equals the draw of as many flows in a workload without a duration.
    """
    assert workload.arrival_rate is not None
    arrivals, pairs, sizes = draw("arrivals"), draw("pairs"), draw("sizes")
    columns: list[tuple[NDArray[Any], ...]] = []
    gone = 0.0
    while gone / workload.arrival_rate * PICOSECONDS_PER_SECOND <= duration:
        units = np.cumsum(np.concatenate([[gone], arrivals.standard_exponential(_BLOCK)]))[1:]
        gone = float(units[-1])
        with np.errstate(over="ignore"):  # infinite starts are dropped below
            seconds = units / workload.arrival_rate
        columns.append(
            (
                seconds,
                *(hosts.astype(np.uint32) for hosts in pair(_BLOCK, generator=pairs)),
                draw_sizes(workload.size, _BLOCK, sizes),
            )
        )
    seconds, source, destination, size = map(np.concatenate, zip(*columns, strict=True))
    start = _picoseconds(np.minimum(seconds, 2 * _LATEST_S))
    count = int(np.searchsorted(start, duration, side="right"))
    if count == 0:
        given = f"{format_duration(duration)}, in which no flow starts with this seed"
        raise InputError("workload.duration", given, "a duration in which flows start")
    return Flows(
        source=source[:count].copy(),
        destination=destination[:count].copy(),
        start_ps=start[:count].copy(),
        size_bytes=size[:count].copy(),
    )


def _random_pairs(
    hosts: int, count: int, generator: np.random.Generator
) -> tuple[Indices, Indices]:
    source = generator.integers(0, hosts, count)
    destination = generator.integers(0, hosts - 1, count)
    destination += destination >= source  # uniform over the others
    return source, destination


@_make.register
def _(workload: Shuffle, hosts: int, names: Names, draw: Streams) -> Flows:
    hosts = workload.hosts or hosts
    source = np.repeat(np.arange(hosts), hosts - 1)
    other = np.tile(np.arange(hosts - 1), hosts)
    destination = other + (other >= source)
    # Shuffled, so that not every source begins with destination 0.
    order = draw("pairs").permutation(source.size)
    start = _jitter(workload.spread, source.size, draw)
    return _flows(workload, source[order], destination[order], start, draw)


@_make.register
def _(workload: Pairs, hosts: int, names: Names, draw: Streams) -> Flows:
    source = np.arange(hosts // 2)
    start = _jitter(workload.spread, source.size, draw)
    return _flows(workload, source, source + hosts // 2, start, draw)


@_make.register
def _(workload: Incast, hosts: int, names: Names, draw: Streams) -> Flows:
    senders, rounds = workload.senders, workload.rounds
    pairs = draw("pairs")
    receiver = pairs.integers(0, hosts, rounds)
    source = np.empty((rounds, senders), np.int64)
    for row in source:
        row[:] = pairs.choice(hosts - 1, senders, replace=False)
    source += source >= receiver[:, None]  # skip the receiver
    begin = np.repeat(np.arange(rounds, dtype=np.uint64) * np.uint64(workload.interval), senders)
    start = begin + _jitter(workload.spread, source.size, draw)
    return _flows(workload, source.ravel(), np.repeat(receiver, senders), start, draw)


@_make.register
def _(workload: Collective, hosts: int, names: Names, draw: Streams) -> Flows:
    return make_messages(workload, hosts, draw("pairs"))


@_make.register
def _(workload: Goal, hosts: int, names: Names, draw: Streams) -> Flows:
    return goal.make_messages(workload, hosts, draw("pairs"))


@_make.register
def _(workload: Table, hosts: int, names: Names, draw: Streams) -> Flows:
    from lightburst.workload.table import read_table  # pyarrow takes long to import

    return read_table(workload.file, hosts, names)


def _picoseconds(seconds: NDArray[np.float64]) -> NDArray[np.uint64]:
    return np.rint(seconds * PICOSECONDS_PER_SECOND).astype(np.uint64)


def _jitter(spread: int, count: int, draw: Streams) -> NDArray[np.uint64]:
    """Draw starts uniformly from ``0..=spread`` picoseconds."""
    if spread == 0:
        return np.zeros(count, np.uint64)
    return draw("arrivals").integers(0, spread, count, np.uint64, endpoint=True)


def _flows(
    workload: Poisson | Shuffle | Pairs | Incast,
    source: Indices,
    destination: Indices,
    start: NDArray[np.uint64],
    draw: Streams,
) -> Flows:
    """Sort by start time and draw a size for each flow."""
    order = np.argsort(start, kind="stable")
    return Flows(
        source=source[order].astype(np.uint32),
        destination=destination[order].astype(np.uint32),
        start_ps=start[order],
        size_bytes=draw_sizes(workload.size, source.size, draw("sizes")),
    )

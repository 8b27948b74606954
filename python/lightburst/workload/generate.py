"""Flows drawn at random."""

from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from lightburst.errors import InputError
from lightburst.scenario.workload import (
    LATEST_START,
    Incast,
    Pairs,
    Poisson,
    Shuffle,
    Table,
    Workload,
)
from lightburst.units import PICOSECONDS_PER_SECOND
from lightburst.workload.flows import Flows
from lightburst.workload.sizes import draw_sizes
from lightburst.workload.streams import stream
from lightburst.workload.table import read_table

_LATEST_S = LATEST_START / PICOSECONDS_PER_SECOND
Indices = NDArray[np.int64]
Names = tuple[str, ...] | None


def make_flows(workload: Workload, hosts: int, seed: int, names: Names = None) -> Flows:
    """Make the flows of a run.

    Parameters
    ----------
    workload : Workload
        The ``[workload]`` table.
    hosts : int
        How many hosts there are. Nothing else of the network matters, so that the same flows run
        over every switch and transport.
    seed : int
        Of the run.
    names : tuple of str, optional
        The hosts' names, for tables of flows that use them.

    Returns
    -------
    Flows
        In the order of their starts.

    Raises
    ------
    InputError
        When there are too few hosts, or a file cannot be used.
    """
    return _make(workload, hosts, names, seed)


@singledispatch
def _make(workload: Workload, hosts: int, names: Names, seed: int) -> Flows:
    raise AssertionError(f"no flows are made for {workload!r}")


@_make.register
def _(workload: Poisson, hosts: int, names: Names, seed: int) -> Flows:
    count = workload.flows
    # Unit gaps first: at another rate the same flows come, only faster.
    gaps = stream(seed, "arrivals").standard_exponential(count)
    start = np.cumsum(gaps) / workload.arrival_rate
    if start[-1] > _LATEST_S:
        raise InputError(
            "workload.arrival_rate",
            f"{workload.arrival_rate:g} /s, with which the last flow starts after {start[-1]:g} s",
            f"a rate with which all flows start within {_LATEST_S:g} s",
        )
    pairs = stream(seed, "pairs")
    source = pairs.integers(0, hosts, count)
    destination = pairs.integers(0, hosts - 1, count)
    destination += destination >= source  # uniform over the others
    return _flows(workload, source, destination, _picoseconds(start), seed)


@_make.register
def _(workload: Shuffle, hosts: int, names: Names, seed: int) -> Flows:
    hosts = workload.hosts or hosts
    source = np.repeat(np.arange(hosts), hosts - 1)
    other = np.tile(np.arange(hosts - 1), hosts)
    destination = other + (other >= source)
    # In a random order, so that not every host begins with host 0.
    order = stream(seed, "pairs").permutation(source.size)
    start = _jitter(workload.spread, source.size, seed)
    return _flows(workload, source[order], destination[order], start, seed)


@_make.register
def _(workload: Pairs, hosts: int, names: Names, seed: int) -> Flows:
    source = np.arange(hosts // 2)
    start = _jitter(workload.spread, source.size, seed)
    return _flows(workload, source, source + hosts // 2, start, seed)


@_make.register
def _(workload: Incast, hosts: int, names: Names, seed: int) -> Flows:
    senders, rounds = workload.senders, workload.rounds
    pairs = stream(seed, "pairs")
    receiver = pairs.integers(0, hosts, rounds)
    source = np.empty((rounds, senders), np.int64)
    for row in source:
        row[:] = pairs.choice(hosts - 1, senders, replace=False)
    source += source >= receiver[:, None]  # any host but the receiver
    begin = np.repeat(np.arange(rounds, dtype=np.uint64) * np.uint64(workload.interval), senders)
    start = begin + _jitter(workload.spread, source.size, seed)
    return _flows(workload, source.ravel(), np.repeat(receiver, senders), start, seed)


@_make.register
def _(workload: Table, hosts: int, names: Names, seed: int) -> Flows:
    return read_table(workload.file, hosts, names)


def _picoseconds(seconds: NDArray[np.float64]) -> NDArray[np.uint64]:
    return np.rint(seconds * PICOSECONDS_PER_SECOND).astype(np.uint64)


def _jitter(spread: int, count: int, seed: int) -> NDArray[np.uint64]:
    """Uniform over ``0..=spread`` picoseconds."""
    if spread == 0:
        return np.zeros(count, np.uint64)
    return stream(seed, "arrivals").integers(0, spread, count, np.uint64, endpoint=True)


def _flows(
    workload: Poisson | Shuffle | Pairs | Incast,
    source: Indices,
    destination: Indices,
    start: NDArray[np.uint64],
    seed: int,
) -> Flows:
    """Sort by start, and give each flow a size."""
    order = np.argsort(start, kind="stable")
    return Flows(
        source=source[order].astype(np.uint32),
        destination=destination[order].astype(np.uint32),
        start_ps=start[order],
        size_bytes=draw_sizes(workload.size, source.size, stream(seed, "sizes")),
    )

"""Messages of broadcasts and all-reduces along trees, in chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lightburst.workload.flows import NO_JOIN, Flows, Joins, Work

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lightburst.scenario.tables.collective import Collective

    Numbers = NDArray[np.int64]


def children(algorithm: str, ranks: int) -> list[list[int]]:
    """Return the children of each rank, in the order in which it sends to them; rank 0 is the root.

    Parameters
    ----------
    algorithm : str
        ``binomial``: those of rank i are i + 2^k for all 2^k below its lowest bit that is set (of
        the root: all), the one with the largest subtree first. ``binary``: 2 i + 1 and 2 i + 2.
    ranks : int
        Number of ranks.

    Returns
    -------
    list of list of int
    """
    found = []
    for rank in range(ranks):
        if algorithm == "binary":
            own = [2 * rank + 1, 2 * rank + 2]
        else:
            bits = (rank & -rank or 1 << (ranks - 1).bit_length()).bit_length() - 1
            own = [rank + (1 << bit) for bit in reversed(range(bits))]
        found.append([child for child in own if child < ranks])
    return found


class _Step:
    """Messages and joins of one step of one group, by their places in it."""

    def __init__(self, workload: Collective, ranks: int) -> None:
        self._children = children(workload.messages, ranks)
        self._chunks = workload.chunks
        self.ranks = ranks
        # Of each message: source, destination, chunk, the join before and the join after it.
        self.messages: list[tuple[int, int, int, int, int]] = []
        # Joins 0 to ranks - 1 are the begins of the step at each rank.
        self.delays = [0] * ranks
        self.leads: list[list[int]] = [[] for _ in range(ranks)]
        own = workload.operation == "broadcast"
        has = self._chain(0) if own else self._reduce()
        self.ends = self._spread(has, own)

    def _join(self, delay: int = 0, after: int | None = None) -> int:
        """Add a join, to which another leads when it begins."""
        self.delays.append(delay)
        self.leads.append([])
        if after is not None:
            self.leads[after].append(len(self.delays) - 1)
        return len(self.delays) - 1

    def _chain(self, first: int | None) -> list[int]:
        """Add joins for the chunks of a rank: each waits for the one before, the first for one."""
        found: list[int] = []
        for _ in range(self._chunks):
            first = self._join(after=first)
            found.append(first)
        return found

    def _reduce(self) -> list[int]:
        """Add the messages towards the root; return its joins, one for each chunk."""
        has = [self._chain(rank) for rank in range(self.ranks)]
        for chunk in range(self._chunks):
            for parent in range(self.ranks):
                for child in self._children[parent]:
                    before = has[child][chunk]
                    if not self._children[child]:
                        # A leaf has all chunks at once: they leave in their order.
                        self.delays[before] = chunk
                    self.messages.append((child, parent, chunk, before, has[parent][chunk]))
        return has[0]

    def _spread(self, root: list[int], own: bool) -> list[int]:
        """Add the messages from the root; return the join of each rank at the end of the step."""
        has = [root, *(self._chain(None) for _ in range(1, self.ranks))]
        for chunk in range(self._chunks):
            for parent in range(self.ranks):
                several = self._children[parent]
                for place, child in enumerate(several):
                    # Messages that a rank has at once leave a picosecond apart, in this order.
                    delay = place + (chunk * len(several) if own and not parent else 0)
                    before = has[parent][chunk]
                    if delay:
                        before = self._join(delay, after=before)
                    self.messages.append((parent, child, chunk, before, has[child][chunk]))
        return [joins[-1] for joins in has]


def make_tree(workload: Collective, groups: int, ranks: int, place: Numbers) -> Flows:
    """Make the messages of all groups and steps.

    Parameters
    ----------
    workload : Collective
        The ``[workload]`` table, with an algorithm of trees.
    groups, ranks : int
        Number of groups, and of ranks in each.
    place : ndarray of int64, shape (groups * ranks,)
        Host of each rank, group by group.

    Returns
    -------
    Flows
        In the order of steps, groups, chunks and ranks, first those towards the root.
    """
    step = _Step(workload, ranks)
    source, destination, chunk, before, after = np.array(step.messages, np.int64).T
    bounds = np.arange(workload.chunks + 1) * workload.size // workload.chunks
    # Operations: steps, and groups within them. Joins of an operation follow those of the one
    # before.
    operation = np.arange(workload.steps * groups)
    number = len(step.delays)
    group = (operation % groups)[:, None]

    def of_all(joins: Numbers) -> NDArray[np.uint32]:
        return (operation[:, None] * number + joins).ravel().astype(np.uint32)

    leads, offsets = _leads(step, operation, groups, bool(workload.computation))
    delays = np.tile(np.array(step.delays, np.uint64), operation.size)
    return Flows(
        source=place[group * ranks + source].ravel().astype(np.uint32),
        destination=place[group * ranks + destination].ravel().astype(np.uint32),
        start_ps=np.zeros(operation.size * source.size, np.uint64),
        size_bytes=np.tile(np.diff(bounds)[chunk], operation.size).astype(np.uint64),
        joins=Joins(
            after=of_all(before),
            towards=of_all(after),
            delay_ps=delays,
            leads=leads,
            lead_offsets=offsets,
            work=_computation(workload, operation, groups, ranks, number, place),
        ),
        told={"collective": np.repeat(operation, source.size).astype(np.uint32)},
    )


def _leads(
    step: _Step, operation: Numbers, groups: int, computes: bool
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return the joins to which joins lead, and their offsets.

    The begin of a step at a rank leads to others at its end, which is that of the computation.
    """
    number, ranks = len(step.delays), step.ranks
    ends = np.zeros(number, bool)
    ends[:ranks] = computes
    first = [(join, to) for join, leads in enumerate(step.leads) for to in leads]
    before, after = np.array(first, np.int64).T
    row = (2 * before + ends[before] + 2 * number * operation[:, None]).ravel()
    to = (after + number * operation[:, None]).ravel()
    # The end of a step at a rank leads to the begin of the next one.
    earlier = operation[:-groups, None]
    row = np.concatenate([row, (2 * (earlier * number + np.array(step.ends))).ravel()])
    to = np.concatenate([to, ((earlier + groups) * number + np.arange(ranks)).ravel()])
    order = np.lexsort((to, row))
    counts = np.bincount(row, minlength=2 * number * operation.size)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    return to[order].astype(np.uint32), offsets.astype(np.uint32)


def _computation(
    workload: Collective, operation: Numbers, groups: int, ranks: int, number: int, place: Numbers
) -> Work | None:
    """Return the work of ranks between two steps; None if there is none."""
    if not workload.computation:
        return None
    joins = operation[:, None] * number + np.arange(ranks)
    cpu = np.full(number * operation.size, NO_JOIN)
    cpu[joins] = (operation % groups)[:, None] * ranks + np.arange(ranks)
    busy = np.zeros(cpu.size, np.uint64)
    busy[joins[groups:]] = workload.computation
    nothing = np.zeros(0, np.uint32)
    return Work(cpu, busy, place.astype(np.uint32), nothing, nothing.astype(np.uint64))

"""Messages of collective operations, and for which others each waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lightburst.workload.flows import NO_JOIN, Flows, Joins
from lightburst.workload.tree import make_tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lightburst.scenario.tables.collective import Collective

Indices = NDArray[np.int64]


class Round(NamedTuple):
    """Messages of one round of a group: each rank sends as many as it receives.

    Attributes
    ----------
    source, destination : ndarray of int64, shape (messages,)
        Ranks.
    first, parts : ndarray of int64, shape (messages,)
        First of the parts of the buffer that a message has, and their number.
    """

    source: Indices
    destination: Indices
    first: Indices
    parts: Indices


def make_messages(workload: Collective, hosts: int, generator: np.random.Generator) -> Flows:
    """Make the messages of all groups and steps.

    Parameters
    ----------
    workload : Collective
        The ``[workload]`` table.
    hosts : int
        Number of hosts of the network, enough for all groups.
    generator : numpy.random.Generator
        Draws a random placement.

    Returns
    -------
    Flows
        In the order of steps, rounds, groups and ranks. A message of a round waits for all that its
        rank receives in the rounds before, among them the data that it passes on.
    """
    groups, ranks = workload.shape(hosts)
    if workload.is_tree:
        return make_tree(
            workload, groups, ranks, _placed(workload, hosts, groups, ranks, generator)
        )
    rounds = list(_rounds(workload.operation, workload.messages, ranks))
    place = _placed(workload, hosts, groups, ranks, generator)
    # Columns of one step; groups of a round lie one after the other.
    source, destination, size, stage, group = (
        np.concatenate(column)
        for column in zip(
            *(_of_round(one, at, workload.size, groups, ranks) for at, one in enumerate(rounds)),
            strict=True,
        )
    )
    step = np.repeat(np.arange(workload.steps), source.size)
    again = workload.steps
    source, destination, size, group = (
        np.tile(column, again) for column in (source, destination, size, group)
    )
    stage = np.tile(stage, again) + step * len(rounds)
    everyone = groups * ranks
    last = again * len(rounds) - 1
    joins = np.arange(last * everyone)
    computes = (joins // everyone + 1) % len(rounds) == 0
    return Flows(
        source=place[source].astype(np.uint32),
        destination=place[destination].astype(np.uint32),
        start_ps=np.zeros(source.size, np.uint64),
        size_bytes=size.astype(np.uint64),
        joins=Joins(
            after=_join(stage, source, everyone, stage > 0),
            towards=_join(stage + 1, destination, everyone, stage < last),
            delay_ps=np.where(computes, np.uint64(workload.computation), np.uint64(0)),
            leads=joins[everyone:].astype(np.uint32),
            lead_offsets=_in_order(last, everyone),
        ),
        told={"collective": (step * groups + group).astype(np.uint32)},
    )


def _in_order(rounds: int, everyone: int) -> NDArray[np.uint32]:
    """Return the offsets of joins that lead to the next one of their rank when they begin.

    Messages may overtake each other.
    """
    own = np.arange(1, rounds * everyone + 1).clip(max=max(rounds - 1, 0) * everyone)
    return np.concatenate([[0], np.repeat(own, 2)]).astype(np.uint32)


def _join(
    stage: Indices, rank: Indices, everyone: int, exists: NDArray[np.bool_]
) -> NDArray[np.uint32]:
    """Return the join of a rank before a stage."""
    return np.where(exists, (stage - 1) * everyone + rank, NO_JOIN).astype(np.uint32)


def _of_round(
    one: Round, at: int, size: int, groups: int, ranks: int
) -> tuple[Indices, Indices, Indices, Indices, Indices]:
    """Return ends, bytes, stage and group of the messages of a round, of all groups."""
    group = np.repeat(np.arange(groups), one.source.size)
    # Parts of a buffer whose number of bytes is no multiple of their number differ by one byte.
    whole, rest = divmod(size, ranks)
    begin, end = (
        part * whole + part * rest // ranks for part in (one.first, one.first + one.parts)
    )
    source, destination, bytes_ = (
        np.tile(column, groups) for column in (one.source, one.destination, end - begin)
    )
    stage = np.full(source.size, at)
    return source + group * ranks, destination + group * ranks, bytes_, stage, group


def _placed(
    workload: Collective, hosts: int, groups: int, ranks: int, generator: np.random.Generator
) -> Indices:
    """Return the host of each rank, group by group, shape (groups * ranks,)."""
    if workload.placement == "random":
        return generator.permutation(hosts)[: groups * ranks]
    own = np.arange(groups * ranks)
    if workload.placement == "strided":
        return own.reshape(ranks, groups).T.ravel()
    return own


def _rounds(operation: str, algorithm: str, ranks: int) -> Iterator[Round]:
    """Yield the rounds of one step."""
    rank = np.arange(ranks)
    if operation == "all-to-all":
        yield from _all_to_all(algorithm, rank)
        return
    ring = algorithm == "ring"
    if operation in ("all-reduce", "reduce-scatter"):
        yield from _ring(rank, -1) if ring else _halving(rank)
    if operation in ("all-reduce", "all-gather"):
        yield from _ring(rank, 0) if ring else _doubling(rank)


def _ring(rank: Indices, offset: int) -> Iterator[Round]:
    """Yield the rounds of a ring: in each, a rank passes on the part that it has just received.

    With an offset of -1 rank i begins with part i - 1 and receives part i in the last round, as in
    a reduce-scatter; with 0 it begins with its own part, as in an all-gather.
    """
    ranks = rank.size
    for number in range(ranks - 1):
        part = (rank + offset - number) % ranks
        yield Round(rank, (rank + 1) % ranks, part, np.ones_like(rank))


def _halving(rank: Indices) -> Iterator[Round]:
    """Yield the rounds of recursive halving, which end with part i at rank i."""
    distance = rank.size // 2
    while distance:
        partner = rank ^ distance
        yield Round(rank, partner, partner & -distance, np.full_like(rank, distance))
        distance //= 2


def _doubling(rank: Indices) -> Iterator[Round]:
    """Yield the rounds of recursive doubling, which begin with part i at rank i."""
    distance = 1
    while distance < rank.size:
        yield Round(rank, rank ^ distance, rank & -distance, np.full_like(rank, distance))
        distance *= 2


def _all_to_all(algorithm: str, rank: Indices) -> Iterator[Round]:
    """Yield the rounds of an all-to-all, to distance 1, 2, and so on; all at once if direct."""
    ranks = rank.size
    rounds = [
        Round(rank, there, there, np.ones_like(rank))
        for distance in range(1, ranks)
        for there in [(rank + distance) % ranks]
    ]
    if algorithm == "direct":
        yield Round(*map(np.concatenate, zip(*rounds, strict=True)))
    else:
        yield from rounds

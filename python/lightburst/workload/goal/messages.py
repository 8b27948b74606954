"""Flows of a GOAL schedule: its messages, and joins for its operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lightburst.foundation.errors import InputError
from lightburst.workload.flows import NO_JOIN, Flows, Joins, Work
from lightburst.workload.goal.matching import matched, refuse_circles, sizes
from lightburst.workload.goal.reading import read_schedule
from lightburst.workload.goal.schedule import CALC, PATH, RECV, SEND

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lightburst.scenario.tables.goal import Goal
    from lightburst.workload.goal.schedule import Numbers, Schedule

# Picoseconds of the unit of a calc, a nanosecond.
_CALC_PS = 1000
# Longest work of all ranks together, in picoseconds: the clock ends at 2**64.
_LONGEST_PS = 2**62


def make_messages(workload: Goal, hosts: int, generator: np.random.Generator) -> Flows:
    """Make the messages of a schedule.

    Parameters
    ----------
    workload : Goal
        The ``[workload]`` table.
    hosts : int
        Number of hosts of the network.
    generator : numpy.random.Generator
        Draws a random placement.

    Returns
    -------
    Flows
        In the order of the sends in the file. Join i is operation i; further joins are receives
        that are posted, where an operation waits for the begin of a receive.

    Raises
    ------
    InputError
        If the schedule cannot be used, or has more ranks than there are hosts.
    """
    schedule = read_schedule(workload.file)
    send, recv = matched(schedule)
    refuse_circles(schedule, send, recv)
    if not send.size:
        given, allowed = f"{schedule.file}, without a message", "at least one 'send'"
        raise InputError(PATH, given, f"{allowed}: computation alone needs no network")
    place = _placed(workload, schedule, hosts, generator)
    size = sizes(schedule)
    size[recv] = size[send]
    leads, offsets, posts = _leads(schedule)
    work, delay = _work(workload, schedule, size, place, posts)
    return Flows(
        source=place[schedule.rank[send]].astype(np.uint32),
        destination=place[schedule.peer[send]].astype(np.uint32),
        start_ps=np.zeros(send.size, np.uint64),
        size_bytes=size[send].astype(np.uint64),
        joins=Joins(
            after=send.astype(np.uint32),
            towards=recv.astype(np.uint32),
            delay_ps=delay,
            leads=leads,
            lead_offsets=offsets,
            work=work,
        ),
        told={
            "host_of_rank": place.astype(np.uint32),
            "operation_rank": schedule.rank.astype(np.uint32),
            "operation_kind": schedule.kind.astype(np.uint8),
            "operation_value": schedule.value.astype(np.uint64),
            "operation_line": schedule.line.astype(np.uint32),
        },
    )


def _placed(
    workload: Goal, schedule: Schedule, hosts: int, generator: np.random.Generator
) -> Numbers:
    """Return the host of each rank."""
    ranks = schedule.ranks
    if ranks > hosts:
        given = f"{ranks} ranks in {schedule.file}"
        raise InputError(PATH, given, f"at most {hosts} ranks, one for each host")
    if workload.hosts is not None:
        if len(workload.hosts) != ranks or max(workload.hosts) >= hosts:
            given = f"{len(workload.hosts)} hosts, the last {max(workload.hosts)}"
            allowed = f"{ranks} hosts, one for each rank, from 0 to {hosts - 1}"
            raise InputError("workload.hosts", given, allowed)
        return np.array(workload.hosts, np.int64)
    if workload.placement == "random":
        return generator.permutation(hosts)[:ranks]
    rank = np.arange(ranks)
    return rank * hosts // ranks if workload.placement == "strided" else rank


def _leads(schedule: Schedule) -> tuple[NDArray[np.uint32], NDArray[np.uint32], Numbers]:
    """Return the joins to which joins lead, their offsets, and the receives that are posted.

    A receive is posted when all that it requires is over, and begins when its message is there,
    too. Where an operation waits for the begin of a receive, the posting is a join of its own.
    """
    number = schedule.kind.size
    begins = schedule.at_begin
    posts = np.unique(schedule.needed[begins & (schedule.kind[schedule.needed] == RECV)])
    post_of = np.arange(number)
    post_of[posts] = number + np.arange(posts.size)
    before = np.concatenate(
        [np.where(begins, post_of[schedule.needed], schedule.needed), post_of[posts]]
    )
    after = np.concatenate([post_of[schedule.by], posts])
    row = 2 * before + np.concatenate([~begins, np.ones(posts.size, bool)])
    order = np.lexsort((after, row))
    rows = 2 * (number + posts.size)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=rows))])
    return after[order].astype(np.uint32), offsets.astype(np.uint32), posts


def _work(
    workload: Goal, schedule: Schedule, size: Numbers, place: Numbers, posts: Numbers
) -> tuple[Work, NDArray[np.uint64]]:
    """Return the work of all joins, and the delay of the messages of each."""
    kind = schedule.kind
    per_byte = (size - 1).astype(float) * workload.overhead_per_byte
    calc = schedule.value.astype(float) * _CALC_PS
    longest = np.where(kind == CALC, calc, workload.overhead + per_byte).sum()
    if longest + float(workload.gap) * kind.size > _LONGEST_PS:
        given = f"{longest / 1e12:g} s of work in {schedule.file}"
        raise InputError(PATH, given, f"at most {_LONGEST_PS / 1e12:g} s")
    message = workload.overhead + (size - 1) * workload.overhead_per_byte
    busy = np.where(kind == CALC, schedule.value * _CALC_PS, message)
    cpus, cpu = _numbered(schedule.rank, schedule.cpu)
    none = np.full(posts.size, int(NO_JOIN))
    nic, gaps = np.zeros(0, np.uint32), np.zeros(0, np.uint64)
    if workload.gap:
        nics, each = _numbered(schedule.rank, schedule.nic)
        nic = np.concatenate([np.where(kind == SEND, each, int(NO_JOIN)), none]).astype(np.uint32)
        gaps = np.full(nics.size, workload.gap, np.uint64)
    delay = np.where(kind == SEND, workload.overhead, 0)
    nothing = np.zeros(posts.size, np.uint64)
    work = Work(
        cpu=np.concatenate([cpu, none]).astype(np.uint32),
        busy_ps=np.concatenate([busy.astype(np.uint64), nothing]),
        cpu_host=place[cpus].astype(np.uint32),
        nic=nic,
        nic_gap_ps=gaps,
    )
    return work, np.concatenate([delay.astype(np.uint64), nothing])


def _numbered(rank: Numbers, own: Numbers) -> tuple[Numbers, Numbers]:
    """Return the rank of each processor or interface, and which one each operation has."""
    most = int(own.max()) + 1
    found, which = np.unique(rank * most + own, return_inverse=True)
    return found // most, which

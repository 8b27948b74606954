"""Flows of a GOAL schedule: its messages, and joins for its operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lightburst.foundation.errors import InputError
from lightburst.workload.flows import NO_JOIN, Flows, Joins, Work
from lightburst.workload.goal.matching import matched, refuse_circles, sizes
from lightburst.workload.goal.reading import read_schedule
from lightburst.workload.goal.receives import (
    by_rendezvous,
    check_receives,
    make_receives,
    ranks_in_run,
)
from lightburst.workload.goal.schedule import CALC, PATH, RECV, SEND

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lightburst.scenario.tables.goal import Goal
    from lightburst.workload.goal.schedule import Numbers, Ranks, Schedule

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
        that are posted, where an operation waits for the begin of a receive or its message is
        matched in the run, and sends by rendezvous that are over.

    Raises
    ------
    InputError
        If the schedule cannot be used, or has more ranks than there are hosts.
    """
    schedule = read_schedule(workload.file)
    rendezvous = by_rendezvous(workload, schedule)
    in_run = ranks_in_run(schedule, rendezvous)
    of_file, recv = matched(schedule, in_run)
    check_receives(schedule, in_run)
    refuse_circles(schedule, of_file, recv)
    send = np.flatnonzero(schedule.kind == SEND)
    if not send.size:
        given, allowed = f"{schedule.file}, without a message", "at least one 'send'"
        raise InputError(PATH, given, f"{allowed}: computation alone needs no network")
    place = _placed(workload, schedule, hosts, generator)
    size = sizes(schedule)
    size[recv] = size[of_file]
    # The work of a receive that is matched in the run is that of the message that it takes.
    size[(schedule.kind == RECV) & in_run[schedule.rank]] = 1
    leads = _Leads(schedule, in_run, rendezvous)
    work, delay, busy = _work(workload, schedule, size, place, leads.more)
    towards = np.full(schedule.kind.size, int(NO_JOIN))
    towards[of_file] = recv
    return Flows(
        source=place[schedule.rank[send]].astype(np.uint32),
        destination=place[schedule.peer[send]].astype(np.uint32),
        start_ps=np.zeros(send.size, np.uint64),
        size_bytes=size[send].astype(np.uint64),
        joins=Joins(
            after=send.astype(np.uint32),
            towards=towards[send].astype(np.uint32),
            delay_ps=delay,
            leads=leads.to,
            lead_offsets=leads.offsets,
            work=work,
            receives=make_receives(schedule, in_run, place, busy, leads.sent),
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


class _Leads:
    """Joins to which joins lead, and the joins beside those of the operations.

    A receive is posted when all that it requires is over, and begins when its message is there,
    too. Where an operation waits for the begin of a receive, and where the message is matched in
    the run, the posting is a join of its own. A send by rendezvous is over when its work is over
    and its message was taken, which is a join, too.

    Attributes
    ----------
    to, offsets : ndarray of uint32
        As in `lightburst.workload.flows.Joins`.
    more : int
        Number of further joins: postings of receives that are matched by the file, sends by
        rendezvous that are over, and postings of those that are matched in the run.
    sent : ndarray of int64, shape (operations,)
        Join at which a send by rendezvous is over, -1 of other operations.
    """

    def __init__(self, schedule: Schedule, in_run: Ranks, rendezvous: Numbers) -> None:
        number, begins = schedule.kind.size, schedule.at_begin
        late = (schedule.kind == RECV) & in_run[schedule.rank]
        awaited = schedule.needed[begins & (schedule.kind[schedule.needed] == RECV)]
        early = np.unique(awaited[~late[awaited]])
        posts = np.concatenate([early, np.flatnonzero(late)])
        self.sent = np.full(number, -1)
        self.sent[rendezvous] = number + early.size + np.arange(rendezvous.size)
        post_of, over = np.arange(number), np.arange(number)
        post_of[early] = number + np.arange(early.size)
        post_of[late] = number + early.size + rendezvous.size + np.arange(posts.size - early.size)
        over[rendezvous] = self.sent[rendezvous]
        needed, extra = schedule.needed, np.concatenate([posts, rendezvous])
        before = [np.where(begins, post_of[needed], over[needed]), post_of[posts], rendezvous]
        after = np.concatenate([post_of[schedule.by], posts, self.sent[rendezvous]])
        at_end = np.concatenate([~begins, np.ones(extra.size, bool)])
        self.more = extra.size
        row = 2 * np.concatenate(before) + at_end
        order = np.lexsort((after, row))
        rows = 2 * (number + self.more)
        offsets = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=rows))])
        self.to = after[order].astype(np.uint32)
        self.offsets = offsets.astype(np.uint32)


def _work(
    workload: Goal, schedule: Schedule, size: Numbers, place: Numbers, more: int
) -> tuple[Work, NDArray[np.uint64], Numbers]:
    """Return the work of all joins, the delay of the messages of each, and the work by itself.

    There are `more` joins than operations, which do not work.
    """
    kind = schedule.kind
    per_byte = (size - 1).astype(float) * workload.overhead_per_byte
    calc = schedule.value.astype(float) * _CALC_PS
    # Twice the work of each send, as its receive may be matched in the run.
    longest = np.where(kind == CALC, calc, 2 * (workload.overhead + per_byte)).sum()
    if longest + float(workload.gap) * kind.size > _LONGEST_PS:
        given = f"{longest / 1e12:g} s of work in {schedule.file}"
        raise InputError(PATH, given, f"at most {_LONGEST_PS / 1e12:g} s")
    message = workload.overhead + (size - 1) * workload.overhead_per_byte
    busy = np.where(kind == CALC, schedule.value * _CALC_PS, message)
    cpus, cpu = _numbered(schedule.rank, schedule.cpu)
    none = np.full(more, int(NO_JOIN))
    nic, gaps = np.zeros(0, np.uint32), np.zeros(0, np.uint64)
    if workload.gap:
        nics, each = _numbered(schedule.rank, schedule.nic)
        nic = np.concatenate([np.where(kind == SEND, each, int(NO_JOIN)), none]).astype(np.uint32)
        gaps = np.full(nics.size, workload.gap, np.uint64)
    delay = np.where(kind == SEND, workload.overhead, 0)
    nothing = np.zeros(more, np.uint64)
    work = Work(
        cpu=np.concatenate([cpu, none]).astype(np.uint32),
        busy_ps=np.concatenate([busy.astype(np.uint64), nothing]),
        cpu_host=place[cpus].astype(np.uint32),
        nic=nic,
        nic_gap_ps=gaps,
    )
    return work, np.concatenate([delay.astype(np.uint64), nothing]), busy


def _numbered(rank: Numbers, own: Numbers) -> tuple[Numbers, Numbers]:
    """Return the rank of each processor or interface, and which one each operation has."""
    most = int(own.max()) + 1
    found, which = np.unique(rank * most + own, return_inverse=True)
    return found // most, which

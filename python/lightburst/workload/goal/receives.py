"""Receives of a GOAL schedule that are matched in the run, as their messages arrive.

These are all receives of a rank that has one from any rank or of any tag, or to which a message is
sent by rendezvous.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from lightburst.foundation.errors import InputError
from lightburst.workload.flows import NO_JOIN, Receives
from lightburst.workload.goal.schedule import PATH, RECV, SEND

if TYPE_CHECKING:
    from lightburst.scenario.tables.goal import Goal
    from lightburst.workload.goal.schedule import Numbers, Ranks, Schedule


def by_rendezvous(workload: Goal, schedule: Schedule) -> Numbers:
    """Return the sends that end only when a receive has taken their message."""
    if workload.rendezvous_above is None:
        return np.zeros(0, np.int64)
    above = schedule.value > workload.rendezvous_above
    return np.flatnonzero((schedule.kind == SEND) & above)


def ranks_in_run(schedule: Schedule, rendezvous: Numbers) -> Ranks:
    """Return the ranks whose receives are matched in the run, shape (ranks,)."""
    of_any = (schedule.kind == RECV) & ((schedule.peer < 0) | (schedule.tag < 0))
    found = np.zeros(schedule.ranks, bool)
    found[schedule.rank[of_any]] = True
    found[schedule.peer[rendezvous]] = True
    return found


def check_receives(schedule: Schedule, in_run: Ranks) -> None:
    """Refuse messages and receives that cannot find each other.

    Parameters
    ----------
    schedule : Schedule
        The schedule.
    in_run : ndarray of bool, shape (ranks,)
        Ranks whose receives are matched in the run.

    Raises
    ------
    InputError
        If a send or a receive fits none of the other, or one of a source and a tag has too few
        sends, or a rank has more or fewer receives than messages are sent to it.
    """
    send = np.flatnonzero((schedule.kind == SEND) & in_run[schedule.peer])
    recv = np.flatnonzero((schedule.kind == RECV) & in_run[schedule.rank])
    fits = np.zeros(send.size, bool)
    for any_rank, any_tag in product((False, True), repeat=2):
        own = recv[((schedule.peer[recv] < 0) == any_rank) & ((schedule.tag[recv] < 0) == any_tag)]
        source = np.concatenate([schedule.rank[send], schedule.peer[own]])
        tag = np.concatenate([schedule.tag[send], schedule.tag[own]])
        key = _numbers(
            np.concatenate([schedule.peer[send], schedule.rank[own]]),
            np.where(any_rank, -1, source),
            np.where(any_tag, -1, tag),
        )
        sent, wanted = key[: send.size], key[send.size :]
        fits |= np.isin(sent, wanted)
        # A message that fits a receive of one source and tag may have gone to another one, but
        # there are never more of them.
        sends = np.bincount(sent, minlength=int(key.max(initial=-1)) + 1)
        turn = _turn(wanted)
        if (lacks := turn >= sends[wanted]).any():
            raise _alone(schedule, int(own[np.argmax(lacks)]), "send")
    if not fits.all():
        raise _alone(schedule, int(send[np.argmin(fits)]), "receive")
    counts = [
        np.bincount(ranks, minlength=schedule.ranks)
        for ranks in (schedule.peer[send], schedule.rank[recv])
    ]
    if (wrong := counts[0] != counts[1]).any():
        rank = int(np.argmax(wrong))
        given = (
            f"rank {rank} of {schedule.file}, with {counts[1][rank]} receives of "
            f"{counts[0][rank]} messages"
        )
        raise InputError(PATH, given, "a receive for each message to the rank")


def _numbers(*columns: Numbers) -> Numbers:
    """Return a number for each row, the same for the same rows, from 0."""
    order = np.lexsort(columns)
    new = np.zeros(order.size, bool)
    for column in columns:
        new[1:] |= column[order][1:] != column[order][:-1]
    found = np.empty_like(order)
    found[order] = np.cumsum(new)
    return found


def _turn(keys: Numbers) -> Numbers:
    """Return how many of each one's key are before it."""
    order = np.argsort(keys, kind="stable")
    first = np.searchsorted(keys[order], keys[order])
    found = np.empty_like(order)
    found[order] = np.arange(keys.size) - first
    return found


def _alone(schedule: Schedule, operation: int, missing: str) -> InputError:
    given = f"{schedule.words(operation)} of {schedule.file}, without its {missing}"
    allowed = "a send for each receive and a receive for each send, of ranks and tags that fit"
    return InputError(PATH, given, allowed)


def make_receives(
    schedule: Schedule, in_run: Ranks, place: Numbers, busy: Numbers, sent: Numbers
) -> Receives | None:
    """Return the columns of the receives that are matched in the run.

    Parameters
    ----------
    schedule : Schedule
        The schedule.
    in_run : ndarray of bool, shape (ranks,)
        Ranks whose receives are matched in the run.
    place : ndarray of int64, shape (ranks,)
        Their hosts.
    busy : ndarray of int64, shape (operations,)
        Work of the receive of each send's message, in picoseconds.
    sent : ndarray of int64, shape (operations,)
        Join that each send's message reaches when it is taken, -1 if none.

    Returns
    -------
    Receives or None
        None if there are none.
    """
    recv = np.flatnonzero((schedule.kind == RECV) & in_run[schedule.rank])
    if not recv.size:
        return None
    none = int(NO_JOIN)
    send = np.flatnonzero(schedule.kind == SEND)
    own = in_run[schedule.peer[send]]
    # Tags become numbers from 0.
    known, tag = np.unique(schedule.tag[send], return_inverse=True)
    wanted = np.searchsorted(known, schedule.tag[recv])
    reached = sent[send]
    return Receives(
        join=recv.astype(np.uint32),
        source=np.where(schedule.peer[recv] < 0, none, place[schedule.peer[recv]]).astype(
            np.uint32
        ),
        tag=np.where(schedule.tag[recv] < 0, none, wanted).astype(np.uint32),
        tag_of_flow=np.where(own, tag, none).astype(np.uint32),
        busy_ps=busy[send].astype(np.uint64),
        sent=np.where(reached < 0, none, reached).astype(np.uint32)
        if (reached >= 0).any()
        else np.zeros(0, np.uint32),
    )

"""Which receive of a GOAL schedule takes which message, and operations that wait in a circle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lightburst.foundation.errors import InputError
from lightburst.workload.goal.schedule import CALC, PATH, RECV, SEND

if TYPE_CHECKING:
    from lightburst.workload.goal.schedule import Numbers, Ranks, Schedule

# Operations of a circle that a message names.
_MOST_NAMED = 8


def matched(schedule: Schedule, in_run: Ranks) -> tuple[Numbers, Numbers]:
    """Match sends and receives: of one source, destination and tag, in the order of the file.

    Parameters
    ----------
    schedule : Schedule
        The schedule.
    in_run : ndarray of bool, shape (ranks,)
        Ranks whose receives are matched in the run, which are left out.

    Returns
    -------
    send, recv : ndarray of int64, shape (messages,)
        Operations, in the order of the sends.

    Raises
    ------
    InputError
        If one is without the other.
    """
    send = np.flatnonzero((schedule.kind == SEND) & ~in_run[schedule.peer])
    recv = np.flatnonzero((schedule.kind == RECV) & ~in_run[schedule.rank])
    ends = (schedule.rank, schedule.peer), (schedule.peer, schedule.rank)
    keys = [
        np.stack([source[of], destination[of], schedule.tag[of]])
        for of, (source, destination) in zip((send, recv), ends, strict=True)
    ]
    orders = [np.lexsort(key[::-1]) for key in keys]
    first, second = (key[:, order] for key, order in zip(keys, orders, strict=True))
    both = min(send.size, recv.size)
    same = (first[:, :both] == second[:, :both]).all(axis=0)
    if send.size != recv.size or not same.all():
        raise _alone(schedule, send[orders[0]], recv[orders[1]], same)
    found = np.empty_like(recv)
    found[orders[0]] = recv[orders[1]]
    return send, found


def _alone(schedule: Schedule, send: Numbers, recv: Numbers, same: Numbers) -> InputError:
    """Return the error of the first send or receive without the other."""
    at = int(np.argmin(same)) if not same.all() else same.size
    of_send = (schedule.rank[send], schedule.peer[send], schedule.tag[send])
    of_recv = (schedule.peer[recv], schedule.rank[recv], schedule.tag[recv])
    keys = [
        tuple(int(column[at]) for column in columns) if at < columns[0].size else None
        for columns in (of_send, of_recv)
    ]
    # The smaller key has no counterpart, as both are in ascending order.
    sends = keys[1] is None or (keys[0] is not None and keys[0] < keys[1])
    alone, missing = (send, "receive") if sends else (recv, "send")
    given = f"{schedule.words(int(alone[at]))} of {schedule.file}, without its {missing}"
    allowed = "a send for each receive and a receive for each send, with the same ranks and tag"
    return InputError(PATH, given, allowed)


def refuse_circles(schedule: Schedule, send: Numbers, recv: Numbers) -> None:
    """Refuse operations that wait for each other.

    Parameters
    ----------
    schedule : Schedule
        The schedule.
    send, recv : ndarray of int64
        The operations of each message.

    Raises
    ------
    InputError
        If there are any; the message names a circle.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    number = schedule.kind.size
    before = np.concatenate([schedule.needed, send])
    after = np.concatenate([schedule.by, recv])
    itself = np.flatnonzero(before == after)
    if itself.size:
        raise _circle(schedule, [int(before[itself[0]])])
    graph = csr_array((np.ones(before.size, np.int8), (before, after)), (number, number))
    _, part = connected_components(graph, connection="strong")
    if part.max() + 1 == number:
        return
    size = np.bincount(part)
    inside = part == np.argmax(size > 1)
    raise _circle(schedule, _walk(before, after, inside))


def _walk(before: Numbers, after: Numbers, inside: Numbers) -> list[int]:
    """Return a circle among operations of which each is in one."""
    edges = np.flatnonzero(inside[before] & inside[after])
    following = dict(zip(before[edges].tolist(), after[edges].tolist(), strict=True))
    at = next(iter(following))
    seen: dict[int, int] = {}
    while at not in seen:
        seen[at] = len(seen)
        at = following[at]
    return list(seen)[seen[at] :]


def _circle(schedule: Schedule, circle: list[int]) -> InputError:
    first = min(range(len(circle)), key=lambda place: circle[place])
    turned = circle[first:] + circle[:first]
    words = [schedule.words(one) for one in turned[:_MOST_NAMED]]
    more = f" and {len(turned) - _MOST_NAMED} more" if len(turned) > _MOST_NAMED else ""
    given = f"{', then '.join(words)}{more} of {schedule.file}, and the first waits for the last"
    return InputError(PATH, given, "operations of which none waits for itself")


def sizes(schedule: Schedule) -> Numbers:
    """Return the bytes of each message, by operation: at least one byte crosses the network.

    A receive may have more room than its message has bytes.
    """
    return np.where(schedule.kind == CALC, 0, np.maximum(schedule.value, 1))

"""What each host did, and when: computation and messages of collectives and GOAL schedules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from lightburst.foundation.counts import PS, Columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd
    from numpy.typing import NDArray

    from lightburst.compile import Plan

    Numbers = NDArray[np.int64]

#: Most hosts and most bars of a timeline.
MOST_HOSTS: Final = 32
MOST_BARS: Final = 3000
#: What a bar is: a calculation, the work of a host to send or to receive, a message at its source
#: and at its destination.
WHAT: Final = ("calc", "send", "recv", "sent", "received")
CALC, SEND, RECV, SENT, RECEIVED = range(5)
_NO_FLOW: Final = -1


class Bars(NamedTuple):
    """Bars of a timeline, as columns.

    Attributes
    ----------
    what : ndarray of int64
        Index into `WHAT`.
    host, peer : ndarray of int64
        Host of the bar; the other end of a message, -1 of work.
    start, end : ndarray of uint64
        Picoseconds.
    flow : ndarray of int64
        -1 of work.
    operation : ndarray of int64
        Number of the collective operation, -1 of others.
    """

    what: Numbers
    host: Numbers
    peer: Numbers
    start: NDArray[np.uint64]
    end: NDArray[np.uint64]
    flow: Numbers
    operation: Numbers

    def of(self, rows: NDArray[Any]) -> Bars:
        """Return some of the bars."""
        return Bars(*(column[rows] for column in self))


def _joined(parts: list[Bars]) -> Bars:
    return Bars(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _bars(
    what: int | Numbers,
    host: NDArray[Any],
    start: NDArray[np.uint64],
    end: NDArray[np.uint64],
    operation: NDArray[Any] | int = -1,
    *,
    peer: NDArray[Any] | int = -1,
    flow: NDArray[Any] | int = _NO_FLOW,
) -> Bars:
    number = host.size

    def column(values: Any) -> Numbers:
        return np.broadcast_to(np.asarray(values, np.int64), number)

    return Bars(
        column(what), column(host), column(peer), start, end, column(flow), column(operation)
    )


def bars(plan: Plan, columns: Columns) -> Bars:
    """Return all that hosts did in a run.

    Messages are from their start to the arrival of their last byte, and are two bars: one at their
    source and one at their destination. What did not end goes to the end of the run.

    Parameters
    ----------
    plan : Plan
        Plan of a run whose flows wait for others.
    columns : mapping of str to mapping
        Tables of the simulator.

    Returns
    -------
    Bars
    """
    return _joined(list(_all(plan, columns)))


def _all(plan: Plan, columns: Columns) -> Iterator[Bars]:
    flows = plan.flows
    end = np.uint64(columns["totals"]["end_ps"])
    started = np.asarray(columns["flows"]["started_ps"], np.uint64)
    received = np.asarray(columns["flows"]["received_ps"], np.uint64)
    number = np.flatnonzero(started <= end)
    begin, last = started[number], np.minimum(received[number], end)
    source, to = flows["source"][number], flows["destination"][number]
    which = flows.get("collective", np.full(flows["source"].size, -1, np.int64))[number]
    yield _bars(SENT, source, begin, last, which, peer=to, flow=number)
    yield _bars(RECEIVED, to, begin, last, which, peer=source, flow=number)
    if "operation_kind" not in flows:
        # A computation that delays the messages of a join: one for all of them.
        after = flows["after_join"][number]
        delays = np.append(flows["join_delay_ps"], np.uint64(0))
        waited = delays[np.minimum(after, delays.size - 1)]
        _, first = np.unique(after, return_index=True)
        late = first[waited[first] > 0]
        yield _bars(CALC, source[late], begin[late] - waited[late], begin[late], which[late])
    if "join_busy_ps" in flows:
        begun = np.asarray(columns["joins"]["begun_ps"], np.uint64)
        busy = flows["join_busy_ps"]
        works = np.flatnonzero((busy > 0) & (begun <= end))
        host = flows["cpu_host"][flows["join_cpu"][works]]
        kind: Any = CALC
        if "operation_kind" in flows:
            kind = np.append(flows["operation_kind"].astype(np.int64), CALC)
            kind = kind[np.minimum(works, kind.size - 1)]
        yield _bars(kind, host, begun[works], np.minimum(begun[works] + busy[works], end))


class Chosen(NamedTuple):
    """The bars of a timeline, and what they are of all.

    Attributes
    ----------
    bars : Bars
        Those that are shown.
    hosts : ndarray of int64
        Hosts that are shown, in order.
    shown : str
        Which these are, in words.
    """

    bars: Bars
    hosts: Numbers
    shown: str


def choose(found: Bars, path: Numbers, operation: int | None, groups: int) -> Chosen:
    """Choose bars for a picture: few enough hosts, and few enough bars.

    Parameters
    ----------
    found : Bars
        All bars of a run.
    path : ndarray of int64
        Flows on the critical path, in order.
    operation : int or None
        The collective operation to show, if not all fit; None for a schedule.
    groups : int
        Number of groups of a collective.

    Returns
    -------
    Chosen
    """
    words = []
    hosts = np.unique(found.host)
    if operation is not None:
        steps = int(found.operation.max()) // groups + 1
        step, group = divmod(operation, groups)
        if steps > 1 and (hosts.size > MOST_HOSTS or found.host.size > MOST_BARS):
            found = _during(found, found.operation // groups == step)
            words.append(f"step {step} of 0 to {steps - 1}")
        if groups > 1 and hosts.size > MOST_HOSTS:
            hosts = np.unique(found.host[found.operation == operation])
            found = found.of(np.isin(found.host, hosts))
            words.append(f"group {group} of 0 to {groups - 1}")
    if (number := hosts.size) > MOST_HOSTS:
        hosts = _on_path(found, path, hosts)
        found = found.of(np.isin(found.host, hosts))
        words.append(f"{hosts.size} of {number} hosts, those last on the critical path first")
    if (number := found.host.size) > MOST_BARS:
        length = (found.end - found.start).astype(np.float64)
        length[np.isin(found.flow, path)] = np.inf
        longest = np.argsort(-length, kind="stable")[:MOST_BARS]
        found = found.of(np.sort(longest))
        words.append(f"the {MOST_BARS:,} longest of {number:,} bars, and those of the path")
    return Chosen(found, hosts, "; ".join(words) or "all hosts and all bars")


def _during(found: Bars, of_step: NDArray[np.bool_]) -> Bars:
    """Return the bars of a step, and the work of hosts in its time."""
    begin, end = found.start[of_step].min(), found.end[of_step].max()
    works = (found.operation < 0) & (found.start < end) & (found.end > begin)
    return found.of(of_step | works)


def _on_path(found: Bars, path: Numbers, hosts: Numbers) -> Numbers:
    """Return as many hosts as fit: those on the path, from its end, and then the first ones."""
    sent = found.of(found.what == SENT)
    ends = {int(flow): row for row, flow in enumerate(sent.flow)}
    rows = [ends[int(flow)] for flow in path[::-1] if int(flow) in ends]
    named = [host for row in rows for host in (int(sent.peer[row]), int(sent.host[row]))]
    return np.sort(list(dict.fromkeys([*named, *hosts.tolist()]))[:MOST_HOSTS])


def table(
    plan: Plan, columns: Columns, path: pd.DataFrame, operation: int | None, groups: int
) -> pd.DataFrame:
    """Return the rows of `lightburst.Result.timeline`.

    Parameters
    ----------
    plan : Plan
        Plan of a run whose flows wait for others.
    columns : mapping of str to mapping
        Tables of the simulator.
    path : pandas.DataFrame
        The critical path, as `lightburst.Result.critical_path` returns it.
    operation, groups : int or None, int
        As for `choose`.
    """
    import pandas as pd

    messages = path[path["what"] == "message"] if "what" in path else path
    on_path = messages["flow"].to_numpy(np.int64)
    chosen = choose(bars(plan, columns), on_path, operation, groups)
    network = plan.network
    assert network is not None
    one = chosen.bars.of(np.lexsort((chosen.bars.what, chosen.bars.start, chosen.bars.host)))
    message = one.flow >= 0
    flow, peer = np.where(message, one.flow, 0), np.where(message, one.peer, 0)
    found = pd.DataFrame(
        {
            "host": network.named(one.host),
            "what": pd.Categorical.from_codes(one.what.tolist(), categories=pd.Index(WHAT)),
            "start_s": one.start * PS,
            "end_s": one.end * PS,
            "peer": np.where(message, network.named(peer).astype(str), ""),
            "size_bytes": np.where(message, plan.flows["bytes"][flow].astype(np.int64), 0),
            "flow": one.flow,
            "step": np.where(one.operation < 0, -1, one.operation // groups),
            "group": np.where(one.operation < 0, -1, one.operation % groups),
            "on_path": np.isin(one.flow, on_path) | _works_on_path(plan, one, path),
        }
    )
    found.attrs["shown"] = chosen.shown
    return found


def _works_on_path(plan: Plan, one: Bars, path: pd.DataFrame) -> NDArray[np.bool_]:
    """Return which bars are the work of hosts on the critical path."""
    known: set[tuple[Any, ...]]
    if "what" in path:
        own = path[path["what"] != "message"]
        hosts = plan.flows["host_of_rank"][own["rank"].to_numpy(np.int64)].tolist()
        known = set(zip(hosts, own["start_s"], own["end_s"], strict=True))
        times = [one.start * PS, one.end * PS]
    else:
        # A computation ends when the messages that wait for it start.
        hosts = plan.flows["source"][path["flow"].to_numpy(np.int64)].tolist()
        known = set(zip(hosts, path["start_s"], strict=True))
        times = [one.end * PS]
    keys = zip(one.host.tolist(), *times, strict=True)
    found = np.fromiter((key in known for key in keys), np.bool_, one.host.size)
    return np.asarray(found & (one.flow < 0))

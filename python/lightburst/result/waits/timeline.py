"""What each host did, and when: computation and messages of collectives and GOAL schedules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from lightburst.foundation.counts import PS, UNFINISHED, Columns
from lightburst.result.waits.operations import work_of

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


class Selection(NamedTuple):
    """What of a run a timeline shows.

    Attributes
    ----------
    flows : ndarray of int64
        Numbers of the messages.
    hosts : ndarray of bool, shape (hosts,)
        Whether each host is shown.
    step : bool
        Whether it is one step of several.
    words : list of str
        What it is, unless all.
    """

    flows: Numbers
    hosts: NDArray[np.bool_]
    step: bool
    words: list[str]


def bars(plan: Plan, columns: Columns, numbers: Numbers) -> Bars:
    """Return what hosts did in a run.

    Messages are from their start to the arrival of their last byte, and are two bars: one at their
    source and one at their destination. What did not end goes to the end of the run.

    Parameters
    ----------
    plan : Plan
        Plan of a run whose flows wait for others.
    columns : mapping of str to mapping
        Tables of the simulator.
    numbers : ndarray of int64
        Messages that started, with the computations before them.

    Returns
    -------
    Bars
    """
    parts = list(_all(plan, columns, numbers))
    return Bars(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _all(plan: Plan, columns: Columns, number: Numbers) -> Iterator[Bars]:
    flows = plan.flows
    end = np.uint64(columns["totals"]["end_ps"])
    begin = np.asarray(columns["flows"]["started_ps"][number], np.uint64)
    last = np.minimum(np.asarray(columns["flows"]["received_ps"][number], np.uint64), end)
    source, to = flows["source"][number], flows["destination"][number]
    which = flows["collective"][number] if "collective" in flows else np.full(number.size, -1)
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
        busy = work_of(plan, columns)
        works = np.flatnonzero((busy > 0) & (begun <= end))
        host = flows["cpu_host"][flows["join_cpu"][works]]
        kind: Any = CALC
        if "operation_kind" in flows:
            kind = np.append(flows["operation_kind"].astype(np.int64), CALC)
            kind = kind[np.minimum(works, kind.size - 1)]
        yield _bars(kind, host, begun[works], np.minimum(begun[works] + busy[works], end))


def select(
    plan: Plan, columns: Columns, path: Numbers, operation: int | None, groups: int
) -> Selection:
    """Select the messages of a picture: those of few enough hosts, and of one step if all are many.

    Parameters
    ----------
    plan, columns : Plan, mapping
        As for `bars`.
    path : ndarray of int64
        Flows on the critical path, in order.
    operation : int or None
        The collective operation to show, if not all fit; None for a schedule.
    groups : int
        Number of groups of a collective.

    Returns
    -------
    Selection
    """
    flows, words, one_step = plan.flows, [], False
    begun = columns["flows"]["started_ps"] <= np.uint64(columns["totals"]["end_ps"])
    number = np.flatnonzero(begun)

    def present() -> NDArray[np.bool_]:
        found = np.zeros(plan.settings["hosts"], np.bool_)
        found[flows["source"][number]] = found[flows["destination"][number]] = True
        if "cpu_host" in flows and operation is None:
            found[flows["cpu_host"]] = True
        return found

    hosts = present()
    if operation is not None:
        which = flows["collective"]
        steps = int(which[-1]) // groups + 1
        step, group = divmod(operation, groups)
        if steps > 1 and (hosts.sum() > MOST_HOSTS or 2 * number.size > MOST_BARS):
            number, one_step = number[which[number] // groups == step], True
            words.append(f"step {step} of 0 to {steps - 1}")
        if groups > 1 and hosts.sum() > MOST_HOSTS:
            number = number[which[number] % groups == group]
            hosts = present()
            words.append(f"group {group} of 0 to {groups - 1}")
    if (many := int(hosts.sum())) > MOST_HOSTS:
        ends = np.column_stack([flows["destination"][path], flows["source"][path]])[::-1].ravel()
        first = list(dict.fromkeys([*ends.tolist(), *np.flatnonzero(hosts).tolist()]))
        hosts = np.zeros_like(hosts)
        hosts[first[:MOST_HOSTS]] = True
        number = number[hosts[flows["source"][number]] | hosts[flows["destination"][number]]]
        words.append(f"{MOST_HOSTS} of {many} hosts, those last on the critical path first")
    return Selection(number, hosts, one_step, words)


def _chosen(plan: Plan, columns: Columns, found: Selection, path: Numbers) -> tuple[Bars, str]:
    """Return the bars of a selection, and what they are, in words."""
    one, words = bars(plan, columns, found.flows), found.words
    one = one.of(found.hosts[one.host])
    if found.step:
        # The work of hosts in the time of the messages.
        of_step = one.operation >= 0
        begin = one.start[of_step].min(initial=UNFINISHED)
        end = one.end[of_step].max(initial=np.uint64(0))
        one = one.of(of_step | (one.start < end) & (one.end > begin))
    if (number := one.host.size) > MOST_BARS:
        length = (one.end - one.start).astype(np.float64)
        length[np.isin(one.flow, path)] = np.inf
        one = one.of(np.argsort(-length, kind="stable")[:MOST_BARS])
        words = [*words, f"{MOST_BARS:,} of {number:,} bars: those of the path, and the longest"]
    return one, "; ".join(words) or "all hosts and all bars"


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
        As for `select`.
    """
    import pandas as pd

    messages = path[path["what"] == "message"] if "what" in path else path
    on_path = messages["flow"].to_numpy(np.int64)
    selection = select(plan, columns, on_path, operation, groups)
    one, shown = _chosen(plan, columns, selection, on_path)
    network = plan.network
    assert network is not None
    one = one.of(np.lexsort((one.what, one.start, one.host)))
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
    found.attrs["shown"] = shown
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

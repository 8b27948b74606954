"""Explanation of a flow's completion time: losses, and the components of its time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from lightburst.compile import check_seed
from lightburst.explanation import flow_text
from lightburst.explanation.events import met
from lightburst.explanation.text import Text
from lightburst.foundation.counts import PS, UNFINISHED
from lightburst.foundation.errors import InputError
from lightburst.foundation.units import as_python, whole_number
from lightburst.measurement import trace_tables
from lightburst.measurement.cells import NOWHERE, Table
from lightburst.result.metric_text import records
from lightburst.result.metrics import worst_flow
from lightburst.result.saving import of_run
from lightburst.scenario import as_scenario
from lightburst.simulation.simulate import run
from lightburst.trace.audit import RetransmissionAudit
from lightburst.trace.circuits import openings
from lightburst.trace.division import CIRCUIT, PARTS, Span, copies, divide, holding, set_up
from lightburst.trace.flow import (
    FIN,
    FORWARD,
    LOST,
    NONE,
    RETURNED,
    SENT,
    SYN,
    TRIMMED,
    FlowTrace,
    receive_window,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from lightburst.result.result import Result
    from lightburst.scenario import Scenario
    from lightburst.scenario.tables.groups import FlowGroup

WORST: Final = "worst"


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Text):
    """Explanation of a flow's completion time; ``str`` formats it as text.

    Attributes
    ----------
    result : Result
        Run in which the flow was traced.
    flow : int
        Number of the flow.
    about : dict
        ``flow``, ``group`` (None if there is only one), ``source``, ``destination``,
        ``size_bytes``, ``start_s``, ``status``, ``completion_time_s`` (from the start to the
        arrival of the last byte; None if unfinished), ``ideal_s``, ``slowdown`` (None if
        unfinished) and ``explained_s``, the time that `parts` divides: the completion time, or the
        time to the end of the run; and ``held_back_s``, by cause the seconds in which the sender
        held data back. Only if there were any, ``events``: outages and changes of links that its
        packets used. Only with a schedule of circuits, ``circuits``: ``openings``, how often a
        circuit from rack to rack was open in that time, ``open_s``, how long, by the schedule, and
        ``waited_s``, the time of the parts ``circuit``.
    parts : pandas.DataFrame
        Components of that time: ``part`` (a key of `lightburst.trace.division.PARTS`), the ``node``
        at which the flow waited (missing if none), ``time_ps``, whose sum is ``explained_s`` to the
        picosecond, ``time_s`` and ``share``.
    losses : pandas.DataFrame
        One row per lost packet: ``time_s``, ``packet``, ``what`` (``data``, the ``header`` of a
        trimmed packet, ``SYN``, ``SYN+ACK``, ``ACK``, ``FIN``...), ``segment`` (from 1; missing
        without data), ``retransmission``, and as in `trace_tables.segments` ``node``, ``link``,
        ``link_source``, ``link_target``, ``reason``, ``burst``, ``holder_flow``,
        ``holder_burst``.
    timeouts : pandas.DataFrame
        Expirations of the source's timer: ``time_s``, ``what`` (``SYN``, ``data`` or ``FIN``, which
        is retransmitted), and ``false``, True if not all of the data concerned had been lost.
    retransmissions : pandas.DataFrame
        Retransmitted data: ``time_s`` of the hand-over to the interface, ``segment``, ``packet``,
        ``cause`` (``timeout``, ``fast retransmission``, ``tail loss probe`` or ``reordering
        timer``), ``spurious``, True if not all earlier copies were lost, and ``lost``, True if this
        copy was lost or trimmed.
    trimmed : pandas.DataFrame
        One row per packet whose payload a queue cut off: ``time_s``, ``packet``, ``segment``,
        ``retransmission``, ``node``, ``link``, ``link_source`` and ``link_target`` as in `losses`;
        and ``returned_s``, when its header turned back to the source (NaN if it did not).
    undone : pandas.DataFrame
        Reductions of the window that the sender undid, because the data had not been lost:
        ``time_s``, ``reduced_s``, the time of the reduction, and ``window_bytes``, the window
        afterwards.
    """

    result: Result
    flow: int
    about: dict[str, Any]
    parts: pd.DataFrame
    losses: pd.DataFrame
    timeouts: pd.DataFrame
    retransmissions: pd.DataFrame
    trimmed: pd.DataFrame
    undone: pd.DataFrame

    def as_dict(self) -> dict[str, Any]:
        """Return the explanation as JSON-compatible values."""
        tables = ("parts", "losses", "timeouts", "retransmissions", "trimmed", "undone")
        found = {name: records(getattr(self, name)) for name in tables}
        return of_run(self.result, self.about | found)

    def _lines(self) -> Iterable[str]:
        return flow_text.lines(self)


def explain(
    scenario: Scenario | str | PathLike[str],
    flow: str | int | np.integer = WORST,
    seed: int | np.integer = 1,
    *,
    simulate: Callable[..., Result] = run,
) -> Explanation:
    """Explain the completion time of a flow of a scenario.

    The scenario is run twice: once to select the flow, and once to trace it. The second run is
    bit-identical.

    Parameters
    ----------
    scenario : Scenario, str or path-like
        Scenario to simulate, or path of its file.
    flow : int or "worst"
        Number of the flow, from 0; or ``"worst"``, the flow with the largest slowdown. An
        unfinished flow is worse than any finished one; the first is taken if there are several.
    seed : int
        Seed of all random streams.
    simulate : callable, optional
        Runs a scenario with a seed; the second run receives the first result as ``before``. By
        default `lightburst.run`.

    Returns
    -------
    Explanation

    Raises
    ------
    InputError
        If there is no such flow, or the scenario cannot be run.
    """
    scenario, seed = as_scenario(scenario), check_seed(seed)
    plain = simulate(scenario.with_({"measurement.trace": []}), seed)
    if as_python(flow) == WORST:
        flow = worst_flow(plain.plan, plain.columns)
    most = plain.plan.flows["bytes"].size - 1
    allowed = f"{WORST!r}, or a whole number from 0 to {most}"
    number = whole_number("flow", flow, most, allowed)
    return follow(scenario, [number], seed, plain, simulate)[0]


def explain_several(
    scenario: Scenario,
    flows: Sequence[int],
    seed: int,
    *,
    simulate: Callable[..., Result],
) -> list[Explanation]:
    """Explain several flows as `explain` does, in two runs altogether.

    Parameters
    ----------
    scenario : Scenario
        Scenario to simulate.
    flows : sequence of int
        Numbers of existing flows.
    seed : int
        Seed of all random streams.
    simulate : callable
        As for `explain`.

    Returns
    -------
    list of Explanation
        Explanations in the order of `flows`.

    Raises
    ------
    InputError
        If the scenario cannot be run, or the traces need more memory than is available.
    """
    plain = simulate(scenario.with_({"measurement.trace": []}), seed)
    return follow(scenario, flows, seed, plain, simulate)


def follow(
    scenario: Scenario,
    flows: Sequence[int],
    seed: int,
    plain: Result,
    simulate: Callable[..., Result],
) -> list[Explanation]:
    """Explain flows of a run, ``plain``, by a second run that traces them."""
    for number in flows:
        _check_sequence(scenario.flow_groups[plain.plan.group[number]], number)
    result = simulate(scenario.with_({"measurement.trace": list(flows)}), seed, before=plain)
    assert result.digest == plain.digest, "a trace changed the run"
    return [_explained(result, number) for number in flows]


def _check_sequence(group: FlowGroup, flow: int) -> None:
    """Refuse a flow whose data goes in several sequences."""
    subflows = getattr(group.transport, "subflows", 1)
    if subflows > 1:
        allowed = (
            "1 for an explanation, which follows one sequence of data to its end; "
            f"'lightburst trace --flow {flow} --subflow 0' and others show each subflow"
        )
        raise InputError(f"{group.transport_path}.subflows", str(subflows), allowed)


def _explained(result: Result, flow: int) -> Explanation:
    trace, row = FlowTrace.of(result, flow), result.flows.iloc[flow]
    start = int(result.plan.flows["start_ps"][flow])
    end = int(result.columns["totals"]["end_ps"])
    spans = divide(trace, start, max(start, end))
    time = sum(span.end - span.begin for span in spans)
    finished = result.columns["flows"]["received_ps"][flow] != UNFINISHED
    ideal = float(row["ideal_s"])
    groups = result.plan.group_names
    transport = result.plan.transports[result.plan.group[flow]]
    held = holding(trace, spans, receive_window(transport))
    about = {
        "flow": flow,
        "group": groups[result.plan.group[flow]] if groups else None,
        "source": _plain(row["source"]),
        "destination": _plain(row["destination"]),
        "size_bytes": trace.size_bytes,
        "start_s": start * PS,
        "status": str(row["status"]),
        "completion_time_s": time * PS if finished else None,
        "ideal_s": ideal,
        "slowdown": time * PS / ideal if finished else None,
        "explained_s": time * PS,
        "held_back_s": {what: ps * PS for what, ps in held.items()},
    }
    if events := met(result.plan, trace, start, start + time):
        about["events"] = events
    if trace.slots:
        about["circuits"] = _circuits(trace, spans, start, start + time)
    totals: dict[tuple[int, int | None], int] = {}
    order = {part: place for place, part in enumerate(PARTS)}
    for span in spans:
        key = order[span.part], span.node
        totals[key] = totals.get(key, 0) + span.end - span.begin
    rows = sorted(totals.items(), key=lambda item: (item[0][0], -item[1], item[0][1] or 0))
    parts = pd.DataFrame(
        {
            "part": [list(PARTS)[place] for (place, _), _ in rows],
            "node": trace.places.nodes(_nodes([node for (_, node), _ in rows])),
            "time_ps": np.array([ps for _, ps in rows], dtype=np.int64),
        }
    )
    parts["time_s"] = parts["time_ps"] * PS
    parts["share"] = parts["time_ps"] / max(time, 1)
    return Explanation(
        result=result,
        flow=flow,
        about=about,
        parts=parts,
        losses=_losses(trace),
        timeouts=_timeouts(trace),
        retransmissions=_retransmissions(trace),
        trimmed=_trimmed(trace),
        undone=_undone(trace),
    )


def _circuits(
    trace: FlowTrace, spans: Iterable[Span], begin_ps: int, end_ps: int
) -> dict[str, Any]:
    """Return how often the direct circuit was open, and how long the flow waited for circuits."""
    open_ps = openings(trace.slots, begin_ps, end_ps)
    waits = (span.end - span.begin for span in spans if span.part in (CIRCUIT, set_up(CIRCUIT)))
    return {
        "openings": len(open_ps),
        "open_s": int((open_ps[:, 1] - open_ps[:, 0]).sum()) * PS,
        "waited_s": sum(waits) * PS,
    }


def _rows_of(trace: FlowTrace, event: int) -> tuple[Table, pd.DataFrame]:
    """Return the rows of the packets with an event, as columns and as a table for the user."""
    rows = trace.segments["event"] == event
    columns = {name: values[rows] for name, values in trace.segments.items()}
    return columns, trace_tables.segments(columns, trace.places)


def _losses(trace: FlowTrace) -> pd.DataFrame:
    lost, table = _rows_of(trace, LOST)
    trimmed = trace.segments["packet"][trace.segments["event"] == TRIMMED]
    headers = (lost["payload"] == 0) & np.isin(lost["packet"], trimmed)
    table["what"] = np.where(headers, "header", _what(lost))
    data = headers | (lost["payload"] > 0)
    table["segment"] = _segments(lost["sequence"] // trace.payload_bytes + 1, data)
    columns = (
        "time_s", "packet", "what", "segment", "retransmission", "node", "link", "link_source",
        "link_target", "reason", "burst", "holder_flow", "holder_burst",
    )  # fmt: skip
    return table[list(columns)]


def _trimmed(trace: FlowTrace) -> pd.DataFrame:
    cut, found = _rows_of(trace, TRIMMED)
    found["segment"] = cut["sequence"] // trace.payload_bytes + 1
    back, _ = _rows_of(trace, RETURNED)
    turned = pd.Series(back["time_ps"] * PS, index=back["packet"])
    found["returned_s"] = found["packet"].map(turned).astype(float)
    columns = (
        "time_s", "packet", "segment", "retransmission", "node", "link", "link_source",
        "link_target", "returned_s",
    )  # fmt: skip
    return found[list(columns)]


def _timeouts(trace: FlowTrace) -> pd.DataFrame:
    """Return the timeouts of data, SYN and FIN; the last two follow from retransmissions."""
    table = trace.segments
    own = (table["event"] == SENT) & (table["flags"] & FORWARD > 0) & (table["payload"] == 0)
    rows = [(int(time), "data") for time in trace.timeouts_ps()]
    made = dict(zip(trace.hops["packet"][::-1], trace.hops["came_ps"][::-1], strict=True))
    for flag, word in ((SYN, "SYN"), (FIN, "FIN")):
        again = table["packet"][own & (table["flags"] & flag > 0)][1:]
        rows += [(int(made[packet]), word) for packet in again]
    rows.sort()
    audit = RetransmissionAudit(trace, copies(trace))
    return pd.DataFrame(
        {
            "time_s": np.array([time for time, _ in rows], dtype=np.uint64) * PS,
            "what": [what for _, what in rows],
            "false": [audit.false_timeout(*row) for row in rows],
        }
    )


def _retransmissions(trace: FlowTrace) -> pd.DataFrame:
    made = copies(trace)
    again = [copy for copy in made if copy.cause is not None]
    audit = RetransmissionAudit(trace, made)
    return pd.DataFrame(
        {
            "time_s": np.array([copy.made_ps for copy in again], dtype=np.uint64) * PS,
            "segment": [copy.sequence // trace.payload_bytes + 1 for copy in again],
            "packet": [copy.packet for copy in again],
            "cause": [copy.cause for copy in again],
            "spurious": [audit.spurious(copy) for copy in again],
            "lost": [copy.lost_ps != NONE for copy in again],
        }
    )


def _what(table: Table) -> list[str]:
    """Return the kind of each packet: data, or the name of its control flags."""
    names = {0: "ACK", SYN: "SYN", FIN: "FIN"}
    rows = zip(table["payload"].tolist(), table["flags"].tolist(), strict=True)
    return [
        "data" if payload else names[flags & (SYN | FIN)] + answer
        for payload, flags in rows
        for answer in ["+ACK" if flags & (SYN | FIN) and not flags & FORWARD else ""]
    ]


def _nodes(numbers: Sequence[int | None]) -> NDArray[np.uint32]:
    return np.array([NOWHERE if at is None else at for at in numbers], dtype=np.uint32)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _segments(numbers: Any, data: Any) -> pd.arrays.IntegerArray:
    return pd.arrays.IntegerArray(np.where(data, numbers, 0).astype(np.uint64), ~data)


def _undone(trace: FlowTrace) -> pd.DataFrame:
    """Return the reductions undone; a reduction is the last fall of the slow-start threshold."""
    table = trace.windows
    time, threshold = table["time_ps"], table["slow_start_threshold"]
    falls = np.flatnonzero(threshold[1:] < threshold[:-1]) + 1
    rises = np.flatnonzero(table["undone"][1:] > table["undone"][:-1]) + 1
    before = falls[np.searchsorted(falls, rises) - 1] if falls.size else rises
    return pd.DataFrame(
        {
            "time_s": time[rises] * PS,
            "reduced_s": time[before] * PS,
            "window_bytes": table["congestion_window"][rises],
        }
    )

"""Single runs, packet by packet: figures 8 to 10, and the round trips of section V.A."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pandas as pd

from lightburst.papers.figure import PACKET_COLUMNS, Packets
from lightburst.papers.yu2004.grids import TIMES
from lightburst.papers.yu2004.points import (
    LOW,
    NAMES,
    NS2_WORDS,
    PAPER_SENDERS,
    RENO,
    RFC_RENO,
    RFC_WORDS,
    TABLES,
    Point,
    assembly_time,
    base,
    seconds,
)
from lightburst.papers.yu2004.published import FAMILIES
from lightburst.papers.yu2004.theory import ROUND_TRIPS
from lightburst.simulate import run
from lightburst.trace import FlowTrace, repairs, series, tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lightburst.papers.yu2004.points import Sender
    from lightburst.scenario import Scenario

MODULO: Final = 60
# "W_m varies from 20 to 200", and figure 8(b) is at "the maximal limit of 200".
WINDOW_LIMIT: Final = 200
# A window below the limit is met in congestion avoidance, after a loss in the first slow start; it
# grows by a segment a round trip, of half a second at S = 25.
_SEARCHED_S: Final = 60.0
# What was acknowledged so long after the loss is compared, and so long it is drawn.
AFTER_S: Final = 10.0
_DRAWN_S: Final = 6.0
# "Medium-high" and "medium-low": the middle two columns of the tables.
MEDIUM_HIGH: Final = 10**-1.5
MEDIUM_LOW: Final = 10**-2
# The paper's axis ends after 40 s; what is counted needs more.
SHOWN_S: Final = 40.0
RANDOM_S: Final = 5000.0
# How long the round trip at 1.25 kB/s is measured.
ROUND_TRIP_S: Final = 1e5
PACKETS: Final = "trace_packets"
OUTCOMES: Final = "trace_outcomes"
LOSSES: Final = "trace_losses"
PROGRESS: Final = "trace_progress"
# Senders that figure 8 may mean, the end of the claims' names, and who claims it.
RENOS: Final = (
    (RENO, "", "paper"),
    (RENO._replace(bug_fix=False), "-no-bug-fix", "paper, with Reno without bug_fix"),
    (RFC_RENO, *FAMILIES[1][1:]),
)
# How the senders of a panel differ, by the end of the figure's name.
RENO_WORDS: Final = {"": "", "-no-bug-fix": ", without bug_fix", "-rfc": ", sender of the RFCs"}
WORDS: Final = {"": "", "-rfc": ", senders of the RFCs"}


class Case(NamedTuple):
    """One run to be traced.

    Parameters
    ----------
    figure : str
        Figure that shows it: ``"fig9b"``; nothing for none.
    panel : str
        Diagram of the figure: the sender, and how it differs.
    part : str
        Part of the paper that needs it.
    point : Point
        The scenario.
    window : int
        Congestion window at which a full burst is lost, in segments; 0 for losses by chance.
    length_s : float
        Simulated seconds; for an ordered loss, those after it.
    """

    figure: str
    panel: str
    part: str
    point: Point
    window: int
    length_s: float


def cases(parts: Sequence[str]) -> Iterator[Case]:
    """List the runs that some parts need, in the order of the figures."""
    for case in _all():
        if case.part in parts:
            yield case


def _all() -> Iterator[Case]:
    for p, _ in ROUND_TRIPS:
        point = Point(LOW, min(TIMES[LOW]), p)
        yield Case("", f"p = {p:g}", "fig7", point, 0, ROUND_TRIP_S)
    for reno, suffix, _ in RENOS:
        for letter, window in (("a", 20), ("b", 200)):
            panel = f"({letter}) Reno, W = {window}{RENO_WORDS[suffix]}"
            yield _scripted(f"fig8{letter}{suffix}", panel, "fig8", reno, 5, window)
    for senders, suffix, _ in FAMILIES:
        for letter, burst in (("a", 5), ("b", 25)):
            for sender in reversed(senders):
                panel = f"{NAMES[sender]}{WORDS[suffix]}"
                yield _scripted(f"fig9{letter}{suffix}", panel, "fig9", sender, burst, 40)
    for letter, p in (("a", MEDIUM_HIGH), ("b", MEDIUM_LOW)):
        for sender in reversed(PAPER_SENDERS):
            point = Point(TABLES, assembly_time(TABLES, 5), p).by(sender)
            yield Case(f"fig10{letter}", NAMES[sender], "fig10", point, 0, RANDOM_S)


def _scripted(figure: str, panel: str, part: str, sender: Sender, burst: int, window: int) -> Case:
    """One lost burst of S segments at 125 kB/s."""
    point = Point(TABLES, assembly_time(TABLES, burst), 0.0).by(sender)
    return Case(figure, panel, part, point._replace(window=WINDOW_LIMIT), window, 2 * AFTER_S)


def record(parts: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Run and trace what some parts need.

    Parameters
    ----------
    parts : sequence of str
        Parts of the paper.

    Returns
    -------
    dict of str to DataFrame
        ``trace_packets``: ``figure``, ``panel``, ``kind``, ``time_s``, ``packet``;
        ``trace_outcomes``: one row for each run, see `outcome`; of runs with losses by chance
        ``trace_losses`` and ``trace_progress``, as `lightburst.trace.repairs` gives them. Nothing
        where nothing is needed.
    """
    packets, outcomes = [], []
    by_chance: dict[str, list[pd.DataFrame]] = {LOSSES: [], PROGRESS: []}
    for case in cases(parts):
        trace, lost = _traced(case)
        outcomes.append(outcome(case, trace, lost))
        if case.figure:
            packets.append(_shown(case, trace, outcomes[-1]))
        if case.figure and not case.window:
            for name, table in (
                (LOSSES, repairs.losses(trace)),
                (PROGRESS, repairs.progress(trace, SHOWN_S, RANDOM_S)),
            ):
                by_chance[name].append(table.assign(figure=case.figure, panel=case.panel))
    found = {name: pd.concat(rows, ignore_index=True) for name, rows in by_chance.items() if rows}
    if packets:
        table = pd.concat(packets, ignore_index=True)
        found[PACKETS] = table.assign(kind=table["kind"].astype(str))
    if outcomes:
        found[OUTCOMES] = pd.DataFrame(outcomes)
    return found


def _shown(case: Case, trace: FlowTrace, summed_up: Mapping[str, Any]) -> pd.DataFrame:
    """Give the packets that the figure shows; their times count from the ordered loss, if any."""
    packets = series.packet_trace(trace, MODULO)
    first, last = 0.0, SHOWN_S
    if case.window:
        packets["time_s"] -= summed_up["lost_at_s"]
        first, last = -0.5, _DRAWN_S
    packets = packets[packets["time_s"].between(first, last)]
    return packets.assign(figure=case.figure, panel=case.panel)


def _traced(case: Case) -> tuple[FlowTrace, int | None]:
    """Run a case; give its trace, and which burst was lost by order."""
    scenario = base().with_(case.point.settings())
    if not case.window:
        return _run(scenario, [], case.length_s), None
    # The loss that ends the first slow start, below the window that is wanted.
    first = [{"window": case.window // 2}] if case.window < WINDOW_LIMIT else []
    calm = _run(scenario, first, _SEARCHED_S)
    since, bursts = _ready_s(case, calm), tables.bursts(calm)
    data = bursts[bursts["data"]].reset_index(drop=True)
    full = data["packets"] == round(case.point.segments_per_burst)
    number = int(data.index[full & (data["opened_s"] >= since)][0]) + 1
    at = float(data["departure_s"][number - 1])
    return _run(scenario, [*first, {"burst": number}], at + case.length_s), number


def _ready_s(case: Case, calm: FlowTrace) -> float:
    """Say from when on the burst may be lost.

    Below the limit of the window: once it is as large as wanted, in congestion avoidance. At the
    limit: once the round trip stands still as well. The first slow start leads there, in which the
    timer knows only round trips without the queue that its last windows make: it would expire while
    the fast retransmission still waits at the access link.
    """
    windows = tables.windows(calm)
    ready = windows["congestion_window_bytes"] >= case.window * calm.payload_bytes
    if case.window < WINDOW_LIMIT:
        ready &= windows["state"] == "congestion avoidance"
    else:
        ready &= windows["rtt_s"] == windows["rtt_s"].iloc[-1]
    return float(windows.loc[ready, "time_s"].iloc[0])


def _run(scenario: Scenario, drops: list[dict[str, int]], length_s: float) -> FlowTrace:
    changes = {"measurement.time_limit": seconds(length_s), "measurement.trace": [0]}
    return FlowTrace.of(run(scenario.with_({**changes, "loss.drops": drops}), seed=1), 0)


def outcome(case: Case, trace: FlowTrace, number: int | None) -> dict[str, Any]:
    """Sum up one traced run: `summary`, and of a burst that was lost by order `after_loss`."""
    row: dict[str, Any] = {
        "figure": case.figure,
        "panel": case.panel,
        "part": case.part,
        "p": case.point.p,
    }
    row |= repairs.summary(trace)
    if number is None:
        return row
    row |= repairs.after_loss(trace, number, AFTER_S)
    return row | {"window": min(row["window"], float(case.point.window))}


_TITLES: Final = {
    "fig8a": "Figure 8(a): Reno, one lost burst of S = 5 at W = 20",
    "fig8b": "Figure 8(b): Reno, one lost burst of S = 5 at W = 200",
    "fig9a": "Figure 9(a): one lost burst of S = 5 at W = 40",
    "fig9b": "Figure 9(b): one lost burst of S = 25 at W = 40",
    "fig10a": "Figure 10(a): random losses, medium-high: p = 10^-1.5, S = 5",
    "fig10b": "Figure 10(b): random losses, medium-low: p = 10^-2, S = 5",
}

# See `_ready_s`: below the limit of the window, and at it.
_READY: Final = (
    "in congestion avoidance",
    "and the sender's samples of the round trip stand still",
)


def figures(
    parts: Sequence[str], recorded: Mapping[str, pd.DataFrame], version: str
) -> list[Packets]:
    """Draw up figures 8 to 10 from what `record` gave.

    They are with the senders of ns-2, and for figures 8 and 9 with those of the RFCs, too.
    """
    if PACKETS not in recorded:
        return []
    groups = recorded[PACKETS].groupby("figure", sort=False)
    outcomes = recorded[OUTCOMES]
    return [
        _figure(str(id), rows, outcomes[outcomes["figure"] == id], version) for id, rows in groups
    ]


def _senders(id: str) -> str:
    if id.endswith("-no-bug-fix"):
        return "Sender of ns-2, without bug_fix."
    return RFC_WORDS if id.endswith("-rfc") else NS2_WORDS


def _figure(id: str, rows: pd.DataFrame, outcomes: pd.DataFrame, version: str) -> Packets:
    scripted = id.startswith(("fig8", "fig9"))
    marks = (
        (str(run["panel"]), float(run["timeout_after_s"]), "timeout")
        for run in outcomes.to_dict("records")
        if scripted and math.isfinite(run["timeout_after_s"])
    )
    origin = (
        f"W_m = {WINDOW_LIMIT}. Lost is the first full burst opened after the window has reached W "
        f"{_READY[id.startswith('fig8b')]}; the time counts from its departure, a line marks the "
        "first timeout after it."
        if scripted
        else "W_m = 50."
    )
    return Packets(
        id=id,
        title=next(title for name, title in _TITLES.items() if id.startswith(name)),
        caption="One dot for each packet with data: departure of its burst from the edge against "
        f"its number modulo {MODULO}. Access bandwidth 125 kB/s, segments of 1 kB, 0.1 s there and "
        f"back without assembly, minimum timeout 0.2 s. {_senders(id)} {origin} One run, seed 1. "
        f"lightburst {version}.",
        x_label="Departure of the burst (s)",
        y_label=f"Packet mod {MODULO}",
        panels=tuple(dict.fromkeys(rows["panel"])),
        kinds=series.KINDS,
        data=rows[list(PACKET_COLUMNS)].reset_index(drop=True),
        marks=tuple(marks),
    )

"""Single runs of a paper, packet by packet: recording and figures."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pandas as pd

from lightburst.papers.design import seconds
from lightburst.papers.figure import Packets
from lightburst.simulation.simulate import run
from lightburst.trace import FlowTrace, repairs, series, tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from lightburst.scenario import Scenario

PACKETS: Final = "trace_packets"
OUTCOMES: Final = "trace_outcomes"
LOSSES: Final = "trace_losses"
PROGRESS: Final = "trace_progress"


class Ordered(NamedTuple):
    """Ordered loss: the first full burst once the congestion window has reached a given size.

    Parameters
    ----------
    window, limit : int
        Required congestion window and its largest possible value, in segments. A window below the
        limit must be reached in congestion avoidance, after a loss in the first slow start. At the
        limit, the round-trip time must also have settled. The first slow start leads to the limit
        directly; the retransmission timer then knows only round trips without the queue that the
        last windows build, and would expire while the fast retransmission still waits at the access
        link.
    burst : int
        Segments of a full burst.
    """

    window: int
    limit: int
    burst: int


class Case(NamedTuple):
    """One run to be traced.

    Parameters
    ----------
    figure : str
        Figure that shows the run, such as ``"fig9b"``; empty for none.
    panel : str
        Diagram within the figure: the sender and its variant.
    part : str
        Part of the paper that needs the run.
    scenario : Scenario
        Scenario of the run.
    length_s : float
        Simulated seconds; with an ordered loss, seconds after it.
    p : float
        Loss probability, used as a label.
    lost : Ordered, optional
        The ordered loss; None for random losses.
    """

    figure: str
    panel: str
    part: str
    scenario: Scenario
    length_s: float
    p: float
    lost: Ordered | None = None


@dataclass(frozen=True)
class Recorder:
    """Selection, tracing and drawing of single runs; times in simulated seconds.

    Parameters
    ----------
    cases : callable
        Returns the runs, in the order of the figures.
    title, caption : callable
        Return title and caption of a figure by its name; the caption describes its specifics.
    modulo : int
        Packet numbers are drawn modulo this value.
    searched_s : float
        Length of the run that searches for the window required by an ordered loss.
    after_s, drawn_s : float
        Time after an ordered loss over which acknowledged data is counted, and packets are drawn.
    shown_s : float
        Drawn length of a run with random losses, and interval in which its progress is counted.
    """

    cases: Callable[[], Iterable[Case]]
    title: Callable[[str], str]
    caption: Callable[[str], str]
    modulo: int
    searched_s: float
    after_s: float
    drawn_s: float
    shown_s: float

    def record(self, parts: Sequence[str]) -> dict[str, pd.DataFrame]:
        """Run and trace the cases that some parts need.

        Returns
        -------
        dict of str to DataFrame
            ``trace_packets``: ``figure``, ``panel``, ``kind``, ``time_s``, ``packet``;
            ``trace_outcomes``: one row per run, see `outcome`; for runs with random losses also
            ``trace_losses`` and ``trace_progress``, see `lightburst.trace.repairs`. Empty if no run
            is needed.
        """
        found: dict[str, list[pd.DataFrame]] = {}
        outcomes = []
        for case in (case for case in self.cases() if case.part in parts):
            trace, number = self._traced(case)
            outcomes.append(self.outcome(case, trace, number))
            if not case.figure:
                continue
            shown = {PACKETS: self._shown(trace, outcomes[-1].get("lost_at_s"))}
            if case.lost is None:
                shown[LOSSES] = repairs.losses(trace)
                shown[PROGRESS] = repairs.progress(trace, self.shown_s, case.length_s)
            for name, table in shown.items():
                labelled = table.assign(figure=case.figure, panel=case.panel)
                found.setdefault(name, []).append(labelled)
        joined = {name: pd.concat(rows, ignore_index=True) for name, rows in found.items()}
        if PACKETS in joined:
            joined[PACKETS]["kind"] = joined[PACKETS]["kind"].astype(str)
        return joined | ({OUTCOMES: pd.DataFrame(outcomes)} if outcomes else {})

    def outcome(self, case: Case, trace: FlowTrace, number: int | None) -> dict[str, Any]:
        """Summarise one run: `repairs.summary`, and `repairs.after_loss` of an ordered loss."""
        labels: dict[str, Any] = {
            "figure": case.figure,
            "panel": case.panel,
            "part": case.part,
            "p": case.p,
        }
        row = {**labels, **repairs.summary(trace)}
        if case.lost is None or number is None:
            return row
        row |= repairs.after_loss(trace, number, self.after_s)
        return row | {"window": min(row["window"], float(case.lost.limit))}

    def _shown(self, trace: FlowTrace, lost_at_s: float | None) -> pd.DataFrame:
        """Select the packets to be drawn; with an ordered loss, times count from its departure."""
        packets = series.packet_trace(trace, self.modulo)
        if lost_at_s is None:
            return packets[packets["time_s"].between(0.0, self.shown_s)]
        packets["time_s"] -= lost_at_s
        return packets[packets["time_s"].between(-0.5, self.drawn_s)]

    def _traced(self, case: Case) -> tuple[FlowTrace, int | None]:
        """Run a case; return its trace and the number of the burst lost by order."""
        if case.lost is None:
            return _run(case.scenario, [], case.length_s), None
        window, limit, burst = case.lost
        # Loss that ends the first slow start, below the required window.
        first = [{"window": window // 2}] if window < limit else []
        calm = _run(case.scenario, first, self.searched_s)
        since, bursts = _ready_s(case.lost, calm), tables.bursts(calm)
        data = bursts[bursts["data"]].reset_index(drop=True)
        full = data["packets"] == burst
        number = int(data.index[full & (data["opened_s"] >= since)][0]) + 1
        at = float(data["departure_s"][number - 1])
        drops = [*first, {"burst": number}]
        return _run(case.scenario, drops, at + case.length_s), number

    def figures(
        self, parts: Sequence[str], recorded: Mapping[str, pd.DataFrame], version: str
    ) -> list[Packets]:
        """Build diagrams of the recorded packets; a line marks the first timeout after the loss."""
        if PACKETS not in recorded:
            return []
        found = []
        for figure, rows in recorded[PACKETS].groupby("figure", sort=False):
            id = str(figure)
            outcomes = recorded[OUTCOMES][recorded[OUTCOMES]["figure"] == id]
            times: Mapping[str, float] = dict(
                zip(outcomes["panel"], outcomes.get("timeout_after_s", ()), strict=False)
            )
            found.append(
                Packets.of(
                    rows,
                    id=id,
                    title=self.title(id),
                    caption="One dot for each packet with data: departure of its burst from the "
                    f"edge against its number modulo {self.modulo}. {self.caption(id)} One run, "
                    f"seed 1. lightburst {version}.",
                    x_label="Departure of the burst (s)",
                    y_label=f"Packet mod {self.modulo}",
                    kinds=series.KINDS,
                    marks=tuple(
                        (str(panel), float(time), "timeout")
                        for panel, time in times.items()
                        if math.isfinite(time)
                    ),
                )
            )
        return found


def _ready_s(lost: Ordered, calm: FlowTrace) -> float:
    """Find the earliest time at which the ordered loss may occur."""
    windows = tables.windows(calm)
    ready = windows["congestion_window_bytes"] >= lost.window * calm.payload_bytes
    if lost.window < lost.limit:
        ready &= windows["state"] == "congestion avoidance"
    else:
        ready &= windows["rtt_s"] == windows["rtt_s"].iloc[-1]
    return float(windows.loc[ready, "time_s"].iloc[0])


def _run(scenario: Scenario, drops: list[dict[str, int]], length_s: float) -> FlowTrace:
    changes = {"measurement.time_limit": seconds(length_s), "measurement.trace": [0]}
    return FlowTrace.of(run(scenario.with_({**changes, "loss.drops": drops}), seed=1), 0)

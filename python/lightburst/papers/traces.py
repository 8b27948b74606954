"""Single runs of a paper, packet by packet: what is recorded of them, and drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pandas as pd

from lightburst.papers.design import seconds
from lightburst.papers.figure import Packets
from lightburst.simulate import run
from lightburst.trace import FlowTrace, repairs, series, tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from lightburst.scenario import Scenario

PACKETS: Final = "trace_packets"
OUTCOMES: Final = "trace_outcomes"
LOSSES: Final = "trace_losses"
PROGRESS: Final = "trace_progress"


class Ordered(NamedTuple):
    """A burst that is to be lost: the first full one once the window is as large as wanted.

    Parameters
    ----------
    window, limit : int
        The congestion window then, and the largest there can be, in segments. Below the limit it
        is met in congestion avoidance, after a loss in the first slow start; at the limit once the
        round trip stands still as well. The first slow start leads there, in which the timer knows
        only round trips without the queue that its last windows make: it would expire while the
        fast retransmission still waits at the access link.
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
        Figure that shows it: ``"fig9b"``; nothing for none.
    panel : str
        Diagram of the figure: the sender, and how it differs.
    part : str
        Part of the paper that needs it.
    scenario : Scenario
        What is run.
    length_s : float
        Simulated seconds; for an ordered loss, those after it.
    p : float
        Loss probability, a label.
    lost : Ordered, optional
        What is lost by order; None for losses by chance.
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
    """Which runs are traced, and how they are drawn; times in simulated seconds.

    Parameters
    ----------
    cases : callable
        Lists the runs, in the order of the figures.
    title, caption : callable
        Those of a figure, by its name; the caption says what is special about it.
    modulo : int
        Packets are drawn by their number modulo this.
    searched_s : float
        How long the window that is wanted for an ordered loss is looked for.
    after_s, drawn_s : float
        How long after an ordered loss what is acknowledged is counted, and the packets are drawn.
    shown_s : float
        How long a run with losses by chance is drawn; its progress is counted by as much.
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
        """Run and trace what some parts need.

        Returns
        -------
        dict of str to DataFrame
            ``trace_packets``: ``figure``, ``panel``, ``kind``, ``time_s``, ``packet``;
            ``trace_outcomes``: one row for each run, see `outcome`; of runs with losses by chance
            ``trace_losses`` and ``trace_progress``, as `lightburst.trace.repairs` gives them.
            Nothing where nothing is needed.
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
        """Sum up one run: `repairs.summary`, and `repairs.after_loss` of a burst lost by order."""
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
        """Give the packets that are drawn; their times count from the ordered loss, if any."""
        packets = series.packet_trace(trace, self.modulo)
        if lost_at_s is None:
            return packets[packets["time_s"].between(0.0, self.shown_s)]
        packets["time_s"] -= lost_at_s
        return packets[packets["time_s"].between(-0.5, self.drawn_s)]

    def _traced(self, case: Case) -> tuple[FlowTrace, int | None]:
        """Run a case; give its trace, and which burst was lost by order."""
        if case.lost is None:
            return _run(case.scenario, [], case.length_s), None
        window, limit, burst = case.lost
        # The loss that ends the first slow start, below the window that is wanted.
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
        """Draw the recorded packets up; a line marks the first timeout after an ordered loss."""
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
    """Say from when on the burst may be lost."""
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

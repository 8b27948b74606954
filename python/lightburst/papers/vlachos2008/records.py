"""Single runs: one large flow for each assembly time, what bursts hold, and flows in step."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from lightburst.compile import compile_plan
from lightburst.papers.claims import Claim, exact
from lightburst.papers.curves import at_least
from lightburst.papers.figure import PACKET_COLUMNS, Figure, Packets
from lightburst.papers.vlachos2008.design import BURSTIFIER, QUEUES, TIMES, along
from lightburst.papers.vlachos2008.points import Point, base
from lightburst.papers.vlachos2008.sheet import SHEET
from lightburst.simulate import simulate
from lightburst.trace import FlowTrace, series

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lightburst.result import Result
    from lightburst.scenario import Scenario

# The flow that is traced: the first that begins after the warm-up and is so large, which is the
# same one whatever the assembly.
_LARGE: Final = 10_000_000
_TRACED: Final = Point(measured=8.0)
# How long the aggregate of long flows is drawn, and after how long.
_DRAWN_S: Final = 20.0
_TOGETHER: Final = BURSTIFIER._replace(measured=2 * _DRAWN_S)
#: The slides measure in time units of 13 ms.
_BIN_PS: Final = 13 * 10**9
#: A window is called high from here on, in segments: C of the slides' best case.
HIGH: Final = 64

BINS: Final = "bins"
PROGRESS: Final = "progress"
AGGREGATE: Final = "aggregate"
DISTRIBUTIONS: Final = "distributions"


def record(parts: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Run what some parts show of single runs.

    Returns
    -------
    dict of str to DataFrame
        Of each assembly time, for ``traces``, ``segments`` and ``bursts``: ``bins`` (``panel``,
        ``time_s`` since the start of the flow, ``window_segments``, ``throughput_bps``),
        ``progress`` (``panel``, ``time_s``, ``segments`` acknowledged at the end of each time
        unit) and ``distributions`` (``panel``, ``counted``, ``number``, ``bursts``: how many bursts
        or flows have that number). For ``synchronisation``: ``aggregate`` (``panel``, ``time_s``,
        ``window_segments``, ``throughput_bps``).
    """
    found: dict[str, list[pd.DataFrame]] = {}
    if not {"traces", "segments", "bursts"}.isdisjoint(parts):
        for point in along(TIMES, _TRACED).values():
            for name, table in _looked_into(point).items():
                found.setdefault(name, []).append(table.assign(panel=point.words))
    if "synchronisation" in parts:
        found[AGGREGATE] = [_together(_TOGETHER._replace(queues=queues)) for queues in QUEUES]
    return {name: pd.concat(each, ignore_index=True) for name, each in found.items()}


def _looked_into(point: Point) -> dict[str, pd.DataFrame]:
    scenario = base().with_(point.settings())
    flow = _large_flow(scenario)
    result = simulate(scenario.with_(measurement__trace=[flow]), 1)
    trace = FlowTrace.of(result, flow)
    begin = float(result.flows["start_s"].iloc[flow])
    bins, heard = series.bins(trace, _BIN_PS), series.acknowledgements(trace)
    bins, heard = (table.assign(time_s=table["time_s"] - begin) for table in (bins, heard))
    last = heard.groupby(heard["time_s"] // (_BIN_PS * 1e-12)).tail(1)
    return {
        BINS: bins[bins["time_s"] > 0],
        PROGRESS: last.rename(columns={"segment": "segments"}),
        DISTRIBUTIONS: _counted(result),
    }


def _large_flow(scenario: Scenario) -> int:
    """Find the first flow of seed 1 that counts and is large; the assembly changes no flow."""
    plan = compile_plan(scenario, 1)
    (large,) = np.nonzero(plan.counted & (plan.flows["bytes"] >= _LARGE))
    return int(large[0])


def _counted(result: Result) -> pd.DataFrame:
    """Give how many bursts hold so many segments or flows, and flows need so many bursts."""
    made = result.bursts[result.bursts["fate"] == "made"]
    flows = result.flows[result.flows["counted"] & result.flows["throughput_bps"].notna()]
    found = [made[["counted", "number", "bursts"]].astype({"counted": str})]
    for name in ("bursts", "bursts_lost"):
        counts = flows[name].value_counts()
        columns = {"counted": name, "number": counts.index, "bursts": counts.to_numpy()}
        found.append(pd.DataFrame(columns))
    return pd.concat(found, ignore_index=True)


def _together(point: Point) -> pd.DataFrame:
    """Give what long flows have together, bin by bin."""
    settings = {**point.settings(), "measurement.synchronisation.series": True}
    table = simulate(base().with_(settings), 1).synchronisation
    table = table.assign(time_s=table["time_s"] - (table["time_s"].max() - _DRAWN_S))
    columns = ["time_s", "window_segments", "throughput_bps"]
    return table.loc[table["time_s"] >= 0, columns].assign(panel=point.words)


def figures(
    parts: Sequence[str], recorded: Mapping[str, pd.DataFrame], version: str
) -> list[Figure | Packets]:
    """Draw up what `record` gave."""
    found: list[Figure | Packets] = []
    if BINS in recorded and "traces" in parts:
        found += _of_one_flow(recorded, version)
    if AGGREGATE in recorded:
        found += _of_all_flows(recorded[AGGREGATE], version)
    if DISTRIBUTIONS in recorded:
        found += _of_bursts(parts, recorded[DISTRIBUTIONS], version)
    return found


def _of_one_flow(recorded: Mapping[str, pd.DataFrame], version: str) -> Iterator[Packets]:
    words = (
        f"The first flow of at least {_LARGE / 1e6:g} MB that begins after the warm-up, the same "
        "one for each assembly time, on NSFNET with all others; one dot for each time unit of "
        f"13 ms. Seed 1. lightburst {version}."
    )
    bins, progress = recorded[BINS], recorded[PROGRESS]
    for id, said, label, table, values in (
        ("window", "congestion window", "1,000 segments", bins, bins["window_segments"] / 1e3),
        ("efficient", "throughput", "Mb/s", bins, bins["throughput_bps"] / 1e6),
        (
            "sequence",
            "acknowledged segments",
            "1,000 segments",
            progress,
            progress["segments"] / 1e3,
        ),
    ):
        yield _dots(
            table.assign(packet=values),
            said,
            id=f"trace-{id}",
            title=f"{said.capitalize()} of one flow",
            caption=words,
            x_label="Time since the flow began (s)",
            y_label=label,
        )


def _of_all_flows(table: pd.DataFrame, version: str) -> Iterator[Packets]:
    words = (
        f"{BURSTIFIER.long_flows} flows without end through one burstifier, T = 5 ms, loss of a "
        f"burst p = {BURSTIFIER.p:g}; time units of 13 ms. With one queue a lost burst hits all "
        "whose segments it held, with a queue for each flow one alone. Seed 1. "
        f"lightburst {version}."
    )
    for id, column, unit, title, label in (
        (
            "window",
            "window_segments",
            1e3,
            "Congestion windows of all flows together",
            "1,000 segments",
        ),
        ("throughput", "throughput_bps", 1e6, "Throughput of all flows together", "Mb/s"),
    ):
        yield _dots(
            table.assign(packet=table[column] / unit),
            "all flows",
            alike=True,
            id=f"aggregate-{id}",
            title=title,
            caption=words,
            x_label="Time (s)",
            y_label=label,
        )


def _of_bursts(parts: Sequence[str], table: pd.DataFrame, version: str) -> Iterator[Figure]:
    """Draw the shares up that have at least so many, of bursts with data and of flows."""
    words = (
        f"NSFNET, sizes {_TRACED.sizes}; bursts that are made, and flows that begin, in "
        f"{_TRACED.measured:g} s. Seed 1. lightburst {version}."
    )
    for part, counted, what, least in (
        ("segments", "segments", "Segments in a burst with data", 1),
        ("segments", "flows", "Flows with data in a burst", 1),
        ("bursts", "bursts", "Bursts with data of a flow", 1),
        ("bursts", "bursts_lost", "Lost bursts of a flow", 0),
    ):
        if part not in parts:
            continue
        rows = table[(table["counted"] == counted) & (table["number"] >= least)]
        curves = {
            (str(panel), "seed 1"): {
                number: exact(share)
                for number, share in at_least(own["number"], own["bursts"]).items()
            }
            for panel, own in rows.groupby("panel")
        }
        yield Figure.of(
            {
                (point.words, "seed 1"): curves[point.words, "seed 1"]
                for point in along(TIMES).values()
            },
            id=f"distribution-{counted.replace('_', '-')}",
            title=what,
            caption=words,
            x_label=what,
            y_label="Share with at least so many",
            x_log=least > 0,
            y_log=True,
            legends=("Assembly", ""),
            ordered=True,
            steps="pre",
            intervals="none",
        )


def _dots(table: pd.DataFrame, kind: str, **words: Any) -> Packets:
    data = table.assign(kind=kind)[list(PACKET_COLUMNS)]
    panels = tuple(dict.fromkeys(data["panel"]))
    return Packets(panels=panels, kinds=(kind,), data=data, **words)


def claims(parts: Sequence[str], recorded: Mapping[str, pd.DataFrame]) -> list[Claim]:
    """Judge what the slides show of one flow, from what `record` gave."""
    if "traces" not in parts or BINS not in recorded:
        return []
    short, *_, long = (point.words for point in along(TIMES, _TRACED).values())
    bins, progress = (
        {str(panel): rows for panel, rows in recorded[name].groupby("panel", sort=False)}
        for name in (BINS, PROGRESS)
    )
    risen = {panel: _reached_s(rows) for panel, rows in bins.items()}
    rates = {
        panel: float(rows["segments"].max() / rows["time_s"].max())
        for panel, rows in progress.items()
    }
    told = "; ".join(f"{panel}: {x:.3g} segments/s" for panel, x in rates.items())
    sheet = SHEET.told(segments=HIGH, told=told)
    return [
        sheet.judge("trace-rises", exact(risen[long] / risen[short])),
        sheet.judge("trace-long-term", exact(rates[short] / rates[long])),
    ]


def _reached_s(bins: pd.DataFrame) -> float:
    """How long a flow takes until its window is `HIGH`; NaN if it never is."""
    high = bins.loc[bins["window_segments"] >= HIGH, "time_s"]
    return float(high.min()) if len(high) else math.nan

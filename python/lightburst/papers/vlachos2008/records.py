"""Single runs: a large flow at each assembly time, contents of bursts, synchronised flows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from lightburst.compile import compile_plan
from lightburst.papers.claims import Claim, exact
from lightburst.papers.curves import at_least
from lightburst.papers.design import grid
from lightburst.papers.figure import Figure, Packets
from lightburst.papers.vlachos2008.claims import SHEET
from lightburst.papers.vlachos2008.design import BEST, BURSTIFIER, TIMES, queued
from lightburst.papers.vlachos2008.points import Point, base
from lightburst.simulation.simulate import simulate
from lightburst.trace import FlowTrace, series

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lightburst.result.result import Result

# Traced flow: the first with at least `_LARGE` bytes that begins after the warm-up. It is the same
# for all assemblies.
_LARGE: Final = 10_000_000
_TRACED: Final = grid(Point, time=TIMES, measured=[8.0])
# Drawn length of the aggregate of long flows.
_DRAWN_S: Final = 20.0
_TOGETHER: Final = BURSTIFIER._replace(measured=2 * _DRAWN_S)
#: The slides measure in time units of 13 ms.
_BIN_PS: Final = 13 * 10**9

BINS: Final = "bins"
PROGRESS: Final = "progress"
AGGREGATE: Final = "aggregate"
DISTRIBUTIONS: Final = "distributions"

_ONE_FLOW: Final = (
    f"The first flow of at least {_LARGE / 1e6:g} MB that begins after the warm-up, the same one "
    "for each assembly time, on NSFNET with all others; one dot for each time unit of 13 ms."
)
_ALL_FLOWS: Final = (
    f"{BURSTIFIER.long_flows} flows without end through one burstifier, T = 5 ms, loss of a burst "
    f"p = {BURSTIFIER.p:g}; time units of 13 ms. With one queue a lost burst hits all whose "
    "segments it held, with a queue for each flow one alone."
)
# Figures of dots over time: id, title, table and column.
_DOTS: Final = (
    ("trace-window", "Congestion window", BINS, "window_segments"),
    ("trace-efficient", "Throughput", BINS, "throughput_bps"),
    ("trace-sequence", "Acknowledged segments", PROGRESS, "segments"),
    ("aggregate-window", "Congestion windows", AGGREGATE, "window_segments"),
    ("aggregate-throughput", "Throughput", AGGREGATE, "throughput_bps"),
)
# Figures of distributions: part, counted quantity, its words, and smallest number shown.
_SHARES: Final = (
    ("segments", "segments", "Segments in a burst with data", 1),
    ("segments", "flows", "Flows with data in a burst", 1),
    ("bursts", "bursts", "Bursts with data of a flow", 1),
    ("bursts", "bursts_lost", "Lost bursts of a flow", 0),
)


def record(parts: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Run and record the single runs that some parts show.

    Returns
    -------
    dict of str to DataFrame
        For ``traces``, ``segments`` and ``bursts``, at each assembly time: ``bins`` (``panel``,
        ``time_s`` since the start of the flow, ``window_segments``, ``throughput_bps``),
        ``progress`` (``panel``, ``time_s``, ``segments`` acknowledged at the end of each time unit)
        and ``distributions`` (``panel``, ``counted``, ``number``, ``bursts``: number of bursts or
        flows with that count). For ``synchronisation``: ``aggregate`` (``panel``, ``time_s``,
        ``window_segments``, ``throughput_bps``).
    """
    found: dict[str, list[pd.DataFrame]] = {}
    if not {"traces", "segments", "bursts"}.isdisjoint(parts):
        for point in _TRACED:
            for name, table in _looked_into(point).items():
                found.setdefault(name, []).append(table.assign(panel=point.words))
    if "synchronisation" in parts:
        found[AGGREGATE] = [_together(point) for point in queued(_TOGETHER).values()]
    return {name: pd.concat(each, ignore_index=True) for name, each in found.items()}


def _looked_into(point: Point) -> dict[str, pd.DataFrame]:
    scenario = base().with_(point.settings())
    plan = compile_plan(scenario, 1)
    flow = int(np.flatnonzero(plan.counted & (plan.flows["bytes"] >= _LARGE))[0])
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


def _counted(result: Result) -> pd.DataFrame:
    """Count bursts by the segments or flows in them, and flows by their bursts and lost bursts."""
    made = result.bursts[result.bursts["fate"] == "made"]
    flows = result.flows[result.flows["counted"] & result.flows["throughput_bps"].notna()]
    found = [made[["counted", "number", "bursts"]].astype({"counted": str})]
    for name in ("bursts", "bursts_lost"):
        counts = flows[name].value_counts()
        columns = {"counted": name, "number": counts.index, "bursts": counts.to_numpy()}
        found.append(pd.DataFrame(columns))
    return pd.concat(found, ignore_index=True)


def _together(point: Point) -> pd.DataFrame:
    """Return aggregate window and throughput of long flows, bin by bin."""
    settings = {**point.settings(), "measurement.synchronisation.series": True}
    table = simulate(base().with_(settings), 1).synchronisation
    table = table.assign(time_s=table["time_s"] - (table["time_s"].max() - _DRAWN_S))
    columns = ["time_s", "window_segments", "throughput_bps"]
    return table.loc[table["time_s"] >= 0, columns].assign(panel=point.words)


def figures(
    parts: Sequence[str], recorded: Mapping[str, pd.DataFrame], version: str
) -> Iterator[Figure | Packets]:
    """Build the figures of the recorded runs."""
    for id, what, name, column in _DOTS:
        together = name == AGGREGATE
        part = "synchronisation" if together else "traces"
        if part not in parts or name not in recorded:
            continue
        kind = "all flows" if together else what.lower()
        unit, label = (1e6, "Mb/s") if column == "throughput_bps" else (1e3, "1,000 segments")
        table = recorded[name]
        yield Packets.of(
            table.assign(packet=table[column] / unit, kind=kind),
            id=id,
            title=f"{what} of {'all flows together' if together else 'one flow'}",
            caption=f"{_ALL_FLOWS if together else _ONE_FLOW} Seed 1. lightburst {version}.",
            x_label="Time (s)" if together else "Time since the flow began (s)",
            y_label=label,
            kinds=(kind,),
            alike=together,
        )
    for part, counted, what, least in _SHARES:
        if part not in parts or DISTRIBUTIONS not in recorded:
            continue
        table = recorded[DISTRIBUTIONS]
        rows = table[(table["counted"] == counted) & (table["number"] >= least)]
        by = {point.words: rows[rows["panel"] == point.words] for point in _TRACED}
        yield Figure.of_shares(
            {(name, "seed 1"): at_least(x["number"], x["bursts"]) for name, x in by.items()},
            id=f"distribution-{counted.replace('_', '-')}",
            title=what,
            caption=f"NSFNET, sizes {_TRACED[0].sizes}; bursts that are made, and flows that "
            f"begin, in {_TRACED[0].measured:g} s. Seed 1. lightburst {version}.",
            x_label=what,
            y_label="Share with at least so many",
            x_log=least > 0,
            legends=("Assembly", ""),
            ordered=True,
        )


def claims(parts: Sequence[str], recorded: Mapping[str, pd.DataFrame]) -> list[Claim]:
    """Judge the slides' claims about one flow, on the output of `record`."""
    if "traces" not in parts or BINS not in recorded:
        return []
    # A window counts as high from C of the slides' best case on.
    risen = {
        str(panel): float(rows.loc[rows["window_segments"] >= BEST.fast, "time_s"].min())
        for panel, rows in recorded[BINS].groupby("panel", sort=False)
    }
    rates = {
        str(panel): float(rows["segments"].max() / rows["time_s"].max())
        for panel, rows in recorded[PROGRESS].groupby("panel", sort=False)
    }
    told = "; ".join(f"{panel}: {x:.3g} segments/s" for panel, x in rates.items())
    sheet = SHEET.told(segments=BEST.fast, told=told)
    short, *_, long = (point.words for point in _TRACED)
    return [
        sheet.judge("trace-rises", exact(risen[long] / risen[short])),
        sheet.judge("trace-long-term", exact(rates[short] / rates[long])),
    ]

"""Beyond the paper: electronic switches, completion times, conversions, ne from 0 to 8.

The electronic switch is the baseline that the paper mentions but does not show: store-and-forward
with a queue of 100 packets per output. It carries the same flows, seed by seed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from lightburst.papers.claims import UNKNOWN, Claim
from lightburst.papers.curves import every, smallest
from lightburst.papers.figure import Figure
from lightburst.papers.minakhmetov2018.claims import SHEET, listed, told
from lightburst.papers.minakhmetov2018.figures import (
    THROUGHPUT,
    WAIT_NAMES,
    caption,
    over_rate,
    switch_name,
)
from lightburst.papers.minakhmetov2018.points import Point, hybrid, rate_text, rates, ratios

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lightburst.papers.runs import Runs

_SWITCHES: Final = (("hybrid", 0), ("hybrid", 2), ("hybrid", 5), ("electronic", 0))
_LENGTHS: Final = (10.0, 100.0)
_PORTS: Final = range(9)
_PORT_RATES: Final = (1e6, 1e7, 1e8)

_CONVERSIONS: Final = "conversions_per_delivered_bit"
# Suffix of the figure's id; column, scale and label; title; whether the y axis is logarithmic.
_METRICS: Final = (
    ("throughput", THROUGHPUT, "Network throughput", False),
    ("median", ("completion_time_median_s", 1e-6, "Completion time (µs)"),
     "Median completion time", True),
    ("p99", ("completion_time_p99_s", 1e-3, "Completion time (ms)"),
     "99th percentile of the completion time", True),
    ("conversions", (_CONVERSIONS, 1.0, "O-E-O conversions for each delivered bit"),
     "Conversions", False),
)  # fmt: skip


def figures(runs: Runs[Point], version: str) -> Iterator[Figure]:
    """Build four figures per length over the arrival rate, and three over the number of ports."""
    for length in _LENGTHS:
        curves = {
            (switch_name(*switch), word): Point(length, *switch, p, 0.0)
            for switch in _SWITCHES
            for p, word in WAIT_NAMES.items()
        }
        for name, drawn, title, logarithmic in _METRICS:
            figure = over_rate(
                runs,
                curves,
                drawn,
                id=f"beyond-{name}-{length:g}m",
                title=f"{title}, links of {length:g} m",
                caption=caption(runs, length, version),
                y_log=logarithmic,
            )
            yield replace(figure, cut=_cut(figure)) if name == "conversions" else figure
    for name, (metric, unit, label), title, logarithmic in _METRICS:
        if name == "median":
            continue
        by_ports = {
            (f"{rate_text(rate)} requests/s", "p = 4"): runs.means(
                {float(ports): hybrid(10.0, ports, 4.0, rate) for ports in _PORTS}, metric
            )
            for rate in _PORT_RATES
            if rate in rates(runs, 10.0)
        }
        yield Figure.of(
            by_ports,
            unit,
            id=f"beyond-ports-{name}",
            title=f"{title}, links of 10 m, by ports of the buffer",
            caption=caption(runs, 10.0, version, "SAWL with p = 4."),
            x_label="Ports of the buffer, ne",
            y_label=label,
            x_log=False,
            y_log=logarithmic,
            legends=("Arrival rate", "Sender"),
            ordered=True,
        )


def _cut(figure: Figure) -> tuple[float, float] | None:
    """Return the empty range of heights between the electronic switches and all others."""
    electronic = figure.data["colour"] == "electronic"
    low, high = figure.data.loc[~electronic, "high"].max(), figure.data.loc[electronic, "low"].min()
    return (1.1 * float(low), 0.95 * float(high)) if high > 2 * low else None


def claims(runs: Runs[Point]) -> Iterator[Claim]:
    """Judge conclusions that the paper does not show, and compare with electronic switches."""
    for length in _LENGTHS:
        sheet, electronic = SHEET.told(length=length), Point(length, "electronic", 0, 4.0, 0.0)
        found = {
            f"ne = {ne} over electronic": ratios(
                runs, hybrid(length, ne, 4.0), electronic, _CONVERSIONS
            )
            for ne in (2, 5)
        }
        yield sheet.judge("fewer-conversions", every(found), told(found))
        for name, metric, words in (
            ("throughput", "throughput_bps", "throughput"),
            ("median", "completion_time_median_s", "median completion time"),
            ("p99", "completion_time_p99_s", "99th percentile of the completion time"),
        ):
            row = ratios(runs, hybrid(length, 5, 4.0), electronic, metric)
            at = row.get(1e7, UNKNOWN)
            yield sheet.judge("over-electronic", at, name=name, words=words, row=listed(row))
    few = {ne: ratios(runs, hybrid(10.0, ne, 4.0), hybrid(10.0, 8, 4.0)) for ne in range(1, 8)}
    note = " ".join(
        f"ne = {ne}: at least {smallest(row.values()).estimate:.3f}."
        for ne, row in few.items()
        if row
    )
    yield SHEET.judge("few-ports", few[2], note)

"""What the paper does not show: the electronic switch, completion times, conversions, every ne.

The electronic switch is the baseline that the paper names and leaves out: store-and-forward with
a queue of 100 packets at each output. It carries the same flows, seed by seed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lightburst.papers.claims import UNKNOWN, Claim, known, largest, smallest
from lightburst.papers.figure import Figure, curves_table
from lightburst.papers.minakhmetov2018.figures import (
    RATE_LABEL,
    THROUGHPUT_LABEL,
    WAIT_NAMES,
    caption,
    means,
    switch_name,
)
from lightburst.papers.minakhmetov2018.gather import (
    SHEET,
    every,
    listed,
    rate_text,
)
from lightburst.papers.minakhmetov2018.sweep import Point, Sweep

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lightburst.study.statistics import Interval

_SWITCHES: Final = (("hybrid", 0), ("hybrid", 2), ("hybrid", 5), ("electronic", 0))
_LENGTHS: Final = (10.0, 100.0)
_PORTS: Final = range(9)
_PORT_RATES: Final = (1e6, 1e7, 1e8)

_FAIRNESS: Final = (
    "Stop-and-wait is at its worst over electronic switches: each of the five on a path receives a "
    "whole segment before it sends it on, so that a segment is acknowledged after six transmission "
    "times in place of one. A sender with a window would fill them better."
)

# Name of the figure, column, unit of the axis in that of the column, label, title, logarithmic.
_METRICS: Final = (
    ("throughput", "throughput_bps", 1e9, THROUGHPUT_LABEL, "Network throughput", False),
    ("median", "completion_time_median_s", 1e-6, "Completion time (µs)",
     "Median completion time", True),
    ("p99", "completion_time_p99_s", 1e-3, "Completion time (ms)",
     "99th percentile of the completion time", True),
    ("conversions", "conversions_per_delivered_bit", 1.0,
     "O-E-O conversions for each delivered bit", "Conversions", False),
)  # fmt: skip


def figures(sweep: Sweep, version: str) -> Iterator[Figure]:
    """Draw up four figures for each length, against arrival rate, and three against the ports."""
    for length in _LENGTHS:
        for name, metric, scale, label, title, logarithmic in _METRICS:
            curves = {
                (switch_name(*switch), word): means(sweep, Point(length, *switch, p, 0.0), metric)
                for switch in _SWITCHES
                for p, word in WAIT_NAMES.items()
            }
            yield Figure(
                id=f"beyond-{name}-{length:g}m",
                title=f"{title}, links of {length:g} m",
                caption=caption(sweep.with_length(length), f"{length:g} m", version),
                x_label=RATE_LABEL,
                y_label=label,
                colours=tuple(switch_name(*switch) for switch in _SWITCHES),
                dashes=tuple(WAIT_NAMES.values()),
                data=curves_table(curves, scale),
                y_log=logarithmic,
            )
    for name, metric, scale, label, title, _ in _METRICS:
        if name != "median":
            yield _against_ports(sweep, version, name, metric, scale, label, title)


def claims(sweep: Sweep) -> Iterator[Claim]:
    """Judge what the paper concludes without showing it, and compare with electronic switches."""
    for length in _LENGTHS:
        sheet = SHEET.told(length=length)
        found = {
            ne: _ratios(
                sweep, length, ("hybrid", ne), ("electronic", 0), "conversions_per_delivered_bit"
            )
            for ne in (2, 5)
        }
        note = " ".join(f"ne = {ne} over electronic: {listed(row)}." for ne, row in found.items())
        yield sheet.judge("fewer-conversions", largest(every(found)), note)
        for name, metric, words in (
            ("throughput", "throughput_bps", "throughput"),
            ("median", "completion_time_median_s", "median completion time"),
            ("p99", "completion_time_p99_s", "99th percentile of the completion time"),
        ):
            row = _ratios(sweep, length, ("hybrid", 5), ("electronic", 0), metric)
            note = f"By arrival rate: {listed(row)}. {_FAIRNESS}" if row else ""
            at = row.get(1e7, UNKNOWN)
            yield sheet.told(name=name, words=words).judge("over-electronic", at, note)
    yield _few_ports(sweep)


def _against_ports(
    sweep: Sweep, version: str, name: str, metric: str, scale: float, label: str, title: str
) -> Figure:
    rates = [rate for rate in _PORT_RATES if rate in sweep.rates(10.0)]
    dash = "p = 4"
    curves = {
        (f"{rate_text(rate)} requests/s", dash): {
            float(ports): sweep.mean(Point(10.0, "hybrid", ports, 4.0, rate), metric)
            for ports in _PORTS
        }
        for rate in rates
    }
    return Figure(
        id=f"beyond-ports-{name}",
        title=f"{title}, links of 10 m, by size of the buffer",
        caption=caption(sweep.with_length(10.0), "10 m", version, "SAWL with p = 4."),
        x_label="Ports of the buffer, ne",
        y_label=label,
        colours=tuple(f"{rate_text(rate)} requests/s" for rate in rates),
        dashes=(dash,),
        data=curves_table(curves, scale),
        x_log=False,
    )


def _ratios(
    sweep: Sweep, length: float, top: tuple[str, int], bottom: tuple[str, int], metric: str
) -> dict[float, Interval]:
    found = {
        rate: sweep.ratio(Point(length, *top, 4.0, rate), Point(length, *bottom, 4.0, rate), metric)
        for rate in sweep.rates(length)
    }
    return {rate: ratio for rate, ratio in found.items() if known(ratio)}


def _few_ports(sweep: Sweep) -> Claim:
    found = {
        ne: _ratios(sweep, 10.0, ("hybrid", ne), ("hybrid", 8), "throughput_bps")
        for ne in range(1, 8)
    }
    note = " ".join(
        f"ne = {ne}: at least {smallest(row.values()).estimate:.3f}."
        for ne, row in found.items()
        if row
    )
    worst = smallest(found[2].values())
    return SHEET.judge("few-ports", worst, f"Smallest ratio to ne = 8. {note}".strip())

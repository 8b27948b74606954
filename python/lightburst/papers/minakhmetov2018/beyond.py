"""What the paper does not show: the electronic switch, completion times, conversions, every ne.

The electronic switch is the baseline that the paper names and leaves out: store-and-forward with
a queue of 100 packets at each output. It carries the same flows, seed by seed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lightburst.papers.claims import UNKNOWN, Claim, Verdict, at_least, at_most, judged, known
from lightburst.papers.figure import Figure
from lightburst.papers.minakhmetov2018.figures import (
    RATE_LABEL,
    THROUGHPUT_LABEL,
    WAIT_NAMES,
    caption,
    means,
    points_of,
    switch_name,
)
from lightburst.papers.minakhmetov2018.gather import (
    NO_ELECTRONIC,
    largest,
    listed,
    rate_text,
    smallest,
)
from lightburst.papers.minakhmetov2018.sweep import Point, Sweep
from lightburst.papers.minakhmetov2018.tolerance import VISIBLE_100

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
    """Draw up every figure beyond the paper.

    Parameters
    ----------
    sweep : Sweep
        The runs.
    version : str
        Version of lightburst.

    Yields
    ------
    Figure
        Four for each length, against arrival rate, and three against the number of ports.
    """
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
                data=points_of(curves, scale),
                y_log=logarithmic,
            )
    for name, metric, scale, label, title, _ in _METRICS:
        if name != "median":
            yield _against_ports(sweep, version, name, metric, scale, label, title)


def claims(sweep: Sweep) -> list[Claim]:
    """Judge what the paper concludes without showing it, and compare with electronic switches.

    Parameters
    ----------
    sweep : Sweep
        The runs.

    Returns
    -------
    list of Claim
        For each length.
    """
    found = []
    for length in _LENGTHS:
        found.append(_fewer_conversions(sweep, length))
        found += _beside_electronic(sweep, length)
    return [*found, _few_ports(sweep)]


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
        data=points_of(curves, scale),
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


def _fewer_conversions(sweep: Sweep, length: float) -> Claim:
    found = {
        ne: _ratios(
            sweep, length, ("hybrid", ne), ("electronic", 0), "conversions_per_delivered_bit"
        )
        for ne in (2, 5)
    }
    most = largest(found)
    note = " ".join(f"ne = {ne} over electronic: {listed(row)}." for ne, row in found.items())
    return judged(
        f"fewer-conversions-{length:g}m",
        f"beyond-conversions-{length:g}m",
        f"Links of {length:g} m: hybrid switches use less energy for conversion than electronic "
        "ones (largest ratio of conversions for each delivered bit, p = 4)",
        None,
        most,
        at_most(most, 1.0),
        "the whole interval is below 1 at every arrival rate",
        note,
        source="paper, section 4",
    )


def _beside_electronic(sweep: Sweep, length: float) -> list[Claim]:
    claims = []
    for name, metric, words in (
        ("throughput", "throughput_bps", "throughput"),
        ("median", "completion_time_median_s", "median completion time"),
        ("p99", "completion_time_p99_s", "99th percentile of the completion time"),
    ):
        found = _ratios(sweep, length, ("hybrid", 5), ("electronic", 0), metric)
        claims.append(
            judged(
                f"{name}-over-electronic-{length:g}m",
                f"beyond-{name}-{length:g}m",
                f"Links of {length:g} m: {words} of hybrid switches (ne = 5) over that of "
                "electronic ones at 1e7 requests/s, p = 4",
                None,
                found.get(1e7, UNKNOWN),
                Verdict.NOT_COMPARABLE,
                NO_ELECTRONIC,
                f"By arrival rate: {listed(found)}. {_FAIRNESS}" if found else "",
                source="lightburst",
            )
        )
    return claims


def _few_ports(sweep: Sweep) -> Claim:
    found = {
        ne: _ratios(sweep, 10.0, ("hybrid", ne), ("hybrid", 8), "throughput_bps")
        for ne in range(1, 8)
    }
    worst = smallest({2: found[2]})
    note = " ".join(
        f"ne = {ne}: at least {smallest({ne: row}).estimate:.3f}."
        for ne, row in found.items()
        if row
    )
    return judged(
        "few-ports-10m",
        "beyond-ports-throughput",
        "Links of 10 m: just a few electric ports are enough (throughput with ne = 2 over that "
        "with ne = 8, p = 4, smallest ratio over arrival rates)",
        None,
        worst,
        at_least(worst, 1 / VISIBLE_100),
        f"the whole interval is above {1 / VISIBLE_100:.3f}, which two means of a hundred seeds "
        "can just tell apart",
        f"Smallest ratio to ne = 8. {note}".strip(),
        source="paper, section 4",
    )

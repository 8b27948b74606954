"""The figures of the paper, and those that say more about its claims."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pandas as pd

from lightburst.papers.claims import known
from lightburst.papers.figure import COLUMNS, Figure
from lightburst.papers.minakhmetov2018.gather import (
    FIGURE_OF_LENGTH,
    HYBRID_PORTS,
    PORTS,
    ratios,
)
from lightburst.papers.minakhmetov2018.sweep import Point, Sweep

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lightburst.study.statistics import Interval

RATE_LABEL: Final = "Arrival rate (requests/s)"
THROUGHPUT_LABEL: Final = "Throughput (Gb/s)"
WAIT_NAMES: Final = {4.0: "p = 4", 1.0: "p = 1", 0.0: "p = 0 (SAW)"}
_SETTING: Final = (
    "Fat-tree k = 8 (128 hosts, 80 switches), links of 10 Gb/s and {length}, segments of 9 kB, "
    "1,024 flows, sizes log-normal (mu 9.48, sigma 2.457, at most 16 MiB). {extra}{seeds}; bands: "
    "95 % interval of the mean. lightburst {version}."
)


def switch_name(switch: str, ports: int) -> str:
    """Name a switch as the legends do.

    Parameters
    ----------
    switch : str
        Kind of switching.
    ports : int
        Ports of the buffer.

    Returns
    -------
    str
        ``"all-optical"`` for a hybrid switch without ports.
    """
    if switch != "hybrid":
        return switch
    return f"hybrid, ne = {ports}" if ports else "all-optical"


def caption(sweep: Sweep, length: str, version: str, extra: str = "") -> str:
    """Say what was run.

    Parameters
    ----------
    sweep : Sweep
        The runs, of which the seeds are named.
    length : str
        Length of the links, in words.
    version : str
        Version of lightburst.
    extra : str
        What is special about the figure: a sentence.

    Returns
    -------
    str
        The caption.
    """
    return _SETTING.format(
        length=length,
        extra=f"{extra} " if extra else "",
        seeds=sweep.seeds_text,
        version=version,
    )


def points_of(
    curves: Mapping[tuple[str, str], Mapping[float, Interval]], scale: float = 1.0
) -> pd.DataFrame:
    """Put curves into the table of a figure.

    Parameters
    ----------
    curves : mapping of (colour, dash) to mapping of x to Interval
        The curves under the words of the two legends.
    scale : float
        What one unit of the axis is in the unit of the intervals.

    Returns
    -------
    pandas.DataFrame
        Columns `lightburst.papers.figure.COLUMNS`, without the points that nobody ran.
    """
    rows = [
        (colour, dash, x, y.estimate / scale, y.low / scale, y.high / scale, y.n)
        for (colour, dash), curve in curves.items()
        for x, y in curve.items()
        if known(y)
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def means(sweep: Sweep, template: Point, metric: str = "throughput_bps") -> dict[float, Interval]:
    """Average a metric along a curve.

    Parameters
    ----------
    sweep : Sweep
        The runs.
    template : Point
        Any point of the curve; its arrival rate does not count.
    metric : str
        A column of the runs.

    Returns
    -------
    dict of float to Interval
        Mean by arrival rate.
    """
    return {
        rate: sweep.mean(template._replace(rate=rate), metric)
        for rate in sweep.rates(template.length)
    }


def throughput(sweep: Sweep, length: float, version: str) -> Figure:
    """Draw up figure 2a (10 m) or 2b (100 m).

    Parameters
    ----------
    sweep : Sweep
        The runs.
    length : float
        Length of the links in metres.
    version : str
        Version of lightburst.

    Returns
    -------
    Figure
        Throughput against arrival rate for the nine pairs of ne and p.
    """
    curves = {
        (switch_name("hybrid", ports), name): means(sweep, Point(length, "hybrid", ports, p, 0.0))
        for ports in PORTS
        for p, name in WAIT_NAMES.items()
    }
    id = FIGURE_OF_LENGTH[length]
    only = sweep.with_length(length)
    return Figure(
        id=id,
        title=f"Figure 2{id[-1]}: network throughput, links of {length:g} m",
        caption=caption(only, f"{length:g} m", version),
        x_label=RATE_LABEL,
        y_label=THROUGHPUT_LABEL,
        colours=tuple(switch_name("hybrid", ports) for ports in PORTS),
        dashes=tuple(WAIT_NAMES.values()),
        data=points_of(curves, 1e9),
    )


def gain(sweep: Sweep, length: float, version: str) -> Figure:
    """Draw up the gain over bufferless SAW, which the paper puts at more than 50 %.

    Parameters
    ----------
    sweep : Sweep
        The runs.
    length : float
        Length of the links in metres.
    version : str
        Version of lightburst.

    Returns
    -------
    Figure
        Ratio of throughputs against arrival rate.
    """
    names = {4.0: "p = 4", 0.0: "p = 0 (SAW)"}
    curves = {
        (switch_name("hybrid", ports), name): ratios(sweep, length, (ports, p), (0, 0.0))
        for ports in HYBRID_PORTS
        for p, name in names.items()
    }
    return Figure(
        id=f"{FIGURE_OF_LENGTH[length]}-gain",
        title=f"Throughput over that of bufferless SAW, links of {length:g} m",
        caption=caption(
            sweep.with_length(length),
            f"{length:g} m",
            version,
            "Geometric mean of the ratios of runs with the same flows.",
        ),
        x_label=RATE_LABEL,
        y_label="Ratio of throughputs",
        colours=tuple(switch_name("hybrid", ports) for ports in HYBRID_PORTS),
        dashes=tuple(names.values()),
        data=points_of(curves),
        reference=((1.5, "claimed: more than 1.5"),),
    )


def maxima(sweep: Sweep, version: str) -> Figure:
    """Draw up the throughput with links of 1 km and 10 km, which the paper tells without a figure.

    Parameters
    ----------
    sweep : Sweep
        The runs.
    version : str
        Version of lightburst.

    Returns
    -------
    Figure
        Throughput against arrival rate; the curves of one length lie on each other.
    """
    names = {
        (1000.0, 4.0): "1 km, p = 4",
        (1000.0, 0.0): "1 km, p = 0",
        (10000.0, 4.0): "10 km, p = 4",
        (10000.0, 0.0): "10 km, p = 0",
    }
    curves = {
        (switch_name("hybrid", ports), name): means(sweep, Point(length, "hybrid", ports, p, 0.0))
        for ports in PORTS
        for (length, p), name in names.items()
    }
    return Figure(
        id="maxima",
        title="Network throughput, links of 1 km and 10 km",
        caption=caption(sweep.with_length(1000.0), "1 km or 10 km", version),
        x_label=RATE_LABEL,
        y_label=THROUGHPUT_LABEL,
        colours=tuple(switch_name("hybrid", ports) for ports in PORTS),
        dashes=tuple(names.values()),
        data=points_of(curves, 1e9),
        y_log=True,
        reference=((16.6, "published maximum at 1 km: 16.6"), (1.9, "at 10 km: 1.9")),
    )


def figures(parts: Sequence[str], sweep: Sweep, version: str) -> Iterable[Figure]:
    """Draw up the figures of the paper's own parts.

    Parameters
    ----------
    parts : sequence of str
        Which parts.
    sweep : Sweep
        The runs.
    version : str
        Version of lightburst.

    Yields
    ------
    Figure
        In the order of the paper.
    """
    for length, id in FIGURE_OF_LENGTH.items():
        if id in parts:
            yield throughput(sweep, length, version)
            yield gain(sweep, length, version)
    if "maxima" in parts:
        yield maxima(sweep, version)

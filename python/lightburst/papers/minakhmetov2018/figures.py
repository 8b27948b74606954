"""Figures of the paper, and further figures for its claims."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lightburst.papers.figure import Figure
from lightburst.papers.minakhmetov2018.points import (
    HYBRID_PORTS,
    PORTS,
    PROTOTYPE,
    PUBLISHED_MAXIMA,
    Point,
    along,
    hybrid,
    rates,
    ratios,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lightburst.papers.runs import Runs


FIGURE_OF_LENGTH: Final = {10.0: "fig2a", 100.0: "fig2b"}
RATE_LABEL: Final = "Arrival rate (requests/s)"
# Drawn metric: column, unit of the axis in units of the column, and label.
THROUGHPUT: Final = ("throughput_bps", 1e9, "Throughput (Gb/s)")
WAIT_NAMES: Final = {4.0: "p = 4", 1.0: "p = 1", 0.0: "p = 0 (SAW)"}
_SETTING: Final = (
    "Fat-tree k = 8 (128 hosts, 80 switches), links of 10 Gb/s and {length}, segments of 9 kB, "
    "1,024 flows, sizes log-normal (mu 9.48, sigma 2.457, at most 16 MiB). {extra}{seeds}; bars: "
    "95 % interval of the mean. lightburst {version}."
)


def switch_name(switch: str, ports: int) -> str:
    """Name a switch for a legend; a hybrid one without ports is ``"all-optical"``."""
    if switch != "hybrid":
        return switch
    return f"hybrid, ne = {ports}" if ports else "all-optical"


def caption(
    runs: Runs[Point], length: float, version: str, extra: str = "", words: str = ""
) -> str:
    """Describe the runs with links of a given length, and in `extra` the specifics of a figure."""
    return _SETTING.format(
        length=words or f"{length:g} m",
        extra=f"{extra} " if extra else "",
        seeds=runs.only(lambda point: point.length == length).seeds_text,
        version=version,
    )


def over_rate(
    runs: Runs[Point],
    curves: Mapping[tuple[str, str], Point],
    drawn: tuple[str, float, str] = THROUGHPUT,
    **words: Any,
) -> Figure:
    """Build a figure of a metric over the arrival rate; the points' own rates are ignored."""
    metric, unit, label = drawn
    means = {legend: along(runs, point, metric) for legend, point in curves.items()}
    return Figure.of(means, unit, x_label=RATE_LABEL, y_label=label, **words)


def figure_2(length: float, runs: Runs[Point], version: str) -> list[Figure]:
    """Build figure 2a (10 m) or 2b (100 m), and a figure of the claimed gain of over 50 %.

    The first shows throughput over the arrival rate for the nine pairs of ne and p, the second its
    ratio to the throughput of bufferless SAW.
    """
    id = FIGURE_OF_LENGTH[length]
    gain = {
        (switch_name("hybrid", ports), WAIT_NAMES[p]): ratios(
            runs, hybrid(length, ports, p), hybrid(length, 0, 0.0)
        )
        for ports in HYBRID_PORTS
        for p in (4.0, 0.0)
    }
    compared = [
        (switch_name("hybrid", point.ports), point.rate, y)
        for point, y in PROTOTYPE.items()
        if point.length == length
    ]
    extra = "Independent prototype: another simulator of the paper, SAW and p = 4."
    figure = over_rate(
        runs,
        {
            (switch_name("hybrid", ports), name): hybrid(length, ports, p)
            for ports in PORTS
            for p, name in WAIT_NAMES.items()
        },
        id=id,
        title=f"Figure 2{id[-1]}: network throughput, links of {length:g} m",
        caption=caption(runs, length, version, extra if compared else ""),
    ).beside("independent prototype", compared)
    words = "Geometric mean of the ratios of runs with the same flows."
    return [
        figure,
        Figure.of(
            gain,
            id=f"{id}-gain",
            title=f"Throughput over that of bufferless SAW, links of {length:g} m",
            caption=caption(runs, length, version, words),
            x_label=RATE_LABEL,
            y_label="Ratio of throughputs",
            reference=((1.5, "claimed: more than 1.5"),),
        ),
    ]


def maxima(runs: Runs[Point], version: str) -> Figure:
    """Build a figure of the largest throughputs with links of 1 km and 10 km.

    The paper gives them in its text. Each point is the mean at the arrival rate with the largest
    mean.
    """
    at = {
        f"{word}, {name}": (length, p)
        for length, (word, _) in PUBLISHED_MAXIMA.items()
        for p, name in WAIT_NAMES.items()
    }
    found = {
        (switch_name("hybrid", ports), "simulation"): {
            float(place): runs.mean(runs.best(points))
            for place, (length, p) in enumerate(at.values())
            if (
                points := [
                    x
                    for rate in rates(runs, length)
                    if (x := hybrid(length, ports, p, rate)) in runs
                ]
            )
        }
        for ports in PORTS
    }
    _, unit, label = THROUGHPUT
    figure = Figure.of(
        found,
        unit,
        id="maxima",
        title="Largest network throughput over all arrival rates, links of 1 km and 10 km",
        caption=caption(runs, 1000.0, version, words="1 km or 10 km"),
        x_label="Length of the links, and how much longer the sender waits",
        y_label=label,
        x_log=False,
        y_log=True,
        places=tuple(at),
        legends=("Switch", "Source"),
    )
    published = (PUBLISHED_MAXIMA[length][1] for length, _ in at.values())
    return figure.beside("published", (("", float(x), y) for x, y in enumerate(published)))

"""The figures of the paper, and those that say more about its claims."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lightburst.papers.figure import Figure, curves_table
from lightburst.papers.minakhmetov2018.gather import (
    FIGURE_OF_LENGTH,
    HYBRID_PORTS,
    PORTS,
    ratios,
)
from lightburst.papers.minakhmetov2018.sweep import Point, Sweep

if TYPE_CHECKING:
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
    """Name a switch as the legends do; a hybrid one without ports is ``"all-optical"``."""
    if switch != "hybrid":
        return switch
    return f"hybrid, ne = {ports}" if ports else "all-optical"


def caption(sweep: Sweep, length: str, version: str, extra: str = "") -> str:
    """Say what was run: with links of which length, in words, and what else is special about it."""
    more = f"{extra} " if extra else ""
    return _SETTING.format(length=length, extra=more, seeds=sweep.seeds_text, version=version)


def means(sweep: Sweep, template: Point, metric: str = "throughput_bps") -> dict[float, Interval]:
    """Average a metric along a curve, by arrival rate; that of the template does not count."""
    return {
        rate: sweep.mean(template._replace(rate=rate), metric)
        for rate in sweep.rates(template.length)
    }


def figure_2(length: float, sweep: Sweep, version: str) -> list[Figure]:
    """Draw up figure 2a (10 m) or 2b (100 m), and the gain that the paper puts at more than 50 %.

    The first is throughput against arrival rate for the nine pairs of ne and p, the second its
    ratio to that of bufferless SAW.
    """
    only, id = sweep.with_length(length), FIGURE_OF_LENGTH[length]
    throughput = {
        (switch_name("hybrid", ports), name): means(sweep, Point(length, "hybrid", ports, p, 0.0))
        for ports in PORTS
        for p, name in WAIT_NAMES.items()
    }
    two = {4.0: WAIT_NAMES[4.0], 0.0: WAIT_NAMES[0.0]}
    gain = {
        (switch_name("hybrid", ports), name): ratios(sweep, length, (ports, p), (0, 0.0))
        for ports in HYBRID_PORTS
        for p, name in two.items()
    }
    words = "Geometric mean of the ratios of runs with the same flows."
    return [
        Figure(
            id=id,
            title=f"Figure 2{id[-1]}: network throughput, links of {length:g} m",
            caption=caption(only, f"{length:g} m", version),
            x_label=RATE_LABEL,
            y_label=THROUGHPUT_LABEL,
            colours=tuple(switch_name("hybrid", ports) for ports in PORTS),
            dashes=tuple(WAIT_NAMES.values()),
            data=curves_table(throughput, 1e9),
        ),
        Figure(
            id=f"{id}-gain",
            title=f"Throughput over that of bufferless SAW, links of {length:g} m",
            caption=caption(only, f"{length:g} m", version, words),
            x_label=RATE_LABEL,
            y_label="Ratio of throughputs",
            colours=tuple(switch_name("hybrid", ports) for ports in HYBRID_PORTS),
            dashes=tuple(two.values()),
            data=curves_table(gain),
            reference=((1.5, "claimed: more than 1.5"),),
        ),
    ]


def maxima(sweep: Sweep, version: str) -> Figure:
    """Draw up the throughput with links of 1 km and 10 km, which the paper tells without a figure.

    It is against arrival rate; the curves of one length lie on each other.
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
        data=curves_table(curves, 1e9),
        y_log=True,
        reference=((16.6, "published maximum at 1 km: 16.6"), (1.9, "at 10 km: 1.9")),
    )

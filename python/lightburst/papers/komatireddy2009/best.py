"""Map of the best remedy over the delay differential and the cause of burst loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import pandas as pd

from lightburst.papers.figure import MAP_COLUMNS, Maps, Panel
from lightburst.papers.komatireddy2009.design import BEYOND_LAWS, BEYOND_TRANSFER, places
from lightburst.papers.komatireddy2009.points import Point

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lightburst.papers.runs import Runs
    from lightburst.study.statistics import Interval

NAMES: Final = {
    "none": "without SO",
    "source": "with SO",
    "destination": "destination ordering",
    "rr-tcp": "RR-TCP",
    "segmentation": "segmentation",
    "deflection": "deflection",
}
_SHORT: Final = {
    "source": "SO",
    "destination": "DO",
    "rr-tcp": "RR",
    "segmentation": "seg",
    "deflection": "defl",
}
#: Largest ratio of two completion times that count as equal, however precisely they are known.
ALIKE: Final = 1.02


class Choice(NamedTuple):
    """The best remedies at one point of the plane.

    Parameters
    ----------
    remedies : tuple of str
        The best remedy, and those that the runs cannot distinguish from it or that are within
        `ALIKE` of it. Empty where the best is not known to gain at least `ALIKE`.
    gain : Interval
        Completion time without any remedy divided by that with the best one.
    """

    remedies: tuple[str, ...]
    gain: Interval


def choose(runs: Runs[Point], at: Mapping[str, Point]) -> Choice | None:
    """Choose among the remedies at one point of the plane; None if fewer than two were run."""
    without = at["none"]
    gains = runs.ratios({name: (without, point) for name, point in at.items() if name != "none"})
    if not gains:
        return None
    best = max(gains, key=lambda name: gains[name].estimate)
    if gains[best].low < ALIKE:
        return Choice((), gains[best])
    behind = runs.ratios({name: (at[name], at[best]) for name in gains})
    return Choice(tuple(name for name, x in behind.items() if x.low < ALIKE), gains[best])


def best_map(runs: Runs[Point], version: str) -> Maps:
    """Build the map of the best remedy by law, differential, loss and number of wavelengths."""
    rows = []
    for law in BEYOND_LAWS:
        for delta, place, points in places(law):
            choice = choose(runs, points)
            if choice is not None:
                gain = choice.gain.estimate if choice.remedies else 1.0
                rows.append(("", place, f"{law}, {delta * 1e3:g} ms", gain, _words(choice)))
    others = [f"{short}: {NAMES[name]}" for name, short in _SHORT.items() if name != "source"]
    names = ", ".join(["SO: source ordering", *others])
    return Maps(
        id="beyond-best",
        title="Which remedy is best where, and how much faster transfers are with it than without",
        caption=f"{BEYOND_TRANSFER.words}; bursts of at most 100 kB, load threshold 5 % of 4 Gb/s "
        f"every 500 ms. {names}. In a field: the best remedy and those not known to be more than "
        f"{ALIKE - 1:.0%} behind it; below, completion time without any remedy over that with the "
        "best, with its 95 % interval; no difference: with none of them are transfers known to be "
        f"{ALIKE - 1:.0%} faster. Segmentation and deflection are tried where bursts contend, with "
        "fewer than 4 wavelengths: with 4 nothing does, and what is lost by chance they cannot "
        f"save. {runs.seeds_text}. lightburst {version}.",
        x_label="Bursts lost on each link by chance (p, 4 wavelengths), or fewer wavelengths",
        y_label="Window law, delay differential",
        panels=(Panel("", "Time without over time with"),),
        data=pd.DataFrame(rows, columns=[*MAP_COLUMNS, "words"]),
    )


def _words(choice: Choice) -> str:
    if not choice.remedies:
        return "no difference"
    names = ", ".join(_SHORT[name] for name in choice.remedies)
    gain = choice.gain
    return f"{names}\n{gain.estimate:.2f} ({gain.low:.2f} to {gain.high:.2f})"

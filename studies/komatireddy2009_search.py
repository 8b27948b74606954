"""Search for the open parameters of komatireddy2009 that explain its printed numbers.

``python studies/komatireddy2009_search.py [--quick] --out DIR`` runs every setting at a delay
differential of 50 ms, HighSpeed and FAST, with and without source ordering, and compares with the
printed numbers. docs/komatireddy2009-search.md has the results.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import pandas as pd

from komatireddy2009_settings import (
    INFERRED,
    LOSS,
    OTHER,
    SETTINGS,
    Tried,
    points,
)
from lightburst.papers.claims import Claim
from lightburst.papers.design import Effort, blocks_of
from lightburst.papers.figure import MAP_COLUMNS, Listing, Maps, Panel
from lightburst.papers.komatireddy2009 import PAPER
from lightburst.papers.komatireddy2009.points import FALSE, METRIC, PAPER_TRANSFER, base
from lightburst.papers.paper import Paper, Part
from lightburst.papers.runs import Runs, of_means
from lightburst.study import Block
from searching import claim, run

EFFORT: Final = Effort(most=1)
#: Printed numbers: words, number, and range that counts as met.
PRINTED: Final[dict[str, tuple[str, float, float, float]]] = {
    "gain": ("gain of SO", 4.0, 3.0, 5.0),
    "lossy_gain": ("gain of SO, p = 0.001", 1.06, 1.03, 1.09),
    "lossy_time": ("time without SO, p = 0.001 (s)", 1060.0, 848.0, 1325.0),
    "fast_ordered": ("FAST over HighSpeed, SO", 1.24, 1.12, 1.36),
    "fast": ("FAST over HighSpeed, no SO", 3.0, 2.4, 3.75),
}


def blocks(parts: Sequence[str], quick: bool) -> list[Block]:
    """Plan the runs."""
    return blocks_of(base(), ((point, EFFORT) for point in points(quick)), Tried._fields)


def runs_of(table: pd.DataFrame) -> Runs[Tried]:
    """Group runs by point."""
    each = table.assign(**{FALSE: table["false_fast_retransmits"] / table["flows"]})
    return Runs.of(each, Tried, Tried._fields, METRIC, of_means)


class Score(NamedTuple):
    """Quantities of `PRINTED` for a setting, and their distance from the printed numbers.

    Parameters
    ----------
    setting : str
        One of `SETTINGS`.
    gain, lossy_gain, lossy_time, fast_ordered, fast : float
        Quantities of `PRINTED`.
    false : float
        False fast retransmissions per HighSpeed flow without ordering and without loss.
    met : int
        Number of the five quantities that are met.
    distance : float
        Root mean square of the logarithms of our values over the printed ones.
    """

    setting: str
    gain: float
    lossy_gain: float
    lossy_time: float
    fast_ordered: float
    fast: float
    false: float
    met: int
    distance: float

    def of(self, key: str) -> float:
        """Return one of the quantities of `PRINTED`."""
        return float(getattr(self, key))


def scores(runs: Runs[Tried]) -> list[Score]:
    """Score every setting that was run, the nearest first."""
    found = (_score(runs, name) for name in SETTINGS)
    return sorted((score for score in found if score is not None), key=lambda x: x.distance)


def _score(runs: Runs[Tried], name: str) -> Score | None:
    def time(law: str, remedy: str, loss: float = 0.0, metric: str = "") -> float:
        return runs.mean(Tried(name, law, remedy, loss), metric).estimate

    ordered = time("HighSpeed", "source")
    found = {
        "gain": time("HighSpeed", "none") / ordered,
        "lossy_gain": time("HighSpeed", "none", LOSS) / time("HighSpeed", "source", LOSS),
        "lossy_time": time("HighSpeed", "none", LOSS),
        "fast_ordered": time("FAST", "source") / ordered,
        "fast": time("FAST", "none") / time("HighSpeed", "none"),
    }
    if not all(math.isfinite(value) for value in found.values()):
        return None
    off = [math.log(value / PRINTED[key][1]) for key, value in found.items()]
    met = sum(PRINTED[key][2] <= value <= PRINTED[key][3] for key, value in found.items())
    false = time("HighSpeed", "none", metric=FALSE)
    return Score(name, **found, false=false, met=met, distance=math.hypot(*off) / len(off) ** 0.5)


def claims(scored: Sequence[Score]) -> Iterator[Claim]:
    """Confirm or refute the conclusions of an independent search about the open parameters."""
    at = {score.setting: score for score in scored}
    if not {INFERRED, OTHER} <= set(at):
        return
    first, own, other = scored[0], at[INFERRED], at[OTHER]
    yield claim(
        "inferred", "Distance of the inferred setting S1 from the five printed numbers, less that "
        "of the nearest setting", 0.0, own.distance - first.distance,
        first is own, "no other setting is nearer",
        f"Nearest: {first.setting} at {first.distance:.3f}; S1: {own.distance:.3f}, S2: "
        f"{other.distance:.3f}.",
    )  # fmt: skip
    printed, *limits = PRINTED["gain"][1:]
    loads = [x for x in scored if x is own or x.setting.startswith("load of 1")]
    near = min(loads, key=lambda x: abs(math.log(x.gain / printed)))
    yield claim(
        "load", "The gain of 300 to 400 % needs a load of 1 of 4 to 5 Gb/s (gain of the value "
        "nearest to 4)", printed, near.gain, near.setting in (INFERRED, "load of 1: 5 Gb/s"),
        "of all values tried one of these is nearest",
        "Gains: " + ", ".join(f"{x.setting}: {x.gain:.3g}" for x in loads) + ".",
    )  # fmt: skip
    if "load of 1: 40 Gb/s" in at:
        wide = at["load of 1: 40 Gb/s"]
        yield claim(
            "wide", "With four wavelengths of 10 Gb/s as a load of 1 nothing is ever out of order "
            "(gain of SO)", 1.0, wide.gain, wide.false == 0, "no false fast retransmission",
            f"False fast retransmissions of a flow: {wide.false:g}.",
        )  # fmt: skip
    printed, *limits = PRINTED["lossy_gain"][1:]
    yield claim(
        "loss", "S2 fits the sentence about a loss of 0.001 (gain of SO)", printed,
        other.lossy_gain, limits[0] <= other.lossy_gain <= limits[1],
        f"from {limits[0]:g} to {limits[1]:g}", f"S1: {own.lossy_gain:.3f}.",
    )  # fmt: skip
    printed, *limits = PRINTED["fast"][1:]
    most = max(scored, key=lambda x: x.fast)
    yield claim(
        "fast", "No setting has FAST three times as slow as HighSpeed without SO (largest ratio)",
        printed, most.fast, most.fast < limits[0], f"below {limits[0]:g}",
        f"Largest with {most.setting}.",
    )  # fmt: skip


def figure(scored: Sequence[Score], version: str) -> Maps:
    """Build a map of the distance of each setting from each printed number."""
    rows = [
        ("", f"{words}:\n{printed:g}", score.setting,
         abs(math.log2(score.of(key) / printed)), f"{score.of(key):.4g}")
        for score in scored
        for key, (words, printed, *_) in PRINTED.items()
    ]  # fmt: skip
    return Maps(
        id="search",
        title="Settings of what the paper leaves open, and what it prints",
        caption=f"{_TRIED} In a field: what we find; shade: its distance from what is printed, 1 "
        f"for twice or half. lightburst {version}.",
        x_label="Quantity: number of the paper",
        y_label="",
        panels=(Panel("", "|log2 of ours over the printed|"),),
        data=pd.DataFrame(rows, columns=[*MAP_COLUMNS, "words"]),
    )


def listing(scored: Sequence[Score]) -> Listing:
    """Build a table of the scores."""
    digits = {"lossy_time": 0, "false": 1}
    table = pd.DataFrame(scored, columns=list(Score._fields))
    return Listing(
        "search",
        "Settings of what the paper leaves open, by their distance from what it prints",
        "; ".join(f"{key}: {words}, printed {printed:g}, met from {low:g} to {high:g}"
                  for key, (words, printed, low, high) in PRINTED.items())
        + "; false: false fast retransmissions of a HighSpeed flow without SO; met: how many of "
        f"the five; distance: root of the mean square of the logarithms of ours over the printed. "
        f"{_TRIED}",
        table.round({name: digits.get(name, 3) for name in Score._fields[1:]}),
    )  # fmt: skip


_TRIED: Final = (
    f"{PAPER_TRANSFER.words}, a differential of 50 ms, one run a point; each setting "
    "changes the paper's scenario (S1) as it says; S2 has links of 10 ms, of which two of a path "
    "lose bursts."
)


#: The study in the form of a paper with one part, to be run, drawn and saved like one.
STUDY: Final = Paper(
    name="komatireddy2009-search",
    title="Which of the parameters that komatireddy2009 leaves open explain what it prints",
    citation=PAPER.citation,
    parts={
        "search": Part(
            "distance of each setting from what the paper prints",
            lambda runs, version: [figure(scores(runs), version)],
            lambda runs: claims(scores(runs)),
            lambda runs: [listing(scores(runs))],
        )
    },
    blocks=blocks,
    runs=runs_of,
)

if __name__ == "__main__":
    sys.exit(run(STUDY, __doc__, "the two inferred settings"))

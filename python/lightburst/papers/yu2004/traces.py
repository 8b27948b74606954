"""Figures 8 to 10, packet by packet, and the round trips of section V.A: what is traced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lightburst.papers.traces import Case, Ordered, Recorder
from lightburst.papers.yu2004.design import TIMES
from lightburst.papers.yu2004.points import LOW, TABLES, Point, assembly_time, base
from lightburst.papers.yu2004.senders import FAMILIES, NAMES, NS2, RENO, RFC, RFC_RENO
from lightburst.papers.yu2004.theory import ROUND_TRIPS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd

    from lightburst.papers.figure import Packets
    from lightburst.papers.yu2004.senders import Sender

# "W_m varies from 20 to 200", and figure 8(b) is at "the maximal limit of 200".
WINDOW_LIMIT: Final = 200
# "Medium-high" and "medium-low": the middle two columns of the tables.
MEDIUM_HIGH: Final = 10**-1.5
MEDIUM_LOW: Final = 10**-2
# The paper's axis ends after 40 s; what is counted needs more.
RANDOM_S: Final = 5000.0
# How long the round trip at 1.25 kB/s is measured.
ROUND_TRIP_S: Final = 1e5
# The window grows by a segment a round trip, of half a second at S = 25: it is found in a minute.
RECORDER: Final = Recorder(modulo=60, searched_s=60.0, after_s=10.0, drawn_s=6.0, shown_s=40.0)

# Senders that figure 8 may mean, the end of the claims' names, and who claims it.
RENOS: Final = (
    (RENO, "", "paper"),
    (RENO._replace(bug_fix=False), "-no-bug-fix", "paper, with Reno without bug_fix"),
    (RFC_RENO, RFC.suffix, RFC.source),
)
# How the senders of a panel differ, by the end of the figure's name.
RENO_WORDS: Final = {"": "", "-no-bug-fix": ", without bug_fix", "-rfc": ", sender of the RFCs"}
WORDS: Final = {"": "", "-rfc": ", senders of the RFCs"}
_TITLES: Final = {
    "fig8a": "Figure 8(a): Reno, one lost burst of S = 5 at W = 20",
    "fig8b": "Figure 8(b): Reno, one lost burst of S = 5 at W = 200",
    "fig9a": "Figure 9(a): one lost burst of S = 5 at W = 40",
    "fig9b": "Figure 9(b): one lost burst of S = 25 at W = 40",
    "fig10a": "Figure 10(a): random losses, medium-high: p = 0.0316, S = 5",
    "fig10b": "Figure 10(b): random losses, medium-low: p = 0.01, S = 5",
}


def cases() -> Iterator[Case]:
    """List the runs, in the order of the figures."""
    for p, _ in ROUND_TRIPS:
        yield _case("", f"p = {p:g}", "fig7", Point(LOW, min(TIMES[LOW]), p), ROUND_TRIP_S)
    for reno, suffix, _ in RENOS:
        for letter, window in (("a", 20), ("b", 200)):
            panel = f"({letter}) Reno, W = {window}{RENO_WORDS[suffix]}"
            yield _ordered(f"fig8{letter}{suffix}", panel, "fig8", reno, 5, window)
    for family in FAMILIES:
        for letter, burst in (("a", 5), ("b", 25)):
            for sender in reversed(family.senders):
                panel = f"{NAMES[sender]}{WORDS[family.suffix]}"
                yield _ordered(f"fig9{letter}{family.suffix}", panel, "fig9", sender, burst, 40)
    for letter, p in (("a", MEDIUM_HIGH), ("b", MEDIUM_LOW)):
        for sender in reversed(NS2.senders):
            point = Point(TABLES, assembly_time(TABLES, 5), p).by(sender)
            yield _case(f"fig10{letter}", NAMES[sender], "fig10", point, RANDOM_S)


def _ordered(figure: str, panel: str, part: str, sender: Sender, burst: int, window: int) -> Case:
    """One lost burst of S segments at 125 kB/s."""
    point = Point(TABLES, assembly_time(TABLES, burst), 0.0).by(sender)
    case = _case(figure, panel, part, point._replace(window=WINDOW_LIMIT), 2 * RECORDER.after_s)
    return case._replace(lost=Ordered(window, WINDOW_LIMIT, burst))


def _case(figure: str, panel: str, part: str, point: Point, length_s: float) -> Case:
    return Case(figure, panel, part, base().with_(point.settings()), length_s, point.p)


def record(parts: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Run and trace what some parts need, as `Recorder.record` does."""
    return RECORDER.record(case for case in cases() if case.part in parts)


def figures(
    parts: Sequence[str], recorded: Mapping[str, pd.DataFrame], version: str
) -> list[Packets]:
    """Draw up figures 8 to 10 from what `record` gave.

    They are with the senders of ns-2, and for figures 8 and 9 with those of the RFCs, too.
    """
    return RECORDER.figures(
        recorded,
        lambda id: _TITLES[id.partition("-")[0]],
        lambda id: _caption(id, version),
    )


def _caption(id: str, version: str) -> str:
    senders = RFC.words if id.endswith(RFC.suffix) else NS2.words
    if id.endswith("-no-bug-fix"):
        senders = "Sender of ns-2, without bug_fix."
    origin = "W_m = 50."
    if not id.startswith("fig10"):
        ready = "in congestion avoidance"
        if id.startswith("fig8b"):
            ready = "and the sender's samples of the round trip stand still"
        origin = (
            f"W_m = {WINDOW_LIMIT}. Lost is the first full burst opened after the window has "
            f"reached W {ready}; the time counts from its departure, a line marks the first "
            "timeout after it."
        )
    return (
        "One dot for each packet with data: departure of its burst from the edge against its "
        f"number modulo {RECORDER.modulo}. Access bandwidth 125 kB/s, segments of 1 kB, 0.1 s "
        f"there and back without assembly, minimum timeout 0.2 s. {senders} {origin} One run, "
        f"seed 1. lightburst {version}."
    )

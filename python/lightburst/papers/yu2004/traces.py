"""Figures 8 to 10 packet by packet, the round trips of section V.A, and what is said of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lightburst.papers.claims import UNKNOWN, Claim, exact
from lightburst.papers.traces import LOSSES, OUTCOMES, PROGRESS, Case, Ordered, Recorder
from lightburst.papers.yu2004.design import TIMES, table_point
from lightburst.papers.yu2004.points import LOW, SEGMENT_BYTES, Point, base
from lightburst.papers.yu2004.published import SHEET
from lightburst.papers.yu2004.senders import FAMILIES, NAMES, NS2, RENO, RFC, RFC_RENO
from lightburst.papers.yu2004.theory import ROUND_TRIPS
from lightburst.study.statistics import mean_interval, ratio_of_means

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd

    from lightburst.papers.figure import Packets
    from lightburst.papers.yu2004.senders import Sender

# "W_m varies from 20 to 200", and figure 8(b) is at "the maximal limit of 200".
WINDOW_LIMIT: Final = 200
# The paper's axis ends after 40 s; what is counted needs more.
RANDOM_S: Final = 5000.0
# How long the round trip at 1.25 kB/s is measured, and what a segment takes there.
ROUND_TRIP_S: Final = 1e5
_SEGMENT_S: Final = SEGMENT_BYTES / LOW
# The window grows by a segment a round trip, of half a second at S = 25: it is found in a minute.
RECORDER: Final = Recorder(modulo=60, searched_s=60.0, after_s=10.0, drawn_s=6.0, shown_s=40.0)

# Senders that figure 8 may mean, the end of the claims' names, who claims it, and words.
RENOS: Final = (
    (RENO, "", "paper", ""),
    (RENO._replace(bug_fix=False), "-no-bug-fix", "paper, with Reno without bug_fix",
     ", without bug_fix"),
    (RFC_RENO, RFC.suffix, RFC.source, ", sender of the RFCs"),
)  # fmt: skip
# How the senders of a panel of figure 9 differ, by the end of the figure's name.
_WORDS: Final = {NS2.suffix: "", RFC.suffix: ", senders of the RFCs"}
_ORDER: Final = ("SACK", "New-Reno", "Reno")
_TITLES: Final = {
    "fig8a": "Figure 8(a): Reno, one lost burst of S = 5 at W = 20",
    "fig8b": "Figure 8(b): Reno, one lost burst of S = 5 at W = 200",
    "fig9a": "Figure 9(a): one lost burst of S = 5 at W = 40",
    "fig9b": "Figure 9(b): one lost burst of S = 25 at W = 40",
    "fig10a": "Figure 10(a): random losses, medium-high: p = 0.0316, S = 5",
    "fig10b": "Figure 10(b): random losses, medium-low: p = 0.01, S = 5",
}

# Of each half of figure 9: S, and who is better than whom in which words.
_FIGURE_9: Final = (
    ("fig9a", 5, (
        ("SACK", ("New-Reno", "Reno"), "SACK performs best"),
        ("New-Reno", ("Reno",), "New-Reno performs better than Reno"),
    )),
    ("fig9b", 25, (
        ("SACK", ("New-Reno", "Reno"), "SACK performs much better than Reno and New-Reno"),
        ("Reno", ("New-Reno",), "New-Reno performs worse than Reno"),
    )),
)  # fmt: skip

Run = dict[Any, Any]


def cases() -> Iterator[Case]:
    """List the runs, in the order of the figures."""
    for p, _ in ROUND_TRIPS:
        yield _case("", f"p = {p:g}", "fig7", Point(LOW, min(TIMES[LOW]), p), ROUND_TRIP_S)
    for reno, suffix, _, words in RENOS:
        for letter, window in (("a", 20), ("b", 200)):
            panel = f"({letter}) Reno, W = {window}{words}"
            yield _ordered(f"fig8{letter}{suffix}", panel, reno, 5, window)
    for family in FAMILIES:
        for id, burst, _ in _FIGURE_9:
            for sender in reversed(family.senders):
                panel = f"{NAMES[sender]}{_WORDS[family.suffix]}"
                yield _ordered(f"{id}{family.suffix}", panel, sender, burst, 40)
    # "Medium-high" and "medium-low": the middle two columns of the tables.
    for id, p in (("fig10a", 10**-1.5), ("fig10b", 10**-2)):
        for sender in reversed(NS2.senders):
            yield _case(id, NAMES[sender], "fig10", table_point(5, p, sender), RANDOM_S)


def _ordered(figure: str, panel: str, sender: Sender, burst: int, window: int) -> Case:
    """One lost burst of S segments at 125 kB/s."""
    point = table_point(burst, 0.0, sender)._replace(window=WINDOW_LIMIT)
    case = _case(figure, panel, figure[:4], point, 2 * RECORDER.after_s)
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
    return RECORDER.figures(recorded, lambda id: _TITLES[id.partition("-")[0]], _caption, version)


def _caption(id: str) -> str:
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
        "Access bandwidth 125 kB/s, segments of 1 kB, 0.1 s there and back without assembly, "
        f"minimum timeout 0.2 s. {senders} {origin}"
    )


def claims(parts: Sequence[str], recorded: Mapping[str, pd.DataFrame]) -> Iterator[Claim]:
    """Judge what the paper says of single runs, from what `record` gave."""
    if OUTCOMES not in recorded:
        return
    runs: dict[tuple[str, str], Run] = {
        (row["figure"], row["panel"]): row for row in recorded[OUTCOMES].to_dict("records")
    }
    if "fig7" in parts:
        yield from _round_trips(runs)
    if "fig8" in parts:
        yield from _figure_8(runs)
    if "fig9" in parts:
        yield from _figure_9(runs)
    if "fig10" in parts:
        yield from _back_to_back(recorded[LOSSES])
        yield from _medium_low(runs["fig10b", "SACK"], recorded[PROGRESS])


def _round_trips(runs: Mapping[tuple[str, str], Run]) -> Iterator[Claim]:
    for p, published in ROUND_TRIPS:
        mean = runs["", f"p = {p:g}"]["round_trip_s"]
        sheet = SHEET.told(p=p, segment=_SEGMENT_S, mean=mean)
        windows = {"window": mean / _SEGMENT_S, "wanted": published / _SEGMENT_S}
        yield sheet.told(**windows).judge("round-trip", exact(mean), published=published)


def _figure_8(runs: Mapping[tuple[str, str], Run]) -> Iterator[Claim]:
    for _, suffix, source, _ in RENOS:
        sheet = SHEET.told(suffix=suffix, source=source)
        small, large = (
            next(run for (id, _), run in runs.items() if id == f"fig8{letter}{suffix}")
            for letter in "ab"
        )
        yield sheet.judge("fig8a-timeout", exact(small["timeouts"]), run=small)
        yield sheet.judge("fig8a-time", exact(small["timeout_after_s"]), run=small)
        limit, full = (
            sheet.note("fig8b-no-timeout", "limit", **large),
            large["reach"] >= WINDOW_LIMIT,
        )
        none = exact(large["timeouts"])
        yield sheet.judge("fig8b-no-timeout", none, run=large, limit=limit * full)


def _figure_9(outcomes: Mapping[tuple[str, str], Run]) -> Iterator[Claim]:
    for family in FAMILIES:
        for id, burst, orders in _FIGURE_9:
            sheet = SHEET.told(figure=id, burst=burst, **family.told)
            panel = f"{id}{family.suffix}", _WORDS[family.suffix]
            runs = {name: outcomes[panel[0], f"{name}{panel[1]}"] for name in _ORDER}
            said = (SHEET.note("fig9-order", "run", name=name, **run) for name, run in runs.items())
            told = f"{'; '.join(said)}."
            for top, others, words in orders:
                ratio = min(runs[top]["received"] / runs[other]["received"] for other in others)
                stalls = (id, top) == ("fig9b", "SACK") and runs[top]["timeouts"] > 0
                note = told + SHEET.note("fig9-order", "stalls", **runs[top]) * stalls
                named = sheet.told(better=top.lower(), words=words)
                yield named.judge("fig9-order", exact(ratio), note)
            yield sheet.judge("fig9-reno-timeout", exact(runs["Reno"]["timeouts"]))
            run = runs["New-Reno"]
            if id == "fig9a":
                note = SHEET.note("fig9a-halved-once", "timeouts", **run) * (run["timeouts"] > 0)
                yield sheet.judge("fig9a-halved-once", exact(run["threshold"]), note)
            else:
                rounds = run["repaired_after_s"] / run["round_trip_s"]
                yield sheet.judge("fig9b-rounds", exact(rounds), run=run)


def _back_to_back(losses: pd.DataFrame) -> Iterator[Claim]:
    rows = losses[(losses["figure"] == "fig10a") & (losses["bursts"] > 1)]
    by = {name: rows[rows["panel"] == name] for name in _ORDER}
    timeouts = {name: (found["timeouts"] > 0).to_numpy(dtype=float) for name, found in by.items()}
    shares = {name: mean_interval(x) if len(x) else UNKNOWN for name, x in timeouts.items()}
    repaired = {name: found["repaired_after_s"] for name, found in by.items()}
    means = {name: times.mean() for name, times in repaired.items()}
    told = "; ".join(
        f"{name}: {shares[name].estimate:.0%} of {len(by[name])}, repaired after "
        f"{means[name]:.3g} s"
        for name in _ORDER
    )
    sheet = SHEET.told(told=told, time=RANDOM_S)
    yield sheet.judge("fig10a-back-to-back-timeouts", shares)
    quickest, *_, slowest = sorted(_ORDER, key=means.__getitem__)
    yield sheet.judge("fig10a-same", ratio_of_means(repaired[slowest], repaired[quickest]))


def _medium_low(run: Run, progress: pd.DataFrame) -> Iterator[Claim]:
    share = run["recoveries"] / max(run["recoveries"] + run["timeouts"], 1)
    yield SHEET.judge("fig10b-td-losses", exact(share), run=run)
    rows = progress[progress["figure"] == "fig10b"]
    received = rows.pivot_table("received", "until_s", "panel")
    ratios = {name: ratio_of_means(received["SACK"], received[name]) for name in _ORDER[1:]}
    stretches = f"{len(received)} stretches of {RECORDER.shown_s:g} s, the paper's axis"
    yield SHEET.judge("fig10b-sack-best", ratios, stretches=stretches)
    ahead = float((received["SACK"] >= received.max(axis=1)).mean())
    yield SHEET.judge("fig10b-sack-always", exact(ahead), stretches=stretches)

"""Figures 8 to 10 packet by packet, round trips of section V.A, and claims about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lightburst.papers.claims import UNKNOWN, Claim, exact
from lightburst.papers.traces import LOSSES, OUTCOMES, PROGRESS, Case, Ordered, Recorder
from lightburst.papers.yu2004.design import TIMES, table_point
from lightburst.papers.yu2004.points import LOW, ROUND_TRIPS, SEGMENT_BYTES, Point, base
from lightburst.papers.yu2004.published import SHEET
from lightburst.papers.yu2004.senders import FAMILIES, NAMES, NO_BUG_FIX, NS2, RFC
from lightburst.study.statistics import mean_interval, ratio_of_means

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd

    from lightburst.papers.yu2004.senders import Family, Sender

# Largest window limit of the paper, in segments: "W_m varies from 20 to 200", and figure 8(b) is at
# "the maximal limit of 200".
WINDOW_LIMIT: Final = 200
# The paper's axis ends at 40 s; counted quantities need longer runs.
RANDOM_S: Final = 5000.0
# Length of the runs that measure the round trip at 1.25 kB/s, and a segment's transmission time.
ROUND_TRIP_S: Final = 1e5
_SEGMENT_S: Final = SEGMENT_BYTES / LOW

# Families whose Reno figure 8 may show.
_RENOS: Final = (NS2, NO_BUG_FIX, RFC._replace(name="sender of the RFCs"))
_ORDER: Final = ("SACK", "New-Reno", "Reno")
# Parts of figures 8 and 9: S of the lost burst, and W at the loss.
_LOST: Final = {"fig8a": (5, 20), "fig8b": (5, 200), "fig9a": (5, 40), "fig9b": (25, 40)}
# Orders claimed in figure 9: better sender, worse senders, and the paper's words.
_BETTER: Final = {
    "fig9a": (
        ("SACK", ("New-Reno", "Reno"), "SACK performs best"),
        ("New-Reno", ("Reno",), "New-Reno performs better than Reno"),
    ),
    "fig9b": (
        ("SACK", ("New-Reno", "Reno"), "SACK performs much better than Reno and New-Reno"),
        ("Reno", ("New-Reno",), "New-Reno performs worse than Reno"),
    ),
}
# Parts of figure 10: name of the loss rate, and its value, one of the middle two in the tables.
_RANDOM: Final = {"fig10a": ("medium-high", 10**-1.5), "fig10b": ("medium-low", 10**-2)}

# Outcome of a run, and outcomes by the first part of the panel's name.
Run = dict[Any, Any]
Panels = dict[str, Run]


def cases() -> Iterator[Case]:
    """List the runs, in the order of the figures."""
    for p, _ in ROUND_TRIPS:
        yield _case("", f"p = {p:g}", "fig7", Point(LOW, min(TIMES[LOW]), p), ROUND_TRIP_S)
    for family in _RENOS:
        for id in ("fig8a", "fig8b"):
            name = f"({id[-1]}) Reno, W = {_LOST[id][1]}"
            yield _ordered(id, name, family, family.senders[0])
    for family in FAMILIES:
        for id in _BETTER:
            for sender in reversed(family.senders):
                yield _ordered(id, NAMES[sender], family, sender)
    for id, (_, p) in _RANDOM.items():
        for sender in reversed(NS2.senders):
            yield _case(id, NAMES[sender], "fig10", table_point(5, p, sender), RANDOM_S)


def _ordered(id: str, name: str, family: Family, sender: Sender) -> Case:
    """Build a case with one ordered loss of S segments at 125 kB/s."""
    burst, window = _LOST[id]
    panel = f"{name}, {family.name}" if family.suffix else name
    point = table_point(burst, 0.0, sender)._replace(window=WINDOW_LIMIT)
    case = _case(f"{id}{family.suffix}", panel, id[:4], point, 2 * RECORDER.after_s)
    return case._replace(lost=Ordered(window, WINDOW_LIMIT, burst))


def _case(figure: str, panel: str, part: str, point: Point, length_s: float) -> Case:
    return Case(figure, panel, part, base().with_(point.settings()), length_s, point.p)


def _title(name: str) -> str:
    id = name.partition("-")[0]
    figure = f"Figure {id[3:-1]}({id[-1]}):"
    if id in _RANDOM:
        words, p = _RANDOM[id]
        return f"{figure} random losses, {words}: p = {p:.3g}, S = 5"
    (burst, window), sender = _LOST[id], "Reno, " if id.startswith("fig8") else ""
    return f"{figure} {sender}one lost burst of S = {burst} at W = {window}"


def _caption(name: str) -> str:
    id, dash, suffix = name.partition("-")
    (senders,) = (family.words for family in _RENOS if family.suffix == dash + suffix)
    origin = "W_m = 50."
    if id in _LOST:
        ready = "in congestion avoidance"
        if _LOST[id][1] == WINDOW_LIMIT:
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


RECORDER: Final = Recorder(
    cases,
    _title,
    _caption,
    modulo=60,
    # The window grows by one segment per round trip, which takes half a second at S = 25.
    searched_s=60.0,
    after_s=10.0,
    drawn_s=6.0,
    shown_s=40.0,
)


def claims(parts: Sequence[str], recorded: Mapping[str, pd.DataFrame]) -> Iterator[Claim]:
    """Judge the paper's claims about single runs, on the output of `record`."""
    if OUTCOMES not in recorded:
        return
    runs: dict[str, Panels] = {}
    for row in recorded[OUTCOMES].to_dict("records"):
        runs.setdefault(row["figure"], {})[row["panel"].partition(",")[0]] = row
    if "fig7" in parts:
        yield from _round_trips(runs[""])
    if "fig8" in parts:
        yield from _figure_8(runs)
    if "fig9" in parts:
        yield from _figure_9(runs)
    if "fig10" in parts:
        yield from _back_to_back(recorded[LOSSES])
        yield from _medium_low(runs["fig10b"]["SACK"], recorded[PROGRESS])


def _round_trips(runs: Panels) -> Iterator[Claim]:
    for p, published in ROUND_TRIPS:
        mean = runs[f"p = {p:g}"]["round_trip_s"]
        window, wanted = mean / _SEGMENT_S, published / _SEGMENT_S
        sheet = SHEET.told(p=p, segment=_SEGMENT_S, mean=mean, window=window, wanted=wanted)
        yield sheet.judge("round-trip", exact(mean), published=published)


def _figure_8(runs: Mapping[str, Panels]) -> Iterator[Claim]:
    for family in _RENOS:
        sheet = SHEET.told(**family.told)
        (small,), (large,) = (runs[f"{id}{family.suffix}"].values() for id in ("fig8a", "fig8b"))
        yield sheet.judge("fig8a-timeout", exact(small["timeouts"]), run=small)
        yield sheet.judge("fig8a-time", exact(small["timeout_after_s"]), run=small)
        full = large["reach"] >= WINDOW_LIMIT
        limit = sheet.note("fig8b-no-timeout", "limit", **large) if full else ""
        none = exact(large["timeouts"])
        yield sheet.judge("fig8b-no-timeout", none, run=large, limit=limit)


def _figure_9(figures: Mapping[str, Panels]) -> Iterator[Claim]:
    for family in FAMILIES:
        for id, orders in _BETTER.items():
            sheet = SHEET.told(figure=id, burst=_LOST[id][0], **family.told)
            runs = figures[f"{id}{family.suffix}"]
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
    told = "; ".join(
        f"{name}: {shares[name].estimate:.0%} of {len(times)}, repaired after {times.mean():.3g} s"
        for name, times in repaired.items()
    )
    sheet = SHEET.told(told=told, time=RANDOM_S)
    yield sheet.judge("fig10a-back-to-back-timeouts", shares)
    quickest, *_, slowest = sorted(repaired.values(), key=lambda times: float(times.mean()))
    yield sheet.judge("fig10a-same", ratio_of_means(slowest, quickest))


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

"""What section V says of figures 8 to 10, and of the round trips at 1.25 kB/s, judged on traces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lightburst.papers.claims import UNKNOWN, Claim, exact
from lightburst.papers.traces import LOSSES, OUTCOMES, PROGRESS
from lightburst.papers.yu2004.points import LOW, SEGMENT_BYTES
from lightburst.papers.yu2004.published import SHEET
from lightburst.papers.yu2004.senders import FAMILIES
from lightburst.papers.yu2004.theory import ROUND_TRIPS
from lightburst.papers.yu2004.traces import RANDOM_S, RECORDER, RENOS, WINDOW_LIMIT, WORDS
from lightburst.study.statistics import Interval, mean_interval, ratio_of_means

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd


_SEGMENT_S: Final = SEGMENT_BYTES / LOW
_ORDER: Final = ("SACK", "New-Reno", "Reno")

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
_STALLS: Final = (
    "Sack1 has {timeouts} timeout(s): its counter of segments on the way takes the lost ones for "
    "sent until three ACKs come, and from S of about W/2 on they do not."
)
_HALF: Final = (
    "Timeouts: {timeouts}. Impatient New-Reno runs into one, and half of the data in flight is "
    "then more than half of the window."
)

Run = dict[str, Any]


def claims(parts: Sequence[str], recorded: Mapping[str, pd.DataFrame]) -> list[Claim]:
    """Judge what the paper says of single runs, from what `traces.record` gave."""
    if OUTCOMES not in recorded:
        return []
    table = recorded[OUTCOMES]
    found: list[Claim] = []
    if "fig7" in parts:
        found += _round_trips(table)
    if "fig8" in parts:
        for _, suffix, source in RENOS:
            found += _figure_8(table, suffix, source)
    if "fig9" in parts:
        for family in FAMILIES:
            found += _figure_9(table, family.suffix, family.source)
    if "fig10" in parts:
        found += [*_back_to_back(recorded[LOSSES]), *_medium_low(recorded)]
    return found


def _round_trips(table: pd.DataFrame) -> Iterator[Claim]:
    for p, published in ROUND_TRIPS:
        (mean,) = table.loc[(table["part"] == "fig7") & (table["p"] == p), "round_trip_s"]
        sheet = SHEET.told(p=p, segment=_SEGMENT_S, mean=mean)
        windows = {"window": mean / _SEGMENT_S, "wanted": published / _SEGMENT_S}
        yield sheet.told(**windows).judge("round-trip", exact(mean), published=published)


def _figure_8(table: pd.DataFrame, suffix: str, source: str) -> Iterator[Claim]:
    sheet = SHEET.told(suffix=suffix, source=source)
    small, large = (_row(table, f"fig8{letter}{suffix}") for letter in "ab")
    yield sheet.judge("fig8a-timeout", exact(small["timeouts"]), run=small)
    yield sheet.judge("fig8a-time", exact(small["timeout_after_s"]), run=small)
    limit = (
        f" By then {large['reach']:.0f} segments from the first lost one on have been sent. That "
        "is W_m: nothing new may leave before the first hole is filled, and after it the halved "
        "window is full. So no duplicates come that could start a second fast retransmission, with "
        "bug_fix or without. ns-2.35 does the same (tests/verification/ns2, five-window-200-slow)."
        if large["reach"] >= WINDOW_LIMIT
        else ""
    )
    yield sheet.judge("fig8b-no-timeout", exact(large["timeouts"]), run=large, limit=limit)


def _figure_9(table: pd.DataFrame, suffix: str, source: str) -> Iterator[Claim]:
    for id, burst, orders in _FIGURE_9:
        sheet = SHEET.told(figure=id, burst=burst, suffix=suffix, source=source)
        runs = {name: _row(table, f"{id}{suffix}", f"{name}{WORDS[suffix]}") for name in _ORDER}
        told = _told(runs)
        stalls = f" {_STALLS.format(**runs['SACK'])}" if runs["SACK"]["timeouts"] else ""
        for top, others, words in orders:
            ratio = min(runs[top]["received"] / runs[other]["received"] for other in others)
            note = told + (stalls if (id, top) == ("fig9b", "SACK") else "")
            named = sheet.told(better=top.lower(), words=words)
            yield named.judge("fig9-order", exact(ratio), note)
        yield sheet.judge("fig9-reno-timeout", exact(runs["Reno"]["timeouts"]))
        run = runs["New-Reno"]
        if id == "fig9a":
            note = _HALF.format(**run) if run["timeouts"] else ""
            yield sheet.judge("fig9a-halved-once", exact(run["threshold"]), note)
        else:
            rounds = run["repaired_after_s"] / run["round_trip_s"]
            yield sheet.judge("fig9b-rounds", exact(rounds), run=run)


def _back_to_back(losses: pd.DataFrame) -> Iterator[Claim]:
    rows = losses[(losses["figure"] == "fig10a") & (losses["bursts"] > 1)]
    by = {name: rows[rows["panel"] == name] for name in _ORDER}
    shares = {name: _mean(found["timeouts"] > 0) for name, found in by.items()}
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
    apart = ratio_of_means(repaired[slowest], repaired[quickest])
    yield sheet.judge("fig10a-same", apart)


def _medium_low(recorded: Mapping[str, pd.DataFrame]) -> Iterator[Claim]:
    row = _row(recorded[OUTCOMES], "fig10b", "SACK")
    share = row["recoveries"] / max(row["recoveries"] + row["timeouts"], 1)
    yield SHEET.judge("fig10b-td-losses", exact(share), run=row)
    rows = recorded[PROGRESS].query("figure == 'fig10b'")
    received = rows.pivot_table("received", "until_s", "panel")
    ratios = {
        name: ratio_of_means(received["SACK"], received[name]) for name in ("New-Reno", "Reno")
    }
    stretches = f"{len(received)} stretches of {RECORDER.shown_s:g} s, the paper's axis"
    yield SHEET.judge("fig10b-sack-best", ratios, stretches=stretches)
    ahead = float((received["SACK"] >= received.max(axis=1)).mean())
    yield SHEET.judge("fig10b-sack-always", exact(ahead), stretches=stretches)


def _mean(values: pd.Series[bool]) -> Interval:
    return mean_interval(values.to_numpy(dtype=float)) if len(values) else UNKNOWN


def _row(table: pd.DataFrame, figure: str, panel: str | None = None) -> Run:
    """Give the outcome of the one run of a figure, or of one of its panels."""
    rows = table[table["figure"] == figure]
    (row,) = (rows if panel is None else rows[rows["panel"] == panel]).to_dict("records")
    return {str(name): value for name, value in row.items()}


def _told(runs: Mapping[str, Run]) -> str:
    cells = (
        f"{name}: {run['received']:.0f} segments acknowledged, repaired after "
        f"{run['repaired_after_s']:.3g} s, {run['timeouts']} timeout(s)"
        for name, run in runs.items()
    )
    return "; ".join(cells) + "."

"""What section V says of figures 8 to 10, and of the round trips at 1.25 kB/s, judged on traces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lightburst.papers.claims import UNKNOWN, Claim, exact, smallest
from lightburst.papers.yu2004.points import LOW, SEGMENT_BYTES
from lightburst.papers.yu2004.published import FAMILIES, SHEET
from lightburst.papers.yu2004.theory import ROUND_TRIPS
from lightburst.papers.yu2004.traces import (
    LOSSES,
    OUTCOMES,
    PROGRESS,
    RANDOM_S,
    RENOS,
    SHOWN_S,
    WINDOW_LIMIT,
    WORDS,
)
from lightburst.study.statistics import Interval, mean_interval, ratio_of_means

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd

    from lightburst.papers.sheet import Sheet

_ROUND_TRIP_TOLERANCE: Final = 0.1
_SEGMENT_S: Final = SEGMENT_BYTES / LOW
_ORDER: Final = ("SACK", "New-Reno", "Reno")

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
        for _, suffix, source in FAMILIES:
            found += _figure_9a(table, suffix, source)
            found += _figure_9b(table, suffix, source)
    if "fig10" in parts:
        found += [*_back_to_back(recorded[LOSSES]), *_medium_low(recorded)]
    return found


def _round_trips(table: pd.DataFrame) -> Iterator[Claim]:
    for p, published in ROUND_TRIPS:
        (mean,) = table.loc[(table["part"] == "fig7") & (table["p"] == p), "round_trip_s"]
        low, high = (published * (1 + sign * _ROUND_TRIP_TOLERANCE) for sign in (-1, 1))
        note = (
            f"Each segment under way waits {_SEGMENT_S:g} s for each one before it, so that "
            f"{mean:.3g} s are a window of {mean / _SEGMENT_S:.2g} segments, and {published:g} s "
            f"would be one of {published / _SEGMENT_S:.2g}."
        )
        note = "" if low <= mean <= high else note
        sheet = SHEET.told(p=p)
        yield sheet.judge("round-trip", exact(mean), note, bound=(low, high), published=published)


def _figure_8(table: pd.DataFrame, suffix: str, source: str) -> Iterator[Claim]:
    sheet = SHEET.told(suffix=suffix, source=source)
    small, large = (_row(table, f"fig8{letter}{suffix}") for letter in "ab")
    note = (
        f"Window at the loss: {small['window']:.3g} segments; the burst held {small['burst']:.0f}."
    )
    yield sheet.judge("fig8a-timeout", exact(small["timeouts"]), note)
    note = (
        f"Fast retransmissions before it: {small['recoveries_after']:.0f}. Each starts the timer "
        "anew; the paper's text has several, its 0.8 s are those of two, which bug_fix forbids."
    )
    yield sheet.judge("fig8a-time", exact(small["timeout_after_s"]), note)
    note = _why_timeout(large) if large["timeouts"] else ""
    yield sheet.judge("fig8b-no-timeout", exact(large["timeouts"]), note)


def _why_timeout(run: Run) -> str:
    told = (
        f"Window at the loss: {run['window']:.3g} segments. The timer, {run['timer_s']:.3g} s then "
        f"and started anew since, expires {run['timeout_after_s']:.3g} s after it; fast "
        f"retransmissions before that: {run['recoveries_after']:.0f}."
    )
    if run["reach"] < WINDOW_LIMIT:
        return told
    return (
        f"{told} By then {run['reach']:.0f} segments from the first lost one on have been sent. "
        f"That is W_m: nothing new may leave before the first hole is filled, and after it the "
        "halved window is full. So no duplicates come that could start a second fast "
        "retransmission, with bug_fix or without. ns-2.35 does the same (tests/verification/ns2, "
        "five-window-200-slow)."
    )


def _figure_9a(table: pd.DataFrame, suffix: str, source: str) -> Iterator[Claim]:
    sheet = SHEET.told(figure="fig9a", burst=5, suffix=suffix, source=source)
    sack, new_reno, reno = runs = _senders(table, "fig9a", suffix)
    told = _told(runs)
    yield _better(sheet, "sack", "SACK performs best", sack, (new_reno, reno), told)
    better = "New-Reno performs better than Reno"
    yield _better(sheet, "new-reno", better, new_reno, (reno,), told)
    yield sheet.judge("fig9-reno-timeout", exact(reno["timeouts"]))
    note = (
        f"Timeouts: {new_reno['timeouts']}. Impatient New-Reno runs into one, and half of the "
        "data in flight is then more than half of the window."
        if new_reno["timeouts"]
        else ""
    )
    yield sheet.judge("fig9a-halved-once", exact(new_reno["threshold"]), note)


def _figure_9b(table: pd.DataFrame, suffix: str, source: str) -> Iterator[Claim]:
    sheet = SHEET.told(figure="fig9b", burst=25, suffix=suffix, source=source)
    sack, new_reno, reno = runs = _senders(table, "fig9b", suffix)
    told = _told(runs)
    stalls = (
        f" Sack1 has {sack['timeouts']} timeout(s): its counter of segments on the way takes the "
        "lost ones for sent until three ACKs come, and from S of about W/2 on they do not."
        if sack["timeouts"]
        else ""
    )
    better = "SACK performs much better than Reno and New-Reno"
    yield _better(sheet, "sack", better, sack, (new_reno, reno), f"{told}{stalls}")
    better = "New-Reno performs worse than Reno"
    yield _better(sheet, "reno", better, reno, (new_reno,), told)
    yield sheet.judge("fig9-reno-timeout", exact(reno["timeouts"]))
    rounds = new_reno["repaired_after_s"] / new_reno["round_trip_s"]
    note = (
        f"{new_reno['repaired_after_s']:.3g} s at {new_reno['round_trip_s']:.3g} s; timeouts: "
        f"{new_reno['timeouts']}. Impatient New-Reno starts its timer at the first partial ACK "
        "alone, so that it ends such a recovery."
    )
    yield sheet.judge("fig9b-rounds", exact(rounds), note)


def _better(
    sheet: Sheet, name: str, words: str, top: Run, others: tuple[Run, ...], note: str
) -> Claim:
    ratio = min(top["received"] / other["received"] for other in others)
    return sheet.told(better=name, words=words).judge("fig9-order", exact(ratio), note)


def _back_to_back(losses: pd.DataFrame) -> Iterator[Claim]:
    rows = losses[(losses["figure"] == "fig10a") & (losses["bursts"] > 1)]
    by = {name: rows[rows["panel"] == name] for name in _ORDER}
    shares = {name: _mean(found["timeouts"] > 0) for name, found in by.items()}
    repaired = {name: found["repaired_after_s"] for name, found in by.items()}
    names = sorted(_ORDER, key=lambda name: repaired[name].mean())
    told = "; ".join(
        f"{name}: {shares[name].estimate:.0%} of {len(by[name])}, repaired after "
        f"{repaired[name].mean():.3g} s"
        for name in _ORDER
    )
    note = f"By a timeout, in {RANDOM_S:,.0f} s: {told}."
    yield SHEET.judge("fig10a-back-to-back-timeouts", smallest(shares.values()), note)
    apart = ratio_of_means(repaired[names[-1]], repaired[names[0]])
    yield SHEET.judge("fig10a-same", apart, note)


def _medium_low(recorded: Mapping[str, pd.DataFrame]) -> Iterator[Claim]:
    row = _row(recorded[OUTCOMES], "fig10b", "SACK")
    share = row["recoveries"] / max(row["recoveries"] + row["timeouts"], 1)
    note = f"{row['recoveries']:.0f} fast recoveries and {row['timeouts']:.0f} timeouts."
    yield SHEET.judge("fig10b-td-losses", exact(share), note)
    rows = recorded[PROGRESS].query("figure == 'fig10b'")
    received = rows.pivot_table("received", "until_s", "panel")
    ratios = {
        name: ratio_of_means(received["SACK"], received[name]) for name in ("New-Reno", "Reno")
    }
    told = ", ".join(f"over {name}: {ratio.estimate:.3f}" for name, ratio in ratios.items())
    sheet = SHEET.told(stretches=f"{len(received)} stretches of {SHOWN_S:g} s, the paper's axis")
    worst = smallest(ratios.values())
    yield sheet.judge("fig10b-sack-best", worst, f"SACK {told}.")
    ahead = float((received["SACK"] >= received.max(axis=1)).mean())
    note = (
        "Each sender meets the same losses with other segments, so that in a short stretch another "
        "may be luckier."
    )
    yield sheet.judge("fig10b-sack-always", exact(ahead), note)


def _mean(values: pd.Series[bool]) -> Interval:
    return mean_interval(values.to_numpy(dtype=float)) if len(values) else UNKNOWN


def _senders(table: pd.DataFrame, figure: str, suffix: str) -> list[Run]:
    return [_row(table, f"{figure}{suffix}", f"{name}{WORDS[suffix]}") for name in _ORDER]


def _row(table: pd.DataFrame, figure: str, panel: str | None = None) -> Run:
    """Give the outcome of the one run of a figure, or of one of its panels."""
    rows = table[table["figure"] == figure]
    (row,) = (rows if panel is None else rows[rows["panel"] == panel]).to_dict("records")
    return {str(name): value for name, value in row.items()}


def _told(runs: list[Run]) -> str:
    cells = (
        f"{name}: {row['received']:.0f} segments acknowledged, repaired after "
        f"{row['repaired_after_s']:.3g} s, "
        f"{row['timeouts']} timeout(s)"
        for name, row in zip(_ORDER, runs, strict=True)
    )
    return "; ".join(cells) + "."

"""What section V says of figures 8 to 10, and of the round trips at 1.25 kB/s, judged on traces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lightburst.papers.claims import (
    UNKNOWN,
    Claim,
    agrees,
    at_least,
    exact,
    judged,
    verdict_of,
    within,
)
from lightburst.papers.yu2004.points import LOW, SEGMENT_BYTES
from lightburst.papers.yu2004.tolerance import MATCH
from lightburst.papers.yu2004.traces import (
    AFTER_S,
    FAMILIES,
    LOSSES,
    OUTCOMES,
    PROGRESS,
    RANDOM_S,
    RENOS,
    SHOWN_S,
    WINDOW_LIMIT,
)
from lightburst.study.statistics import Interval, mean_interval, ratio_of_means

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd

_SOURCES: Final = {
    "": "paper",
    "-no-bug-fix": "paper, with Reno without bug_fix",
    "-rfc": "paper, with the senders of the RFCs",
}
# Published, and how far the first may be off: "18" and "5.4" are "approximately" what is measured.
_ROUND_TRIPS: Final = ((0.003, 18.0), (0.1, 5.4))
_ROUND_TRIP_TOLERANCE: Final = 0.1
_SEGMENT_S: Final = SEGMENT_BYTES / LOW
# Read from a figure: both ends of the 0.8 s to a tenth.
_READING_S: Final = 0.1


def claims(parts: Sequence[str], recorded: Mapping[str, pd.DataFrame]) -> list[Claim]:
    """Judge what the paper says of single runs.

    Parameters
    ----------
    parts : sequence of str
        Parts of the paper.
    recorded : mapping of str to DataFrame
        What `lightburst.papers.yu2004.traces.record` gave.

    Returns
    -------
    list of Claim
        In the order of the figures.
    """
    if OUTCOMES not in recorded:
        return []
    table = recorded[OUTCOMES]
    found: list[Claim] = []
    if "fig7" in parts:
        found += _round_trips(table)
    if "fig8" in parts:
        for suffix, words, _ in RENOS:
            found += _figure_8(table, suffix, words, _SOURCES[suffix])
    if "fig9" in parts:
        for suffix, words, _ in FAMILIES:
            found += _figure_9a(table, suffix, words, _SOURCES[suffix])
            found += _figure_9b(table, suffix, words, _SOURCES[suffix])
    return [*found, *_figure_10(recorded)] if "fig10" in parts else found


def _round_trips(table: pd.DataFrame) -> Iterator[Claim]:
    for p, published in _ROUND_TRIPS:
        (mean,) = table.loc[(table["part"] == "fig7") & (table["p"] == p), "round_trip_s"]
        low, high = (published * (1 + sign * _ROUND_TRIP_TOLERANCE) for sign in (-1, 1))
        reason = (
            ""
            if low <= mean <= high
            else f"Each segment under way waits {_SEGMENT_S:g} s for each one before it, so that "
            f"{mean:.3g} s are a window of {mean / _SEGMENT_S:.2g} segments, and {published:g} s "
            f"would be one of {published / _SEGMENT_S:.2g}."
        )
        yield judged(
            f"round-trip-1250B-p{p:g}",
            "fig7",
            f"1.25 kB/s, p = {p:g}: the round trip without assembly (mean of the "
            "sender's samples, seconds)",
            published,
            exact(mean),
            agrees(exact(mean), low, high),
            f"within {_ROUND_TRIP_TOLERANCE:.0%}: the paper gives two digits of an approximate "
            "value",
            reason,
        )


def _figure_8(table: pd.DataFrame, suffix: str, words: str, source: str) -> Iterator[Claim]:
    small = _row(table, f"fig8a{suffix}", f"(a) Reno, W = 20{words}")
    large = _row(table, f"fig8b{suffix}", f"(b) Reno, W = 200{words}")
    yield judged(
        f"fig8a-timeout{suffix}",
        f"fig8a{suffix}",
        "Reno, W = 20: after the loss of one burst of S = 5 there is a timeout (timeouts in the "
        f"{AFTER_S:g} s after it)",
        1.0,
        exact(small["timeouts"]),
        verdict_of(small["timeouts"] >= 1),
        "one at least",
        f"Window at the loss: {small['window']:.3g} segments; the burst held {small['burst']:.0f}.",
        source=source,
    )
    time = small["timeout_after_s"]
    yield judged(
        f"fig8a-time{suffix}",
        f"fig8a{suffix}",
        "Reno, W = 20: the timeout comes 0.8 s after the loss (seconds)",
        0.8,
        exact(time),
        agrees(exact(time), 0.8 - _READING_S, 0.8 + _READING_S),
        f"within {_READING_S:g} s, what can be read off the figure",
        f"Fast retransmissions before it: {small['recoveries_after']:.0f}. Each starts the timer "
        "anew; the paper's text has several, its 0.8 s are those of two, which bug_fix forbids.",
        source=source,
    )
    held = large["timeouts"] == 0
    yield judged(
        f"fig8b-no-timeout{suffix}",
        f"fig8b{suffix}",
        "Reno, W = 200: after the loss of one burst of S = 5 there is no timeout (timeouts in the "
        f"{AFTER_S:g} s after it)",
        0.0,
        exact(large["timeouts"]),
        verdict_of(held),
        "none",
        "" if held else _why_timeout(large),
        source=source,
    )


def _why_timeout(run: dict[str, Any]) -> str:
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


def _figure_9a(table: pd.DataFrame, suffix: str, words: str, source: str) -> Iterator[Claim]:
    figure = f"fig9a{suffix}"
    sack, new_reno, reno = (_row(table, figure, f"{n}{words}") for n in _ORDER)
    told = _told(sack, new_reno, reno)
    yield _order_claim(
        f"fig9a-sack{suffix}", figure, "S = 5, W = 40: SACK performs best", sack, (new_reno, reno),
        told, source,
    )  # fmt: skip
    yield _order_claim(
        f"fig9a-new-reno{suffix}", figure, "S = 5, W = 40: New-Reno performs better than Reno",
        new_reno, (reno,), told, source,
    )  # fmt: skip
    yield _timeout_claim(f"fig9a-reno-timeout{suffix}", figure, 5, reno, source)
    half = new_reno["threshold"]
    yield judged(
        f"fig9a-halved-once{suffix}",
        figure,
        "S = 5, W = 40: New-Reno halves its window once, to 20 segments (slow start threshold "
        "after the recovery)",
        20.0,
        exact(half),
        agrees(exact(half), 19.0, 21.0),
        "within one segment",
        f"Timeouts: {new_reno['timeouts']}. Impatient New-Reno runs into one, and half of the "
        "data in flight is then more than half of the window."
        if new_reno["timeouts"]
        else "",
        source=source,
    )


def _figure_9b(table: pd.DataFrame, suffix: str, words: str, source: str) -> Iterator[Claim]:
    figure = f"fig9b{suffix}"
    sack, new_reno, reno = (_row(table, figure, f"{n}{words}") for n in _ORDER)
    told = _told(sack, new_reno, reno)
    stalls = (
        f" Sack1 has {sack['timeouts']} timeout(s): its counter of segments on the way takes the "
        "lost ones for sent until three ACKs come, and from S of about W/2 on they do not."
        if sack["timeouts"]
        else ""
    )
    yield _order_claim(
        f"fig9b-sack{suffix}", figure,
        "S = 25, W = 40: SACK performs much better than Reno and New-Reno", sack,
        (new_reno, reno), f"{told}{stalls}", source,
    )  # fmt: skip
    yield _order_claim(
        f"fig9b-reno{suffix}", figure, "S = 25, W = 40: New-Reno performs worse than Reno", reno,
        (new_reno,), told, source,
    )  # fmt: skip
    yield _timeout_claim(f"fig9b-reno-timeout{suffix}", figure, 25, reno, source)
    rounds = new_reno["repaired_after_s"] / new_reno["round_trip_s"]
    yield judged(
        f"fig9b-rounds{suffix}",
        figure,
        "S = 25, W = 40: New-Reno needs 25 round trips for its retransmissions (time until all of "
        "the window is acknowledged, in round trips)",
        25.0,
        exact(rounds),
        # The loss itself is found after one round trip, and the last ACK comes after another.
        agrees(exact(rounds), 24.0, 28.0),
        "24 to 28: one for each segment, and up to three to find the loss and to hear of the end",
        f"{new_reno['repaired_after_s']:.3g} s at {new_reno['round_trip_s']:.3g} s; timeouts: "
        f"{new_reno['timeouts']}. Impatient New-Reno starts its timer at the first partial ACK "
        "alone, so that it ends such a recovery.",
        source=source,
    )


_ORDER: Final = ("SACK", "New-Reno", "Reno")


def _figure_10(recorded: Mapping[str, pd.DataFrame]) -> list[Claim]:
    return [*_back_to_back(recorded[LOSSES]), *_medium_low(recorded)]


def _back_to_back(losses: pd.DataFrame) -> list[Claim]:
    rows = losses[(losses["figure"] == "fig10a") & (losses["bursts"] > 1)]
    by = {name: rows[rows["panel"] == name] for name in _ORDER}
    shares = {name: _mean(found["timeouts"] > 0) for name, found in by.items()}
    least = min(shares.values(), key=lambda share: share.estimate)
    repaired = {name: found["repaired_after_s"] for name, found in by.items()}
    names = sorted(_ORDER, key=lambda name: repaired[name].mean())
    apart = ratio_of_means(repaired[names[-1]], repaired[names[0]])
    told = "; ".join(
        f"{name}: {shares[name].estimate:.0%} of {len(by[name])}, repaired after "
        f"{repaired[name].mean():.3g} s"
        for name in _ORDER
    )
    note = f"By a timeout, in {RANDOM_S:,.0f} s: {told}."
    return [
        judged(
            "fig10a-back-to-back-timeouts",
            "fig10a",
            "Medium-high loss (p = 10^-1.5): bursts lost one after another easily trigger a "
            "timeout (share of such losses that are repaired by one, least of the three)",
            None,
            least,
            at_least(least, 0.5),
            "the whole interval is above a half",
            note,
        ),
        judged(
            "fig10a-same",
            "fig10a",
            "Medium-high loss (p = 10^-1.5): after bursts lost one after another all three perform "
            "the same (largest ratio of two mean times until all that was sent is acknowledged)",
            1.0,
            apart,
            within(apart, 1 / (1 + MATCH), 1 + MATCH),
            f"the whole interval is within {MATCH:.0%} of 1, what is seen to differ in a figure",
            note,
        ),
    ]


def _medium_low(recorded: Mapping[str, pd.DataFrame]) -> list[Claim]:
    row = _row(recorded[OUTCOMES], "fig10b", "SACK")
    share = row["recoveries"] / max(row["recoveries"] + row["timeouts"], 1)
    rows = recorded[PROGRESS].query("figure == 'fig10b'")
    received = rows.pivot_table("received", "until_s", "panel")
    ratios = {
        name: ratio_of_means(received["SACK"], received[name]) for name in ("New-Reno", "Reno")
    }
    worst = min(ratios.values(), key=lambda ratio: ratio.estimate)
    ahead = float((received["SACK"] >= received.max(axis=1)).mean())
    told = ", ".join(f"over {name}: {ratio.estimate:.3f}" for name, ratio in ratios.items())
    words = "Medium-low loss (p = 10^-2): "
    stretches = f"{len(received)} stretches of {SHOWN_S:g} s, the paper's axis"
    return [
        judged(
            "fig10b-td-losses",
            "fig10b",
            f"{words}most, if not all, losses are TD losses (SACK; share of fast recoveries among "
            "fast recoveries and timeouts)",
            None,
            exact(share),
            verdict_of(share > 0.5),
            "more than half",
            f"{row['recoveries']:.0f} fast recoveries and {row['timeouts']:.0f} timeouts.",
        ),
        judged(
            "fig10b-sack-best",
            "fig10b",
            f"{words}SACK has the best performance (segments acknowledged, over those of the "
            "better of the others)",
            1.0,
            worst,
            at_least(worst, 1.0),
            f"the whole interval, from {stretches}, is above 1",
            f"SACK {told}.",
        ),
        judged(
            "fig10b-sack-always",
            "fig10b",
            f"{words}SACK always has the best performance (share of the {stretches}, in which no "
            "other has more segments acknowledged)",
            1.0,
            exact(ahead),
            verdict_of(ahead == 1.0),
            "all of them; the runs are exact",
            "Each sender meets the same losses with other segments, so that in a short stretch "
            "another may be luckier.",
        ),
    ]


def _mean(values: pd.Series[bool]) -> Interval:
    return mean_interval(values.to_numpy(dtype=float)) if len(values) else UNKNOWN


def _row(table: pd.DataFrame, figure: str, panel: str) -> dict[str, Any]:
    (row,) = table[(table["figure"] == figure) & (table["panel"] == panel)].to_dict("records")
    return {str(name): value for name, value in row.items()}


def _order_claim(
    id: str,
    figure: str,
    words: str,
    top: dict[str, Any],
    others: tuple[dict[str, Any], ...],
    note: str,
    source: str,
) -> Claim:
    ratio = min(top["received"] / other["received"] for other in others)
    return judged(
        id,
        figure,
        f"{words} (segments acknowledged in the {AFTER_S:g} s after the loss, over those of the "
        "other)",
        1.0,
        exact(ratio),
        verdict_of(ratio > 1),
        "above 1; the runs are exact",
        note,
        source=source,
    )


def _timeout_claim(id: str, figure: str, burst: int, reno: dict[str, Any], source: str) -> Claim:
    return judged(
        id,
        figure,
        f"S = {burst}, W = 40: Reno has a timeout (timeouts in the {AFTER_S:g} s after the loss)",
        1.0,
        exact(reno["timeouts"]),
        verdict_of(reno["timeouts"] >= 1),
        "one at least",
        "",
        source=source,
    )


def _told(*rows: dict[str, Any]) -> str:
    cells = (
        f"{name}: {row['received']:.0f} segments acknowledged, repaired after "
        f"{row['repaired_after_s']:.3g} s, "
        f"{row['timeouts']} timeout(s)"
        for name, row in zip(_ORDER, rows, strict=True)
    )
    return "; ".join(cells) + "."

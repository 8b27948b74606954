"""The search over the settings that komatireddy2009 leaves open finds the one that explains its
numbers.
"""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest

import komatireddy2009_search as search
import komatireddy2009_settings as settings
from komatireddy2009_settings import INFERRED, OTHER, SETTINGS, Tried
from lightburst.papers.claims import Verdict
from lightburst.papers.komatireddy2009.points import base


def as_printed(point: Tried) -> tuple[float, float]:
    """Completion time and false fast retransmissions of a network that behaves as printed."""
    gain, lossy_gain, lossy_time, fast_ordered, fast = (
        printed for _, printed, *_ in search.PRINTED.values()
    )
    if point.loss:
        return lossy_time / (1.0 if point.remedy == "none" else lossy_gain), 0.0
    ordered = 84.0
    if point.law == "FAST":
        return ordered * (gain * fast if point.remedy == "none" else fast_ordered), 0.0
    return ordered * (gain if point.remedy == "none" else 1.0), 100.0


def scored(
    best: str, only: tuple[str, ...] = tuple(SETTINGS), fast: float = 0.4
) -> list[search.Score]:
    """Score networks of which one setting is as printed, and in the others SO gains too little."""
    rows = []
    for point in settings.points():
        if point.setting in only:
            time, false = as_printed(point)
            if point.remedy == "none" and not point.loss:
                time *= fast if point.law == "FAST" else 1.0
                time *= 1.0 if point.setting == best else 0.5
            if point.setting == "load of 1: 40 Gb/s":
                false = 0.0
            rows += [(*point, seed, time, 10 * false, 10) for seed in (1, 2)]
    names = ["seed", "completion_time_mean_s", "false_fast_retransmits", "flows"]
    return search.scores(search.runs_of(pd.DataFrame(rows, columns=[*Tried._fields, *names])))


def verdicts(table: list[search.Score]) -> dict[str, Verdict]:
    return {claim.id: claim.verdict for claim in search.claims(table)}


def test_the_distance_is_the_root_mean_square_of_the_logarithms() -> None:
    table = scored(INFERRED, fast=1.0)
    at = {score.setting: score for score in table}
    assert at[INFERRED].distance == pytest.approx(0.0, abs=1e-12)
    assert at[INFERRED].met == 5
    # Half of the gain; FAST over HighSpeed is as before.
    assert at[OTHER].distance == pytest.approx(math.log(2) / math.sqrt(5))
    assert at[OTHER].met == 4
    assert [score.distance for score in table] == sorted(score.distance for score in table)


def test_what_was_inferred_is_confirmed_or_refuted() -> None:
    assert set(verdicts(scored(INFERRED)).values()) == {Verdict.HOLDS}
    other = verdicts(scored("load of 1: 10 Gb/s"))
    assert {id for id, verdict in other.items() if verdict is not Verdict.HOLDS} == {
        "search-inferred", "search-load",
    }  # fmt: skip
    assert verdicts(scored(INFERRED, fast=1.0))["search-fast"] is Verdict.DIFFERS
    table = [
        x._replace(lossy_gain=1.2 if x.setting == OTHER else x.lossy_gain, false=1.0)
        for x in scored(INFERRED)
    ]
    found = verdicts(table)
    assert found["search-wide"] is found["search-loss"] is Verdict.DIFFERS


def test_a_preview_has_the_two_inferred_settings() -> None:
    quick = {point.setting for point in settings.points(quick=True)}
    assert quick == {INFERRED, OTHER}
    table = scored(INFERRED, tuple(quick))
    assert "search-wide" not in verdicts(table)
    drawn = search.figure(table, "0.0.0")
    assert len(drawn.data) == 2 * len(search.PRINTED)
    assert set(drawn.data.query(f"y == '{INFERRED}'")["words"][:3]) == {"4", "1.06", "1060"}


def test_a_setting_changes_what_it_says() -> None:
    def of(name: str) -> dict[str, Any]:
        return base().with_(Tried(name, "FAST", "source", 1e-3).settings()).to_dict()

    assert len({str(of(name)) for name in SETTINGS}) == len(SETTINGS)
    assert of(OTHER)["loss"]["probability"] == 0.5e-3
    wide = of("access of 1 Gb/s")["topology"]["links"]
    assert {link["rate"] for link in wide if "rate" in link} == {"1 Gb/s"}
    assert of("b = 2")["transport"]["acknowledge_every"] == 2


def test_the_scores_are_a_table_to_read() -> None:
    listing = search.listing(scored(INFERRED))
    assert len(listing.data) == len(SETTINGS) <= listing.shown
    assert "met from 3 to 5" in listing.caption

"""Statements of papers: the rule of their verdict, their headline, and which claims read which."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

from lightburst.papers import PAPERS
from lightburst.papers.claims import Claim, Origin, Verdict, Was, by_source, exact
from lightburst.papers.paper import Paper
from lightburst.papers.sheet import Sheet
from lightburst.papers.statements import Statement, headline, records, statements_of
from lightburst.papers.vlachos2008 import claims as vlachos2008
from lightburst.papers.vlachos2008 import design, metrics
from lightburst.papers.vlachos2008 import records as traced
from lightburst.papers.vlachos2008.points import runs_of
from lightburst.study.statistics import Interval

HOLDS, DIFFERS, OPEN = Verdict.HOLDS, Verdict.DIFFERS, Verdict.NOT_COMPARABLE
#: Whether runs could give a verdict: an open claim whose criterion compares nothing cannot.
NOTHING = "none: one flow is chance"


def claim(verdict: Verdict, reading: str = "", id: str = "a", criterion: str = "above 1") -> Claim:
    return Claim(
        f"{id}-{reading}" if reading else id, "fig1", f"{id} is so", 1.0, 2.0, 1.9, 2.1, verdict,
        criterion, "", statement_id=id if reading else "", reading=reading,
        statement_text=f"{id} is" if reading else "",
    )  # fmt: skip


def statement(*readings: tuple[Verdict, str]) -> Statement:
    (found,) = statements_of(
        claim(verdict, f"r{number}", criterion=criterion)
        for number, (verdict, criterion) in enumerate(readings, 1)
    )
    return found


# Every verdict that a reading can have; the last is one by which nothing can be compared.
KINDS = ((HOLDS, "above 1"), (DIFFERS, "above 1"), (OPEN, "above 1"), (OPEN, NOTHING))


@pytest.mark.parametrize("number", [1, 2, 3])
def test_the_verdict_follows_from_all_readings_by_one_rule(number: int) -> None:
    for readings in itertools.product(KINDS, repeat=number):
        holding = sum(verdict is HOLDS for verdict, _ in readings)
        differing = sum(verdict is DIFFERS for verdict, _ in readings)
        silent = sum(criterion == NOTHING for _, criterion in readings)
        found = statement(*readings)
        if holding:
            wanted = HOLDS
        elif differing and differing + silent == number:
            wanted = DIFFERS
        else:
            wanted = OPEN
        assert found.verdict is wanted, readings
        backwards = Statement("a", "a is", found.readings[::-1])
        assert backwards.verdict is wanted, "whatever their order"


def test_a_criterion_that_starts_with_none_still_decides_where_it_gives_a_verdict() -> None:
    assert statement((DIFFERS, "none in any run")).verdict is DIFFERS


@pytest.mark.parametrize(
    ("readings", "words"),
    [
        ([0], "holds"), ([1], "differs"), ([2], "not comparable"), ([3], "not comparable"),
        ([1, 0, 2], "holds under 1 of 3 readings (r2)"),
        ([0, 3, 0], "holds under 2 of 3 readings (r1; r3)"),
        ([1, 1], "differs under 2 of 2 readings"),
        ([1, 3], "differs under 1 of 2 readings, and nothing can be compared under the others"),
        ([1, 2, 1], "cannot be decided: differs under 2 of 3 readings"),
        ([2, 3], "cannot be decided: differs under 0 of 2 readings"),
    ],
)  # fmt: skip
def test_a_statement_says_under_which_readings_it_holds(readings: list[int], words: str) -> None:
    assert statement(*(KINDS[number] for number in readings)).told == words


def test_a_claim_without_readings_is_a_statement_by_itself() -> None:
    first, second = statements_of([claim(HOLDS, id="a"), claim(DIFFERS, id="b")])
    assert (first.id, first.text, first.verdict) == ("a", "a is so", HOLDS)
    assert (second.id, len(second.readings)) == ("b", 1)


def test_readings_stand_where_their_first_one_does() -> None:
    given = [claim(HOLDS, "one", "a"), claim(OPEN, id="b"), claim(DIFFERS, "two", "a")]
    found = statements_of(given)
    assert [(one.id, len(one.readings)) for one in found] == [("a", 2), ("b", 1)]
    assert found[0].text == "a is"


def test_the_headline_counts_statements_and_their_readings() -> None:
    found = [
        *(claim(verdict, f"r{n}", "a") for n, verdict in enumerate([HOLDS, DIFFERS, OPEN])),
        claim(DIFFERS, id="b"), claim(DIFFERS, id="c"), claim(OPEN, id="d"),
    ]  # fmt: skip
    assert headline(found) == (
        "4 statements of the paper in 6 readings: 1 holds, 2 differ, 1 cannot be decided"
    )
    assert headline(found[3:4]) == (
        "1 statement of the paper in 1 reading: 0 hold, 1 differs, 0 cannot be decided"
    )
    assert headline([]) == "no statement of the paper"


@pytest.mark.parametrize(
    ("source", "origin"),
    [
        ("paper", Origin.PAPER), ("paper, section 4", Origin.PAPER),
        ("this project", Origin.PROJECT), ("independent prototype", Origin.PROJECT),
        ("paper's claims with the senders of the RFCs", Origin.PROJECT),
    ],
)  # fmt: skip
def test_what_the_project_claims_does_not_count_in_the_paper_s_headline(
    source: str, origin: Origin
) -> None:
    own = [claim(HOLDS, "r1", "a"), claim(DIFFERS, "r2", "a")]
    added = replace(claim(DIFFERS, "r3", "a"), source=source)
    assert added.origin is origin
    assert statements_of([*own, added])[0].verdict is HOLDS
    beside = replace(claim(HOLDS, "r3", "a"), source="this project")
    (only, other) = statements_of([own[1], beside])
    assert (only.verdict, other.verdict) == (DIFFERS, HOLDS), "never a reading of the paper's"
    same = headline([*own, added]) == headline(own)
    assert same is (origin is Origin.PROJECT)


def test_the_paper_s_own_claims_come_first() -> None:
    sources = ["this project", "paper", "independent prototype", "paper, section 4", "paper"]
    found = by_source(replace(claim(HOLDS), source=source) for source in sources)
    assert list(found) == ["paper", "paper, section 4", "this project", "independent prototype"]
    assert [len(group) for group in found.values()] == [2, 1, 1, 1]


def test_a_row_tells_the_statement_and_its_verdict() -> None:
    first, second, third = records(
        [claim(DIFFERS, "r1", "a"), claim(HOLDS, "r2", "a"), claim(OPEN, id="b")]
    )
    assert (first["id"], first["verdict"], first["reading"]) == ("a-r1", "differs", "r1")
    assert [first[f"statement_{key}"] for key in ("id", "text", "verdict")] == [
        "a",
        "a is",
        "holds",
    ]
    assert second["statement_verdict"] == "holds"
    assert [third[f"statement_{key}"] for key in ("id", "text", "verdict")] == [
        "b", "b is so", "not comparable",
    ]  # fmt: skip
    assert (first["origin"], first["was"], third["reading"]) == ("paper", None, "")


# Sheets.

SHEET = Sheet(
    {
        "mean": {"id": "{kind}-mean", "figure": "f", "statement": "The mean", "rule": "at_least",
                 "bound": 1, "reads": "{kind}-fast", "reading": "mean of {kind}"},
        "median": {"id": "{kind}-median", "figure": "f", "statement": "The median",
                   "rule": "at_least", "bound": 2, "reads": "{kind}-fast", "reading": "median"},
        "short": {"figure": "f", "statement": "It is 5", "published": 5.0, "rule": "within",
                  "margin": 0.1, "readings": {"s": "seconds", "m": "minutes"}},
        "moved": {"figure": "f", "statement": "It is 5", "published": 5.0, "rule": "within",
                  "margin": "narrow", "source": "this project", "why": "It is not.",
                  "was": {"source": "paper", "bound": 5.0, "rule": "at_most", "why": "of {kind}"}},
    },
    {"narrow": 0.1},
    statements={"{kind}-fast": "The {kind} are fast"},
)  # fmt: skip


def test_two_claims_of_a_sheet_read_one_statement() -> None:
    sheet = SHEET.told(kind="mice")
    (found,) = statements_of([sheet.judge("mean", exact(1.5)), sheet.judge("median", exact(1.5))])
    assert (found.id, found.text) == ("mice-fast", "The mice are fast")
    assert found.told == "holds under 1 of 2 readings (mean of mice)"
    assert [one.id for one in found.readings] == ["mice-mean", "mice-median"]
    other = SHEET.told(kind="elephants").judge("mean", exact(0.5))
    assert len(statements_of([*found.readings, other])) == 2


def test_one_line_gives_a_claim_several_readings() -> None:
    claims = SHEET.judge_readings("short", {"s": exact(300.0), "m": exact(5.0)}, "Measured.")
    (found,) = statements_of(claims)
    assert (found.id, found.text) == ("short", "It is 5")
    assert found.told == "holds under 1 of 2 readings (minutes)"
    assert [one.id for one in found.readings] == ["short-s", "short-m"]
    assert found.readings[0].statement == "It is 5 (seconds)"
    assert all(one.note == "Measured." for one in found.readings)
    both = {"s": exact(300.0), "m": exact(5.0)}
    assert [one.verdict for one in SHEET.judge_readings("short", both, published=300.0)] == [
        HOLDS, DIFFERS,
    ]  # fmt: skip
    wide = SHEET.judge_readings("short", both, bound=(1.0, 400.0))
    assert [one.verdict for one in wide] == [HOLDS, HOLDS]


def test_an_earlier_verdict_stays_beside_the_new_one() -> None:
    sheet = SHEET.told(kind="mice")
    moved = sheet.judge("moved", exact(4.0))
    assert (moved.verdict, moved.source, moved.note) == (DIFFERS, "this project", "It is not.")
    assert moved.was == Was(HOLDS, "the whole interval is at or below 5", "paper", "of {kind}")
    assert moved.findings == (
        "It is not. Before: holds (source: paper; holds if the whole interval is at or below 5). "
        "Changed, as of {kind}."
    )
    (row,) = records([moved])
    assert json.loads(json.dumps(row["was"])) == {
        "verdict": "holds", "criterion": "the whole interval is at or below 5", "source": "paper",
        "reason": "of {kind}",
    }  # fmt: skip
    other = sheet.judge("moved", exact(4.0), before=exact(6.0))
    assert other.was is not None and other.was.verdict is DIFFERS, "what it judged then"
    plain = sheet.judge("mean", exact(1.0))
    assert (plain.was, plain.findings) == (None, plain.note)


def test_a_trace_of_one_flow_shows_what_it_was_and_decides_nothing() -> None:
    rises = vlachos2008.SHEET.told(segments=64).judge("trace-rises", exact(1.33))
    assert (rises.verdict, rises.was and rises.was.verdict) == (OPEN, HOLDS)
    late = vlachos2008.SHEET.told(told="x").judge("trace-long-term", exact(0.235))
    assert (late.verdict, late.was and late.was.verdict) == (OPEN, DIFFERS)
    assert late.was is not None and late.was.criterion == "in 0.8 to 1.25, of one flow"


# The four papers, judged on random numbers.


def _traces() -> dict[str, pd.DataFrame]:
    """One flow of vlachos2008 for each assembly time."""
    names = [f"T = {time} ms" for time in (1, 5, 10)]
    bins = [pd.DataFrame({"time_s": [0.1], "window_segments": [90], "panel": name})
            for name in names]  # fmt: skip
    heard = [pd.DataFrame({"time_s": [1.0], "segments": [9.0], "panel": name}) for name in names]
    return {traced.BINS: pd.concat(bins), traced.PROGRESS: pd.concat(heard)}


def made_up(paper: Paper, parts: tuple[str, ...]) -> list[Claim]:
    """Judge some parts on three runs a point, whose metrics are random."""
    table = pd.DataFrame(
        {**label, "seed": seed}
        for block in paper.blocks(parts, True)
        for label in block.labels.to_dict("records")
        for seed in (1, 2, 3)
    )
    drawn = np.random.default_rng(1)
    recorded = _traces() if paper.name == "vlachos2008" else None
    while True:
        try:
            return paper.outcome(parts, table.copy(), "0", recorded).claims
        except KeyError as missing:
            # A metric that the paper asks for, found out one by one.
            (name,) = missing.args
            assert name not in table
            table[name] = drawn.uniform(1, 2, len(table))


@cache
def all_claims(name: str) -> list[Claim]:
    paper = PAPERS[name]
    if name != "vlachos2008":
        return made_up(paper, tuple(paper.parts))
    # Its traces are of a part of the paper itself; figures of them need more than the claims do.
    runs = replace(paper, traced=None)
    return [*made_up(runs, tuple(paper.parts)), *traced.claims(["traces"], _traces())]


@pytest.mark.parametrize("name", PAPERS)
def test_every_claim_of_a_paper_is_in_exactly_one_statement(name: str) -> None:
    claims = all_claims(name)
    assert len({one.id for one in claims}) == len(claims)
    found = statements_of(claims)
    assert sorted(one.id for each in found for one in each.readings) == sorted(
        one.id for one in claims
    )
    assert len({each.id for each in found}) == len(found), "also across sources"
    for each in found:
        assert len({one.statement_text for one in each.readings}) == 1
        if each.readings[0].statement_id:
            labels = [one.reading for one in each.readings]
            assert all(labels) and len(set(labels)) == len(labels), each.id
            assert each.text == each.readings[0].statement_text != ""


#: The 22 lines of vlachos2008 that differed in November 2026 under model 8, by statement.
DIFFERED = {
    "active": ["active-S2"],
    "best-pair": ["best-pair-mean", "best-pair-pooled", "best-pair-mice"],
    "beats-fixed": ["beats-fixed-mean", "beats-fixed-pooled", "beats-fixed-mice"],
    "mean-10.7": ["mean-10.7"],
    "variation": ["variation-variance", "variation-deviation", "variation-relative"],
    "variance-improved": ["variance-improved"],
    "sack-better": ["sack-better-mean", "sack-better-pooled", "sack-better-mice"],
    "queues-2": ["queues-2-window", "queues-2-throughput", "queues-2-nsfnet"],
    "queues-4": ["queues-4-window", "queues-4-nsfnet"],
    "stronger-short": ["stronger-short"],
    "long-term": ["trace-long-term"],
}


def test_the_lines_of_vlachos2008_that_differed_are_eleven_statements() -> None:
    lines = {id for ids in DIFFERED.values() for id in ids}
    assert (len(lines), len(DIFFERED)) == (22, 11)
    found = {
        each.id: [one.id for one in each.readings if one.id in lines]
        for each in statements_of(all_claims("vlachos2008"))
        if each.origin is Origin.PAPER and any(one.id in lines for one in each.readings)
    }
    assert found == DIFFERED
    own = [one for one in statements_of(all_claims("vlachos2008")) if one.origin is Origin.PAPER]
    assert (len(own), sum(len(one.readings) for one in own)) == (20, 39)
    pairs = [{one.id for one in each.readings} for each in own if len(each.readings) == 2]
    assert {"mice-faster", "trace-rises"} in pairs
    assert {"long-term-same", "trace-long-term"} in pairs


#: What the papers do not say, or do not show; each keeps the verdict that it had as theirs.
ADDED = {
    "minakhmetov2018": {
        "gain-50-10m", "gain-50-100m", "factor-3-all-high-10m", "double-saw-all-high-10m",
    },
    "yu2004": {f"match-worst-fig{figure}" for figure in (5, 6, 7)},
    "komatireddy2009": set(),
    "vlachos2008": {
        f"{claim}-{slug}"
        for claim in ("searched-pair", "windows-beat-timers")
        for slug in ("mean", "pooled", "mice", "elephants")
    },
}  # fmt: skip


@pytest.mark.parametrize("name", PAPERS)
def test_what_was_taken_for_the_paper_s_is_the_project_s_and_says_so(name: str) -> None:
    claims = all_claims(name)
    moved = {
        one.id
        for one in claims
        if one.was and one.was.source.startswith("paper") and one.origin is Origin.PROJECT
    }
    assert moved == ADDED[name]
    assert all(one.was.reason for one in claims if one.was)
    counted = {one.id for each in statements_of(claims) for one in each.readings
               if each.origin is Origin.PAPER}  # fmt: skip
    assert not counted & moved


def test_the_pair_that_was_added_is_a_claim_of_its_own() -> None:
    claims = {one.id: one for one in all_claims("vlachos2008")}
    for slug in ("mean", "pooled", "mice", "elephants"):
        own, added = claims[f"best-pair-{slug}"], claims[f"best-pair-added-{slug}"]
        assert "(32, 128)" not in own.note
        assert own.was is not None and "(32, 128)" in own.was.reason
        assert (own.origin, added.origin) == (Origin.PAPER, Origin.PROJECT)


def test_the_pair_that_was_added_decided_before() -> None:
    rates = {design.BEST: 6.2, design.ADDED: 6.5}
    names = [metric for *_, metric in metrics.STATISTICS]
    rows = [
        {**point._asdict(), "seed": seed, metrics.VARIANCE: 9.0}
        | dict.fromkeys(names, rates.get(point, 6.0) + seed / 1e3)
        for point in design.PAIRS
        for seed in (1, 2, 3)
    ]
    found = {one.id: one for one in vlachos2008.window_claims(runs_of(pd.DataFrame(rows)))}
    for slug, *_ in metrics.STATISTICS:
        one = found[f"best-pair-{slug}"]
        assert (one.verdict, one.was and one.was.verdict) == (HOLDS, DIFFERS)
        assert found[f"best-pair-added-{slug}"].verdict is DIFFERS


def test_an_added_pair_that_is_better_no_longer_decides() -> None:
    sheet = vlachos2008.SHEET.told(slug="mean", statistic="mean over flows")
    slides, all_pairs = Interval(1.04, 1.03, 1.05, 9), Interval(0.96, 0.95, 0.97, 9)
    found = sheet.judge("best-pair", {"(8, 32)": slides},
                        before={"(8, 32)": slides, "(32, 128)": all_pairs})  # fmt: skip
    assert (found.verdict, found.was and found.was.verdict) == (HOLDS, DIFFERS)

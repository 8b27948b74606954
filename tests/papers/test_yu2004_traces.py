"""Figures 8 to 10: their traces, the values read off them, and the claims about them."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pandas as pd
import pytest

from lightburst.papers.claims import Verdict
from lightburst.papers.traces import LOSSES, OUTCOMES, PACKETS, PROGRESS
from lightburst.papers.yu2004 import traces
from lightburst.plots import static
from lightburst.plots.charts import packets

PARTS = ("fig8", "fig9")
BY_CHANCE = ("fig7", "fig10")
RANDOM_S = 2000.0


@pytest.fixture(scope="module")
def recorded() -> Mapping[str, pd.DataFrame]:
    return traces.RECORDER.record(PARTS)


@pytest.fixture(scope="module")
def random() -> Mapping[str, pd.DataFrame]:
    """Figure 10 in less time, enough for the losses of all senders together."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(traces, "RANDOM_S", RANDOM_S)
        return traces.RECORDER.record(BY_CHANCE)


def verdicts(tables: Mapping[str, pd.DataFrame], parts: tuple[str, ...]) -> dict[str, Verdict]:
    claims = list(traces.claims(parts, tables))
    assert len({claim.id for claim in claims}) == len(claims)
    return {claim.id: claim.verdict for claim in claims}


def changed(
    tables: Mapping[str, pd.DataFrame], figure: str, panel: str, **values: float
) -> dict[str, pd.DataFrame]:
    """The same traces with one changed outcome."""
    table = tables[OUTCOMES].copy()
    rows = (table["figure"] == figure) & table["panel"].str.startswith(panel)
    assert rows.sum() == 1
    for column, value in values.items():
        table.loc[rows, column] = value
    return {**tables, OUTCOMES: table}


def test_nothing_is_traced_that_no_part_needs() -> None:
    assert traces.RECORDER.record(("fig5", "table1")) == {}
    assert list(traces.claims(("fig5",), {})) == []
    assert traces.RECORDER.figures(("fig5",), {}, "0.1.0") == []


def test_the_ordered_burst_is_lost_at_the_ordered_window(
    recorded: Mapping[str, pd.DataFrame],
) -> None:
    outcomes = recorded[OUTCOMES]
    scripted = {"fig8a": (20, 5), "fig8b": (200, 5), "fig9a": (40, 5), "fig9b": (40, 25)}
    for figure, (window, burst) in scripted.items():
        rows = outcomes[outcomes["figure"] == figure]
        assert (rows["burst"] == burst).all(), figure
        assert rows["window"].between(window, 1.05 * window).all(), figure
    lost = recorded[PACKETS].query("kind == 'lost' and time_s == 0")
    assert lost.groupby(["figure", "panel"]).size().isin([5, 25]).all()


def test_what_no_sender_can_avoid_is_seen(recorded: Mapping[str, pd.DataFrame]) -> None:
    found = verdicts(recorded, PARTS)
    # Reno cannot repair five losses in a row, with any window and options.
    for suffix in ("", "-no-bug-fix", "-rfc"):
        assert found[f"fig8a-timeout{suffix}"] is Verdict.HOLDS
        assert found[f"fig8b-no-timeout{suffix}"] is Verdict.DIFFERS
    # Sack1 stalls where RFC 6675 does not.
    assert found["fig9b-sack"] is Verdict.DIFFERS
    assert found["fig9b-sack-rfc"] is Verdict.HOLDS
    assert found["fig9a-sack"] is found["fig9a-new-reno"] is Verdict.HOLDS
    # Without bug_fix there are the two fast retransmissions of the paper's text before the timeout.
    outcomes = recorded[OUTCOMES].set_index("figure")
    assert outcomes.loc["fig8a-no-bug-fix", "recoveries_after"] == 2
    assert outcomes.loc["fig8a", "recoveries_after"] == 1


def test_at_the_limit_the_timeout_is_that_of_a_sender_that_may_send_nothing_new(
    recorded: Mapping[str, pd.DataFrame],
) -> None:
    outcomes = recorded[OUTCOMES].set_index("figure")
    steady = 200 * 8e-3  # a full window at the access link, longer than the 0.164 s without it
    for suffix in ("", "-no-bug-fix", "-rfc"):
        run = outcomes.loc[f"fig8b{suffix}"]
        # The timeout is not premature: after the answer to the fast retransmission it waits longer
        # than a round trip, and no acknowledgement comes.
        assert run["timer_s"] > steady
        assert run["timeout_after_s"] > 2 * steady
        assert run["recoveries_after"] == 1
        assert run["reach"] == 200
    notes = {claim.id: claim.note for claim in traces.claims(("fig8",), recorded)}
    assert "nothing new may leave" in notes["fig8b-no-timeout"]
    other = changed(recorded, "fig8b", "(b)", reach=150)
    notes = {claim.id: claim.note for claim in traces.claims(("fig8",), other)}
    assert "nothing new may leave" not in notes["fig8b-no-timeout"]


@pytest.mark.parametrize(
    ("figure", "panel", "values", "broken"),
    [
        ("fig8a", "(a)", {"timeouts": 0}, "fig8a-timeout"),
        ("fig8a-no-bug-fix", "(a)", {"timeout_after_s": 1.0}, "fig8a-time-no-bug-fix"),
        ("fig9a", "SACK", {"received": 10}, "fig9a-sack"),
        ("fig9a", "New-Reno", {"received": 10}, "fig9a-new-reno"),
        ("fig9a", "Reno", {"timeouts": 0}, "fig9a-reno-timeout"),
        ("fig9a", "New-Reno", {"threshold": 10}, "fig9a-halved-once"),
        ("fig9b", "Reno", {"received": 1}, "fig9b-reno"),
        ("fig9b", "New-Reno", {"repaired_after_s": 1.0}, "fig9b-rounds"),
        ("fig9b-rfc", "SACK", {"received": 1}, "fig9b-sack-rfc"),
    ],
)
def test_another_outcome_breaks_the_claim(
    recorded: Mapping[str, pd.DataFrame],
    figure: str,
    panel: str,
    values: dict[str, float],
    broken: str,
) -> None:
    before = verdicts(recorded, PARTS)
    after = verdicts(changed(recorded, figure, panel, **values), PARTS)
    assert before[broken] is Verdict.HOLDS
    assert after[broken] is Verdict.DIFFERS


def test_the_round_trips_are_judged_from_both_sides(random: Mapping[str, pd.DataFrame]) -> None:
    table = random[OUTCOMES]
    for p, published in ((0.003, 18.0), (0.1, 5.4)):
        id = f"round-trip-1250B-p{p:g}"
        for factor, verdict in (
            (1.0, Verdict.HOLDS),
            (0.8, Verdict.DIFFERS),
            (1.2, Verdict.DIFFERS),
        ):
            other = table.copy()
            other.loc[(table["part"] == "fig7") & (table["p"] == p), "round_trip_s"] = (
                factor * published
            )
            assert verdicts({OUTCOMES: other}, ("fig7",))[id] is verdict
    # 0.8 s a segment: the measurement shows the window.
    notes = {claim.id: claim.note for claim in traces.claims(("fig7",), random)}
    assert "would be one of 6.8" in notes["round-trip-1250B-p0.1"]


def test_random_losses_are_judged_from_both_sides(random: Mapping[str, pd.DataFrame]) -> None:
    def judged(**tables: pd.DataFrame) -> dict[str, Verdict]:
        return verdicts({**random, **tables}, ("fig10",))

    pairs = random[LOSSES]
    twice = (pairs["figure"] == "fig10a") & (pairs["bursts"] > 1)
    new_reno = twice & (pairs["panel"] == "New-Reno")
    for timeouts, verdict in ((1, Verdict.HOLDS), (0, Verdict.DIFFERS)):
        other = pairs.copy()
        other.loc[new_reno, "timeouts"] = timeouts
        other.loc[twice & ~new_reno, "timeouts"] = 1
        found = judged(**{LOSSES: other})
        assert found["fig10a-back-to-back-timeouts"] is verdict
    for seconds, verdict in ((1.05, Verdict.HOLDS), (1.5, Verdict.DIFFERS)):
        other = pairs.copy()
        other.loc[twice, "repaired_after_s"] = 1.0
        other.loc[new_reno, "repaired_after_s"] = seconds
        assert judged(**{LOSSES: other})["fig10a-same"] is verdict
    progress = random[PROGRESS]
    sack = (progress["figure"] == "fig10b") & (progress["panel"] == "SACK")
    for factor, best, always in (
        (1.0, Verdict.HOLDS, Verdict.DIFFERS),
        (5.0, Verdict.HOLDS, Verdict.HOLDS),
        (0.5, Verdict.DIFFERS, Verdict.DIFFERS),
    ):
        other = progress.copy()
        other.loc[sack, "received"] *= factor
        found = judged(**{PROGRESS: other})
        assert (found["fig10b-sack-best"], found["fig10b-sack-always"]) == (best, always)
    assert verdicts(random, ("fig10",))["fig10b-td-losses"] is Verdict.HOLDS
    more = changed(random, "fig10b", "SACK", recoveries=10, timeouts=11)
    assert verdicts(more, ("fig10",))["fig10b-td-losses"] is Verdict.DIFFERS


def test_losses_and_progress_add_up(random: Mapping[str, pd.DataFrame]) -> None:
    progress, outcomes = random[PROGRESS], random[OUTCOMES]
    rows = progress.groupby(["figure", "panel"])["received"]
    assert (rows.size() == RANDOM_S / traces.RECORDER.shown_s).all()
    losses = random[LOSSES]
    assert (losses["repaired_after_s"] > 0.1).all(), "no sooner than a round trip"
    for _, run in outcomes[outcomes["part"] == "fig10"].iterrows():
        own = losses[(losses["figure"] == run["figure"]) & (losses["panel"] == run["panel"])]
        # Two losses may be repaired together, and share their timeouts; the last one's may lack.
        assert own["timeouts"].sum() >= run["timeouts"] - 1
    for figure, p in (("fig10a", 10**-1.5), ("fig10b", 0.01)):
        # Losses are independent: after one, the next burst is lost with probability p.
        several = losses["bursts"][losses["figure"] == figure] > 1
        deviation = (p * (1 - p) / len(several)) ** 0.5
        assert several.mean() == pytest.approx(p, abs=3 * deviation)
        assert deviation < 0.3 * p
    figures = traces.RECORDER.figures(("fig10",), random, "0.1.0")
    assert [figure.id for figure in figures] == ["fig10a", "fig10b"]


def test_a_reno_without_timeout_would_fulfil_figure_8b(
    recorded: Mapping[str, pd.DataFrame],
) -> None:
    found = verdicts(changed(recorded, "fig8b", "(b)", timeouts=0), PARTS)
    assert found["fig8b-no-timeout"] is Verdict.HOLDS


def test_every_claim_has_a_figure_and_every_figure_its_dots(
    recorded: Mapping[str, pd.DataFrame],
) -> None:
    figures = traces.RECORDER.figures(PARTS, recorded, "0.1.0")
    names = {figure.id for figure in figures}
    assert len(names) == len(figures) == 6 + 4
    assert {claim.figure for claim in traces.claims(PARTS, recorded)} <= names
    for figure in figures:
        assert set(figure.data["panel"]) == set(figure.panels), figure.id
        assert set(figure.data["kind"]) == set(figure.kinds), figure.id
        assert figure.data["packet"].between(0, 59).all()
        assert "0.1.0" in figure.caption
        assert ("RFCs" if figure.id.endswith("-rfc") else "ns-2") in figure.caption
    static.draw(figures[:1])
    lines = json.dumps(packets.chart(figures[0])).count('"timeout"')
    assert lines == len(figures[0].marks) == 1, "on the page as well"


def test_the_traces_are_the_same_at_a_second_call(recorded: Mapping[str, pd.DataFrame]) -> None:
    again = traces.RECORDER.record(("fig8",))
    first = recorded[OUTCOMES]
    first = first[first["part"] == "fig8"].reset_index(drop=True)
    pd.testing.assert_frame_equal(again[OUTCOMES], first)

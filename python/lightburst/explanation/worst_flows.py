"""The worst flows of a saved run, and explanations of the first of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from lightburst.explanation.flow import explain_several
from lightburst.explanation.flow_text import DIVISION, MOST_ROWS, division, listings, sentences
from lightburst.foundation.errors import InputError
from lightburst.report.page import Link, Story, Table
from lightburst.result.metric_text import in_rows, readable
from lightburst.result.rerun import check_same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pandas as pd

    from lightburst.explanation.flow import Explanation
    from lightburst.result.rerun import Saved
    from lightburst.result.result import Result

_LISTED: Final = 10
# Number of flows explained by default, if the run has at most `MOST_EVENTS`: repeating it for the
# explanation then takes a few seconds.
EXPLAINED: Final = 3
MOST_EVENTS: Final = 20_000_000
# Maximum number of explained flows, to limit the length of the page.
MOST: Final = 50
_WHY: Final = "since the run could not be repeated where the page was written"
_COMMAND: Final = "lightburst explain DIR --flow N, with this directory and a number."


def worst_flows(flows: pd.DataFrame, most: int = _LISTED) -> pd.DataFrame:
    """Select the worst flows.

    Parameters
    ----------
    flows : pandas.DataFrame
        Table of `lightburst.Result`.
    most : int
        Maximum number of flows.

    Returns
    -------
    pandas.DataFrame
        Rows of the counted flows in descending order of slowdown; the index is the number of the
        flow. An unfinished flow is worse than any finished one.
    """
    slowdown = flows["slowdown"].astype(float).mask(flows["status"] == "lost", np.inf)
    counted = slowdown.notna()
    if "counted" in flows:
        counted &= flows["counted"]
    order = slowdown[counted].sort_values(ascending=False, kind="stable").index[:most]
    return flows.loc[order]


class WorstFlows:
    """Tables and explanations of the worst flows for the page.

    Attributes
    ----------
    tables : list of Table
        List of the flows; empty if there are none.
    stories : list of Story
        Explanations of the first of them.
    """

    def __init__(
        self,
        flows: pd.DataFrame,
        saved: Saved,
        events: int,
        explained: int | None,
        simulate: Callable[..., Result],
    ) -> None:
        """Repeat the run and explain the worst flows.

        Parameters
        ----------
        flows : pandas.DataFrame
            Table of `lightburst.Result`.
        saved : Saved
            Scenario, seed and digest of the run.
        events : int
            Number of events of the run.
        explained : int or None
            Number of flows to explain; None for `EXPLAINED`, or 0 if the run had too many events.
        simulate : callable
            As for `lightburst.explanation.flow.explain`.
        """
        table = worst_flows(flows, max(_LISTED, explained or 0))
        self.stories: list[Story] = []
        self.tables: list[Table] = []
        if table.empty:
            return
        numbers = [int(number) for number in table.index]
        words = "Their numbers are the rows of flows.parquet, from 0."
        why = ""
        try:
            found = _followed(saved, numbers, events, explained, simulate)
        except InputError as error:
            found, why = [], f" They are not explained here, {_WHY} ({error})."
        self.stories = [_story(one) for one in found]
        if len(found) < len(numbers):
            why += f" {'Explanations of the others' if found else 'Explanations'}: {_COMMAND}"
        told = {one.flow for one in found}
        self.tables = [_table(table, told, words + why)]


def _followed(
    saved: Saved,
    numbers: Sequence[int],
    events: int,
    explained: int | None,
    simulate: Callable[..., Result],
) -> list[Explanation]:
    scenario = saved.scenario
    if explained is None:
        if events > MOST_EVENTS:
            return []
        # The number of events in the file cannot be trusted: limit the run.
        own = scenario.measurement.event_limit
        limit = 2 * MOST_EVENTS if own is None else min(own, 2 * MOST_EVENTS)
        scenario = scenario.with_({"measurement.event_limit": limit})
    chosen = numbers[: EXPLAINED if explained is None else explained]
    if not chosen:
        return []
    found = explain_several(scenario, chosen, saved.seed, simulate=simulate)
    check_same(saved, found[0].result.digest)
    return found


def _table(flows: pd.DataFrame, told: set[int], caption: str) -> Table:
    groups = "group" in flows
    header = [
        "Flow", *(["Group"] if groups else []), "From", "To", "Size", "Started", "Completion time",
        "Slowdown", "Drops", "Timeouts", "Sent again", "What happened",
    ]  # fmt: skip
    rows: list[list[str | Link]] = []
    for row in in_rows(flows):
        number = int(row.Index)
        rows.append(
            [
                str(number),
                *([str(row.group)] if groups else []),
                str(row.source),
                str(row.destination),
                readable("_bytes", int(row.size_bytes)),
                readable("_s", float(row.start_s)),
                _or(row.completion_time_s, "not finished", readable("_s", row.completion_time_s)),
                _or(row.slowdown, "–", f"{row.slowdown:.4g}"),
                f"{int(row.drops):,}",
                f"{int(row.timeouts):,}",
                f"{int(row.retransmissions):,} segments",
                Link("below", _anchor(number)) if number in told else f"--flow {number}",
            ]
        )
    return Table("The worst flows, by slowdown", header, rows, caption)


def _or(value: float, without: str, words: str) -> str:
    return words if np.isfinite(value) else without


def _anchor(number: int) -> str:
    return f"flow-{number}"


def _story(found: Explanation) -> Story:
    parts = zip(found.parts["share"].tolist(), division(found), strict=True)
    return Story(
        id=_anchor(found.flow),
        title=f"What happened to flow {found.flow}",
        sentences=list(sentences(found)),
        shares=[(share, time, name, words) for share, (time, _, name, words) in parts],
        tables=list(_tables(found)),
        shares_title=DIVISION,
    )


def _tables(found: Explanation) -> Iterator[Table]:
    for title, header, rows in listings(found):
        if rows:
            more = len(rows) - MOST_ROWS
            caption = f"And {more:,} more." if more > 0 else ""
            yield Table(f"{title}: {len(rows):,}", header, rows[:MOST_ROWS], caption)

"""Page of a sweep: explorer of its points, comparisons, warnings and provenance."""

from __future__ import annotations

import json
import textwrap
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

import altair as alt
import numpy as np
import pandas as pd
from markupsafe import Markup

from lightburst.foundation.formatting import as_given
from lightburst.plots import style
from lightburst.plots.interactive import Key
from lightburst.plots.vega import specification
from lightburst.report.page import Chart, Explorer, Page, Table, Tile, inside_script, render, short
from lightburst.report.sweep_data import points_of
from lightburst.result.labels import column_words
from lightburst.result.metric_text import metric_words, readable, readable_interval
from lightburst.study.design.points import SAMPLE, VARIANT
from lightburst.study.design.written import to_toml
from lightburst.study.execution.warned import warned
from lightburst.study.statistics.comparison import VERDICTS
from lightburst.study.statistics.intervals import INTERVALS
from lightburst.study.store.failures import HOW_AGAIN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lightburst.experiment.swept.runs import SweptRuns

# Maximum number of rows in a table (the files have all), and in a chart.
_MOST_ROWS: Final = 500
_MOST_DRAWN: Final = 40
# Characters per line of an axis title, to fit a phone.
_TITLE: Final = 44
# Factor by which an interval without an end exceeds all others.
_BEYOND: Final = 2.0
#: Maximum number of comparisons added without a request.
_MOST_PAIRS: Final = 8
_COLOURS: Final = {
    "higher": style.VERMILION, "lower": style.BLUE, "unclear": style.GREY, "same": style.GREY,
    "unknown": style.GREY,
}  # fmt: skip


def sweep_page(sweep: SweptRuns) -> str:
    """Render the page of a sweep.

    Parameters
    ----------
    sweep : SweptRuns
        Sweep to show. The page contains means with intervals instead of runs, so that it can be
        opened for a hundred thousand runs.

    Returns
    -------
    str
        Self-contained HTML document.
    """
    study, runs = sweep.study, sweep.runs
    provenance = sweep.provenance
    data = points_of(sweep)
    seeds = sorted({int(seed) for seed in runs["seed"]})
    compared = [_Compared(sweep, a, b) for a, b in _pairs(sweep)]
    kinds = warned(runs)
    name = study.name or provenance["scenario"].get("name") or "Unnamed study"
    axes = [axis for axis in sweep.design.columns if axis != SAMPLE]
    tiles = [
        Tile(f"{sweep.design.number:,}", "points"),
        Tile(f"{len(runs):,}", "runs"),
        *([Tile(f"{len(sweep.failed):,}", "failed runs", "differs")] if sweep.failed else []),
        Tile(f"{len(seeds):,}", "seeds"),
        Tile(f"{len(kinds):,}", "kinds of warnings", "differs" if kinds else "holds"),
    ]
    script = files("lightburst.report").joinpath("sweep.js").read_text("utf-8")
    page = Page(
        title=name,
        lede=f"{_what(axes)}; seeds {_seeds(seeds)}. Means over the seeds with "
        f"95 % intervals ({INTERVALS[study.interval]}).",
        provenance=_provenance(sweep, seeds),
        tiles=tiles,
        charts=[chart for one in compared for chart in one.charts()],
        tables=[
            *_failed(sweep),
            *_warnings(sweep),
            *(one.table() for one in compared),
            *_left_out(data),
        ],
        scenario=json.dumps(provenance["scenario"], indent=2, ensure_ascii=False),
        explorer=Explorer(Markup(inside_script(data)), Markup(script)),
        study=to_toml(study) or "",
    )
    return render(page)


def _what(axes: list[str]) -> str:
    words = ", ".join(map(column_words, axes)) or "one point"
    return f"{words[:1].upper()}{words[1:]}"


def _pairs(sweep: SweptRuns) -> list[tuple[str, str]]:
    """Choose the pairs to compare: those of the study, else the first variant with each other."""
    study = sweep.study
    if study.compare or "compare" in study.model_fields_set:
        return [(a, b) for a, b in study.compare]
    there = set(sweep.runs[VARIANT]) if VARIANT in sweep.runs else set()
    first, *others = [name for name in study.variants if name in there] or [""]
    return [(first, other) for other in others[:_MOST_PAIRS]]


def _seeds(seeds: list[int]) -> str:
    if not seeds:
        return "none"
    if len(seeds) > 1 and seeds == list(range(seeds[0], seeds[-1] + 1)):
        return f"{seeds[0]} to {seeds[-1]}"
    more = f" and {len(seeds) - 20:,} more" if len(seeds) > 20 else ""
    return ", ".join(map(str, seeds[:20])) + more


def _provenance(sweep: SweptRuns, seeds: list[int]) -> list[tuple[str, str]]:
    known = [
        (key.replace("_", " "), str(value))
        for key, value in sweep.provenance.items()
        if key not in ("scenario", "digest") and value is not None
    ]
    digest = f"{sweep.provenance['digest']} (of the digests of all runs, in the order of the runs)"
    return [
        *known,
        ("digest", digest),
        ("seeds", _seeds(seeds)),
        ("runs", f"{len(sweep.runs):,}, each with its digest in runs.parquet"),
        ("command", "lightburst sweep study.toml --out DIR, with the study below"),
    ]


def _failed(sweep: SweptRuns) -> Iterator[Table]:
    """Make a table of the failed runs and their causes."""
    if sweep.failed:
        rows = [(text,) for text in sweep.failures]
        caption = f"Failures that differ in their numbers only are one. {HOW_AGAIN}."
        yield Table("Failed runs", ("How many, where, and why",), rows, caption)


def _warnings(sweep: SweptRuns) -> Iterator[Table]:
    """Make a table of the warnings by kind, with the number of runs and the first occurrence."""
    found = warned(sweep.runs)
    beyond = sweep.warnings[len(sweep.failures) + len(found) :]
    if not (found or beyond):
        return
    points = sweep.runs[sweep.design.columns]
    rows = []
    for one in found:
        values = points.iloc[one.place].dropna().to_dict()
        named = ((column_words(str(name)), as_given(value)) for name, value in values.items())
        where = ", ".join(map(" ".join, named))
        rows.append((one.text, f"{one.runs:,} of {len(sweep.runs):,}", where, str(one.seed)))
    # Warnings of the sweep itself: missed targets.
    rows += [(text, "the sweep", "", "") for text in beyond]
    header = "In the words of the first run", "Runs that have it", "First at", "with seed"
    caption = "Warnings that differ in their numbers only are one kind."
    yield Table("Warnings", header, rows, caption)


def _left_out(data: dict[str, Any]) -> Iterator[Table]:
    if data["left_out"]:
        words = f"{data['left_out']:,} metrics of the runs; they are in runs.parquet."
        yield Table("Metrics left out of the page", ("Left out",), [(words,)])


class _Compared:
    """Charts and table of one comparison."""

    def __init__(self, sweep: SweptRuns, a: str, b: str) -> None:
        self.a, self.b = a, b
        self.sweep, self.found = sweep, sweep.compare(a, b)
        self.sure = f"{100 * self.found.confidence:g} %"
        # The given value of an axis makes its duplicate in SI units redundant.
        self.labels = [name for name in self.found.points if name in sweep.design.columns]

    def charts(self) -> Iterator[Chart]:
        """Draw the ratios per metric, if there are any and not too many."""
        rows = [row for row in _records(self.found.table) if _has_ratio(row)]
        metrics = list(dict.fromkeys(row["metric"] for row in rows))
        if len(rows) > _MOST_DRAWN:
            return
        for metric in metrics:
            own = [row for row in rows if row["metric"] == metric]
            words = list(dict.fromkeys(row["verdict"] for row in own))
            yield Chart(
                f"compare-{metric}-{self.a}-{self.b}",
                f"{self.b} over {self.a}: {metric_words(self.sweep.study.metrics, metric)}",
                "Ratios of the means on the same seeds. The intervals hold together, for all "
                f"{self.found.compared} comparisons with {self.sure}; at the line both are equal.",
                _ratios(own, [self._short(row) for row in own], f"{self.b} over {self.a}"),
                [Key(f"{word}: {VERDICTS[word]}", _COLOURS[word], "") for word in words],
            )

    def _short(self, row: dict[str, Any]) -> str:
        """Name a point by its values of the axes."""
        parts = [
            f"{column_words(name)} {as_given(row[name])}"
            for name in self.labels
            if not pd.isna(row[name])
        ]
        return ", ".join(parts) or "all"

    def table(self) -> Table:
        """Make the table: means, difference and ratio with intervals, p-values, verdicts."""
        rows = []
        for row in _records(self.found.table.head(_MOST_ROWS)):
            metric = row["metric"]
            key = self.sweep.key(metric)
            gap = {"mean": row["difference"], "ci_low": row["ci_low"], "ci_high": row["ci_high"]}
            ratio = {
                "mean": row["ratio"], "ci_low": row["ratio_low"], "ci_high": row["ratio_high"]
            }  # fmt: skip
            rows.append(
                [
                    *(as_given(row[name]) for name in self.labels),
                    metric_words(self.sweep.study.metrics, metric),
                    *(readable(key, float(row[side])) for side in ("first", "second")),
                    readable_interval(key, gap),
                    readable_interval("", ratio),
                    "–" if pd.isna(row["p_adjusted"]) else short(row["p_adjusted"]),
                    row["verdict"],
                    f"{row['pairs']:,}",
                ]
            )
        header = [
            *map(column_words, self.labels), "Metric", self.a, self.b, "Difference (interval)",
            "Ratio (interval)", "p (corrected)", "Verdict", "Pairs",
        ]  # fmt: skip
        number = len(self.found.table)
        more = f" The first {_MOST_ROWS} of {number:,} rows." if number > _MOST_ROWS else ""
        used = dict.fromkeys(row["verdict"] for row in _records(self.found.table))
        meaning = "; ".join(f"{word}: {VERDICTS[word]}" for word in used)
        caption = (
            f"Seed by seed. All intervals hold together with {self.sure}; p-values are corrected "
            f"for {self.found.compared} comparisons (Bonferroni). {meaning}.{more}"
        )
        caption = " ".join((caption, *self.found.cautions))
        return Table(f"{self.b} compared with {self.a}", header, rows, caption)


def _ratios(rows: list[dict[str, Any]], labels: list[str], title: str) -> dict[str, Any]:
    """Draw ratios with intervals, one row per point; unbounded intervals reach the edges."""
    low, ratio, high = (
        np.array([row[name] for row in rows], dtype=float)
        for name in ("ratio_low", "ratio", "ratio_high")
    )
    ends = np.concatenate([[1.0], low, ratio, high])
    ends = ends[(ends > 0) & np.isfinite(ends)]
    edges = ends.min() / _BEYOND, ends.max() * _BEYOND
    data = pd.DataFrame(
        {
            "row": labels,
            "ratio": ratio,
            "low": np.where(low > 0, low, edges[0]),
            "high": np.where(np.isfinite(high), high, edges[1]),
            "from": [f"{end:.4g}" for end in low],
            "to": [f"{end:.4g}" if np.isfinite(end) else "no end" for end in high],
            "verdict": [row["verdict"] for row in rows],
        }
    )
    words = list(dict.fromkeys(data["verdict"]))
    scale = alt.Scale(domain=words, range=[_COLOURS[word] for word in words])
    base = alt.Chart(data).encode(
        y=alt.Y("row:N", title=None, sort=None, axis=alt.Axis(labelLimit=170)),
        color=alt.Color("verdict:N", scale=scale, legend=None),
    )
    log = alt.Scale(type="log", nice=False, padding=12)
    axis = alt.Axis(format="~g", tickCount=4, titleAnchor="end")
    number: dict[str, Any] = {"type": "quantitative", "format": ".4~g"}
    layers = [
        alt.Chart(pd.DataFrame({"one": [1.0]}))
        .mark_rule(color=style.GREY)
        .encode(x=alt.X("one:Q", scale=log)),
        base.mark_rule(strokeWidth=2).encode(
            x=alt.X("low:Q", title=textwrap.wrap(title, _TITLE), scale=log, axis=axis),
            x2="high:Q",
        ),
        base.mark_point(filled=True, size=70, opacity=1).encode(
            x=alt.X("ratio:Q", scale=log),
            shape=alt.Shape("verdict:N", legend=None),
            tooltip=[
                alt.Tooltip("row:N", title="Point"),
                alt.Tooltip("ratio", title="Ratio", **number),
                alt.Tooltip("from:N", title="from"),
                alt.Tooltip("to:N", title="to"),
                alt.Tooltip("verdict:N", title="Verdict"),
            ],
        ),
    ]
    return specification(alt.layer(*layers), 30 + 26 * len(data))


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(key): value for key, value in row.items()} for row in table.to_dict("records")]


def _has_ratio(row: dict[str, Any]) -> bool:
    return 0 < row["ratio"] < float("inf") and not pd.isna(row["ratio_low"])

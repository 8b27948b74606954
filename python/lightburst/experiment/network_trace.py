"""Trace of a network's bursts on disk: tables, figures and an interactive page."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
from markupsafe import Markup

from lightburst.compile import check_seed
from lightburst.foundation.errors import InputError, warn
from lightburst.foundation.files.directory import replace
from lightburst.foundation.formatting import html_text
from lightburst.plots.charts.network import COLOURS, OTHERS, chosen_paths, pictures
from lightburst.plots.charts.traces import save as save_picture
from lightburst.report.page import environment, inside_script
from lightburst.result.files import NETWORK, PAGE
from lightburst.result.metric_text import aligned, readable, records, where
from lightburst.result.saving import of_run
from lightburst.scenario import as_scenario
from lightburst.simulation.simulate import simulate
from lightburst.trace.network import NetworkTrace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from os import PathLike
    from pathlib import Path

    from lightburst.result.result import Result
    from lightburst.scenario import Scenario

_PATH: Final = "measurement.network"
# Maximum number of reservations on a page, which limits its loading time.
_MOST_BOOKINGS: Final = 1_000_000
# Maximum number of rows per table in the text, and of pairs of nodes on the page.
_MOST_ROWS: Final = 20
_MOST_PAIRS: Final = 24


@dataclass(frozen=True, eq=False)
class TracedNetwork:
    """A run whose bursts were traced on links; ``str`` lists the losses.

    Attributes
    ----------
    result : Result
        Result of the run.
    trace : NetworkTrace
        Events on the links: ``bookings``, ``bursts``, ``losses`` and ``cuts``.
    """

    result: Result
    trace: NetworkTrace

    def as_dict(self) -> dict[str, Any]:
        """Return summary, losses and cuts as JSON-compatible values."""
        tables = {"lost_bursts": self.trace.losses, "cut_bursts": self.trace.cuts}
        told = {name: records(_told(table)) for name, table in tables.items()}
        return of_run(self.result, {**self.trace.summary(), **told})

    def _repr_html_(self) -> str:
        return html_text(str(self))

    def __str__(self) -> str:
        return "\n".join(_lines(self.trace))

    def save(self, directory: str | Path) -> Path:
        """Write tables, figures and the page.

        Parameters
        ----------
        directory : str or Path
            Created if it does not exist; an existing result in it is replaced.

        Returns
        -------
        Path
            Absolute path of the directory. It contains ``network.json`` (`as_dict`),
            ``bookings.parquet``, ``bursts.parquet``, ``losses.parquet``, ``cuts.parquet``,
            ``network`` and (if bursts used several paths) ``paths`` as PNG and SVG, and
            ``index.html``.

        Raises
        ------
        InputError
            If the directory cannot be written or contains foreign files, or there are too many
            bursts for a page. Nothing is left behind.
        """
        _check_size(len(self.trace.bookings), "")
        about = self.as_dict()
        tool = f"lightburst {about['provenance']['version']}"
        name = self.result.scenario.name or "Unnamed scenario"
        source = f"{name}; seed {self.result.seed}; {tool}."

        def fill(fresh: Path) -> None:
            text = json.dumps(about, indent=2, allow_nan=False)
            (fresh / NETWORK).write_text(text + "\n", encoding="utf-8")
            for stem in ("bookings", "losses", "cuts"):
                table = _told(getattr(self.trace, stem))
                table.to_parquet(fresh / f"{stem}.parquet", index=False)
            self.trace.bursts.to_parquet(fresh / "bursts.parquet", index=False)
            for stem, canvas in pictures(self.trace, source).items():
                save_picture(canvas, fresh, stem)
            (fresh / PAGE).write_text(page(self.result, self.trace, source), encoding="utf-8")

        return replace(directory, fill)


def trace_network(
    scenario: Scenario | str | PathLike[str],
    seed: int | np.integer = 1,
    *,
    links: Sequence[str] | None = None,
    begin: float | str | None = None,
    end: float | str | None = None,
) -> TracedNetwork:
    """Run a scenario and trace its bursts on links.

    The scenario is run twice, first to count the bursts; the second run is bit-identical.

    Parameters
    ----------
    scenario : Scenario, str or path-like
        Scenario to simulate, or path of its file.
    seed : int
        Seed of all random streams.
    links : sequence of str, optional
        ``SOURCE:TARGET`` each, or the name of a link; by default those of ``measurement.network``,
        or all links between two switches.
    begin, end : float or str, optional
        Limits of the traced time, in seconds or as text with a unit; by default those of
        ``measurement.network``.

    Returns
    -------
    TracedNetwork

    Raises
    ------
    InputError
        If no node of the scenario makes bursts, a link does not exist, the time is empty, or the
        scenario cannot be run.

    Warns
    -----
    RunWarning
        For each of `Result.warnings`.
    """
    given = {"links": links, "begin": begin, "end": end}
    found = follow(as_scenario(scenario), seed, given, simulate)
    warn(found.result.warnings, stacklevel=2)
    return found


def follow(
    scenario: Scenario,
    seed: int | np.integer,
    given: Mapping[str, Any],
    simulate: Callable[..., Result],
) -> TracedNetwork:
    """Trace as `trace_network` does, without issuing warnings.

    `given` contains any of ``links``, ``begin`` and ``end``; `simulate` runs a scenario with a seed
    and, for the second run, the first result as ``before``.
    """
    seed = check_seed(seed)
    wanted = {name: value for name, value in given.items() if value is not None}
    if scenario.measurement.network is None:
        scenario = scenario.with_({_PATH: wanted})
    elif wanted:
        scenario = scenario.with_({f"{_PATH}.{name}": value for name, value in wanted.items()})
    plain = simulate(scenario.with_({_PATH: None}), seed)
    result = simulate(scenario, seed, before=plain)
    assert result.digest == plain.digest, "a trace changed the run"
    return TracedNetwork(result, NetworkTrace.of(result))


def follow_all(
    scenario: Scenario, seed: int | np.integer, simulate: Callable[..., Result]
) -> TracedNetwork:
    """Trace all links during the whole run, whatever the scenario sets."""
    return follow(scenario.with_({_PATH: {}}), seed, {}, simulate)


def _check_size(bookings: int, most: str) -> None:
    if bookings > _MOST_BOOKINGS:
        given = f"{most}{bookings:,} uses of a channel"
        allowed = f"at most {_MOST_BOOKINGS:,} for a page: fewer links, or a shorter time"
        raise InputError(_PATH, given, allowed)


def _told(table: pd.DataFrame) -> pd.DataFrame:
    """Drop the columns that only serve computation."""
    return table.drop(columns=["fibre", "start_ps", "end_ps"])


def lost_bursts(trace: NetworkTrace, most: int | None = None) -> Iterator[str]:
    """Yield lines of text: a title, and the first `most` lost bursts in order of time."""
    yield f"Bursts lost on these fibres: {len(trace.losses) or 'none'}"
    yield from _first(trace.losses, _loss, most)


def _first(
    table: pd.DataFrame, tell: Callable[[Any], tuple[str, ...]], most: int | None
) -> Iterator[str]:
    """Yield one line for each of the first rows, and the number of further ones."""
    rows = [tell(row) for row in table.head(most or len(table)).itertuples()]
    yield from aligned(rows) if rows else ()
    if len(table) > len(rows):
        yield f"  and {len(table) - len(rows)} more"


def _lines(trace: NetworkTrace) -> Iterator[str]:
    begin, end = (readable("time_s", at * 1e-12) for at in (trace.begin_ps, trace.end_ps))
    yield (
        f"{len(trace.fibres)} fibres from {begin} to {end}: {len(trace.bursts):,} bursts, "
        f"{len(trace.bookings):,} uses of a channel, {len(trace.losses):,} bursts lost"
    )
    yield ""
    yield from lost_bursts(trace, _MOST_ROWS)
    if len(trace.cuts):
        yield from _cut_off(trace)


def _cut_off(trace: NetworkTrace) -> Iterator[str]:
    """List the pieces cut off bursts, in order of time."""
    yield ""
    yield f"Cut off bursts on these fibres: {len(trace.cuts):,}"
    yield from _first(trace.cuts, _piece, _MOST_ROWS)


def _piece(row: Any) -> tuple[str, ...]:
    return (
        readable("start_s", row.start_s),
        f"burst {row.burst}",
        f"{row.ingress} \u2192 {row.egress}",
        f"at {row.link_source}, to {row.link_target}",
        f"{row.packets} packet{'s' * (row.packets > 1)}",
        _holder(row),
    )


def _holder(row: Any) -> str:
    """Name the burst that occupied the channel."""
    if pd.isna(row.holder_burst):
        return ""
    if pd.isna(row.holder_channel):
        return f"burst {row.holder_burst} had it"
    ends = f"{row.holder_ingress} \u2192 {row.holder_egress}"
    return f"burst {row.holder_burst}, {ends}, had channel {row.holder_channel}"


def _loss(row: Any) -> tuple[str, ...]:
    return (
        readable("lost_s", row.lost_s),
        f"burst {row.burst}",
        f"{row.ingress} \u2192 {row.egress}",
        where(row.node, row.link_source, row.link_target),
        str(row.reason),
        _holder(row),
    )


def page(result: Result, trace: NetworkTrace, source: str) -> str:
    """Render an interactive page of the bursts as self-contained HTML.

    Parameters
    ----------
    result : Result
        Result of the run.
    trace : NetworkTrace
        Trace to show.
    source : str
        Description of the run.
    """
    summary = trace.summary()
    lede = (
        f"{len(trace.fibres)} fibres, {summary['bursts']:,} bursts, {summary['bookings']:,} uses "
        f"of a channel, {summary['lost']:,} bursts lost"
        + (f", {summary['cut']:,} pieces cut off." if summary["cut"] else ".")
    )
    return environment().get_template("network.html.j2").render(
        title=f"Bursts on fibres: {result.scenario.name or 'unnamed scenario'}",
        lede=lede,
        source=source,
        data=Markup(inside_script(_data(trace))),
        script=Markup(files("lightburst.report").joinpath("network.js").read_text("utf-8")),
    )  # fmt: skip


def _data(trace: NetworkTrace) -> dict[str, Any]:
    """Return the columns that the page draws; times in integer picoseconds."""
    bursts, bookings = trace.bursts, trace.bookings
    ends = pd.concat([bursts[name].dropna() for name in ("node", "egress")])
    nodes = sorted(ends.unique(), key=str)
    place = {name: at for at, name in enumerate(nodes)}
    rows = pd.Series(np.arange(len(bursts)), index=bursts.index)
    fibres = list(_fibres(trace))
    chosen, own = _paths(trace, len(fibres))

    def ps(column: pd.Series[float]) -> list[int | None]:
        return [None if pd.isna(time) else round(time * 1e12) for time in column]

    def at(column: pd.Series[Any]) -> list[int | None]:
        return [None if pd.isna(name) else place[name] for name in column]

    return {
        "begin": trace.begin_ps,
        "end": trace.end_ps,
        "fibres": fibres + own,
        "nodes": [str(name) for name in nodes],
        "colours": [*COLOURS, OTHERS],
        "bursts": {
            **{name: bursts[name].tolist() for name in ("number", "of_node", "label")},
            **{name: bursts[name].tolist() for name in ("packets", "bytes")},
            "ingress": at(bursts["node"]),
            "egress": at(bursts["egress"]),
            "opened": ps(bursts["opened_s"]),
            "made": ps(bursts["closed_s"]),
            "departure": ps(bursts["departure_s"]),
            "arrival": ps(bursts["arrival_s"]),
            "lost": ps(bursts["lost_s"]),
            "reason": [None if pd.isna(name) else str(name) for name in bursts["reason"]],
            "lost_where": [
                None if pd.isna(ends[0]) else where(*ends)
                for ends in zip(
                    *(bursts[f"lost_{name}"] for name in ("node", "link_source", "link_target")),
                    strict=True,
                )
            ],
            "holder": _whole(bursts["holder_burst"]),
        },
        "bookings": {
            "fibre": bookings["fibre"].tolist() + chosen["fibre"].tolist(),
            "channel": bookings["channel"].tolist() + chosen["label"].tolist(),
            "start": bookings["start_ps"].tolist() + ps(chosen["departure_s"]),
            "end": bookings["end_ps"].tolist() + ps(chosen["end_s"]),
            "burst": bookings["burst"].tolist() + chosen["number"].tolist(),
            "bytes": bookings["bytes"].tolist() + chosen["bytes"].tolist(),
            "row": rows[[*bookings["burst"], *chosen["number"]]].tolist(),
        },
        "losses": _frames(trace, trace.losses, rows),
        "cuts": {
            **_frames(trace, trace.cuts, rows),
            **{name: trace.cuts[name].tolist() for name in ("packets", "bytes")},
        },
    }


def _fibres(trace: NetworkTrace) -> Iterator[dict[str, Any]]:
    """Yield each fibre with its number of rows: its channels, and one for losses without any."""
    for place, (_, name, channels) in enumerate(trace.fibres):
        rows = channels + (place in trace.without_channel)
        yield {"name": name, "channels": channels, "rows": rows}


def _frames(trace: NetworkTrace, table: pd.DataFrame, rows: pd.Series[int]) -> dict[str, Any]:
    """Return the columns of losses or cuts; `rows` has the index of each burst."""
    return {
        "fibre": table["fibre"].tolist(),
        "channel": trace.rows(table).tolist(),
        "start": table["start_ps"].tolist(),
        "end": table["end_ps"].tolist(),
        "burst": table["burst"].tolist(),
        "row": rows[table["burst"]].tolist(),
        "holder": _whole(table["holder_burst"]),
    }


def _whole(column: pd.Series[Any]) -> list[int | None]:
    return [None if pd.isna(value) else int(value) for value in column]


def _paths(trace: NetworkTrace, first: int) -> tuple[pd.DataFrame, list[dict[str, Any]]]:
    """Return paths over time as additional fibres, with one channel per path.

    A burst occupies the path during its transmission at the ingress.
    """
    bursts = chosen_paths(trace)
    if bursts is None:
        none = trace.bursts.iloc[:0]
        return none.assign(fibre=0, end_s=0.0), []
    counts = bursts.groupby(["node", "egress"]).size()
    pairs = counts.sort_values(ascending=False, kind="stable").index[:_MOST_PAIRS]
    place = {pair: first + at for at, pair in enumerate(pairs)}
    own = bursts.assign(
        fibre=[place.get(pair, -1) for pair in zip(bursts["node"], bursts["egress"], strict=True)]
    )
    own = own[own["fibre"] >= 0]
    long = trace.bookings.groupby("burst")[["start_s", "end_s"]].first()
    time = (long["end_s"] - long["start_s"]).reindex(own["number"]).fillna(0).to_numpy()
    most = int(own["label"].max()) + 1
    fibres = [
        {"name": f"path {ingress} \u2192 {egress}", "channels": most, "rows": most, "paths": True}
        for ingress, egress in pairs
    ]
    return own.assign(end_s=own["departure_s"] + time), fibres

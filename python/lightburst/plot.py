"""Plots with matplotlib: curves with intervals, distributions, time series and networks.

The figures of the papers are drawn by the same code. Every series differs in colour, marker and
dash, so that it can be identified in a grey print; ordered quantities are coloured from dark to
bright; axis labels state the units. The widths are those of one journal column, two columns or a
screen (`STYLES`). matplotlib's constrained layout places all elements.

>>> import lightburst as lb
>>> import pandas as pd
>>> table = pd.DataFrame({"load": [0.2, 0.4], "mean": [1.0, 3.0]})
>>> lb.plot.curves(table, x="load", y="mean").get_size_inches().tolist()[0]
8.0
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from lightburst.foundation.errors import InputError, did_you_mean, show
from lightburst.foundation.units import parse_duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    import networkx as nx
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas
    from matplotlib.figure import SubFigure

    from lightburst.papers.figure import Figure
    from lightburst.result.result import Result
    from lightburst.scenario import Scenario

#: Output media that a figure can be sized for.
STYLES: Final = ("screen", "one-column", "two-column")
_INTERVALS: Final = ("bars", "bands", "none")

__all__ = ["STYLES", "around", "curves", "distribution", "flow", "network", "over_time"]


def __dir__() -> list[str]:
    return __all__


def curves(
    table: pd.DataFrame,
    *,
    x: str,
    y: str,
    hue: str | None = None,
    dash: str | None = None,
    ci: Sequence[str] | None = ("ci_low", "ci_high"),
    theory: Any = None,
    ax: Axes | None = None,
    style: str = "screen",
    intervals: str = "bars",
    title: str = "",
    caption: str = "",
    x_label: str | None = None,
    y_label: str | None = None,
    x_log: bool | None = None,
    y_log: bool | None = None,
) -> Canvas:
    """Draw a tidy table as curves, one per value of a column.

    Parameters
    ----------
    table : pandas.DataFrame
        One row per point, as returned by `lightburst.study.summarise`.
    x, y : str
        Columns of numbers, whose names become axis labels with a unit and a suitable prefix:
        ``throughput_bps`` becomes Throughput (Gb/s). A text column such as ``topology.link_length``
        stands for ``topology.link_length_m`` beside it; values of any other text column are drawn
        as categories, side by side. `y` may also be a value of the column ``metric``.
    hue : str, optional
        Column that selects colour and marker; numbers are coloured from dark to bright.
    dash : str, optional
        Column that selects the dash and the fill of the marker.
    ci : sequence of str, or None
        Columns with the two ends of the interval, either these names or the name of `y`, ``_`` and
        these names. None draws no intervals.
    theory : callable, DataFrame or mapping, optional
        Curves drawn as lines without markers: a function of x, in the unit of the column; a table
        with the same columns; or a mapping from names to several of these.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into; by default a new figure is made.
    style : {"screen", "one-column", "two-column"}
        Size of a new figure: 8, 3.5 or 7.16 inches wide.
    intervals : {"bars", "bands", "none"}
        Form of the intervals. Bars of different curves are shifted a little against each other.
    title, caption : str
        Texts above and below a new figure.
    x_label, y_label : str, optional
        Axis labels; with a label given, the numbers keep the unit of the table.
    x_log, y_log : bool, optional
        Logarithmic axes; by default if values are geometric, for y over a factor above 1000 only.

    Returns
    -------
    matplotlib.figure.Figure
        Figure to show, or to save: ``.savefig("throughput.pdf")``; PDF and SVG keep text as text.

    Raises
    ------
    InputError
        If a column is missing or has no numbers, or an option has an unknown value.
    """
    from lightburst.plots import tables

    _one_of("intervals", intervals, _INTERVALS)
    axes = {"x_label": x_label, "y_label": y_label, "x_log": x_log, "y_log": y_log}
    words: dict[str, Any] = {"title": title, "caption": caption, "intervals": intervals, **axes}
    figure = tables.figure_of(table, x, y, hue, dash, ci, theory, **words)
    return _drawn(figure, ax, style)


def distribution(
    data: Any,
    column: str | None = None,
    *,
    hue: str | None = None,
    complementary: bool = False,
    ax: Axes | None = None,
    style: str = "screen",
    title: str = "",
    caption: str = "",
    x_label: str | None = None,
    x_log: bool | None = None,
) -> Canvas:
    """Draw the empirical distribution of samples as steps: the share of samples not above x.

    Parameters
    ----------
    data : array_like, mapping of str to array_like, DataFrame or Result
        Samples; samples by name; a table such as `lightburst.Result.flows`; or a result, which
        stands for its table of flows. NaN is ignored. Infinite samples, such as the completion
        times of unfinished flows, count in the shares, so that the steps end below 1. In a table
        with a column ``counted`` only the rows where it is true are used.
    column : str, optional
        Column of the table; for plain samples the name of the quantity, with its unit:
        ``completion_time_s``.
    hue : str, optional
        Column of the table; every value of it has its own steps.
    complementary : bool
        Draw the share of samples above x on a logarithmic axis, which shows the tail.
    ax, style, title, caption, x_label, x_log
        As for `curves`.

    Returns
    -------
    matplotlib.figure.Figure
        As for `curves`.

    Raises
    ------
    InputError
        If a column is missing, or there is no finite sample.
    """
    from lightburst.plots.charts import distributions

    parts, name = distributions.samples_of(data, column, hue)
    if not any(distributions.steps(samples)[0].size for samples in parts.values()):
        raise InputError("samples", show(name), "at least one that is a finite number")
    words = {"title": title, "caption": caption, "x_label": x_label, "x_log": x_log}
    figure = distributions.figure_of(parts, name, complementary=complementary, **words)
    return _drawn(figure, ax, style)


def over_time(
    table: pd.DataFrame,
    y: str | Sequence[str],
    *,
    hue: str | None = None,
    ax: Axes | None = None,
    style: str = "screen",
    title: str = "",
    caption: str = "",
    x_label: str | None = None,
    y_label: str | None = None,
    y_log: bool = False,
) -> Canvas:
    """Draw a time series as steps: each row holds until the next one.

    Parameters
    ----------
    table : pandas.DataFrame
        Table with a column ``time_s``, such as those of `lightburst.Result.samples` (queues,
        buffers, active flows), or ``windows`` of `lightburst.Result.trace`.
    y : str or sequence of str
        Column of numbers; or several columns of the same unit, identified by their names.
    hue : str, optional
        Column such as ``link`` or ``flow``; every value of it has its own steps. Required if the
        table has several of them. Allowed only with a single `y`.
    ax, style, title, caption, x_label, y_label
        As for `curves`.
    y_log : bool
        Whether the vertical axis is logarithmic.

    Returns
    -------
    matplotlib.figure.Figure
        As for `curves`.

    Raises
    ------
    InputError
        If a column is missing or has no numbers, or the columns differ in their unit.
    """
    from lightburst.plots import tables

    for place in ("link", "node", "flow") if hue is None else ():
        if place in table and (number := table[place].nunique()) > 1:
            allowed = f"'{place}', of which the table has {number}, or the rows of one of them"
            raise InputError("hue", "nothing", allowed)
    rows, name, hue = tables.in_one_column(table, y, hue)
    if name == "active_flows" and y_label is None:
        y_label = "Active flows"  # the metric of this name is a mean over the run
    words = {"title": title, "caption": caption, "x_label": x_label, "y_label": y_label}
    scales = {"x_log": False, "y_log": y_log}
    figure = tables.figure_of(
        rows, tables.TIME_S, name, hue, None, None, None, steps="post", intervals="none",
        **words, **scales,
    )  # fmt: skip
    return _drawn(figure, ax, style)


def around(
    results: Mapping[str, Sequence[Result]] | Sequence[Result],
    at: str,
    *,
    before: str = "100 ms",
    after: str = "1 s",
    ax: Axes | None = None,
    style: str = "screen",
    title: str = "",
    caption: str = "",
    x_label: str | None = None,
    y_label: str | None = None,
) -> Canvas:
    """Draw the throughput around an event, such as the cut of a fibre, with bands of 95 %.

    Parameters
    ----------
    results : sequence of Result, or mapping of str to sequence of Result
        Runs with ``measurement.recovery`` that differ in their seed; or several such, by name.
    at : str
        Time of the event: "2 s".
    before, after : str
        The time before and after it that is drawn, as far as bins are whole in it.
    ax, style, title, caption, x_label, y_label
        As for `curves`.

    Returns
    -------
    matplotlib.figure.Figure
        As for `curves`: the data of all flows that reached hosts in each bin, over its length; at
        the middle of the bin, from the event on; mean and Student's interval over the runs.

    Raises
    ------
    InputError
        If a run has no ``measurement.recovery``, or no bin is in that time.
    """
    from lightburst.plots import around as series
    from lightburst.plots import tables

    named = results if isinstance(results, Mapping) else {"": results}
    times = [parse_duration(text) for text in (at, before, after)]
    table = series.throughput_around(named, *times)
    words: dict[str, Any] = {
        "title": title,
        "caption": caption,
        "x_label": x_label or "Time after the event (s)",
        "y_label": y_label,
    }
    hue = series.RUNS if len(named) > 1 else None
    figure = tables.figure_of(
        table, series.TIME, series.THROUGHPUT, hue, None, ("ci_low", "ci_high"), None,
        intervals="bands", x_log=False, y_log=False, **words,
    )  # fmt: skip
    return _drawn(figure, ax, style)


def flow(
    result: Result, flow: int | None = None, kind: str = "time-sequence", subflow: int = 0
) -> Canvas:
    """Draw the trace of a flow.

    Parameters
    ----------
    result : Result
        Result of a scenario whose ``measurement.trace`` includes the flow.
    flow : int, optional
        Number of the flow; by default the only traced one.
    kind : {"time-sequence", "windows", "rates", "packets"}
        Sequence numbers against time, with losses, retransmissions and acknowledgements; congestion
        window, threshold, state, round-trip time and timeout; or departure times of packets, as in
        figures 8 to 10 of yu2004.
    subflow : int
        Number of the subflow, of a connection with several.

    Returns
    -------
    matplotlib.figure.Figure
        One of the figures that ``lightburst trace --out`` writes; docs/trace.md explains them.

    Raises
    ------
    InputError
        If the flow was not traced, or has no such figure: flows of datagrams have no windows.
    """
    from lightburst.experiment.flow_trace import source_of
    from lightburst.measurement.subflows import subflows_of
    from lightburst.plots.charts import traces
    from lightburst.trace import FlowTrace

    _one_of("kind", kind, traces.KINDS)
    traced = list(result.scenario.measurement.trace)
    if flow is None and len(traced) == 1:
        (flow,) = traced
    if flow not in traced:
        known = " or ".join(map(str, traced)) or "flows that are traced"
        given = "nothing" if flow is None else show(flow)
        raise InputError("flow", given, f"{known}, which measurement.trace names")
    subflows = subflows_of(result.plan.transports[result.plan.group[flow]])
    if not 0 <= subflow < subflows:
        raise InputError("subflow", show(subflow), f"a whole number from 0 to {subflows - 1}")
    drawn = traces.picture(FlowTrace.of(result, flow, subflow), source_of(result), kind)
    if drawn is None:
        raise InputError("kind", show(kind), f"time-sequence: flow {flow} has no {kind}")
    return drawn


def timeline(result: Result, step: str | int = "slowest") -> Canvas:
    """Draw what hosts did in a collective workload or a schedule, with its critical path.

    Parameters
    ----------
    result : Result
        Result of a scenario with a workload of kind ``collective`` or ``goal``.
    step : int or "slowest"
        The step whose critical path is drawn, and which is shown if not all fit.

    Returns
    -------
    matplotlib.figure.Figure
        A row for each host: its computations, the messages that it sends, and those that it
        receives, as bars; at most 32 hosts and 3,000 bars, which the caption names.

    Raises
    ------
    InputError
        If the workload is of another kind, there is no such step, or no message started.
    """
    from lightburst.experiment.flow_trace import source_of
    from lightburst.plots.charts import timeline as drawn

    table = result.timeline(step)
    if table.empty:
        raise InputError("result", "a run in which no message started", "one with messages")
    title = f"{result.scenario.name or 'Unnamed scenario'}: timeline"
    return drawn.canvas(table, title, source_of(result))


def network(
    what: Result | Scenario | nx.Graph[Any],
    value: str | None = None,
    *,
    at: Mapping[Any, tuple[float, float]] | None = None,
    hosts: bool | None = None,
    ax: Axes | None = None,
    style: str = "screen",
    title: str = "",
    caption: str | None = None,
) -> Canvas:
    """Draw a network: its switches and hosts, and optionally a metric of its links.

    Parameters
    ----------
    what : Result, Scenario or networkx.Graph
        Network of a run, network of a scenario, or any graph. In a graph without the node attribute
        ``layer``, nodes with one neighbour are hosts.
    value : str, optional
        Metric of the links, such as ``"utilisation"``, which colours each direction of a link;
        parallel links are averaged. Without it links are plain lines.
    at : mapping of node to (float, float), optional
        Coordinates of the nodes, x to the right and y upwards. By default a fat-tree and a
        leaf-spine network are drawn in rows with the hosts below, NSFNET on its map, a path as a
        line, and any other network with distances that follow the delays of the links.
    hosts : bool, optional
        Whether hosts are drawn; by default if there are at most forty, and never on the map of
        NSFNET.
    ax, style, title
        As for `curves`.
    caption : str, optional
        Text below a new figure; by default an explanation of the drawing.

    Returns
    -------
    matplotlib.figure.Figure
        As for `curves`.

    Raises
    ------
    InputError
        If the links have no such metric, or a node has no coordinates.
    """
    from lightburst.plots import layout
    from lightburst.plots.charts import tiers

    _one_of("style", style, STYLES)
    graph = tiers.graph_in(what)
    places, layers = tiers.placed(graph, at)
    if ax is not None:
        tiers.draw(ax, graph, places, layers, value, hosts)
        if title:
            ax.set_title(title, loc="left")
        found: Canvas = ax.figure.figure
        return found

    def paint(part: SubFigure) -> layout.Words:
        told = tiers.draw(part.subplots(), graph, places, layers, value, hosts)
        return layout.Words(title, told if caption is None else caption, [])

    chosen = layout.STYLES[style]
    return layout.alone(tiers.height(places) * chosen.width, paint, chosen)


def _drawn(figure: Figure, ax: Axes | None, style: str) -> Canvas:
    from lightburst.plots import static
    from lightburst.plots.charts import curves as painter

    _one_of("style", style, STYLES)
    if ax is None:
        return static.draw([figure], style)  # type: ignore[arg-type]
    painter.draw(ax, figure)
    if figure.title:
        ax.set_title(figure.title, loc="left")
    handles = [handle for group in painter.legend(figure) for handle in group.handles]
    if handles:
        ax.legend(handles=handles, frameon=False)
    found: Canvas = ax.figure.figure
    return found


def _one_of(argument: str, given: str, known: Sequence[str]) -> None:
    if given not in known:
        allowed = f"one of {', '.join(known)}{did_you_mean(given, known)}"
        raise InputError(argument, show(given), allowed)

"""Pictures with matplotlib: curves with intervals, distributions, courses in time, and networks.

The figures of the papers are drawn by the same code. What a figure shows has a colour and a marker
and a dash, so that a grey print reads; quantities with an order have colours from dark to bright;
axes say their units. Sizes are those of a journal's column, two columns or a screen (`STYLES`), and
all is placed by matplotlib's constrained layout.

>>> import lightburst as lb
>>> import pandas as pd
>>> table = pd.DataFrame({"load": [0.2, 0.4], "mean": [1.0, 3.0]})
>>> lb.plot.curves(table, x="load", y="mean").get_size_inches().tolist()[0]
8.0
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lightburst.errors import InputError, did_you_mean, show

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import networkx as nx
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas
    from matplotlib.figure import SubFigure

    from lightburst.papers.figure import Figure
    from lightburst.result import Result
    from lightburst.scenario import Scenario

#: Where a figure is to be read.
STYLES: Final = ("screen", "one-column", "two-column")
_INTERVALS: Final = ("bars", "bands", "none")

__all__ = ["STYLES", "curves", "distribution", "flow", "network", "over_time"]


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
    """Draw a tidy table as curves, a curve for each value of a column.

    Parameters
    ----------
    table : pandas.DataFrame
        A row for each point, as `lightburst.study.summarise` gives it.
    x, y : str
        Columns of numbers. An axis is named after its column, with the unit that the name of the
        column ends in and a fitting prefix: ``throughput_bps`` becomes Throughput (Gb/s). A column
        of text such as ``topology.link_length`` stands for ``topology.link_length_m`` beside it;
        along other text points stand side by side. `y` may be one of a column ``metric``, too.
    hue : str, optional
        Column whose values have a colour and a marker each; numbers go from dark to bright.
    dash : str, optional
        Column whose values have a dash and a filling of the marker.
    ci : sequence of str, or None
        Columns with the ends of the interval: these, or with the name of `y` and ``_`` before
        them. None draws none.
    theory : callable, DataFrame or mapping, optional
        Drawn as lines without markers: a function of x, in the unit of the column; a table with
        the same columns; or several of these by name.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure without.
    style : {"screen", "one-column", "two-column"}
        Size of a new figure: 8, 3.5 or 7.16 inches wide.
    intervals : {"bars", "bands", "none"}
        How they are drawn. Bars of several curves stand a little apart.
    title, caption : str
        Words above and below a new figure.
    x_label, y_label : str, optional
        Labels; numbers are as in the table then.
    x_log, y_log : bool, optional
        Logarithmic; else where values are geometric.

    Returns
    -------
    matplotlib.figure.Figure
        To be shown, or saved: ``.savefig("throughput.pdf")``; text stays text in PDF and SVG.

    Raises
    ------
    InputError
        If a column is not there or has no numbers, or a word is none of those above.
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
    """Draw the distribution of samples as steps: at each value the share that is not larger.

    Parameters
    ----------
    data : array_like, mapping of str to array_like, DataFrame or Result
        The samples, samples by name, a table such as `lightburst.Result.flows`, or a result, whose
        table of flows it is. NaN is left out. Infinite samples, as the completion times of flows
        that did not finish, count in the shares, so that the steps end below 1. Of a table with a
        column ``counted`` only the rows that count.
    column : str, optional
        Of the table; for samples what they are, with the unit: ``completion_time_s``.
    hue : str, optional
        Column of the table whose values have steps of their own.
    complementary : bool
        The share that is larger, on a logarithmic axis: for tails.
    ax, style, title, caption, x_label, x_log
        As for `curves`.

    Returns
    -------
    matplotlib.figure.Figure
        As `curves`.

    Raises
    ------
    InputError
        If a column is not there, or there is no finite sample.
    """
    from lightburst.plots import distributions

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
    """Draw what a table with times says as steps: each row holds until the next one.

    Parameters
    ----------
    table : pandas.DataFrame
        With a column ``time_s``, as those of `lightburst.Result.samples` (queues, buffers, active
        flows), or ``windows`` of `lightburst.Result.trace`.
    y : str or sequence of str
        Column of numbers; or several in one unit, which are told apart by their names.
    hue : str, optional
        Column whose values have steps of their own, such as ``link`` or ``flow``, which a table of
        several of them needs. With one column alone.
    ax, style, title, caption, x_label, y_label
        As for `curves`.
    y_log : bool
        Whether the height is logarithmic.

    Returns
    -------
    matplotlib.figure.Figure
        As `curves`.

    Raises
    ------
    InputError
        If a column is not there or has no numbers, or columns differ in their unit.
    """
    from lightburst.plots import tables

    for place in ("link", "node", "flow") if hue is None else ():
        if place in table and (number := table[place].nunique()) > 1:
            allowed = f"'{place}', of which the table has {number}, or the rows of one of them"
            raise InputError("hue", "nothing", allowed)
    rows, name, hue = tables.in_one_column(table, y, hue)
    if name == "active_flows" and y_label is None:
        y_label = "Active flows"  # the figure of a run is their mean
    words = {"title": title, "caption": caption, "x_label": x_label, "y_label": y_label}
    scales = {"x_log": False, "y_log": y_log}
    figure = tables.figure_of(
        rows, tables.TIME_S, name, hue, None, None, None, steps="post", intervals="none",
        **words, **scales,
    )  # fmt: skip
    return _drawn(figure, ax, style)


def flow(result: Result, flow: int | None = None, kind: str = "time-sequence") -> Canvas:
    """Draw what a traced flow did.

    Parameters
    ----------
    result : Result
        Of a scenario whose ``measurement.trace`` names the flow.
    flow : int, optional
        Its number; by default the one that was traced.
    kind : {"time-sequence", "windows", "packets"}
        Segments against time, with what was lost, sent again and acknowledged; window, threshold,
        state, round-trip time and timeout; or when packets left, as in figures 8 to 10 of yu2004.

    Returns
    -------
    matplotlib.figure.Figure
        One of the pictures that ``lightburst trace --out`` writes; docs/trace.md explains them.

    Raises
    ------
    InputError
        If the flow was not traced, or there is no such picture of it: datagrams have no windows.
    """
    from lightburst.plots import traces
    from lightburst.report.traces import source_of
    from lightburst.trace import FlowTrace

    _one_of("kind", kind, traces.KINDS)
    traced = list(result.scenario.measurement.trace)
    if flow is None and len(traced) == 1:
        (flow,) = traced
    if flow not in traced:
        known = " or ".join(map(str, traced)) or "flows that are traced"
        given = "nothing" if flow is None else show(flow)
        raise InputError("flow", given, f"{known}, which measurement.trace names")
    drawn = traces.picture(FlowTrace.of(result, flow), source_of(result), kind)
    if drawn is None:
        raise InputError("kind", show(kind), f"time-sequence: flow {flow} has no {kind}")
    return drawn


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
    """Draw a network: its switches and hosts, and how busy its links are.

    Parameters
    ----------
    what : Result, Scenario or networkx.Graph
        The network of a run, of a scenario, or any graph. Where its nodes have no attribute
        ``layer``, those with one neighbour are hosts.
    value : str, optional
        A figure of its links, such as ``"utilisation"``, which gives each direction its colour:
        the mean of those that are parallel. Without it links are plain lines.
    at : mapping of node to (float, float), optional
        Coordinates of the nodes, x to the right and y upwards. Without them a fat-tree and a
        network of leaves and spines stand in rows with the hosts below, NSFNET on its map, a path
        in a line, and any other so that distances follow the delays of the links.
    hosts : bool, optional
        Whether hosts are drawn; by default up to forty, and none on the map of
        NSFNET.
    ax, style, title
        As for `curves`.
    caption : str, optional
        Words below a new figure; by default what is to be known to read it.

    Returns
    -------
    matplotlib.figure.Figure
        As `curves`.

    Raises
    ------
    InputError
        If there is no such figure of its links, or a node has no coordinates.
    """
    from lightburst.plots import layout, tiers

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
    from lightburst.plots import curves as painter
    from lightburst.plots import static

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

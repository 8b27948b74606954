"""What every chart of the page has in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair as alt


def specification(
    drawn: alt.Chart | alt.LayerChart | alt.FacetChart, height: int
) -> dict[str, Any]:
    """Give a chart as Vega-Lite with its data, so high in pixels, as wide as what it is put into.

    Without the address of its schema: only an editor would read that, and the page must name
    nothing outside.
    """
    return plain(drawn.properties(width="container", height=height))


def plain(
    drawn: alt.Chart | alt.LayerChart | alt.FacetChart | alt.VConcatChart,
) -> dict[str, Any]:
    """Give a chart that has its own sizes as a dictionary.

    Parameters
    ----------
    drawn : altair chart
        The chart.

    Returns
    -------
    dict
        As `specification`.
    """
    found: dict[str, Any] = drawn.to_dict()
    found.pop("$schema", None)
    return found

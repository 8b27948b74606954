"""Properties common to all charts of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair as alt


def specification(
    drawn: alt.Chart | alt.LayerChart | alt.FacetChart, height: int
) -> dict[str, Any]:
    """Return a chart as Vega-Lite with its data, `height` pixels high and as wide as its container.

    The URL of the schema is removed: only editors use it, and the page must not refer to anything
    outside itself.
    """
    return plain(drawn.properties(width="container", height=height))


def plain(
    drawn: alt.Chart | alt.LayerChart | alt.FacetChart | alt.VConcatChart,
) -> dict[str, Any]:
    """Return a chart with sizes of its own as a dictionary.

    Parameters
    ----------
    drawn : altair chart
        Chart with its sizes set.

    Returns
    -------
    dict
        Specification including its data.
    """
    found: dict[str, Any] = drawn.to_dict()
    found.pop("$schema", None)
    return found

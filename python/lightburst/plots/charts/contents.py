"""Distributions of the contents of bursts and of the number of bursts per flow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from lightburst.papers.curves import at_least
from lightburst.papers.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pandas as pd

_FATES: Final = {"made": "made", "lost": "lost", "cut": "cut off as a piece"}
_COUNTED: Final = (
    ("segments", "Segments in a burst with data"),
    ("flows", "Flows with data in a burst"),
)
_OF_FLOWS: Final = (
    ("bursts", "Bursts with data of a flow"),
    ("bursts_lost", "Lost bursts of a flow"),
)
#: Distributions that reach beyond this number have a logarithmic axis.
_WIDE: Final = 20


def figures(bursts: pd.DataFrame) -> Iterator[Figure]:
    """Make the distributions of segments and of flows per burst with data, by fate of the burst.

    Parameters
    ----------
    bursts : pandas.DataFrame
        `lightburst.Result.bursts`.

    Yields
    ------
    Figure
        One of segments and one of flows; none where no burst carried data.
    """
    rows = bursts[(bursts["number"] > 0) & (bursts["bursts"] > 0)]
    for counted, title in _COUNTED:
        own = rows[rows["counted"] == counted]
        parts = {
            words: at_least(fate["number"], fate["bursts"])
            for name, words in _FATES.items()
            if len(fate := own[own["fate"] == name])
        }
        if parts:
            caption = (
                "Share of the bursts with at least this number: of all assembled bursts with "
                "data, and of lost ones."
            )
            yield _figure(f"burst-{counted}", title, parts, caption, "bursts", "Bursts")


def of_flows(flows: Mapping[str, pd.DataFrame]) -> Iterator[Figure]:
    """Make the distributions of bursts and of lost bursts per fully acknowledged flow.

    Parameters
    ----------
    flows : mapping of str to pandas.DataFrame
        Rows of `lightburst.Result.flows` by legend entry, with the columns ``bursts`` and
        ``bursts_lost``.

    Yields
    ------
    Figure
        One of bursts and one of lost bursts; none where no flow was fully acknowledged.
    """
    for column, title in _OF_FLOWS:
        parts = {}
        for name, rows in flows.items():
            whole = rows[np.isfinite(rows["acknowledged_s"])]
            if len(whole):
                parts[name] = at_least(*np.unique(whole[column], return_counts=True))
        if parts:
            caption = "Share with at least this number, of the flows with all data acknowledged."
            id = f"flow-{column.replace('_', '-')}"
            yield _figure(id, title, parts, caption, "flows", "Group" if len(parts) > 1 else "")


def _figure(
    id: str,
    title: str,
    parts: Mapping[str, Mapping[float, float]],
    caption: str,
    what: str,
    heading: str,
) -> Figure:
    numbers = [number for part in parts.values() for number in part]
    return Figure.of_shares(
        {(name, ""): part for name, part in parts.items()},
        id=id,
        title=title,
        caption=caption,
        x_label=title,
        y_label=f"Share of {what}",
        colours=tuple(parts),
        x_log=min(numbers) > 0 and max(numbers) > _WIDE,
        legends=(heading, ""),
    )

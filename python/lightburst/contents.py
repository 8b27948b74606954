"""What bursts carry, how many flows a lost one hits, and how many bursts a flow needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from lightburst import _core
from lightburst.metrics import UNFINISHED, Columns, Mask, Metric, ratio, share

if TYPE_CHECKING:
    import pandas as pd

FATES: Final = tuple(_core.registry()["burst_fates"])
COUNTED: Final = tuple(_core.registry()["burst_contents"])
# What the figures of each fate are called.
_WORDS: Final = dict(zip(FATES, ("burst", "lost_burst", "cut_piece", "arrived_burst"), strict=True))


def table(columns: Columns) -> pd.DataFrame:
    """Make `lightburst.Result.bursts`.

    Parameters
    ----------
    columns : mapping of str to mapping
        The tables of a run with ``measurement.bursts``.

    Returns
    -------
    pandas.DataFrame
        A row for each ``fate`` (``made`` by an edge, ``lost``, ``cut`` off a burst as a piece of
        it, or ``arrived`` at its egress), what is ``counted`` (``segments``, which are packets
        with data, or ``flows`` of which there is data) and ``number`` that there is: how many
        ``bursts`` have it, and their ``share`` of those of this fate. How many bursts had data of
        each flow is in `lightburst.Result.flows`.
    """
    import pandas as pd

    ran = columns["bursts"]
    named = {
        name: pd.Categorical.from_codes(ran[name], categories=pd.Index(words))
        for name, words in (("fate", FATES), ("counted", COUNTED))
    }
    found = pd.DataFrame({**named, "number": ran["number"], "bursts": ran["bursts"]})
    total = found.groupby(["fate", "counted"], observed=True)["bursts"].transform("sum")
    return found.assign(share=found["bursts"] / total)


def figures(columns: Columns) -> dict[str, Metric]:
    """Means over the bursts that carry data, and how many of these are lost.

    Parameters
    ----------
    columns : mapping of str to mapping
        The tables of the run, with ``bursts``.

    Returns
    -------
    dict
        ``data_burst_loss``: lost / (lost + arrived), with its counts, see `metrics.share`;
        ``burst_mean_segments`` and ``burst_mean_flows``, over the bursts that were made;
        ``lost_burst_mean_segments`` and ``lost_burst_mean_flows``, over those that were lost;
        ``cut_piece_mean_segments`` and ``cut_piece_mean_flows``, over the pieces that were cut off.
        None where there are none.
    """
    ran = columns["bursts"]
    number, bursts = (ran[name].astype(np.float64) for name in ("number", "bursts"))
    means: dict[str, Metric] = {}
    with_data: dict[str, float] = {}
    for fate, word in enumerate(_WORDS.values()):
        for place, counted in enumerate(COUNTED):
            chosen = (ran["fate"] == fate) & (ran["counted"] == place) & (number > 0)
            with_data[word] = float(bursts[chosen].sum())
            means[f"{word}_mean_{counted}"] = ratio(
                float((number * bursts)[chosen].sum()), with_data[word]
            )
    # Those that arrive are there for the loss alone: what is in them is what was made.
    lost, arrived = (int(with_data[f"{word}_burst"]) for word in ("lost", "arrived"))
    told = {name: mean for name, mean in means.items() if not name.startswith("arrived")}
    return share("data_burst_loss", lost, lost + arrived) | told


def of_flows(columns: Columns, chosen: Mask) -> dict[str, Metric]:
    """Mean numbers of bursts of those of the chosen flows that were all acknowledged.

    Parameters
    ----------
    columns : mapping of str to mapping
        The tables of the run, with ``bursts_flows``.
    chosen : ndarray of bool, shape (flows,)
        Which flows.

    Returns
    -------
    dict
        ``flow_mean_bursts``, ``flow_mean_bursts_lost`` and ``flow_mean_bursts_cut``: with data of
        the flow, and of these that were lost, or from which data of the flow was cut off. None
        without such flows.
    """
    complete = chosen & (columns["flows"]["acknowledged_ps"] != UNFINISHED)
    number = int(np.count_nonzero(complete))
    return {
        f"flow_mean_{name}": ratio(float(counts[complete].sum(dtype=np.uint64)), number)
        for name, counts in columns["bursts_flows"].items()
    }

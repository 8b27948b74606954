"""Points of the paper's studies: a sender, a remedy against reordering, and the network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from lightburst.papers.claims import UNKNOWN
from lightburst.papers.paper import packaged
from lightburst.papers.published import by_point
from lightburst.papers.runs import Runs, of_means
from lightburst.study.statistics import Interval, mean_interval

if TYPE_CHECKING:
    import pandas as pd

    from lightburst.scenario import Scenario

METRIC: Final = "completion_time_mean_s"
FALSE: Final = "false_per_flow"


class Transfer(NamedTuple):
    """Size of a flow in bytes, and the receiver's window in segments."""

    size: float
    window: int

    @property
    def words(self) -> str:
        """Text for a caption."""
        limit = f", windows of at most {self.window:,} segments"
        return f"Ten flows of {self.size / 1e6:,.0f} MB{limit if self != PAPER_TRANSFER else ''}"


#: Flows of the paper, which gives their windows no limit. This limit is a hundred times the
#: capacity of the paths. It still takes effect where slow start ends late, at p = 1e-5: it bounds
#: the queue at the host's own link to 8 s.
PAPER_TRANSFER: Final = Transfer(1e9, 100_000)
#: The same flows with a window of the whole file. In slow start the queue at the host's link then
#: grows by one second per second, and each round trip is twice as long as the previous one. With
#: one sample per round trip, SRTT + 4 RTTVAR is 1.64 of the latest, and a retransmission behind the
#: queue times out too early. (With a sample on each acknowledgement 4 RTTVAR is nearly zero: RFC
#: 7323, section 4.2.)
UNLIMITED: Final = Transfer(1e9, 1_000_000)

#: Window laws by the paper's names; the paper's CUBIC is that of 2008.
LAWS: Final[dict[str, dict[str, object]]] = {
    "HighSpeed": {"kind": "highspeed"},
    "CUBIC": {"kind": "cubic", "beta": 0.8, "reduces": "window"},
    "FAST": {"kind": "fast", "alpha": 100.0, "beta": 100.0, "gamma": 0.5},
}
#: Remedies against reordering or contention, as settings of a scenario; another remedy takes one
#: more line.
REMEDIES: Final[dict[str, dict[str, object]]] = {
    "none": {"switching.ordering": "none"},
    "source": {"switching.ordering": "source"},
    "destination": {"switching.ordering": {"kind": "destination", "hold_back": "100 ms"}},
    "rr-tcp": {
        "switching.ordering": "none",
        "transport.recovery": {"kind": "rr-tcp", "sack_blocks": 3},
    },
    "segmentation": {"switching.ordering": "none", "switching.contention": ["segmentation"]},
    "deflection": {"switching.ordering": "none", "switching.contention": ["deflection"]},
}
_S_PER_M: Final = 5e-9


class Point(NamedTuple):
    """One scenario of the studies; defaults are the paper's, or setting S1 where it has none.

    Parameters
    ----------
    law : str
        One of `LAWS`.
    remedy : str
        One of `REMEDIES`.
    delta : float
        Extra delay of the alternate path in seconds.
    burst : float
        Largest burst, in bytes.
    loss : float
        Probability that a burst with data is lost on a link.
    size, window : float and int
        Fields of a `Transfer`.
    capacity : float
        Rate in bits a second that counts as a load of 1.
    link : float
        Delay of a link between two nodes, in seconds.
    channels : int
        Wavelengths of a link.
    """

    law: str
    remedy: str
    delta: float = 5e-3
    burst: float = 100e3
    loss: float = 0.0
    size: float = PAPER_TRANSFER.size
    window: int = PAPER_TRANSFER.window
    capacity: float = 4e9
    link: float = 5e-3
    channels: int = 4

    def settings(self) -> dict[str, object]:
        """Return the point as settings of a scenario, by path."""
        return {
            "topology.link_length": _metres(self.link),
            "topology.links": _links(self.link + self.delta),
            "topology.wavelengths": self.channels,
            "routing.label.capacity": f"{self.capacity:.12g} b/s",
            "switching.assembly.max_size": f"{self.burst:.12g} B",
            "loss.probability": self.loss,
            "transport.congestion_control": LAWS[self.law],
            "transport.advertised_window": self.window,
            "workload.size.value": f"{self.size:.12g} B",
            **REMEDIES[self.remedy],
        }


def _metres(delay: float) -> str:
    return f"{delay / _S_PER_M:.12g} m"


def _links(longer: float) -> list[dict[str, Any]]:
    """Return the links of the scenario, with another delay of the link from C to E."""
    links: list[dict[str, Any]] = base().to_dict()["topology"]["links"]
    return [
        {**link, "length": _metres(longer)} if link["source"] == "C" else link for link in links
    ]


def base() -> Scenario:
    """Load the paper's scenario: HighSpeed without source ordering, paths that differ by 5 ms."""
    return packaged(__package__)


def runs_of(table: pd.DataFrame) -> Runs[Point]:
    """Group runs by point: one row per run, with the fields of `Point`, ``seed`` and the metrics.

    False fast retransmissions are divided by the number of flows. Comparisons use means, because
    points whose runs are all alike have fewer of them.
    """
    each = table.assign(**{FALSE: table["false_fast_retransmits"] / table["flows"]})
    return Runs.of(each, Point, Point._fields, METRIC, of_means)


def difference(runs: Runs[Point], top: Point, bottom: Point) -> Interval:
    """Subtract the completion times of two points, run by run, in seconds.

    `UNKNOWN` if the two have no seed in common.
    """
    above, below = runs.samples(top), runs.samples(bottom)
    if above is None or below is None:
        return UNKNOWN
    shared = above.index.intersection(below.index)
    return mean_interval((above - below).loc[shared]) if len(shared) else UNKNOWN


def transfer_of(runs: Runs[Point]) -> Transfer:
    """Return the size and window of the flows that were run; a preview has smaller files."""
    largest = {Transfer(point.size, point.window) for point in runs.points} - {UNLIMITED}
    return max(largest, default=PAPER_TRANSFER)


class Check(NamedTuple):
    """Value of the independent prototype; `false` is None if it gives none."""

    point: Point
    completion: float
    false: float | None


PROTOTYPE: Final = [
    Check(
        point,
        float(row["completion_s"]),
        float(row["false_fast_retransmits"]) if row["false_fast_retransmits"] else None,
    )
    for point, row in by_point(__package__, Point)
]

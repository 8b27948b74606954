"""The points of the paper's studies: a sender, what helps against reordering, and the network."""

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
    """What a flow carries, in bytes, and the receiver's window, in segments."""

    size: float
    window: int

    @property
    def words(self) -> str:
        """What a caption says of it."""
        limit = f", windows of at most {self.window:,} segments"
        return f"Ten flows of {self.size / 1e6:,.0f} MB{limit if self != PAPER_TRANSFER else ''}"


#: The flows of the paper, which gives their windows no limit. This one is a hundred times what the
#: paths hold, and counts all the same where slow start ends late, at p = 1e-5: it bounds the queue
#: at the host's own link, at 8 s.
PAPER_TRANSFER: Final = Transfer(1e9, 100_000)
#: The same without a limit: a window of the whole file. In slow start the queue at the host's link
#: then grows by a second in a second, so that each round trip is twice as long as the one before:
#: with one sample in each, SRTT + 4 RTTVAR is 1.64 of the newest, and what is sent again behind the
#: queue times out too early. (With a sample on each acknowledgement 4 RTTVAR is next to nothing:
#: RFC 7323, section 4.2.)
UNLIMITED: Final = Transfer(1e9, 1_000_000)

#: The window laws, by the paper's names; its CUBIC is that of 2008.
LAWS: Final[dict[str, dict[str, object]]] = {
    "HighSpeed": {"kind": "highspeed"},
    "CUBIC": {"kind": "cubic", "beta": 0.8, "reduces": "window"},
    "FAST": {"kind": "fast", "alpha": 100.0, "beta": 100.0, "gamma": 0.5},
}
#: What is done against reordering, or where bursts contend, in the scenario's words; a further
#: remedy is a line here.
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
    """One scenario of the studies; the defaults are the paper's, and S1 of what it leaves open.

    Parameters
    ----------
    law : str
        One of `LAWS`.
    remedy : str
        One of `REMEDIES`.
    delta : float
        By how much the alternate path is longer, in seconds.
    burst : float
        Largest burst, in bytes.
    loss : float
        Probability that a burst with data is lost on a link.
    size, window : float and int
        A `Transfer`.
    capacity : float
        What a load of 1 is, in bits a second.
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
        """Say in the scenario's words what a point is: values by path."""
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
    """Give the scenario's links, that from C to E with a delay of its own."""
    links: list[dict[str, Any]] = base().to_dict()["topology"]["links"]
    return [
        {**link, "length": _metres(longer)} if link["source"] == "C" else link for link in links
    ]


def base() -> Scenario:
    """Read the paper's scenario: HighSpeed without source ordering, paths that differ by 5 ms."""
    return packaged(__package__)


def runs_of(table: pd.DataFrame) -> Runs[Point]:
    """Sort runs by point: a row for each run, the fields of `Point`, ``seed`` and the metrics.

    False fast retransmissions are counted for each flow. Means are compared: where all runs are
    alike, a point has fewer of them.
    """
    each = table.assign(**{FALSE: table["false_fast_retransmits"] / table["flows"]})
    return Runs.of(each, Point, Point._fields, METRIC, of_means)


def difference(runs: Runs[Point], top: Point, bottom: Point) -> Interval:
    """Subtract the completion times of two points, run by run, in seconds.

    `UNKNOWN` where there are no runs of the same seed.
    """
    above, below = runs.samples(top), runs.samples(bottom)
    if above is None or below is None:
        return UNKNOWN
    shared = above.index.intersection(below.index)
    return mean_interval((above - below).loc[shared]) if len(shared) else UNKNOWN


def transfer_of(runs: Runs[Point]) -> Transfer:
    """Tell what each flow carried in the runs there are: a preview has smaller files."""
    largest = {Transfer(point.size, point.window) for point in runs.points} - {UNLIMITED}
    return max(largest, default=PAPER_TRANSFER)


class Check(NamedTuple):
    """A value of the independent prototype; `false` is None where it gives none."""

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

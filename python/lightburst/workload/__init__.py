"""Which flows there are: arrivals, pairs and sizes as arrays."""

from lightburst.scenario import KINDS as _ALL
from lightburst.workload.departures import datagram_counts, departures
from lightburst.workload.flows import Flows
from lightburst.workload.generate import make_flows

KINDS = _ALL["workloads"]
SIZES = _ALL["sizes"]
DISTRIBUTIONS = _ALL["distributions"]

__all__ = [
    "DISTRIBUTIONS",
    "KINDS",
    "SIZES",
    "Flows",
    "datagram_counts",
    "departures",
    "make_flows",
]

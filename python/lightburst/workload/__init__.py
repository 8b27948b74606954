"""Flows of a workload: arrivals, pairs and sizes as arrays."""

from lightburst.scenario import KINDS as _ALL
from lightburst.workload.departures import datagram_counts, departures
from lightburst.workload.edges import Edges
from lightburst.workload.flows import LEAST_BYTES_PER_FLOW, Flows
from lightburst.workload.generate import make_flows
from lightburst.workload.load import Offered, Senders, load_of, offered, with_arrival_rate
from lightburst.workload.merge import merge, merge_departures

KINDS = _ALL["workloads"]
SIZES = _ALL["sizes"]
DISTRIBUTIONS = _ALL["distributions"]

__all__ = [
    "DISTRIBUTIONS",
    "KINDS",
    "LEAST_BYTES_PER_FLOW",
    "SIZES",
    "Edges",
    "Flows",
    "Offered",
    "Senders",
    "datagram_counts",
    "departures",
    "load_of",
    "make_flows",
    "merge",
    "merge_departures",
    "offered",
    "with_arrival_rate",
]

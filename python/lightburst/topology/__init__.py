"""Network topologies: nodes and links as arrays."""

from lightburst.scenario import KINDS as _ALL
from lightburst.topology.build import build_network, count
from lightburst.topology.convert import from_networkx, from_topohub
from lightburst.topology.network import Counts, Network, joins_switches

KINDS = _ALL["topologies"]

__all__ = [
    "KINDS",
    "Counts",
    "Network",
    "build_network",
    "count",
    "from_networkx",
    "from_topohub",
    "joins_switches",
]

"""Circuit switches: their schedules, and what they do not allow."""

from lightburst.compile.circuits.hybrid import beside_packets
from lightburst.compile.circuits.misfits import misfits
from lightburst.compile.circuits.schedules import circuit_settings

__all__ = ["beside_packets", "circuit_settings", "misfits"]

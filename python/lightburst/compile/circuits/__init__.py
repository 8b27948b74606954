"""Circuit switches: their schedules, and what they do not allow."""

from lightburst.compile.circuits.misfits import misfits
from lightburst.compile.circuits.schedules import circuit_settings

__all__ = ["circuit_settings", "misfits"]

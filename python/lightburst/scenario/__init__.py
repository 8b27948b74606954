"""Scenario: description of a simulation, as a validated, immutable value.

`load` reads one from a TOML file; `Scenario.with_` returns a changed copy; `schema` describes every
key. docs/scenario.md lists every field with its default and the reason for it.
"""

from lightburst.scenario.model import Scenario
from lightburst.scenario.reading.json_schema import schema
from lightburst.scenario.reading.loading import as_scenario, load, read_toml
from lightburst.scenario.registry import KINDS

__all__ = ["KINDS", "Scenario", "as_scenario", "load", "read_toml", "schema"]

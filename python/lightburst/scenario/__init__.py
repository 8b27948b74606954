"""A scenario: what to simulate, as a validated, unchangeable value.

`load` reads one from a TOML file; `Scenario.with_` makes one that differs; `schema` describes all
that can be written. docs/scenario.md lists every field with its default and the reason for it.
"""

from lightburst.scenario.json_schema import schema
from lightburst.scenario.loading import as_scenario, load, read_toml
from lightburst.scenario.model import Scenario
from lightburst.scenario.registry import KINDS

__all__ = ["KINDS", "Scenario", "as_scenario", "load", "read_toml", "schema"]

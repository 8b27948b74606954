"""Optional measurements: one file and one class each.

A class holds everything about its measurement: its option in ``[measurement]``, its checks, its
settings of the plan, its memory, its metrics and tables, and its property of a `Result`. The list
of the measurements is the list of fields of `lightburst.scenario.tables.measurement.Measurement`.
"""

# Modules here import types of options from the package of scenarios, which imports these modules in
# turn: the package of scenarios must be loaded first.
import lightburst.scenario  # noqa: F401

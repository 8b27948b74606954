"""What is measured where a scenario asks for it: a file and a class for each such measurement.

A class holds all that lightburst knows of its measurement: its option in ``[measurement]``, what it
refuses, its settings of the plan, the memory it needs, its metrics and tables, and what a `Result`
has of it. The list of them is that of the fields of `lightburst.scenario.measurement.Measurement`.
"""

# These modules take the words of scenarios from there, and scenarios list these modules: whichever
# is imported first, the scenario comes first.
import lightburst.scenario  # noqa: F401

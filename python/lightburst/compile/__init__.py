"""Compile a scenario to a plan: the arrays and settings that the simulator takes.

Every error of a scenario is found here at the latest; the simulator trusts the plan.
"""

from lightburst.compile.compiler import compile_plan
from lightburst.compile.memory import estimate_memory
from lightburst.compile.plan import Plan
from lightburst.compile.seeds import LARGEST_SEED, MOST_SEEDS, check_seed, check_seeds

__all__ = [
    "LARGEST_SEED",
    "MOST_SEEDS",
    "Plan",
    "check_seed",
    "check_seeds",
    "compile_plan",
    "estimate_memory",
]

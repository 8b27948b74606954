"""TCP over optical burst switching in closed form: equations (1) to (61) of yu2004.

Each function is one equation and names it; `EQUATIONS` maps numbers to functions. Many equations
were printed with slips: ``variant="derived"``, the default, follows from the paper's own model, and
``variant="printed"`` is the form in the paper; a function without a variant has one form only. A
docstring gives the derived form first, then the differences of the printed one.

The functions take a `Flow`, whose arrays broadcast, and return an array of floats of its shape:
segments, rounds, durations in seconds, throughputs in segments a second, penalties and gains as
ratios. ``window`` is ``E[W_X]`` in segments, ``rounds`` is ``X`` or ``E[X]``: the rounds of a
period up to its loss. A variant that is neither derived nor printed is a `ValueError`.

`predict` chooses among the equations for a flow, and `broken_assumptions` reports where they are
unreliable. docs/models.md lists the differences.

References
----------
.. [1] X. Yu, C. Qiao, Y. Liu, D. Towsley, "Performance evaluation of TCP implementations in OBS
   networks", 2004.
"""

from collections.abc import Callable
from typing import Any

from lightburst.models.yu2004 import (
    gains,
    limited,
    optimum,
    reno,
    reno_timeouts,
    sack,
    throughput,
    timeouts,
)
from lightburst.models.yu2004.assumptions import ASSUMPTIONS, broken_assumptions
from lightburst.models.yu2004.flow import FLAVOURS, VARIANTS, Flavour, Flow, Variant
from lightburst.models.yu2004.optimum import Optimum, numerical_optimum
from lightburst.models.yu2004.prediction import Prediction, predict
from lightburst.models.yu2004.ranges import (
    ABOUT,
    Ranges,
    assembly_time_insensitive,
    assembly_time_optimal,
    intervals,
    level_until,
    loss_rate_insensitive,
    surface_ranges,
    written,
)

EQUATIONS: dict[int, Callable[..., Any]] = {
    1: throughput.renewal_throughput,
    2: sack.segments_from_parts,
    3: sack.bursts_probability,
    4: sack.segments_before_loss,
    5: sack.period_segments,
    6: sack.next_window,
    7: sack.period_rounds,
    8: sack.period_segments_by_rounds,
    9: sack.window_balance,
    10: sack.mean_window,
    11: sack.mean_period_segments,
    12: sack.mean_period_rounds,
    13: sack.period_duration,
    14: sack.mean_period_duration,
    15: sack.small_loss_period_duration,
    16: limited.limited_segments,
    17: limited.limited_balance,
    18: limited.limited_rounds,
    19: limited.limited_duration,
    20: timeouts.timeouts_probability,
    21: timeouts.mean_timeouts,
    22: timeouts.timeout_segments,
    23: timeouts.timeouts_duration,
    24: timeouts.mean_timeouts_duration,
    25: timeouts.timeout_ratio,
    26: throughput.sack_below_limit,
    27: throughput.square_root_throughput,
    28: throughput.sack_at_limit,
    29: throughput.window_throughput,
    30: optimum.best_time_below_limit,
    31: optimum.best_throughput_below_limit,
    32: optimum.best_time_at_limit,
    33: optimum.best_throughput_at_limit,
    34: throughput.new_reno_small_loss,
    35: reno.reno_segments,
    36: reno.reno_next_window,
    37: reno.reno_next_large_window,
    38: reno.reno_rounds,
    39: reno.reno_segments_by_rounds,
    40: reno.reno_window_balance,
    41: reno.reno_mean_window,
    42: reno.reno_mean_segments,
    43: reno.reno_mean_rounds,
    44: reno.reno_mean_duration,
    45: reno.reno_small_loss_duration,
    46: reno_timeouts.stalled_segments,
    47: reno_timeouts.stalled_rounds,
    48: reno_timeouts.stalled_mean_segments,
    49: reno_timeouts.stalled_duration,
    50: reno_timeouts.stalled_total_segments,
    51: reno_timeouts.stalled_total_duration,
    52: reno_timeouts.reno_without_timeouts,
    53: reno_timeouts.reno_with_timeouts,
    54: reno_timeouts.reno_square_root,
    55: gains.loss_penalty,
    56: gains.delay_penalty,
    57: gains.new_reno_retransmission_penalty,
    58: gains.reno_penalty_without_timeouts,
    59: gains.reno_penalty_with_timeouts,
    60: gains.unassembled_throughput,
    61: gains.delayed_first_loss_gain,
}

__all__ = [
    "ABOUT",
    "ASSUMPTIONS",
    "EQUATIONS",
    "FLAVOURS",
    "VARIANTS",
    "Flavour",
    "Flow",
    "Optimum",
    "Prediction",
    "Ranges",
    "Variant",
    "assembly_time_insensitive",
    "assembly_time_optimal",
    "broken_assumptions",
    "gains",
    "intervals",
    "level_until",
    "limited",
    "loss_rate_insensitive",
    "numerical_optimum",
    "optimum",
    "predict",
    "reno",
    "reno_timeouts",
    "sack",
    "surface_ranges",
    "throughput",
    "timeouts",
    "written",
]

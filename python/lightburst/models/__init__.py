"""Theory in NumPy: closed forms that a simulation is held against.

One module for each body of theory. Every function takes arrays, names its source, and knows nothing
of scenarios or results.
"""

from lightburst.models.erlang import (
    bufferless_output_loss,
    engset_call_congestion,
    engset_time_congestion,
    erlang_b,
    erlang_b_load,
)
from lightburst.models.queueing import (
    md1_mean_queue,
    md1_mean_wait,
    md1_occupancy,
    md1_wait_cdf,
    md1_wait_probability,
)

__all__ = [
    "bufferless_output_loss",
    "engset_call_congestion",
    "engset_time_congestion",
    "erlang_b",
    "erlang_b_load",
    "md1_mean_queue",
    "md1_mean_wait",
    "md1_occupancy",
    "md1_wait_cdf",
    "md1_wait_probability",
]

"""Theory in NumPy: closed forms to compare with simulations.

One module for each body of theory. Every function takes arrays, names its source, and is
independent of scenarios and results. Separate modules read scenarios for them: `one_flow`,
`burst_network`, and `theory`, which finds a theory by its name.
"""

import importlib
from typing import TYPE_CHECKING, Any

from lightburst.models.delay_lines import (
    delay_line_loss_bounds,
    delay_line_loss_one_channel,
    limited_delay_loss,
    limited_room_loss,
)
from lightburst.models.engset import (
    engset_call_congestion,
    engset_dumping_loss,
    engset_time_congestion,
    engset_traffic_congestion,
    idle_source_load,
)
from lightburst.models.erlang import bufferless_output_loss, erlang_b, erlang_b_load
from lightburst.models.jet_classes import isolation, jet_class_loss, jet_two_class_loss
from lightburst.models.queueing import (
    md1_mean_queue,
    md1_mean_wait,
    md1_occupancy,
    md1_wait_cdf,
    md1_wait_probability,
)
from lightburst.models.reduced_load import NetworkLoss, fed_by_one_link, reduced_load
from lightburst.models.segmentation import contention_probability, segment_loss

if TYPE_CHECKING:
    from lightburst.models import padhye1998, theory, yu2004

# Modules imported on first use.
_LATER = ("padhye1998", "theory", "yu2004")

__all__ = [
    "NetworkLoss",
    "bufferless_output_loss",
    "contention_probability",
    "delay_line_loss_bounds",
    "delay_line_loss_one_channel",
    "engset_call_congestion",
    "engset_dumping_loss",
    "engset_time_congestion",
    "engset_traffic_congestion",
    "erlang_b",
    "erlang_b_load",
    "fed_by_one_link",
    "idle_source_load",
    "isolation",
    "jet_class_loss",
    "jet_two_class_loss",
    "limited_delay_loss",
    "limited_room_loss",
    "md1_mean_queue",
    "md1_mean_wait",
    "md1_occupancy",
    "md1_wait_cdf",
    "md1_wait_probability",
    "padhye1998",
    "reduced_load",
    "segment_loss",
    "theory",
    "yu2004",
]


def __getattr__(name: str) -> Any:
    """Import a module of the package on first use."""
    if name in _LATER:
        return importlib.import_module(f"lightburst.models.{name}")
    raise AttributeError(f"module 'lightburst.models' has no attribute {name!r}")

"""Metrics of a run that are drawn and judged, by short names."""

from typing import Final

#: Throughput is shown in Mb/s.
MEGA: Final = 1e6

MEAN: Final = "flow_throughput_mean_bps"
VARIANCE: Final = "flow_throughput_variance_bps2"
LEAST: Final = "flow_throughput_min_bps"
MOST: Final = "flow_throughput_max_bps"
#: All bits divided by the sum of all durations, so that flows are weighted by duration.
POOLED: Final = "flow_throughput_ratio_bps"
#: Square root of the variance, and its ratio to the mean; computed in `points.runs_of`.
DEVIATION: Final = "flow_throughput_deviation_bps"
VARIATION: Final = "flow_throughput_variation"
#: Mice are flows below 100 kB, elephants those above 10 MB.
_SMALL, _LARGE = "[below 100 kB]", "[above 10 MB]"
MICE, MICE_VARIANCE = MEAN + _SMALL, VARIANCE + _SMALL
ELEPHANTS, ELEPHANTS_VARIANCE = MEAN + _LARGE, VARIANCE + _LARGE
#: Statistics that rank assemblies: suffix of a claim's id, words, and column.
STATISTICS: Final = (
    ("mean", "mean over flows", MEAN),
    ("pooled", "all bits over all times", POOLED),
    ("mice", "mean below 100 kB", MICE),
    ("elephants", "mean above 10 MB", ELEPHANTS),
)
#: Metrics of bursts with data.
SEGMENTS: Final = "burst_mean_segments"
FLOWS: Final = "burst_mean_flows"
LOST_FLOWS: Final = "lost_burst_mean_flows"
BURSTS: Final = "flow_mean_bursts"
LOST: Final = "flow_mean_bursts_lost"
LOSS: Final = "data_burst_loss"
ACTIVE: Final = "active_flows"
#: Counted flows that did not finish.
CUT_OFF: Final = "flows_unacknowledged"
#: Synchronisation of flows, measured in bins of time.
WINDOW_DEVIATION: Final = "aggregate_window_std_segments"
WINDOW_RATIO: Final = "aggregate_window_std_ratio"
THROUGHPUT_DEVIATION: Final = "aggregate_throughput_std_bps"
CORRELATION: Final = "window_reduction_correlation"

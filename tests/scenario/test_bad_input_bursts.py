"""Bad input for burst switching, losses, TCP and traces; otherwise as `test_bad_input`."""

from pathlib import Path

import pytest
from test_bad_input import read, refusal

from lightburst.compile import compile_plan

GOOD = """
[topology]
kind = "obs-path"
host_pairs = 1
access_rate = "1 Gb/s"
[switching]
kind = "burst"
[switching.assembly]
kind = "mixed"
time = "1 ms"
size = "50 kB"
max_size = "60 kB"
min_size = "10 kB"
[loss]
probability = 0.01
drops = [{ burst = 7 }, { segments = [20, 24], transmission = 2 }, { window = 40 }]
[transport]
kind = "tcp"
segment_size = "1 kB"
backoff = 2.0
recovery = { kind = "sack", sack_blocks = 3 }
[workload]
kind = "pairs"
size = { kind = "constant", value = "10 MB" }
[measurement]
trace = [0]
"""


def test_the_good_one_is_good(tmp_path: Path) -> None:
    assert compile_plan(read(tmp_path, GOOD), 1).transports[0]["recovery"]["kind"] == "sack"


SACK_BLOCKS = "sack_blocks = 3"
BACKOFF = "backoff = 2.0"
WINDOW = "{ window = 40 }"
SEGMENTS = "segments = [20, 24], transmission = 2"
TARGETS = "one of burst, segments, window, acknowledgements"
RANGE = "[first, last], whole numbers from 1 to 2147483648, first no more than last"

# old, new -> path, given, allowed (a part of it)
CASES = {
    # topology
    ("host_pairs = 1", "host_pairs = 0"): ("topology.host_pairs", "0", "a whole number from 1 to"),
    ("host_pairs = 1", "core_nodes = -1"): ("topology.core_nodes", "-1", "a whole number from 0"),
    ("host_pairs = 1", 'fibre_delay = "-1 ms"'): ("topology.fibre_delay", "'-1 ms'", "zero or"),
    ("host_pairs = 1", 'fibre_rate = "0 b/s"'): ("topology.fibre_rate", "'0 b/s'", "greater than"),
    ("host_pairs = 1", 'extra_round_trip = "-35 ms"'): (
        "topology.extra_round_trip",
        "'-35 ms'",
        "a duration, zero or more",
    ),
    ("host_pairs = 1", 'link_rate = "1 Gb/s"'): (
        "topology.link_rate",
        "an unknown key 'link_rate'",
        "'link_rate' is for kind 'fat-tree', 'path', 'graph'",
    ),
    ('kind = "obs-path"\nhost_pairs = 1\naccess_rate = "1 Gb/s"', 'kind = "path"\nlinks = 1'): (
        "topology",
        "hosts that are linked with each other",
        "since kind 'burst' assembles bursts at switches",
    ),
    ('kind = "obs-path"\nhost_pairs = 1\naccess_rate = "1 Gb/s"', 'kind = "path"\nlinks = 2'): (
        "loss",
        "a network without a link between two switches",
        "a network with such a link: only links between switches lose units",
    ),
    # assembly
    ('time = "1 ms"', 'time = "-1 ms"'): ("switching.assembly.time", "'-1 ms'", "zero or more"),
    ('time = "1 ms"', "time = 1"): ("switching.assembly.time", "1", "such as '5 ms'"),
    ('time = "1 ms"', 'time = "1001 s"'): ("switching.assembly.time", "'1001 s'", "up to 1000 s"),
    ('time = "1 ms"\n', ""): ("switching.assembly.time", "nothing", "a duration, zero or more"),
    ('size = "50 kB"\n', ""): ("switching.assembly.size", "nothing", "a size, greater than zero"),
    ('size = "50 kB"', 'size = "0 B"'): ("switching.assembly.size", "'0 B'", "greater than zero"),
    ('size = "50 kB"', 'size = "61 kB"'): (
        "switching.assembly.size", "61 kB", "at most max_size (60 kB)",
    ),
    ('"10 kB"', '"61 kB"'): (
        "switching.assembly.min_size", "61 kB", "at most max_size (60 kB), or 'off'",
    ),
    ('"60 kB"', '"2 GB"'): ("switching.assembly.max_size", "'2 GB'", "up to 1 GB"),
    ('"mixed"', '"both"'): ("switching.assembly.kind", "'both'", "one of 'timer', 'size', 'mixed'"),
    ('"mixed"', '"size"'): (
        "switching.assembly.time", "an unknown key 'time'", "for kind 'timer', 'mixed'",
    ),
    ('[switching.assembly]\nkind = "mixed"\ntime = "1 ms"\nsize = "50 kB"\nmax_size = "60 kB"\n'
     'min_size = "10 kB"\n', ""): (
        "switching.assembly", "nothing", "a table with a kind, one of 'timer', 'size', 'mixed'",
    ),
    ('kind = "mixed"\n', ""): ("switching.assembly.kind", "nothing", "one of 'timer', 'size', 'mi"),
    ('size = "50 kB"\nmax_size = "60 kB"\nmin_size = "10 kB"',
     'size = "500 B"\nmax_size = "999 B"'): (
        "switching.assembly.max_size",
        "999 B",
        "at least transport.segment_size (1 kB), or 'unlimited'",
    ),
    ('kind = "mixed"\ntime = "1 ms"\nsize = "50 kB"', 'kind = "window-based"\nfast_window = 9'): (
        "switching.assembly.fast_window", "9", "at least medium_window (16)",
    ),
    ('kind = "mixed"\ntime = "1 ms"\nsize = "50 kB"', 'kind = "window-based"\nmedium_window = 0'): (
        "switching.assembly.medium_window", "0", "a whole number from 1 to 65535",
    ),
    ('kind = "mixed"\ntime = "1 ms"\nsize = "50 kB"',
     'kind = "multi-queue"\ntime = "1 ms"\nallocation = { kind = "printed", queues = 0 }'): (
        "switching.assembly.allocation.queues", "0", "a whole number from 1 to 1000",
    ),
    ('kind = "mixed"\ntime = "1 ms"\nsize = "50 kB"',
     'kind = "multi-queue"\ntime = "1 ms"\n'
     'allocation = { kind = "a-posteriori", notice_delay = "back" }'): (
        "switching.assembly.allocation.notice_delay", "'back'", "'way-back'",
    ),
    ('kind = "mixed"\ntime = "1 ms"\nsize = "50 kB"',
     'kind = "multi-queue"\ntime = "1 ms"\nallocation = "both"'): (
        "switching.assembly.allocation", "'both'",
        "'a-priori', 'a-posteriori', 'printed', 'per-flow'",
    ),
    # losses
    ("0.01", "1.01"): ("loss.probability", "1.01", "a number at least 0 and at most 1"),
    ("0.01", "-0.01"): ("loss.probability", "-0.01", "a number at least 0 and at most 1"),
    ("0.01", "nan"): ("loss.probability", "nan", "a number at least 0 and at most 1"),
    ("0.01", '"1 %"'): ("loss.probability", "'1 %'", "a number at least 0 and at most 1"),
    ("probability", "acknowledgement_probability = 2\nprobability"): (
        "loss.acknowledgement_probability", "2", "a number at least 0 and at most 1",
    ),
    ("probability", 'on = "last-link"\nprobability'): (
        "loss.on", "'last-link'", "one of 'first-link', 'every-link'",
    ),
    ("burst = 7", "burst = 0"): ("loss.drops[0].burst", "0", "a whole number from 1"),
    (WINDOW, "{ window = 0 }"): ("loss.drops[2].window", "0", "a whole number from 1"),
    (WINDOW, "{ window = 65536 }"): ("loss.drops[2].window", "65536", "from 1 to 65535"),
    (WINDOW, "{ window = 4.5 }"): ("loss.drops[2].window", "4.5", "a whole number from 1"),
    (WINDOW, "{}"): ("loss.drops[2]", "none of them", TARGETS),
    (WINDOW, "{ flow = 0 }"): ("loss.drops[2]", "none of them", TARGETS),
    (WINDOW, "{ window = 40, burst = 2 }"): ("loss.drops[2]", "burst and window", TARGETS),
    (WINDOW, "{ windows = 40 }"): ("loss.drops[2].windows", "an unknown key", "mean 'window'?"),
    (WINDOW, "{ window = 40, flow = -1 }"): ("loss.drops[2].flow", "-1", "a whole number from 0"),
    (WINDOW, "{ window = 40, flow = 1 }"): (
        "loss.drops[2].flow", "1", "the number of a flow, 0 to 0",
    ),
    (WINDOW, "{ window = 40, transmission = 1 }"): (
        "loss.drops[2].transmission", "one beside window", "one beside segments only",
    ),
    (SEGMENTS, "segments = [24, 20]"): ("loss.drops[1].segments", "[24, 20]", RANGE),
    (SEGMENTS, "segments = [0, 20]"): ("loss.drops[1].segments", "[0, 20]", RANGE),
    (SEGMENTS, "segments = 20"): ("loss.drops[1].segments", "20", RANGE),
    (SEGMENTS, "segments = [20]"): ("loss.drops[1].segments", "[20]", RANGE),
    (SEGMENTS, "segments = [1, 2.0]"): ("loss.drops[1].segments", "[1, 2.0]", RANGE),
    (SEGMENTS, "segments = [true, true]"): ("loss.drops[1].segments", "[True, True]", RANGE),
    (SEGMENTS, "acknowledgements = [3, 2]"): ("loss.drops[1].acknowledgements", "[3, 2]", RANGE),
    (SEGMENTS, "segments = [20, 24], transmission = 0"): (
        "loss.drops[1].transmission", "0", "a whole number from 1",
    ),
    # TCP
    (BACKOFF, "advertised_window = 0"): (
        "transport.advertised_window", "0", "a whole number from 1",
    ),
    (BACKOFF, "initial_window = 0"): (
        "transport.initial_window",
        "0",
        "a whole number from 1 to 2147483648, or 'rfc6928', or 'rfc3390', or 'rfc5681'",
    ),
    (BACKOFF, 'initial_window = "rfc2414"'): (
        "transport.initial_window", "'rfc2414'", "or 'rfc6928', or 'rfc3390', or 'rfc5681'",
    ),
    (BACKOFF, "acknowledge_every = 0"): (
        "transport.acknowledge_every", "0", "a whole number from 1 to 2",
    ),
    (BACKOFF, "acknowledge_every = 3"): (
        "transport.acknowledge_every", "3", "a whole number from 1 to 2",
    ),
    (BACKOFF, 'acknowledgement_delay = "0 s"'): (
        "transport.acknowledgement_delay", "'0 s'", "a duration, greater than zero",
    ),
    (SACK_BLOCKS, "sack_blocks = 0"): (
        "transport.recovery.sack_blocks", "0", "a whole number from 1 to 4",
    ),
    (SACK_BLOCKS, "sack_blocks = 5"): (
        "transport.recovery.sack_blocks", "5", "a whole number from 1 to 4",
    ),
    ("sack_blocks = 3 }", "sack_blocks = 4 }\ntimestamps = true"): (
        "transport.recovery.sack_blocks", "4", "a whole number from 1 to 3 with timestamps",
    ),
    (BACKOFF, 'min_timeout = "61 s"'): (
        "transport.min_timeout", "61 s", "at most max_timeout (60 s)",
    ),
    (BACKOFF, 'initial_timeout = "61 s"'): (
        "transport.initial_timeout", "61 s", "at most max_timeout (60 s)",
    ),
    (BACKOFF, 'clock_granularity = "-1 ms"'): (
        "transport.clock_granularity", "'-1 ms'", "a duration, zero or more",
    ),
    (BACKOFF, "backoff = 1"): ("transport.backoff", "1", "a number greater than 1"),
    (SACK_BLOCKS, "duplicate_threshold = 0"): (
        "transport.recovery.duplicate_threshold", "0", "a whole number from 1",
    ),
    (SACK_BLOCKS, "limited_transmit = 1"): (
        "transport.recovery.limited_transmit", "1", "true or false",
    ),
    (BACKOFF, 'access_buffer = "999 B"'): (
        "transport.access_buffer", "999 B", "at least segment_size (1 kB), or 'unlimited'",
    ),
    (BACKOFF, 'control_size = "2 kB"'): (
        "transport.control_size", "2 kB", "at most segment_size (1 kB)",
    ),
    (BACKOFF, "alpha = 1.1"): (
        "transport.alpha", "an unknown key 'alpha'", "(for kind 'fast', 'vegas')",
    ),
    ('"sack"', '"westwood"'): (
        "transport.recovery.kind", "'westwood'",
        "one of 'tahoe', 'reno', 'new-reno', 'sack', 'rack-tlp', 'rr-tcp', 'sack1'",
    ),
    (BACKOFF, 'congestion_control = "bbr"'): (
        "transport.congestion_control", "'bbr'", "one of 'reno'",
    ),
    (BACKOFF, 'congestion_control = { kind = ["bbr1"] }'): (
        "transport.congestion_control", "['bbr1']", "one of 'reno'",
    ),
    (BACKOFF, 'congestion_control = { kind = "cubic", c = 0 }'): (
        "transport.congestion_control.c", "0", "a number at least 1e-09 and at most 1e+09",
    ),
    (BACKOFF, 'congestion_control = { kind = "cubic", beta = 1 }'): (
        "transport.congestion_control.beta", "1", "a number greater than 0 and less than 1",
    ),
    (BACKOFF, 'congestion_control = { kind = "fast", mi_threshold = 0.75 }'): (
        "transport.congestion_control.mi_threshold", "0.75", "a duration",
    ),
    (BACKOFF, 'congestion_control = { kind = "vegas", alpha = -1 }'): (
        "transport.congestion_control.alpha", "-1", "a number at least 0",
    ),
    (BACKOFF, 'congestion_control = { kind = "reno", halving = "cwnd" }'): (
        "transport.congestion_control.halving", "'cwnd'", "one of 'flight-size', 'window'",
    ),
    (BACKOFF, 'congestion_control = { kind = "reno", byte_counting = 3 }'): (
        "transport.congestion_control.byte_counting", "3",
        "a whole number from 1 to 2, or 'off'",
    ),
    (BACKOFF, 'congestion_control = { kind = "cubic", slow_start = "hystart" }'): (
        "transport.congestion_control.slow_start", "'hystart'", "one of 'standard', 'hystart++'",
    ),
    (BACKOFF, 'congestion_control = { kind = "vegas", slow_start = "hystart++" }'): (
        "transport.congestion_control.slow_start", "an unknown key 'slow_start'",
        "('slow_start' is for kind 'reno', 'highspeed', 'cubic', 'scalable', 'dctcp')",
    ),
    (BACKOFF, 'congestion_control.slow_start = { kind = "hystart++", min_rtt_thresh = "1 s" }'): (
        "transport.congestion_control.slow_start.min_rtt_thresh", "1 s",
        "at most max_rtt_thresh (16 ms)",
    ),
    (BACKOFF, 'congestion_control = { kind = "reno", abe = true }'): (
        "transport.congestion_control.abe", "true", "false without ecn, whose answer it changes",
    ),
    (BACKOFF, 'congestion_control = { kind = "cubic", beta_ecn = 0.8 }'): (
        "transport.congestion_control.beta_ecn", "0.8", "a value only with abe = true",
    ),
    (BACKOFF, 'congestion_control = { kind = "dctcp", abe = true }'): (
        "transport.congestion_control.abe", "an unknown key 'abe'",
        "('abe' is for kind 'reno', 'cubic')",
    ),
    ('"sack", sack_blocks = 3', '"new-reno", partial_acknowledgement = "slow"'): (
        "transport.recovery.partial_acknowledgement", "'slow'",
        "one of 'impatient', 'slow-but-steady'",
    ),
    ('"sack", sack_blocks = 3', '"new-reno", full_acknowledgement = "cwnd"'): (
        "transport.recovery.full_acknowledgement", "'cwnd'", "one of 'flight-size', 'ssthresh'",
    ),
    ('{ kind = "sack", sack_blocks = 3 }', '"westwood"'): (
        "transport.recovery", "'westwood'",
        "one of 'tahoe', 'reno', 'new-reno', 'sack', 'rack-tlp', 'rr-tcp', 'sack1'",
    ),
    ('{ kind = "sack", sack_blocks = 3 }', "3"): (
        "transport.recovery", "3",
        "or a table with such a kind, as { kind = 'tahoe', ... }",
    ),
    (SACK_BLOCKS, "bug_fix = true"): (
        "transport.recovery.bug_fix", "an unknown key 'bug_fix'",
        "'bug_fix' is for kind 'tahoe', 'reno', 'new-reno', 'sack1'",
    ),
    (BACKOFF, "bug_fix = true"): (
        "transport.bug_fix", "an unknown key 'bug_fix'",
        "transport.recovery.bug_fix in its place, "
        'written recovery = { kind = "tahoe", bug_fix = ... } (for kind \'tahoe\', \'reno\', ',
    ),
    (BACKOFF, 'partial_acknowledgement = "impatient"'): (
        "transport.partial_acknowledgement", "an unknown key 'partial_acknowledgement'",
        'recovery = { kind = "new-reno", partial_acknowledgement = ... } (for kind \'new-reno\')',
    ),
    (BACKOFF, 'halving = "window"'): (
        "transport.halving", "an unknown key 'halving'",
        "transport.congestion_control.halving in its place, "
        'written congestion_control = { kind = "reno", halving = ... }',
    ),
    (BACKOFF, 'preset = "lan"'): (
        "transport.preset", "'lan'", "one of 'rfc', 'ns-2', 'linux', 'datacentre', 'wide-area'",
    ),
    (BACKOFF, "preset = [1]"): (
        "transport.preset", "[1]", "one of 'rfc', 'ns-2', 'linux', 'datacentre', 'wide-area'",
    ),
    (BACKOFF, 'rtt_samples = "all"'): (
        "transport.rtt_samples", "'all'", "one of 'one-at-a-time', 'every-acknowledgement'",
    ),
    # workload and traces
    ('kind = "pairs"', 'kind = "pairs"\nflows = 2'): (
        "workload.flows", "an unknown key 'flows'", "'flows' is for kind 'poisson'",
    ),
    ("trace = [0]", "trace = [0, 1]"): (
        "measurement.trace[1]", "1", "the number of a flow, 0 to 0",
    ),
    ("trace = [0]", "trace = [-1]"): ("measurement.trace[0]", "-1", "a whole number from 0"),
    ("trace = [0]", "trace = 0"): ("measurement.trace", "0", "a list, each item a whole number"),
    ("trace = [0]", "trace = true"): ("measurement.trace", "True", "a list, each item a whole"),
}  # fmt: skip


@pytest.mark.parametrize("change", CASES, ids=lambda change: change[1].replace("\n", " "))
def test_one_wrong_field(change: tuple[str, str], tmp_path: Path) -> None:
    old, new = change
    assert old in GOOD
    path, given, allowed = CASES[change]
    error = refusal(tmp_path, GOOD.replace(old, new, 1))
    assert error.errors == (error,)
    assert error.path == path
    assert error.given.startswith(given)
    assert allowed in error.allowed


def test_all_errors_of_the_new_tables_together(tmp_path: Path) -> None:
    text = GOOD.replace("0.01", "2").replace("burst = 7", "burst = 0").replace('"1 ms"', '"1"')
    text = text.replace(SACK_BLOCKS, "sack_blocks = 5").replace("trace = [0]", "trace = [-1]")
    assert [error.path for error in refusal(tmp_path, text).errors] == [
        "switching.assembly.time",
        "loss.probability",
        "loss.drops[0].burst",
        "transport.recovery.sack_blocks",
        "measurement.trace[0]",
    ]


def test_flows_that_there_are_not_are_reported_together(tmp_path: Path) -> None:
    text = GOOD.replace("burst = 7", "burst = 7, flow = 5").replace("trace = [0]", "trace = [9]")
    assert [(error.path, error.given) for error in refusal(tmp_path, text).errors] == [
        ("loss.drops[0].flow", "5"),
        ("measurement.trace[0]", "9"),
    ]


def test_a_table_of_flows_is_counted_as_well(tmp_path: Path) -> None:
    (tmp_path / "flows.csv").write_text("source,destination,start_s,size_bytes\n0,1,0,1\n0,1,1,1\n")
    text = GOOD.partition("[workload]")[0] + '[workload]\nkind = "table"\nfile = "flows.csv"\n'
    assert compile_plan(read(tmp_path, text + "[measurement]\ntrace = [1]\n"), 1)
    error = refusal(tmp_path, text + "[measurement]\ntrace = [2]\n")
    assert (error.path, error.allowed) == (
        "measurement.trace[0]",
        "the number of a flow, 0 to 1",
    )

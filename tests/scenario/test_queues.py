"""Settings of ``switching.queue`` that contradict each other: one message, with path and values."""

from pathlib import Path

import pytest
from test_bad_input import GOOD, refusal

MARKS = "'off', or one of the queues 'drop-tail', 'prio' and 'drr'"

# settings of the switch -> path, given, allowed
CASES = {
    'ecn_threshold = "30 kB"\nqueue = "codel"': (
        "switching.ecn_threshold",
        "a threshold beside queue = 'codel'",
        MARKS,
    ),
    'ecn_threshold = "0 B"\nqueue = { kind = "red", ecn = true }': (
        "switching.ecn_threshold",
        "a threshold beside queue = 'red'",
        MARKS,
    ),
    'ecn_threshold = "30 kB"\nqueue = "pie"': (
        "switching.ecn_threshold",
        "a threshold beside queue = 'pie'",
        MARKS,
    ),
    'queue = { kind = "red", min_threshold = "90 kB", max_threshold = "30 kB" }': (
        "switching.queue.min_threshold",
        "90 kB",
        "less than max_threshold, 30 kB",
    ),
    'queue = { kind = "red", max_threshold = "45 kB" }': (
        "switching.queue.min_threshold",
        "45 kB",
        "less than max_threshold, 45 kB",
    ),
    'queue = { kind = "pie", update = "999 ns" }': (
        "switching.queue.update",
        "999 ns",
        "at least 1 us",
    ),
    'queue = { kind = "fq-codel", quantum = "255 B" }': (
        "switching.queue.quantum",
        "255 B",
        "at least 256 B",
    ),
    'ecn_marking = "departure"': (
        "switching.ecn_marking",
        "'departure' without an ecn_threshold",
        "'arrival': nothing is marked",
    ),
    'ecn_threshold = "30 kB"\necn_marking = "dequeue"': (
        "switching.ecn_marking",
        "'dequeue'",
        "one of 'arrival', 'departure' (did you mean 'departure'?)",
    ),
    'shared_buffer = { size = "8 kB" }': (
        "switching.shared_buffer.size",
        "8 kB",
        "at least transport.segment_size (9 kB)",
    ),
    'shared_buffer = { size = "80 kB", alpha = 0.1 }': (
        "switching.shared_buffer",
        "a largest queue of 8 kB",
        "at least transport.segment_size (9 kB)",
    ),
    'shared_buffer = { size = "80 kB", alpha = 0 }': (
        "switching.shared_buffer.alpha",
        "0",
        "a number at least 0.001 and at most 1000",
    ),
    "shared_buffer = { alpha = 2 }": (
        "switching.shared_buffer.size",
        "nothing",
        "a size, greater than zero, such as '9 kB', in one of B, kB, KiB, MB, MiB, GB, GiB, TB, "
        "TiB",
    ),
    'queue = { kind = "dualpi2", update = "1 ns" }': (
        "switching.queue.update",
        "1 ns",
        "at least 1 us",
    ),
    'queue = { kind = "dualpi2", quantum = "1 B" }': (
        "switching.queue.quantum",
        "1 B",
        "at least 256 B",
    ),
    'queue = { kind = "dualpi2", coupling = 0 }': (
        "switching.queue.coupling",
        "0",
        "a number at least 0.1 and at most 100",
    ),
    'ecn_threshold = "30 kB"\nqueue = "dualpi2"': (
        "switching.ecn_threshold",
        "a threshold beside queue = 'dualpi2'",
        MARKS,
    ),
    'queue = { kind = "fq-codel", flows = 0 }': (
        "switching.queue.flows",
        "0",
        "a whole number from 1 to 65536",
    ),
    'queue = { kind = "pie", target = "0 ms" }': (
        "switching.queue.target",
        "'0 ms'",
        "a duration, greater than zero, such as '5 ms', in one of ps, ns, us, ms, s, min, h",
    ),
}


def with_queue(text: str) -> str:
    """The good scenario with an electronic switch that has these settings."""
    old = 'kind = "hybrid"\nbuffer_ports = 2'
    assert GOOD.count(old) == 1
    return GOOD.replace(old, f'kind = "electronic"\n{text}')


@pytest.mark.parametrize("text", CASES)
def test_settings_that_contradict_each_other_are_refused(text: str, tmp_path: Path) -> None:
    error = refusal(tmp_path, with_queue(text))
    path, given, allowed = CASES[text]
    assert str(error) == f"{path}: given {given}; allowed: {allowed}"

"""Settings of ``switching.pfc`` that contradict each other: one message, with path and values."""

from pathlib import Path

import pytest
from test_bad_input import refusal
from test_queues import with_queue

SIZES = "in one of B, kB, KiB, MB, MiB, GB, GiB, TB, TiB"

# settings of the switch -> path, given, allowed
CASES = {
    "pfc = {}": ("switching.pfc.xoff", "nothing", f"a size, zero or more, such as '9 kB', {SIZES}"),
    'pfc = { xoff = "40 kB", xon = "40001 B" }': (
        "switching.pfc.xon",
        "40001 B",
        "at most xoff (40 kB)",
    ),
    'queue_size = "60 kB"\npfc = { xoff = "40 kB", headroom = "20001 B" }': (
        "switching.pfc.xoff",
        "60001 B with the headroom",
        "with the headroom at most queue_size (60 kB)",
    ),
    'shared_buffer = { size = "39 kB" }\npfc = { xoff = "40 kB" }': (
        "switching.pfc.xoff",
        "40 kB with the headroom",
        "with the headroom at most shared_buffer.size (39 kB)",
    ),
    'pfc = { xoff = "0 B", headroom = "8 kB" }': (
        "switching.pfc.headroom",
        "8 kB above xoff (0 B)",
        "at least transport.segment_size (9 kB) with xoff, or 'unlimited'",
    ),
    'pfc = { xoff = "40 kB" }\nlayers.core = { kind = "hybrid" }': (
        "switching.layers.core.kind",
        "'hybrid'",
        "'electronic' at every switch beside pfc: light cannot wait for a pause",
    ),
    'pfc = { xoff = "40 kB" }\n[protection]\nscheme = "1:1"': (
        "switching.pfc",
        "a table",
        "no such table beside protection; links may fail and routes follow",
    ),
}


@pytest.mark.parametrize("text", CASES)
def test_settings_that_contradict_each_other_are_refused(text: str, tmp_path: Path) -> None:
    error = refusal(tmp_path, with_queue(text))
    path, given, allowed = CASES[text]
    assert str(error) == f"{path}: given {given}; allowed: {allowed}"

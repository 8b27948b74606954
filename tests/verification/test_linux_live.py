"""The kernel of this machine, recorded now, against the core's sender."""

from __future__ import annotations

import os
import platform
import shutil
from pathlib import Path
from typing import Any

import pytest
from linux.random_cases import compared, random_case, record

pytestmark = pytest.mark.skipif(
    not (
        platform.release().startswith("6.18.")
        and os.geteuid() == 0
        and Path("/dev/net/tun").exists()
        and shutil.which("ip")
    ),
    reason="needs Linux 6.18, root, /dev/net/tun and iproute2",
)

# No tail and no lost retransmission: nothing hangs on a timer, whose ticks no recording tells.
CASES: dict[str, dict[str, Any]] = {
    "losses": {"drops": [[12, 1], [13, 1], [20, 1]]},
    "reordering": {"holds": [[15, 6]]},
    "marks": {"ecn": True, "marks": [[9, 1]]},
    # Its first acknowledgement is no duplicate, since it tells a window.
    "without SACK": {"sack": False, "drops": [[1, 1]]},
    # Its window is not judged once all data is sent.
    "all sent": {"segments": 20, "initcwnd": 40, "holds": [[3, 8]]},
}


@pytest.mark.parametrize("name", CASES)
def test_the_kernel_does_now_what_the_core_does(name: str, tmp_path: Path) -> None:
    case = {"cc": "reno", "segments": 40, "rtt_ms": 20.0, "limit_s": 5.0} | CASES[name]
    # A busy machine delays the recorder: of three recordings one is enough.
    found = [compared(record(case, tmp_path, f"{name}-{repeat}")) for repeat in range(3)]
    assert [] in found


def test_a_random_case_is_the_same_for_the_same_seed() -> None:
    assert random_case(7) == random_case(7) != random_case(8)

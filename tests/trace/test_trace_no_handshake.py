"""The trace of a flow without a handshake: no set-up, and no timeout at its start."""

from typing import Any

import numpy as np
import pytest

import lightburst as lb
from lightburst.trace.flow import SYN, FlowTrace


def trace_of(recovery: str, **changes: Any) -> FlowTrace:
    """A flow of five segments over three links."""
    given = {
        "topology": {"kind": "path", "links": 3},
        "switching": {"kind": "all-optical"},
        "transport": {"kind": "tcp", "handshake": False, "recovery": recovery},
        "workload": {"kind": "pairs", "size": {"kind": "constant", "value": "40 kB"}},
        "measurement": {"trace": [0]},
        **changes,
    }
    return FlowTrace.of(lb.run(lb.Scenario.from_dict(given)), 0)


@pytest.mark.parametrize("recovery", ["sack", "rack-tlp"])
def test_the_first_row_of_the_window_is_no_timeout(recovery: str) -> None:
    trace = trace_of(recovery)
    assert not np.any(trace.segments["flags"] & SYN)
    assert trace.windows["time_ps"][0] == trace.segments["time_ps"][0] == 0
    assert trace.timeouts_ps().size == trace.looks_ps().size == 0


def test_the_timeout_of_a_lost_first_window_is_one() -> None:
    drops = [{"flow": 0, "segments": [1, 2], "transmission": 1}]
    trace = trace_of("sack", loss={"drops": drops})
    assert trace.timeouts_ps().tolist() == [10**12]

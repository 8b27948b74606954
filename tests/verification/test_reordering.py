"""Segments that overtake each other and are not lost, on two routes of which each draws one.

A segment on the longer path is overtaken at most by the segments that leave the sender in the
difference of the delays, so no more acknowledgements are duplicates.
"""

import numpy as np
import pytest
from scripted.cases import FLAVOURS, TRANSPORT, Settings, flow, routes
from senders import sender

from lightburst.result.result import Result
from lightburst.scenario import Scenario
from lightburst.simulation.simulate import run

# The subject of this file: reordering that is taken for losses.
pytestmark = pytest.mark.filterwarnings("ignore:.* retransmissions by flows without losses")

# A segment each 0.8 ms, 5 us a km.
BY_TWO, BY_SIX = "400 km", "1040 km"
SEGMENTS = 400
SELECTIVE = ("sack", "sack1")


def reordered(flavour: str, by: str, seed: int, **transport: object) -> Result:
    changes: Settings = {"advertised_window": 50, **FLAVOURS[flavour], **transport}
    scenario = Scenario.from_dict(
        {
            **routes(by),
            "transport": sender(**TRANSPORT | changes),
            "workload": flow(SEGMENTS),
            "measurement": {"time_limit": "100 s", "trace": [0]},
        }
    )
    result = run(scenario, seed=seed)
    assert result.flows["status"].tolist() == ["finished"]
    assert result.flows["drops"].tolist() == [0]
    return result


def overtaken(result: Result) -> int:
    """The largest number of later segments that overtook one."""
    data = result.trace.segments.query("event == 'arrived' and payload_bytes > 0")
    packets = data["packet"].to_numpy().astype(np.int64)
    return max(int((packets[:i] > packet).sum()) for i, packet in enumerate(packets))


def duplicate_reports(result: Result) -> int:
    """Acknowledgements whose first block is below what they acknowledge, or within the second."""
    told = result.trace.segments.query("event == 'sent' and not from_source and blocks > 0")
    first = told[["block_start_0", "block_end_0"]].to_numpy(np.float64)
    second = told[["block_start_1", "block_end_1"]].to_numpy(np.float64, na_value=np.nan)
    below = first[:, 1] <= told["acknowledgement"].to_numpy(np.float64)
    within = (second[:, 0] <= first[:, 0]) & (first[:, 1] <= second[:, 1])
    return int((below | within).sum())


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(
    ("by", "most", "threshold"), [(BY_TWO, 2, 3), (BY_SIX, 6, 7)], ids=["two", "six"]
)
def test_fewer_than_the_threshold_are_no_loss(
    flavour: str, seed: int, by: str, most: int, threshold: int
) -> None:
    result = reordered(flavour, by, seed, duplicate_threshold=threshold)
    assert overtaken(result) == most
    (row,) = result.flows.to_dict("records")
    assert (row["retransmissions"], row["duplicates"], row["timeouts"]) == (0, 0, 0)
    assert np.isinf(result.columns["trace_windows"]["slow_start_threshold"]).all()


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_more_are_taken_for_a_loss_and_each_repetition_is_one_too_many(
    flavour: str, seed: int
) -> None:
    result = reordered(flavour, BY_SIX, seed)
    assert 3 <= overtaken(result) <= 6
    (row,) = result.flows.to_dict("records")
    assert row["timeouts"] == 0
    assert row["duplicates"] == row["retransmissions"] > 0
    assert row["transmissions"] == SEGMENTS + row["retransmissions"]
    assert np.isfinite(result.columns["trace_windows"]["slow_start_threshold"][-1])
    if flavour in SELECTIVE:
        # RFC 2883: each of them is reported, once.
        assert duplicate_reports(result) == row["duplicates"]
        assert duplicate_reports(reordered(flavour, BY_SIX, seed, duplicate_sack=False)) == 0

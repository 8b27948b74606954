"""The window laws against their closed forms, from the outside."""

from __future__ import annotations

from typing import Any

import pytest
from senders import sender

import lightburst as lb

#: No queue, 100 ms: the window is all that there is between two losses.
PATH: dict[str, Any] = {
    "topology": {"kind": "obs-path", "access_rate": "10 Gb/s", "fibre_rate": "10 Gb/s"},
    "switching": {"kind": "electronic", "queue_size": "unlimited"},
}
ROUND_TRIP_S = 0.1
SEGMENT = {
    "segment_size": "1 kB",
    "control_size": "40 B",
    "acknowledge_every": 1,
    "advertised_window": 100_000,
}


def completion(law: str | dict[str, Any], every: int, losses: int) -> float:
    """Completion time in s of a flow that loses one segment in `every`, so many times."""
    drops = [{"segments": [every * i, every * i]} for i in range(1, losses + 1)]
    size = {"kind": "constant", "value": f"{every * losses + every // 2} kB"}
    scenario = lb.Scenario.from_dict(
        {
            **PATH,
            "transport": sender(**SEGMENT) | {"congestion_control": law},
            "workload": {"kind": "pairs", "size": size},
            "loss": {"drops": drops},
        }
    )
    flow = lb.run(scenario).flows.iloc[0]
    assert (flow["retransmissions"], flow["timeouts"]) == (losses, 0)
    return float(flow["completion_time_s"])


def mean_window(law: str | dict[str, Any], every: int, losses: int = 40, first: int = 20) -> float:
    """Segments in a round trip from the `first` of the losses to the last, of one in `every`."""
    time = completion(law, every, losses) - completion(law, every, first)
    return every * (losses - first) / time * ROUND_TRIP_S


@pytest.mark.parametrize("every", [1_000, 3_000, 10_000, 30_000])
def test_highspeed_has_the_response_function_of_rfc_3649(every: int) -> None:
    """Section 5: w = 0.12 / p^0.835, which at p = 10^-3 is that of standard TCP."""
    assert mean_window("highspeed", every) == pytest.approx(0.12 * every**0.835, rel=0.06)


def test_reno_has_the_response_function_of_standard_tcp() -> None:
    assert mean_window("reno", 3_000) == pytest.approx((1.5 * 3_000) ** 0.5, rel=0.06)

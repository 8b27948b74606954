"""One flow over NSFNET behaves as over a path of as many fibres with the same total delay.

Its edges, rates and assembly are those of the path of yu2004.
"""

from typing import Any

import pandas as pd
import pytest

import lightburst as lb

#: From WA over CA1 and UT to MI, 1,100 + 1,000 + 2,400 km: 22.5 ms; the same in three equal fibres.
RATES = {"access_rate": "1 Gb/s", "access_delay": "10 ms", "fibre_rate": "10 Gb/s"}
NSFNET: dict[str, Any] = {"kind": "nsfnet", "edges": [1, 11], "hosts_per_edge": 1, **RATES}
PATH: dict[str, Any] = {"kind": "obs-path", "core_nodes": 2, "fibre_delay": "7.5 ms", **RATES}

ASSEMBLY = {"kind": "timer", "time": "1 ms"}
SWITCHING: dict[str, dict[str, Any]] = {
    "burst": {"kind": "burst", "assembly": ASSEMBLY},
    "obs": {
        "kind": "obs",
        "assembly": ASSEMBLY,
        "header_processing_time": "10 us",
        "control_rate": "1 Gb/s",
    },
}
DROPS = [
    {"burst": 3},
    {"segments": [200, 203], "transmission": 1},
    {"segments": [200, 200], "transmission": 2},
    {"window": 40},
    {"acknowledgements": [40, 42]},
]


#: At random each link draws for itself. The first fibre of the data has one number in both
#: networks; that of the acknowledgements has not.
LOSSES: dict[str, dict[str, Any]] = {
    "none": {},
    "by script": {"loss": {"drops": DROPS}},
    "at random": {"loss": {"probability": 0.01}},
}


def run(topology: dict[str, Any], kind: str, loss: dict[str, Any]) -> lb.Result:
    """One flow from edge to edge, over the path of least delay."""
    scenario = {
        "topology": topology,
        "routing": {"metric": "delay"},
        "switching": SWITCHING[kind],
        "transport": {
            "kind": "tcp",
            "segment_size": "1 kB",
            "acknowledge_every": 1,
            "advertised_window": 50,
            "min_timeout": "200 ms",
        },
        "workload": {"kind": "pairs", "size": "5 MB"},
        "measurement": {"trace": [0]},
        **loss,
    }
    return lb.run(lb.Scenario.from_dict(scenario), seed=1)


def told(result: lb.Result) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The row of the flow, and all its windows."""
    assert result.trace is not None
    return result.flows.drop(columns=["source", "destination"]), result.trace.windows


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", SWITCHING)
def test_it_is_the_same_to_the_bit(kind: str, loss: str) -> None:
    nsfnet, path = (run(topology, kind, LOSSES[loss]) for topology in (NSFNET, PATH))
    flow = nsfnet.flows.iloc[0]
    assert flow["status"] == "finished"
    assert (flow["retransmissions"] > 0) == (loss != "none")
    for found, expected in zip(told(nsfnet), told(path), strict=True):
        pd.testing.assert_frame_equal(found, expected, check_exact=True)
    for count in ("bursts", "burst_mean_packets", "burst_loss"):
        assert nsfnet.summary[count] == path.summary[count]

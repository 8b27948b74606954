"""``[measurement] recovery`` and its picture, as a user sees them."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.text import Text

import lightburst as lb
from lightburst.foundation.errors import InputError
from lightburst.plots.around import throughput_around

# Datagrams of 9 kB leave their host at 0, 7.2, 14.4, ... us, and reach the other one 50 ns + 7.2 us
# later on each of two links. Number 3 is on the second link from 28.85 us on.
CUT: dict[str, Any] = {
    "topology": {"kind": "path", "links": 2},
    "switching": {"kind": "electronic"},
    "transport": {
        "kind": "datagram",
        "segment_size": "9 kB",
        "header_size": "0 B",
        "spacing": "constant",
    },
    "workload": {"kind": "pairs", "size": {"kind": "constant", "value": "90 kB"}},
    "events": [
        {"at": "30 us", "state": "down", "link": ["2", "1"]},
        {"at": "40 us", "state": "up", "link": ["2", "1"]},
    ],
    "measurement": {"recovery": "25 us"},
}
SCENARIO = lb.Scenario.from_dict(CUT)


def test_the_flow_has_its_time_to_recover() -> None:
    """Numbers 3 and 4 are lost, of which 4 is on the link up to 43.3 us; 5 is there at 50.5."""
    result = lb.run(SCENARIO)
    row = result.flows.iloc[0]
    assert row["cut_packets"] == 2
    assert row["recovery_s"] == pytest.approx(50.5e-6 - 30e-6)
    assert result.metrics["flows_cut"] == 1
    assert result.metrics["flows_stopped"] == 0
    assert result.metrics["recovery_mean_s"] == pytest.approx(20.5e-6)
    assert result.summary["recovery_max_s"] == pytest.approx(20.5e-6)


def test_the_bins_have_the_data_that_arrived() -> None:
    """Number k arrives at 14.5 us + k 7.2 us."""
    table = lb.run(SCENARIO).recovery
    assert table["time_s"].tolist() == pytest.approx([0, 25e-6, 50e-6, 75e-6])
    assert table["bytes"].tolist() == [18_000, 9000, 36_000, 9000]
    assert table["throughput_bps"].iloc[2] == pytest.approx(36_000 * 8 / 25e-6)


def test_a_flow_that_no_outage_hits_has_no_time() -> None:
    late = SCENARIO.with_(events=[{"at": "1 s", "state": "down", "link": ["2", "1"]}])
    result = lb.run(late)
    assert np.isnan(result.flows["recovery_s"].iloc[0])
    assert result.metrics["flows_cut"] == 0
    assert result.metrics["recovery_mean_s"] is None


def test_a_connection_that_never_goes_on_has_an_infinite_time() -> None:
    tcp = {
        **CUT,
        "transport": {"kind": "tcp"},
        "workload": {"kind": "pairs", "size": "1 MB"},
        "events": [{"at": "100 us", "state": "down", "link": ["2", "1"]}],
        "measurement": {"recovery": "1 ms", "time_limit": "10 s"},
    }
    with pytest.warns(lb.RunWarning, match="1 of 1 flows did not finish"):
        result = lb.run(lb.Scenario.from_dict(tcp))
    assert result.flows["recovery_s"].iloc[0] == np.inf
    assert (result.metrics["flows_stopped"], result.metrics["recovery_max_s"]) == (1, np.inf)


def test_it_needs_something_that_fails() -> None:
    words = "measurement.recovery: given 25 us; allowed: nothing without events or failures"
    with pytest.raises(InputError, match=words):
        SCENARIO.with_(events=[])


def test_the_measurement_moves_nothing_else() -> None:
    asked, bare = lb.run(SCENARIO), lb.run(SCENARIO.with_(measurement__recovery=None))
    assert asked.metrics["events"] == bare.metrics["events"]
    assert asked.flows["drops"].tolist() == bare.flows["drops"].tolist()
    with pytest.raises(InputError, match="measurement__recovery='10 ms'"):
        _ = bare.recovery


def test_the_bins_around_an_event_have_means_and_intervals() -> None:
    runs = [lb.run(SCENARIO, seed=seed) for seed in (1, 2)]
    table = throughput_around({"all": runs}, 30_000_000, 30_000_000, 80_000_000)
    # Four whole bins, from 0 to 100 us; equal runs have no width.
    assert table["time_after_s"].tolist() == pytest.approx([-17.5e-6, 7.5e-6, 32.5e-6, 57.5e-6])
    assert table["throughput_bps"].tolist() == pytest.approx([5.76e9, 2.88e9, 11.52e9, 2.88e9])
    assert table["ci_low"].tolist() == pytest.approx(table["throughput_bps"].tolist())
    # After the last data there is nothing.
    later = throughput_around({"all": runs}, 30_000_000, 0, 200_000_000)
    assert later["throughput_bps"].iloc[-1] == 0


def test_the_picture_has_a_band_for_each_name() -> None:
    named = {"one": [lb.run(SCENARIO)], "two": [lb.run(SCENARIO, seed=2)]}
    figure = lb.plot.around(named, "30 us", before="30 us", after="70 us")
    (axes,) = figure.axes
    assert axes.get_xlabel() == "Time after the event (s)"
    assert axes.get_ylabel() == "Throughput (Gb/s)"
    words = {text.get_text() for text in figure.findobj(Text)}
    assert words >= {"one", "two"}
    plt.close(figure)
    with pytest.raises(InputError, match="before: given 0 s before and 1 us after"):
        lb.plot.around(named, "30 us", before="0 s", after="1 us")

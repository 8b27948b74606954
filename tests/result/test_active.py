"""Active flows: by hand, against Little's law, and from samples."""

import hashlib
from typing import Any

import numpy as np
import pytest

import lightburst as lb
from lightburst.foundation.provenance import MODEL_VERSION
from lightburst.result.warm_up import Active
from lightburst.study.runs import scenario_digest


def active(*spans: tuple[int, int], until: int) -> Active:
    start, stop = (np.array(column, np.uint64) for column in zip(*spans, strict=True))
    return Active(start, stop, until, until)


THREE = active((0, 10), (4, 6), (5, 30), until=20)


def test_active_flows_by_hand() -> None:
    times = np.array([0, 4, 5, 6, 10, 20, 30], np.uint64)
    assert THREE.at(times).tolist() == [1, 2, 3, 2, 1, 1, 0]
    # From 0 to 5: five and one; to 10: five, one and five.
    assert THREE.means(np.array([0, 5, 10, 20], np.uint64)).tolist() == [6 / 5, 11 / 5, 1]
    assert THREE.mean(0) == (10 + 2 + 15) / 20
    assert THREE.mean(5) == (5 + 1 + 15) / 15
    assert THREE.mean(20) is None
    assert active((0, 10), until=0).mean(0) is None


#: A link with ample capacity, so that completion times are all alike.
LIGHT: dict[str, Any] = {
    "topology": {
        "kind": "nsfnet", "edges": ["WA", "GA"], "hosts_per_edge": 20, "access_rate": "10 Gb/s",
    },
    "routing": {"metric": "delay"},
    "switching": {"kind": "electronic", "queue_size": "unlimited"},
    "transport": {"kind": "tcp", "segment_size": "1 kB"},
    "workload": {
        "kind": "poisson", "arrival_rate_per_edge": "200 /s", "duration": "8 s", "size": "20 kB",
    },
    "measurement": {"warm_up": "2 s", "sample": "10 ms"},
}  # fmt: skip


def test_littles_law() -> None:
    result = lb.run(lb.Scenario.from_dict(LIGHT), seed=3)
    found, flows = result.metrics, result.flows
    times = flows["completion_time_s"].to_numpy()
    begin, end = 2.0, float(flows["start_s"].max())
    rate = found["flows"] / (end - begin)  # type: ignore[operator]
    # Flows cut by a boundary of the window cause a difference of a few completion times.
    little = rate * found["completion_time_mean_s"]  # type: ignore[operator]
    assert found["active_flows"] == pytest.approx(little, rel=0.02)
    # Exactly: the part of each flow within the window.
    start, stop = flows["start_s"].to_numpy(), flows["received_s"].to_numpy()
    spent = np.clip(stop, begin, end) - np.clip(start, begin, end)
    assert found["active_flows"] == pytest.approx(spent.sum() / (end - begin), rel=1e-9)
    # 400 flows a second arrived, with 20 kB each.
    assert found["offered_bps"] == pytest.approx(rate * 8 * 20_000, rel=1e-3)
    assert found["offered_bps"] == pytest.approx(64e6, rel=4 / np.sqrt(2400))
    samples = result.samples.flows
    chosen = samples["time_s"].between(begin, end)
    # The mean of the samples is that over time, within the precision of a few hundred samples.
    assert samples["active_flows"][chosen].mean() == pytest.approx(found["active_flows"], rel=0.02)
    one = int(np.flatnonzero(chosen)[7])
    now = samples["time_s"][one]
    assert samples["active_flows"][one] == np.count_nonzero((start <= now) & (stop > now))
    assert times.max() < 1


@pytest.mark.filterwarnings("ignore:links and losses:lightburst.RunWarning")
def test_flows_that_do_not_finish_are_active_until_the_end() -> None:
    endless = lb.Scenario.from_dict(LIGHT).with_(
        {"workload.size": "1000 TB", "measurement.time_limit": "100 ms", "workload.duration": "1 s",
         "measurement.warm_up": "0 s"}
    )  # fmt: skip
    result = lb.run(endless)
    start = result.flows["start_s"]
    spent = (0.1 - start[start < 0.1]).sum()
    assert result.metrics["active_flows"] == pytest.approx(spent / 0.1, rel=1e-9)
    assert result.samples.flows["active_flows"].iloc[-1] == np.count_nonzero(start <= 0.1)


@pytest.mark.filterwarnings("ignore:links and losses:lightburst.RunWarning")
def test_where_no_flow_ends_the_mean_goes_to_the_end_of_the_run() -> None:
    """Five flows that begin within a millisecond, and go on for 99 more."""
    endless = lb.Scenario.from_dict(
        {
            "topology": {"kind": "obs-path", "host_pairs": 5},
            "switching": {"kind": "electronic"},
            "transport": {"kind": "tcp", "segment_size": "1 kB"},
            "workload": {"kind": "pairs", "size": "1000 TB", "spread": "1 ms"},
            "measurement": {"time_limit": "100 ms"},
        }
    )
    result = lb.run(endless)
    start = result.flows["start_s"]
    exact = (0.1 - start).sum() / 0.1
    assert result.metrics["active_flows"] == pytest.approx(exact, rel=1e-9)
    assert exact > 4.9
    # Or the end of the measurement, if that is earlier.
    found = lb.run(endless.with_(measurement__until="50 ms")).metrics["active_flows"]
    assert found == pytest.approx((0.05 - start).sum() / 0.05, rel=1e-9)
    # They may all begin at once.
    assert lb.run(endless.with_(workload__spread="0 s")).metrics["active_flows"] == 5
    # With a flow that ends the network drains after the last start.
    one = {"kind": "pairs", "size": "10 kB", "spread": "1 ms"}
    both = {"long": {"workload": endless.to_dict()["workload"]}, "short": {"workload": one}}
    with pytest.warns(lb.RunWarning, match="5 of 10 flows did not finish"):
        mixed = lb.run(endless.with_(workload=None, groups=both))
    last = mixed.flows["start_s"].max()
    spent = np.clip(mixed.flows["received_s"].fillna(1), 0, last) - mixed.flows["start_s"]
    assert mixed.metrics["active_flows"] == pytest.approx(spent.sum() / last, rel=1e-9)


def test_what_stores_have_of_runs_without_ends_is_not_taken_up() -> None:
    """Their mean was until the last start; all other runs are found under their former keys."""
    finite = lb.Scenario.from_dict(LIGHT)
    text = f"{MODEL_VERSION}\n{finite.canonical_json()}"
    assert scenario_digest(finite) == hashlib.sha256(text.encode()).hexdigest()
    endless = finite.with_({"workload.size": "1000 TB"})
    text = f"{MODEL_VERSION}\n{endless.canonical_json()}"
    assert scenario_digest(endless) != hashlib.sha256(text.encode()).hexdigest()


def test_what_stores_have_of_mixed_runs_is_not_taken_up() -> None:
    """Their makespan went on to the last timer of a connection."""
    tcp = {"workload": LIGHT["workload"], "transport": LIGHT["transport"]}
    alone = lb.Scenario.from_dict(LIGHT).with_(workload=None, transport=None, groups={"tcp": tcp})
    text = f"{MODEL_VERSION}\n{alone.canonical_json()}"
    assert scenario_digest(alone) == hashlib.sha256(text.encode()).hexdigest()
    datagrams = {"workload": LIGHT["workload"], "transport": {"kind": "datagram"}}
    mixed = alone.with_(groups={"tcp": tcp, "datagrams": datagrams})
    text = f"{MODEL_VERSION}\n{mixed.canonical_json()}"
    assert scenario_digest(mixed) != hashlib.sha256(text.encode()).hexdigest()


def test_datagrams_are_no_active_flows() -> None:
    datagrams = lb.Scenario.from_dict({**LIGHT, "transport": {"kind": "datagram"}})
    found = lb.run(datagrams).metrics
    assert found["active_flows"] is None
    assert found["offered_bps"] > 0  # type: ignore[operator]

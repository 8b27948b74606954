"""Queues, buffers and utilisation over time, from the scenario to the tables."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lightburst as lb
from lightburst.compile import compile_plan, memory
from lightburst.foundation import memory as free
from lightburst.measurement.places import Places
from lightburst.measurement.samples import _BYTES_PER_LINK, _BYTES_PER_SWITCH, Samples
from lightburst.report.saved import write_page
from lightburst.result.warm_up import Active

BASE: dict[str, Any] = {
    "topology": {"kind": "fat-tree", "k": 4},
    "switching": {"kind": "electronic"},
    "transport": {"kind": "tcp"},
    "workload": {
        "kind": "incast",
        "senders": 6,
        "size": {"kind": "constant", "value": "200 kB"},
    },
    "measurement": {"time_limit": "5 ms", "sample": "10 us"},
}
SCENARIO = lb.Scenario.from_dict(BASE)


us = 10**6
#: Three flows in progress from 0 to 4, from 4 to 6 and from 5 us on until the run ends.
ACTIVE = Active(
    np.array([0, 4 * us, 5 * us], np.uint64),
    np.array([4 * us, 6 * us, 9 * us], np.uint64),
    until_ps=5 * us,
    end_ps=5 * us,
)


def test_tables_from_columns_that_are_known() -> None:
    """Two links at two times: the first busy for 3 of 4 us and 2 of 2 us, the other for none and
    for half.
    """
    columns = {
        "samples": {"time_ps": np.array([4 * us, 6 * us], np.uint64)},
        "samples_links": {
            "queue_bytes": np.array([10, 0, 20, 30], np.uint64),
            "busy_ps": np.array([3 * us, 0, 5 * us, us], np.uint64),
        },
        "samples_switches": {"buffer_bytes": np.array([7, 9], np.uint64)},
    }
    ends = Places(np.array([0, 1], np.uint32), np.array([1, 0], np.uint32))
    samples = Samples(columns, ends, 1, ACTIVE)
    assert repr(samples) == "<Samples: 2 times, 2 links, 1 switches>"
    links = samples.links
    assert links["time_s"].tolist() == pytest.approx([4e-6, 4e-6, 6e-6, 6e-6])
    assert links["link"].tolist() == links["source"].tolist() == [0, 1, 0, 1]
    assert links["target"].tolist() == [1, 0, 1, 0]
    assert links["queue_bytes"].tolist() == [10, 0, 20, 30]
    assert links["utilisation"].tolist() == [0.75, 0.0, 1.0, 0.5]
    assert samples.switches["node"].tolist() == [1, 1]
    assert samples.switches["buffer_bytes"].tolist() == [7, 9]
    assert samples.flows.to_dict("list") == {"time_s": [4e-6, 6e-6], "active_flows": [1, 1]}
    named = Samples(columns, ends._replace(names=("a", "b")), 1, ACTIVE)
    assert named.links["target"].tolist() == ["b", "a", "b", "a"]
    assert named.switches["node"].tolist() == ["b", "b"]
    told = ends._replace(link_names=("x", ""), wavelength=np.array([0, 1], np.uint16))
    links = Samples(columns, told, 1, ACTIVE).links
    assert links["name"].tolist() == ["x", "", "x", ""]
    assert links["wavelength"].tolist() == [0, 1, 0, 1]
    none = {
        name: {key: value[:0] for key, value in table.items()} for name, table in columns.items()
    }
    assert Samples(none, ends, 1, ACTIVE).links.empty
    assert Samples(none, ends, 1, ACTIVE).switches.empty


def test_a_run_with_samples_is_the_run_without() -> None:
    plain = lb.run(SCENARIO.with_(measurement__sample="off"), seed=2)
    result = lb.run(SCENARIO, seed=2)
    with pytest.raises(lb.InputError) as caught:
        _ = plain.samples
    assert str(caught.value) == (
        "measurement.sample: given nothing; allowed: an interval between samples, as "
        "lightburst.run(scenario.with_(measurement__sample='100 us'))"
    )
    assert result.digest == plain.digest
    assert result.metrics["events"] == plain.metrics["events"]
    assert SCENARIO.canonical_json() == plain.scenario.canonical_json()
    links = result.samples.links
    assert links["utilisation"].between(0, 1).all()
    assert links["utilisation"].max() == 1
    # The queue before the receiver of the incast, as the counters know it.
    most = int(result.switches["buffer_max_bytes"].max())
    fullest = links.iloc[int(links["queue_bytes"].argmax())]
    assert 0.9 * most < fullest["queue_bytes"] <= most
    switches = result.samples.switches
    at = switches[switches["node"] == fullest["source"]]["buffer_bytes"]
    assert at.max() >= fullest["queue_bytes"]
    length = np.diff(result.samples.time_ps.astype(np.int64), prepend=0) * 1e-12
    busy = (links["utilisation"].to_numpy().reshape(length.size, -1) * length[:, None]).sum(axis=0)
    assert busy == pytest.approx(result.columns["links"]["busy_ps"] * 1e-12)


def test_samples_are_saved_and_drawn(tmp_path: Path) -> None:
    result = lb.run(SCENARIO)
    result.save(tmp_path / "run")
    for name in ("links", "switches"):
        table = pd.read_parquet(tmp_path / "run" / f"samples_{name}.parquet")
        pd.testing.assert_frame_equal(table, getattr(result.samples, name))
    page = write_page(tmp_path / "run").read_text("utf-8")
    fullest = result.samples.links.iloc[int(result.samples.links["queue_bytes"].argmax())]
    assert "Queues over time" in page
    assert f"{fullest['source']:.0f} to {fullest['target']:.0f}" in page
    lb.run(SCENARIO.with_(measurement__sample="off")).save(tmp_path / "run")
    assert not (tmp_path / "run" / "samples_links.parquet").exists()
    assert "Queues over time" not in write_page(tmp_path / "run").read_text("utf-8")


def test_samples_that_are_too_many_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(free, "available_memory", lambda: 2**30)
    long = SCENARIO.with_({"measurement.time_limit": "1000 s", "measurement.sample": "1 ms"})
    with pytest.raises(lb.InputError) as caught:
        lb.run(long)
    assert caught.value.path == "measurement.sample"
    words = (
        "1 ms: until measurement.time_limit (1000 s) that is 1,000,001 samples of 96 links and 20"
    )
    assert words in caught.value.given
    assert "1.0 GiB of memory are free" in caught.value.allowed
    needed = memory.estimate_memory(compile_plan(SCENARIO, 1))
    plain = memory.estimate_memory(compile_plan(SCENARIO.with_(measurement__sample="off"), 1))
    each = 96 * _BYTES_PER_LINK + 20 * _BYTES_PER_SWITCH
    assert needed - plain == 501 * each


@pytest.mark.parametrize(
    ("sample", "allowed"),
    [("6 ms", "at most time_limit (5 ms), or 'off'"), ("0 s", "greater than zero"), ("x", "'off'")],
)
def test_a_sample_that_makes_no_sense_is_refused(sample: str, allowed: str) -> None:
    with pytest.raises(lb.InputError) as caught:
        SCENARIO.with_(measurement__sample=sample)
    assert caught.value.path == "measurement.sample"
    assert allowed in caught.value.allowed

"""The flows that count, and their metrics by size."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_result import MS, column, columns, plan, scenario, statuses

import lightburst as lb
from lightburst.cli import main
from lightburst.compile import Plan, compile_plan
from lightburst.foundation import counts
from lightburst.result.result import Result
from lightburst.study.runs import scenario_digest

POISSON: dict[str, Any] = {
    "topology": {"kind": "fat-tree", "k": 4},
    "switching": {"kind": "hybrid"},
    "transport": {"kind": "sawl"},
    "workload": {"kind": "poisson", "arrival_rate": "1e6 /s", "flows": 400},
}


def poisson(**measurement: object) -> lb.Scenario:
    return lb.Scenario.from_dict({**POISSON, "measurement": measurement})


def test_flows_that_start_between_warm_up_and_until_count() -> None:
    plain, some = lb.run(poisson()), lb.run(poisson(warm_up="100 us", until="300 us"))
    # The others run as before: the simulation is the same.
    assert some.digest == plain.digest
    assert "counted" not in plain.flows
    chosen = some.flows[some.flows["counted"]]
    starts = plain.flows["start_s"]
    assert chosen.index.tolist() == plain.flows.index[(starts >= 1e-4) & (starts < 3e-4)].tolist()
    assert 100 < len(chosen) < 300
    found = some.metrics
    assert (found["flows"], found["finished"]) == (len(chosen), len(chosen))
    assert found["retransmissions"] == chosen["retransmissions"].sum()
    assert found["timeouts"] == chosen["timeouts"].sum()
    assert found["slowdown_p99"] == pytest.approx(np.quantile(chosen["slowdown"], 0.99))
    span = chosen["acknowledged_s"].max() - chosen["start_s"].min()
    assert found["makespan_s"] == pytest.approx(span)
    assert found["throughput_bps"] == pytest.approx(8 * chosen["size_bytes"].sum() / span)
    # They run to their end, which may be after `until`.
    assert chosen["received_s"].max() > 3e-4


def test_the_ends_of_the_window_are_sharp() -> None:
    start = compile_plan(poisson(), 1).flows["start_ps"]
    window = {"warm_up": f"{start[10]} ps", "until": f"{start[20]} ps"}
    assert np.flatnonzero(compile_plan(poisson(**window), 1).counted).tolist() == [*range(10, 20)]


def test_a_window_without_flows_is_refused() -> None:
    # Times for people: four digits are enough.
    starts = r"start from [\d.]{1,5} [num]s to [\d.]{1,5} [num]s$"
    with pytest.raises(lb.InputError, match=rf"measurement.warm_up: given 1 s; .*{starts}"):
        lb.run(poisson(warm_up="1 s"))
    with pytest.raises(lb.InputError, match=rf"measurement.until: given 1 ps; .*{starts}"):
        lb.run(poisson(until="1 ps"))


@pytest.mark.parametrize(
    ("measurement", "words"),
    [
        ({"warm_up": "2 ms", "until": "2 ms"}, "until: given 2 ms; allowed: a time after warm_up"),
        (
            {"size_classes": ["1 MB", "1 MB"]},
            "size_classes: given 1 MB, 1 MB; allowed: sizes, each",
        ),
        ({"size_classes": ["0 B"]}, "size_classes"),
    ],
)
def test_what_makes_no_window_and_no_classes_is_refused(
    measurement: dict[str, Any], words: str
) -> None:
    with pytest.raises(lb.InputError, match=f"measurement.{words}"):
        poisson(**measurement)


def test_a_scenario_without_them_is_what_it_was() -> None:
    given = poisson(warm_up="0 s", size_classes=["100 kB", "10 MB"])
    for key in ("warm_up", "until", "size_classes"):
        assert key not in given.canonical_json()
    assert scenario_digest(given) == scenario_digest(poisson())
    others = [
        poisson(warm_up="1 ps"),
        poisson(until="1 s"),
        poisson(size_classes=[]),
        poisson(size_classes=["1 MB"]),
    ]
    assert len({scenario_digest(other) for other in [given, *others]}) == 5
    # The simulation is still the same; only the metrics differ.
    assert len({lb.run(other).digest for other in [given, *others]}) == 1
    without = [poisson(), given, *others[2:]]
    assert len({compile_plan(one, 1).digest() for one in without}) == 1


def test_lost_datagrams_of_a_window_do_not_wait_for_the_others() -> None:
    ran = columns([2 * MS, 3 * MS], [9000, 22_500], statuses("finished", "lost"))
    ran["flows"]["received_ps"][1] = ran["flows"]["acknowledged_ps"][1] = counts.UNFINISHED
    made = plan("datagram")
    made.flows["start_ps"] = column([1 * MS, 1 * MS])
    whole = Result(scenario(), 1, made, ran, 0.1)
    assert whole.metrics["makespan_s"] == pytest.approx(20e-3)  # to the last event
    # A third flow, which does not count, lasts longer.
    flows = {name: np.append(values, values[-1]) for name, values in made.flows.items()}
    flows["start_ps"][2] = 20 * MS
    ran["flows"] = {name: np.append(values, values[-1]) for name, values in ran["flows"].items()}
    counted = Plan(made.settings, made.nodes, made.links, flows, window_ps=(0, 20 * MS))
    part = Result(scenario(), 1, counted, ran, 0.1)
    assert part.metrics["makespan_s"] == pytest.approx(1e-3)


def test_classes_of_size_divide_the_flows() -> None:
    result = lb.run(poisson(size_classes=["10 kB", "100 kB"], warm_up="50 us"))
    table = result.size_classes
    assert table.index.tolist() == ["below 10 kB", "10 kB to 100 kB", "above 100 kB"]
    counted = result.flows[result.flows["counted"]]
    for name, low, high in zip(
        table.index, (0, 10_000, 100_000), (10_000, 100_000, 10**12), strict=True
    ):
        size = counted["size_bytes"]
        slowdown = counted["slowdown"][(size >= low) & (size < high)]
        row = table.loc[name]
        assert row["flows"] == slowdown.size > 20
        assert row["unfinished"] == 0
        assert row["slowdown_median"] == pytest.approx(np.median(slowdown))
        assert row["slowdown_p99"] == pytest.approx(np.quantile(slowdown, 0.99))
        assert result.record[f"slowdown_p99[{name}]"] == row["slowdown_p99"]
    assert table["flows"].sum() == result.metrics["flows"]


def test_a_size_on_a_boundary_belongs_above_it() -> None:
    ran = columns([2 * MS, 10 * MS], [9000, 22_500], [0, 0])
    for boundary, expected in ((22_500, [1, 1]), (22_501, [2, 0]), (9000, [0, 2])):
        given = scenario(size_classes=[f"{boundary} B"])
        result = Result(given, 7, plan(), ran, wall_s=0.25)
        assert result.size_classes["flows"].tolist() == expected
    assert Result(scenario(size_classes=[]), 7, plan(), ran, 0.25).size_classes.empty


def test_a_class_without_flows_has_no_figures() -> None:
    ran = columns([2 * MS, 10 * MS], [9000, 22_500], [0, 0])
    table = Result(scenario(), 7, plan(), ran, 0.25).size_classes
    assert table.loc["above 10 MB", "flows"] == 0
    assert table.loc["above 10 MB"].drop(["flows", "unfinished", "timed_flows"]).isna().all()


def shown(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["run", *words]) == 0
    return capsys.readouterr().out


def test_the_table_has_classes_if_there_are_several(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.toml").write_text(poisson().to_toml(), encoding="utf-8")
    for more in ([], ["--replications", "2"]):
        out = shown(["run.toml", *more], capsys)
        assert "below 100 kB" in out
        assert "100 kB to 10 MB" in out
        one = shown(
            ["run.toml", "--set", "workload.size={kind='constant', value='9 kB'}", *more], capsys
        )
        assert "below 100 kB" not in one
        assert "slowdown, 99th percentile" in one


def test_the_table_has_only_what_means_something(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    small = poisson().with_(workload__flows=20)
    Path("run.toml").write_text(small.to_toml(), encoding="utf-8")
    for more in ([], ["--replications", "2"]):
        out = shown(["run.toml", "--set", "switching.kind=all-optical", *more], capsys)
        absent = ("burst", "assembly", "energy", "scripts of", "conversions", "unfinished", "–")
        table = out.partition("next:")[0].replace("lightburst", "")
        for words in absent:
            assert words not in table
        assert "retransmissions" in out
        out = shown(["run.toml", "--set", "switching.kind=electronic", *more], capsys)
        assert "conversions per delivered bit" in out
        out = shown(["run.toml", "--set", "measurement.energy.host_transmit=1 pJ/b", *more], capsys)
        assert "energy of conversions" in out
        drops = ["--set", "loss={drops=[{segments=[1, 1]}]}"]
        assert "scripts of [loss]" in shown(["run.toml", *drops, *more], capsys)
        out = shown(["run.toml", "--set", "transport.kind=datagram", *more], capsys)
        assert "retransmissions" not in out

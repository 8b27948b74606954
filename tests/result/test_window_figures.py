"""The metrics of links, switches and bursts cover the measurement window, and name it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lightburst as lb
from lightburst.models import erlang_b
from lightburst.result.short_runs import longest_delay_ps
from lightburst.study.statistics import mean_interval

MS = 10**9
# A whole run, and its two halves.
WINDOWS: list[dict[str, Any]] = [{}, {"warm_up": "900 us"}, {"until": "900 us"}]

pytestmark = pytest.mark.filterwarnings("ignore::lightburst.RunWarning")


def figure(result: lb.Result, name: str) -> float:
    """A metric that is not missing."""
    found = result.metrics[name]
    assert isinstance(found, float)
    return found


def nsfnet(**changes: Any) -> lb.Scenario:
    """Streams of datagrams between all cities, assembled into bursts of ten."""
    return lb.Scenario.from_dict(
        {
            "topology": {
                "kind": "nsfnet",
                "edges": list(range(1, 15)),
                "hosts_per_edge": 1,
                "access_rate": "200 Gb/s",
                "wavelengths": 16,
            },
            "routing": {"metric": "delay"},
            "switching": {
                "kind": "obs",
                "assembly": {"kind": "size", "size": "125 kB"},
                "conversion": "full",
            },
            "transport": {
                "kind": "datagram",
                "segment_size": "12500 B",
                "header_size": "0 B",
                "rate": "6.25 Gb/s",
                "spacing": "poisson",
            },
            "workload": {"kind": "shuffle", "size": "1000 TB"},
            "measurement": {"time_limit": "20 ms"},
        }
    ).with_(changes)


def made_bursts(**changes: Any) -> lb.Scenario:
    """The same network; edges make the bursts, one of them a flow."""
    return nsfnet(
        **{
            "transport": {"kind": "bursts", "segment_size": "125 kB"},
            "switching.assembly": None,
            "workload": {"kind": "poisson", "arrival_rate_per_edge": "8e4 /s", "duration": "60 ms"},
            "workload.size": "125 kB",
            "measurement.time_limit": "200 ms",
            **changes,
        }
    )


@pytest.mark.parametrize("limit", ["20 ms", "40 ms", "80 ms"])
def test_bursts_under_way_are_not_offered_so_that_bursts_and_packets_lose_alike(limit: str) -> None:
    """With bursts in flight among those offered it was 0.0126, 0.0197 and 0.0228, compared with
    0.0288 to 0.026 of the packets.
    """
    found = lb.run(nsfnet(**{"measurement.time_limit": limit})).metrics
    assert found["burst_loss"] == pytest.approx(found["loss_end_to_end"], rel=0.01)


def test_a_loss_after_the_warm_up_does_not_hang_on_the_time_limit() -> None:
    """Before the first bursts have come to their ends only losses are known."""
    times = [
        {"measurement.warm_up": "30 ms", "measurement.time_limit": f"{30 + limit} ms"}
        for limit in (20, 40, 80)
    ]
    runs = [
        [figure(lb.run(nsfnet(**time), seed), "burst_loss") for time in times] for seed in (1, 2, 3)
    ]
    means = np.mean(np.array(runs, float), axis=0)
    # Some 500 losses in each of the shortest windows, which come together: 8 % of chance.
    assert means == pytest.approx(means[-1], rel=0.12)


def test_the_warm_up_holds_for_bursts_that_edges_make() -> None:
    """The warm-up once left the loss unchanged, to the last digit."""
    whole = lb.run(made_bursts())
    late = lb.run(made_bursts(**{"measurement.warm_up": "30 ms", "measurement.until": "60 ms"}))
    assert late.digest == whole.digest
    assert 0 < figure(late, "burst_loss") != figure(whole, "burst_loss") > 0
    # The loss is lower while the network fills and drains.
    assert figure(late, "burst_loss") > figure(whole, "burst_loss")
    assert figure(late, "burst_loss_per_hop") != figure(whole, "burst_loss_per_hop")


def test_a_window_of_an_output_loses_what_erlang_says() -> None:
    line = {
        "kind": "graph",
        "hosts_per_node": 1,
        "link_length": "1000 km",
        "wavelengths": 4,
        "links": [{"source": a, "target": b} for a, b in ("AB", "BC", "CA")],
    }
    scenario = lb.Scenario.from_dict(
        {
            "topology": line,
            "switching": {"kind": "obs", "ingress": "lose"},
            # From each edge to each other one 24 Gb/s, over a separate fibre of 40 Gb/s.
            "transport": {
                "kind": "bursts",
                "segment_size": "125 kB",
                "rate": "24 Gb/s",
                "spacing": "poisson",
            },
            "workload": {"kind": "shuffle", "size": "1000 TB"},
            "measurement": {"warm_up": "10 ms", "until": "60 ms", "time_limit": "80 ms"},
        }
    )
    runs = lb.replicate(scenario, 6, store=None, progress=False)
    wanted = float(erlang_b(2.4, 4))
    assert mean_interval(runs["burst_loss"], 0.99).contains(wanted)
    assert mean_interval(runs["burst_loss_per_hop"], 0.99).contains(wanted)


def incast(**measurement: Any) -> lb.Scenario:
    """Three senders and a receiver; the first round begins at 0, the second at 1 ms."""
    return lb.Scenario.from_dict(
        {
            "topology": {"kind": "fat-tree", "k": 2, "wavelengths": 1},
            "switching": {"kind": "electronic", "queue_size": "unlimited"},
            "transport": {"kind": "datagram"},
            "workload": {
                "kind": "incast",
                "senders": 1,
                "size": "100 kB",
                "rounds": 2,
                "interval": "1 ms",
            },
            "measurement": measurement,
        }
    )


def test_links_and_switches_are_of_the_window() -> None:
    """A run of two equal rounds: the counts after the first are half of all."""
    whole = lb.run(incast())
    second = lb.run(incast(warm_up="900 us"))
    first = lb.run(incast(until="900 us"))
    for name in ("units", "bytes", "dropped", "lost"):
        assert (first.links[name] + second.links[name]).equals(whole.links[name])
        assert first.links[name].equals(second.links[name])
    assert whole.links["bytes"].max() == 200_000
    assert (first.switches["arrived"] * 2).equals(whole.switches["arrived"])
    # Busy for the same time: in the second half over a length that is known exactly.
    busy = second.columns["window_links"]["busy_ps"]
    end = second.columns["totals"]["transmitted_until_ps"]
    assert second.links["utilisation"].to_numpy() == pytest.approx(busy / (end - 900 * MS // 1000))
    busy = first.columns["window_links"]["busy_ps"]
    assert first.links["utilisation"].to_numpy() == pytest.approx(busy / (900 * MS // 1000))
    energy = {"host_transmit": "1 J/b"}
    spent = [figure(lb.run(incast(energy=energy, **window)), "energy_j") for window in WINDOWS]
    assert spent[1] == spent[2] == spent[0] / 2 > 0


def test_conversions_are_for_each_bit_of_the_window() -> None:
    figures = [
        figure(lb.run(incast(**window)), "conversions_per_delivered_bit") for window in WINDOWS
    ]
    assert figures[1] == figures[2] == figures[0] > 1


def test_the_figures_say_which_time_they_are_of(tmp_path: Path) -> None:
    result = lb.run(incast(warm_up="900 us", until="1.001 ms", time_limit="2 ms", sample="100 us"))
    wanted = {"begin_s": 0.0009, "end_s": 0.001001}
    assert result.links.attrs["window"] == result.switches.attrs["window"] == wanted
    assert (result.window.begin_ps, result.window.end_ps) == (900_000_000, 1_001_000_000)
    kept = json.loads((result.save(tmp_path / "run") / "run.json").read_text())
    assert kept["window"] == {**wanted, "packets": {"offered": 0, "lost": 0}}  # none is there yet
    # The series is of the whole run.
    assert result.samples.links["time_s"].min() == pytest.approx(1e-4)
    whole = lb.run(incast(time_limit="2 ms")).details()["window"]
    totals = lb.run(incast(time_limit="2 ms")).columns["totals"]
    offered = totals["units_delivered"] + totals["units_dropped"]
    assert whole["packets"] == {"offered": offered, "lost": totals["units_dropped"]}
    assert whole["begin_s"] == 0
    assert whole["end_s"] == totals["end_ps"] / 10**12


def test_a_run_that_finds_its_warm_up_counts_from_then_on() -> None:
    base = {"workload.flows": 3000, "workload.arrival_rate": "1e6 /s", "workload.size": "20 kB"}
    scenario = lb.load("examples/hybrid.toml").with_(base)
    found = lb.run(scenario.with_(measurement__warm_up="mser-5"))
    begin = found.plan.window_ps[0]
    assert begin > 0
    told = lb.run(scenario.with_(measurement__warm_up=f"{begin} ps"))
    assert found.links.equals(told.links)
    assert found.switches.equals(told.switches)
    assert found.digest == told.digest
    plain = lb.run(scenario)
    assert found.digest == plain.digest
    assert not found.links["units"].equals(plain.links["units"])


def test_a_time_of_a_few_delays_is_a_warning() -> None:
    words = "links and losses are counted for 20 ms, less than 10 times the one-way delay"
    short = lb.run(nsfnet())
    assert [text for text in short.warnings if text.startswith(words)]
    assert longest_delay_ps(short.plan) == pytest.approx(22.5 * MS, abs=MS)
    once = longest_delay_ps(short.plan)
    for limit, warned in ((10 * once - 1, True), (10 * once, False)):
        time = {"measurement.time_limit": f"{limit} ps"}
        light = {**time, "transport.rate": "100 Mb/s"}
        warnings = lb.run(nsfnet(**light)).warnings
        assert any(text.startswith("links and losses") for text in warnings) == warned
    # A run that ends by itself is not too short.
    alone = made_bursts(**{"workload.duration": "1 ms"})
    assert not [text for text in lb.run(alone).warnings if "one-way" in text]


def test_a_loss_that_rests_on_few_is_a_warning() -> None:
    few = {"workload.duration": "10 ms", "workload.arrival_rate_per_edge": "6e4 /s"}
    seen = set()
    for seed in range(1, 4):
        result = lb.run(made_bursts(**few), seed)
        lost = result.columns["totals"]["bursts_lost"]
        told = [text for text in result.warnings if text.startswith("burst_loss rests on")]
        assert bool(told) == (0 < lost < 10)
        assert not told or f"rests on few losses ({lost} of" in told[0]
        seen.add(bool(told))
    assert seen == {True, False}
    assert not lb.run(made_bursts()).warnings

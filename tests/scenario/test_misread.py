"""Where a number could be misread, the run says so."""

from collections.abc import Callable
from pathlib import Path

import pytest

import lightburst as lb
from lightburst.cli import main
from lightburst.result.metrics import worst_flow

DUMBBELL = """
[topology]
kind = "graph"
links = [
  { source = "near", target = "left", rate = "1 Gb/s", length = "200 km" },
  { source = "far", target = "left", rate = "1 Gb/s", length = "8000 km" },
  { source = "left", target = "right", rate = "100 Mb/s", length = "2000 km" },
  { source = "right", target = "a", rate = "1 Gb/s", length = "200 km" },
  { source = "right", target = "b", rate = "1 Gb/s", length = "200 km" },
]
[switching]
kind = "electronic"
queue_size = "250 kB"
[transport]
kind = "tcp"
preset = "wide-area"
[workload]
kind = "pairs"
size = "1000 TB"
[measurement]
time_limit = "5 s"
"""

QUEUE = """
[topology]
kind = "path"
links = 2
link_rate = "10 Gb/s"
link_length = "0 m"
[switching]
kind = "electronic"
queue_size = "unlimited"
[transport]
kind = "datagram"
segment_size = "100 kB"
[workload]
kind = "poisson"
load = 0.5
flows = 400
size = "1250 B"
"""

SLOW_END = """
[topology]
kind = "fat-tree"
k = 4
[switching]
kind = "electronic"
queue_size = "60 kB"
[transport]
kind = "tcp"
preset = "datacentre"
[workload]
kind = "poisson"
load = 0.5
flows = 100
"""


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    monkeypatch.chdir(tmp_path)

    def written(text: str) -> str:
        Path("scenario.toml").write_text(text, encoding="utf-8")
        return "scenario.toml"

    return written


def test_of_flows_without_end_the_worst_is_the_one_that_delivered_least(
    write: Callable[[str], str],
) -> None:
    result = lb.run(write(DUMBBELL), seed=1)
    delivered = result.flows["delivered_bytes"]
    assert delivered[0] > 2 * delivered[1]
    assert worst_flow(result.plan, result.columns) == 1
    assert lb.explain("scenario.toml").flow == 1


def test_one_that_began_late_is_not_worse_for_that(
    write: Callable[[str], str],
) -> None:
    rows = "near,a,0,1000000000000000\nfar,b,0,1000000000000000\nnear,b,4.8,1000000000000000\n"
    Path("flows.csv").write_text(f"source,destination,start_s,size_bytes\n{rows}", "utf-8")
    flows = 'kind = "table"\nfile = "flows.csv"'
    text = DUMBBELL.replace('kind = "pairs"\nsize = "1000 TB"', flows)
    result = lb.run(write(text), seed=1)
    delivered = result.flows["delivered_bytes"].astype(float)
    assert delivered.idxmin() == 2
    rates = delivered / (5 - result.flows["start_s"])
    assert worst_flow(result.plan, result.columns) == rates.idxmin()


def test_the_gap_before_a_lone_datagram_is_told(
    write: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = lb.load(write(QUEUE))
    assert main(["run", "scenario.toml"]) == 0
    printed = capsys.readouterr().out
    assert "include a gap before the first datagram, 80 µs or more in the mean" in printed
    flows = lb.run(scenario, seed=1).flows
    assert (flows["completion_time_s"] - flows["ideal_s"]).mean() == pytest.approx(80e-6, rel=0.2)
    # Without the gap only the wait for other packets is left, about the 1 us of one packet.
    flows = lb.run(scenario.with_(transport__spacing="constant"), seed=1).flows
    assert (flows["completion_time_s"] - flows["ideal_s"]).mean() < 2e-6
    for change in ("transport.spacing=constant", "workload.size=1 MB"):
        assert main(["run", "scenario.toml", "--set", change]) == 0
        assert "gap before" not in capsys.readouterr().out


def test_many_runs_say_of_what_the_throughput_is(
    write: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", write(SLOW_END), "--replications", "2"]) == 0
    printed = capsys.readouterr().out
    assert "throughput is over the makespan, and in more than half of that no flow began" in printed
    assert "intervals of 2 runs are very wide" in printed
    runs = lb.replicate("scenario.toml", seeds=2)
    assert (runs["offered_bps"] > 2 * runs["throughput_bps"]).all()
    assert main(["run", "scenario.toml", "--replications", "4"]) == 0
    assert "very wide" not in capsys.readouterr().out


def test_a_scenario_without_chance_says_so(
    write: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    text = DUMBBELL.replace('"1000 TB"', '"10 kB"')
    assert main(["run", write(text), "--replications", "3"]) == 0
    printed = capsys.readouterr().out
    assert "the same in every run, to the bit: nothing in this scenario depends on" in printed
    assert "very wide" not in printed


def test_a_warm_up_for_flows_without_end_is_two_runs(write: Callable[[str], str]) -> None:
    scenario = lb.load(write(DUMBBELL))
    with pytest.raises(lb.InputError, match="take the difference of two runs with the same seed"):
        lb.run(scenario.with_(measurement__warm_up="2 s"), seed=1)
    sizes = scenario.with_(measurement__warm_up="2 s", workload__size="1 MB")
    with pytest.raises(
        lb.InputError, match=r"leaves flows in the window: they start from 0 s to 0 s$"
    ):
        lb.run(sizes, seed=1)
    # The message is true: up to the shorter limit the runs are equal.
    long, short = (
        lb.run(scenario.with_(measurement__time_limit=limit), seed=1) for limit in ("5 s", "3 s")
    )
    bits = 8 * (long.flows["delivered_bytes"] - short.flows["delivered_bytes"]).sum()
    assert 0.8 * 100e6 * 2 < bits < 100e6 * 2

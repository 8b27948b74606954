"""Figure 2 of komatireddy2009: the effect of the order of bursts on two paths on TCP."""

from pathlib import Path

import pytest

import lightburst as lb

EXAMPLE = Path(__file__).parents[2] / "examples" / "source-ordering.toml"


def run(ordering: str, size: str = "25 MB") -> lb.Result:
    """Ten flows over the two paths."""
    scenario = lb.load(EXAMPLE).with_(switching__ordering=ordering, workload__size=size)
    return lb.run(scenario, seed=1)


@pytest.mark.filterwarnings("ignore::lightburst.RunWarning")
def test_without_an_order_tcp_sends_again_what_was_not_lost() -> None:
    result = run("none")
    assert result.switches["path_switches"].sum() > 2
    assert result.flows["drops"].sum() == 0
    assert (result.flows["retransmissions"] > 0).all()
    assert result.flows["timeouts"].sum() == 0


@pytest.mark.parametrize("ordering", ["source", "destination"])
def test_in_order_no_flow_sends_anything_again(ordering: str) -> None:
    result = run(ordering)
    assert result.switches["path_switches"].sum() > 2
    assert result.switches["bursts_held"].sum() > 0
    assert result.flows["drops"].sum() == result.flows["retransmissions"].sum() == 0


@pytest.mark.slow
@pytest.mark.parametrize("ordering", ["source", "destination"])
def test_a_gigabyte_takes_as_long_as_its_access_link_if_in_order(ordering: str) -> None:
    """83.7 s in an independent prototype, for any difference between the paths."""
    flows = run(ordering, "1 GB").flows
    assert flows["completion_time_s"].mean() == pytest.approx(83.7, rel=0.01)
    assert flows["retransmissions"].sum() == 0

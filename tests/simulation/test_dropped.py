"""Units that are dropped, by the link that they wanted: the sum equals that by reason."""

from pathlib import Path

import pytest

import lightburst as lb

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("name", ["hybrid", "incast", "obs-nsfnet"])
@pytest.mark.filterwarnings("ignore::lightburst.RunWarning")
def test_the_sum_over_links_is_that_over_switches(name: str) -> None:
    result = lb.run(EXAMPLES / f"{name}.toml", seed=1)
    reasons = [name for name in map(str, result.switches) if name.startswith("dropped_")]
    by_switch = result.switches[reasons].sum(axis=1)
    assert by_switch.sum() > 0
    assert result.links["dropped"].sum() == by_switch.sum()
    # A unit dropped for lack of a channel wanted a link of the switch that drops it.
    late = {"dropped_late_header"} & set(reasons)
    if not late or not result.switches["dropped_late_header"].any():
        by_source = result.links.groupby("source")["dropped"].sum()
        found = [by_source[node] for node in result.switches["node"]]
        assert found == by_switch.tolist()


def test_the_digest_does_not_count_it() -> None:
    """The column has the place of a drop, and adds no drop: earlier digests stay."""
    result = lb.run(EXAMPLES / "incast.toml", seed=1)
    links = {name: at for name, at in result.columns["links"].items() if name != "dropped"}
    without = {**result.columns, "links": links}
    assert lb.Result(result.scenario, 1, result.plan, without, 0.0).digest == result.digest

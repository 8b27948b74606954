"""Classes by extra offset: refusals, the wait of each, and the metrics of each."""

from pathlib import Path
from typing import Any

import pytest

import lightburst as lb
from lightburst.foundation.errors import InputError
from obs_scenarios import GOOD
from obs_scenarios import two_groups as made


def completion_ps(result: lb.Result) -> dict[str, int]:
    """Completion time of the only flow of each group."""
    times = dict(zip(result.flows["group"], result.flows["completion_time_s"], strict=True))
    return {group: round(time * 1e12) for group, time in times.items()}


def test_the_bursts_of_a_class_are_apart_and_its_headers_further_ahead() -> None:
    plain, told = (
        lb.run(made(switching__extra_offset=extra), seed=1) for extra in ({}, {"gold": "100 us"})
    )
    assert (plain.metrics["bursts"], told.metrics["bursts"]) == (1, 2)
    together, apart = completion_ps(plain), completion_ps(told)
    # The two packets arrive at the edge 10 us after each other. In one burst the second waits for
    # the rest of the first one's millisecond, and takes 1 us more on the fibre; in separate bursts
    # each waits for the whole millisecond.
    assert abs(apart["gold"] - apart["rest"]) == 100_000_000 + 10_000_000
    assert together["gold"] != together["rest"]


def test_each_group_has_its_bursts_and_its_loss() -> None:
    # Each packet is a burst at once. Those of a host come every 10 us: a gold one requests the
    # channel so much earlier that it gets the time of the one behind it.
    crowd = made(
        topology__wavelengths=1,
        switching__assembly={"kind": "timer", "time": "0 s"},
        switching__ingress="lose",
        switching__extra_offset={"gold": "10 us"},
        groups__gold__workload__size="5000 B",
        groups__rest__workload__size="2500 B",
    )
    result = lb.run(crowd, seed=1)
    rows = result.details()["groups"]
    lost = {name: round(row["bursts"] * row["burst_loss"]) for name, row in rows.items()}
    assert {name: row["bursts"] for name, row in rows.items()} == {"gold": 4, "rest": 2}
    assert lost["gold"] == 0 < lost["rest"]
    assert lost == result.flows.groupby("group")["drops"].sum().to_dict()
    assert result.groups["burst_loss"].to_dict()["rest"] == rows["rest"]["burst_loss"]
    assert result.record["bursts[rest]"] == 2


def test_digests_of_scenarios_without_classes_do_not_know_of_them() -> None:
    assert "extra_offset" not in made().canonical_json()
    result = lb.run(made(), seed=1)
    assert "classes" not in result.columns
    assert "bursts" not in result.groups
    switch = result.plan.settings["switches"][0]
    assert "extra_offset_ps" not in switch


def test_the_command_line_and_files_take_them(tmp_path: Path) -> None:
    file = tmp_path / "classes.toml"
    scenario = made(switching__extra_offset={"gold": "100 us"})
    file.write_text(scenario.to_toml(), encoding="utf-8")
    assert lb.load(file) == scenario
    changed = scenario.with_({"switching.extra_offset.rest": "1 us"})
    assert lb.run(changed, seed=1).plan.settings["switches"][0]["extra_offset_ps"] == [10**8, 10**6]


def test_all_edges_have_classes_if_one_has() -> None:
    node = {**GOOD["switching"], "kind": "obs", "extra_offset": {"rest": "2 us"}}
    plan = lb.run(made(switching__nodes={"B": node}), seed=1).plan
    assert [own["extra_offset_ps"] for own in plan.settings["switches"]] == [[0, 0], [0, 2 * 10**6]]


CASES = {
    "a name": ({"glod": "1 us"}, "glod", "'glod'", "'gold', 'rest' (did you mean 'gold'?)"),
    "a number": ({"gold": 1e-6 - 1}, "gold", "-", "duration"),
    "a unit": ({"gold": "1 kB"}, "gold", "1 kB", "duration"),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_makes_no_sense_is_refused(case: tuple[dict[str, Any], str, str, str]) -> None:
    extra, key, given, allowed = case
    with pytest.raises(InputError) as caught:
        made(switching__extra_offset=extra)
    assert caught.value.path == f"switching.extra_offset.{key}"
    assert given in caught.value.given
    assert allowed in caught.value.allowed


def test_without_groups_there_are_no_classes() -> None:
    with pytest.raises(InputError, match="nothing in a scenario without groups"):
        lb.Scenario.from_dict(GOOD).with_(switching__extra_offset={"gold": "1 us"})

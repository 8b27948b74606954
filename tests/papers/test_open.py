"""What papers leave open: the files of all papers, how settings reach points, bad files."""

from __future__ import annotations

import copy
import tomllib
from typing import Any

import pandas as pd
import pytest

from lightburst.foundation.errors import InputError
from lightburst.papers import PAPERS
from lightburst.papers.open import read, read_open, value_at
from lightburst.papers.paper import Paper, packaged
from lightburst.scenario import Scenario
from lightburst.scenario.reading import toml

GIVEN = """
logarithms = ["gain-*"]

[parameters.flows]
path = "workload.flows"
from = 256
to = 4096
scale = "log"
base = 1024
why = "not stated"

[parameters.choice]
path = "routing.choice"
choices = ["free", "random"]
base = "free"
why = "not stated"

[parameters.sizes]
base = "large"
why = "not stated"

[parameters.sizes.choices.large]
"workload.size.max" = "16 MiB"

[parameters.sizes.choices.small]
"workload.size.max" = "1 MiB"
"workload.size.mu" = 8.0
"""


@pytest.fixture(scope="module")
def base() -> Scenario:
    return packaged("lightburst.papers.minakhmetov2018")


@pytest.mark.parametrize("paper", PAPERS.values(), ids=list(PAPERS))
def test_every_paper_says_what_it_leaves_open(paper: Paper) -> None:
    blocks = paper.blocks(paper.default, True)
    opened = read(paper, blocks[0].study.base)
    assert len(opened.parameters) >= 3
    for place, one in enumerate(opened.parameters):
        # Each setting is one that the points take, and moves something at one of them.
        for part in (0.0, 0.999):
            parts = [each.part for each in opened.parameters]
            parts[place] = part
            moved = 0
            for block in blocks:
                for row, scenario in enumerate(block.study.scenarios):
                    more = opened.at(parts, scenario, block.labels.iloc[row])
                    moved += scenario.with_(more) != scenario
            at_base = one.settings(part) == one.settings(one.part)
            assert moved or at_base, f"{one.name} at {part} moves nothing"


@pytest.mark.parametrize("paper", PAPERS.values(), ids=list(PAPERS))
def test_at_the_base_of_choices_nothing_moves(paper: Paper) -> None:
    block = paper.blocks(paper.default, True)[0]
    opened = read(paper, block.study.base)
    scenario, labels = block.study.scenarios[0], block.labels.iloc[0]
    parts = [one.part for one in opened.parameters]
    more = opened.at(parts, scenario, labels)
    for one in opened.parameters:
        if one.range is None:
            kept = {path: value for path, value in more.items() if path in one.settings(one.part)}
            assert scenario.with_(kept) == scenario


def test_settings_are_values_of_the_ranges(base: Scenario) -> None:
    flows, choice, sizes = read_open(toml.read(GIVEN), base).parameters
    assert flows.part == pytest.approx(0.5)
    # Whole numbers reach half a step beyond both ends, so that these are as likely as others.
    assert [flows.written(part) for part in (0, 0.5, 1)] == [256, 1023, 4096]
    assert [choice.written(part) for part in (0, 0.49, 0.5, 1)] == [
        "free",
        "free",
        "random",
        "random",
    ]
    assert (choice.number, choice.part, sizes.part) == (2, 0.25, 0.25)
    assert sizes.settings(0.9) == {"workload.size.max": "1 MiB", "workload.size.mu": 8.0}


def test_a_point_that_sets_a_field_on_purpose_keeps_it(base: Scenario) -> None:
    opened = read_open(toml.read(GIVEN), base)
    labels = pd.Series({"p": 4.0})
    own = base.with_(workload__flows=7)
    assert "workload.flows" not in opened.at([0.0, 0.0, 0.0], own, labels)
    assert opened.at([0.0, 0.0, 0.0], base, labels)["workload.flows"] == 256


def test_a_parameter_is_restricted_to_points_with_labels(base: Scenario) -> None:
    given = toml.read(GIVEN.replace("base = 1024", "base = 1024\nwhere = { p = [1.0, 4] }"))
    opened = read_open(given, base)
    found = [
        "workload.flows" in opened.at([0, 0, 0], base, pd.Series({"p": p})) for p in (0.0, 1.0, 4.0)
    ]
    assert found == [False, True, True]


def test_a_field_that_a_point_lacks_is_left_alone(base: Scenario) -> None:
    other = base.with_({"switching.kind": "all-optical"})
    assert value_at(base, "switching.buffer_ports") == 2
    assert value_at(other, "switching.buffer_ports") != value_at(base, "switching.buffer_ports")


BAD: list[tuple[dict[str, Any], str]] = [
    ({"parameters": {}}, "parameters: given {}; allowed: a table for each parameter"),
    ({"logarithm": []}, r"logarithm: given an unknown key; allowed: .*did you mean 'logarithms'"),
    ({"logarithms": "gain"}, r"logarithms: given 'gain'; allowed: a list of claims"),
    ({"flows.form": 1}, r"parameters.flows.form: given an unknown key; .*did you mean 'from'"),
    ({"flows.why": None}, "parameters.flows.why: given nothing"),
    ({"flows.why": " "}, r"parameters.flows.why: given ' '; allowed: the reason in words"),
    ({"flows.base": None}, "parameters.flows.base: given nothing"),
    ({"flows.base": 999}, r"parameters.flows.base: given 999; allowed: .*workload.flows = 1024"),
    ({"flows.from": 2048}, r"parameters.flows.base: given 1024; allowed: a value of the range"),
    ({"flows.from": 4096}, r"parameters.flows.to: given 4096; allowed: more than from"),
    ({"flows.from": 9999}, r"parameters.flows.to: given 4096; allowed: no less than from"),
    ({"flows.from": "many"}, r"parameters.flows.from: given 'many'; allowed: a whole number"),
    ({"flows.from": 0}, r"parameters.flows.from: given 0; allowed"),
    ({"flows.to": None}, "parameters.flows.to: given nothing; allowed: an end of the range"),
    ({"flows.scale": "lg"}, r"parameters.flows.scale: given 'lg'; allowed: 'linear' or 'log'"),
    ({"flows.path": "workload.flow"}, r"parameters.flows.path: given 'workload.flow'; allowed"),
    ({"flows.where": 3}, r"parameters.flows.where: given 3; allowed: labels of points"),
    ({"choice.choices": ["free"]}, r"parameters.choice.choices: .*a list of two values"),
    ({"choice.choices": ["free", "free"]}, r"parameters.choice.choices: .*different values"),
    ({"choice.choices": ["free", "fre"]}, r"parameters.choice.choices: given 'fre'; allowed: "),
    ({"choice.choices": ["random", "leaf"]}, r"parameters.choice"),
    ({"choice.to": 3}, "parameters.choice.to: given 3; allowed: nothing beside choices"),
    ({"sizes.path": "x"}, "parameters.sizes.path: given 'x'; allowed: nothing beside named"),
    ({"sizes.base": "larg"}, r"parameters.sizes.base: given 'larg'; .*did you mean 'large'"),
    ({"sizes.base": "small"}, r"parameters.sizes.base: given 'small'; allowed: the value of the"),
    ({"sizes.choices": {"large": {"workload.size.max": "16 MiB"}}}, "two choices or more"),
    ({"choice.path": "workload.flows"}, "parameters.choice"),
    ({"flows": 3}, "parameters.flows: given 3; allowed: a table with path"),
]


@pytest.mark.parametrize(("change", "message"), BAD, ids=[str(one[0]) for one in BAD])
def test_a_bad_file_is_refused_with_its_path(
    change: dict[str, Any], message: str, base: Scenario
) -> None:
    given = copy.deepcopy(tomllib.loads(GIVEN))
    for path, value in change.items():
        name, _, key = path.partition(".")
        if name not in given["parameters"]:
            given[name] = value
        elif not key:
            given["parameters"][name] = value
        elif value is None:
            del given["parameters"][name][key]
        else:
            given["parameters"][name][key] = value
    with pytest.raises(InputError, match=message):
        read_open(given, base)


def test_a_path_is_open_once(base: Scenario) -> None:
    given = tomllib.loads(GIVEN)
    given["parameters"]["again"] = given["parameters"]["flows"]
    with pytest.raises(InputError, match=r"parameters.again.path: given 'workload.flows'; .*once"):
        read_open(given, base)

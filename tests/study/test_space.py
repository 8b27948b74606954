"""Axes as a box: the choices, and axes that form no box."""

from __future__ import annotations

from typing import Any

import pytest

from lightburst.foundation.errors import InputError
from lightburst.study.design.points import Place
from lightburst.study.search.space import Space
from problems import BURSTS


def space(over: dict[str, Any], **more: Any) -> Space:
    return Space.of(BURSTS, over, **more)


def at_first(found: Space) -> Place:
    return found.place(lambda one: one.ends[0])


def at_last(found: Space) -> Place:
    return found.place(lambda one: one.ends[-1])


def test_a_range_with_two_ends_is_continuous_and_one_with_steps_is_not() -> None:
    time = "switching.assembly.time"
    found = space({time: {"from": "1 ms", "to": "100 ms", "scale": "log"}})
    assert found.number is None
    assert (at_first(found).point, at_last(found).point) == ({time: "1 ms"}, {time: "100 ms"})
    assert found.place(lambda one: 0.5).point == {time: "10 ms"}
    found = space({time: {"from": "1 ms", "to": "3 ms", "step": "1 ms"}})
    assert [found.place(lambda one, n=n: n).point[time] for n in range(3)] == [  # type: ignore[misc]
        "1 ms", "2 ms", "3 ms",
    ]  # fmt: skip
    assert found.number == 3
    assert found.axes[0].ordered


def test_whole_numbers_are_all_there_and_each_has_its_fair_share() -> None:
    (axis,) = space({"transport.advertised_window": {"from": 10, "to": 13}}).axes
    assert list(axis.wholes) == [10, 11, 12, 13]
    drawn = [axis.sampled((n + 0.5) / 400) for n in range(400)]
    assert [drawn.count(n) for n in axis.wholes] == [100] * 4
    assert axis.at(12) == {"transport.advertised_window": 12}


def test_variants_and_lists_are_choices() -> None:
    found = space(
        {"transport.advertised_window": [10, 20, 40]},
        variants={"Reno": {"transport.recovery": "reno"}, "SACK": {}},
    )
    assert found.columns == ["variant", "transport.advertised_window"]
    assert found.number == 6
    points = [found.place(lambda one, w=way: w[one.name]).point for way in found.every()]  # type: ignore[misc]
    assert len(points) == 6
    assert points[0] == {"transport.recovery": "reno", "transport.advertised_window": 10}


def test_linked_axes_move_together() -> None:
    linked = [
        {
            "switching.assembly.time": {"from": "1 ms", "to": "3 ms"},
            "loss.probability": {"from": 0.1, "to": 0.3},
        }
    ]
    found = space({}, linked=linked)
    assert found.place(lambda one: 0.5).point == {
        "switching.assembly.time": "2 ms",
        "loss.probability": 0.2,
    }
    linked[0]["loss.probability"] = [0.1, 0.2]
    with pytest.raises(InputError, match="two ends alone for all of its paths"):
        space({}, linked=linked)


def test_which_axes_vary_hangs_on_a_kind() -> None:
    base = BURSTS.with_({"switching.assembly": {"kind": "mixed", "size": "9 kB", "time": "1 ms"}})
    over = {
        "switching.assembly.kind": ["timer", "mixed"],
        "switching.assembly.size": ["9 kB", "18 kB"],
    }
    found = Space.of(base, over)
    assert found.number == 3
    ways = [found.place(lambda one, w=way: w[one.name]).point for way in found.every()]  # type: ignore[misc]
    assert [len(way) for way in ways] == [1, 2, 2]


def test_pairs_that_cannot_be_are_told_apart_from_ends_that_cannot_be() -> None:
    base = BURSTS.with_({"switching.assembly": {"kind": "window-based"}})
    found = Space.of(
        base,
        {
            "switching.assembly.medium_window": {"from": 2, "to": 10},
            "switching.assembly.fast_window": {"from": 4, "to": 12},
        },
    )
    assert not found.is_possible(
        found.place(lambda one: one.ends[-1 if "medium" in one.name else 0])
    )
    assert found.is_possible(at_first(found))
    assert len(found.every()) == sum(13 - max(4, b) for b in range(2, 11))


def test_the_default_is_the_base_scenario_with_its_values() -> None:
    found = space(
        {
            "switching.assembly.time": {"from": "1 ms", "to": "3 ms"},
            "transport.advertised_window": {"from": 10, "to": 13},
        }
    )
    assert found.default.point == {
        "switching.assembly.time": "1 ms",
        "transport.advertised_window": 50,
    }


@pytest.mark.parametrize(
    ("over", "words"),
    [
        ({}, "over: given nothing; allowed: parameters with their bounds"),
        ({"switching.assembly.time": {}}, "over.switching.assembly.time.from: given nothing"),
        (
            {"switching.assembly.time": {"from": "1 ms"}},
            "over.switching.assembly.time.to: given nothing; allowed: an end of the range",
        ),
        (
            {"switching.assembly.time": {"from": "3 ms", "to": "1 ms"}},
            "over.switching.assembly.time.to: given '1 ms'; allowed: no less than from, 3 ms",
        ),
        ({"switching.assembly.time": "1 ms"}, r"or a range, as .*did you mean \['1 ms'\]"),
        ({"switching.assembly.time": ["1 ms"]}, "over: given one point alone"),
        (
            {"loss.probability": {"from": 0.1, "to": 2}},
            "loss.probability: given 2.0; allowed: a number at least 0 and at most 1",
        ),
        (
            {"switching.asembly.time": {"from": "1 ms", "to": "2 ms"}},
            r"unknown key 'asembly'.*did you mean 'assembly'",
        ),
        ({"transport.recovery": {"from": 1, "to": 2}}, "given a range; allowed: a list of values"),
    ],
)
def test_what_is_no_box_is_refused(over: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        space(over)

"""Numbers that differ look different: in messages, labels and tables."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lightburst as lb
from lightburst.foundation.errors import InputError
from lightburst.foundation.formatting import as_given, exactly

BASE = {
    "topology": {"kind": "fat-tree", "k": 4},
    "switching": {"kind": "electronic"},
    "transport": {"kind": "tcp", "backoff": 1.0000000001, "initial_timeout": "4 ns"},
    "workload": {"kind": "pairs", "size": {"kind": "constant", "value": "1 kB"}},
}


def test_a_factor_just_above_one_is_not_one() -> None:
    with pytest.raises(InputError, match=r"backoff \(1\.0000000001\) lengthens"):
        lb.Scenario.from_dict(BASE)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_exactly_is_the_number(value: float) -> None:
    assert float(exactly(value)) == value


@given(st.decimals(-1e6, 1e6, places=5, allow_nan=False))
def test_what_somebody_wrote_is_told_apart(value: object) -> None:
    written = float(str(value))
    assert float(as_given(written)) == written


def test_what_was_computed_is_short() -> None:
    assert as_given(10 ** (-3 / 4)) == "0.177828"
    assert as_given(0.1 + 0.2) == "0.3"
    assert [as_given(x) for x in (1.0, 1.0000001, math.nan, None, "sack", 5)] == [
        "1", "1.0000001", "–", "–", "sack", "5",
    ]  # fmt: skip


def test_loads_that_differ_in_the_seventh_figure_are_two_rows() -> None:
    load = "workload.load"
    scenario = lb.Scenario.from_dict(
        {
            **BASE,
            "transport": {"kind": "tcp"},
            "workload": {"kind": "poisson", "flows": 20, "load": 0.3},
        }
    )
    found = lb.sweep(scenario, {load: [0.3, 0.30000001]}, seeds=1, progress=False)
    told = [str(lb.run(scenario.with_({load: x})).offered[""]) for x in found.runs[load]]
    assert "load 0.30000001 of" in told[1]

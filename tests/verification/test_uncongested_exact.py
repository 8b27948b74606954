"""The path of a pair none of whose paths is congested, to the picosecond.

The network of `test_ordering_exact`: a path with fibres of 5 us and one with fibres of 50 us. The
load is reported each 100 us, and any load is above the threshold.
"""

from collections.abc import Callable

import pytest
from plans import ENGINES, Plan
from test_ordering_exact import plan_of, received
from twin import Columns

Engine = Callable[[Plan], Columns]
engines = pytest.mark.parametrize("engine", ENGINES)
kinds = pytest.mark.parametrize("kind", ["burst", "obs"])
#: Times over the short path and over the long one, in us: 2 us of assembly are in the starts.
SHORT, LONG = 10 + 3, 100 + 3


def after(engine: Engine, kind: str, uncongested: str, *starts: int) -> tuple[list[float], int]:
    """When datagrams came, in us since their bursts were made, and the number of path switches."""
    plan = plan_of({"kind": "none"}, *starts, kind=kind)
    settings = plan.settings
    balance = {**settings["balance"], "uncongested": uncongested}
    result = engine(plan._replace(settings={**settings, "balance": balance}))
    came = [time - start - 2 for time, start in zip(received(result), starts, strict=True)]
    return came, int(result["switches"]["path_switches"].sum())


@engines
@kinds
def test_a_pair_returns_to_its_primary_path_after_an_interval_without_load(
    engine: Engine, kind: str
) -> None:
    # Made at 92, 197 and 405. The report at 100 has the load of the first on the short path; that
    # at 400, of the interval from 300 on, has none.
    starts = (90, 195, 403)
    assert after(engine, kind, "primary", *starts) == ([SHORT, LONG, SHORT], 2)
    assert after(engine, kind, "present", *starts) == ([SHORT, LONG, LONG], 1)


@engines
@kinds
def test_a_congested_path_is_left_for_the_least_loaded_one_as_ever(
    engine: Engine, kind: str
) -> None:
    # Each report has the load of the burst before, on the path that it took.
    starts = (90, 195, 205, 305)
    expected = ([SHORT, LONG, SHORT, LONG], 3)
    assert after(engine, kind, "primary", *starts) == expected
    assert after(engine, kind, "present", *starts) == expected

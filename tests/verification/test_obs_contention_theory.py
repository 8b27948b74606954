"""The gain of delay lines and deflection, against theory.

Many sources send Poisson bursts to one output, as in `test_obs_theory`. With delay lines one
channel has an exact loss and several have bounds; bursts that a full output deflects onto another
fibre find it as calls find further trunks.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lone_bursts import MEAN_S, interval, poisson, run, star

from lightburst import models

BURSTS = 20_000
SEEDS = range(1, 9)
SOURCES = 5
FINE, EQUAL, COARSE = (0.2, 5), (1.0, 4), (3.0, 2)  # granularity in mean lengths, delays


def lost(
    path: Path, wavelengths: int, load: float, *more: dict[str, Any], **switching: Any
) -> tuple[float, float]:
    """Share of the bursts that are lost at the one output, and half of its 99 % interval.

    `more` are other links of the network.
    """
    links, ends = star(SOURCES)
    shares = []
    for seed in SEEDS:
        draw = np.random.default_rng([seed, wavelengths])
        bursts = poisson(draw, ends, [load / SOURCES] * SOURCES, BURSTS)
        switches = run(path, bursts, [*links, *more], wavelengths, seed, **switching).switches
        dropped = switches.set_index("node").filter(like="dropped_").sum(axis=1)
        assert dropped.drop("C").sum() == 0
        shares.append(dropped.to_dict()["C"] / BURSTS)
    return interval(shares)


def lines(granularity: float, delays: int, **more: Any) -> dict[str, Any]:
    """Delay lines, with a granularity in mean lengths of a burst."""
    step = f"{granularity * MEAN_S * 1e6:.6f} us"
    return {"contention": [{"kind": "delay-line", "granularity": step, "delays": delays, **more}]}


@pytest.mark.parametrize("load", [0.4, 0.9])
@pytest.mark.parametrize(("granularity", "delays"), [FINE, EQUAL, COARSE])
def test_one_channel_has_an_exact_loss(
    tmp_path: Path, granularity: float, delays: int, load: float
) -> None:
    # Without void filling, as in the theory.
    share, half = lost(tmp_path, 1, load, scheduler="first-fit", **lines(granularity, delays))
    theory = float(models.delay_line_loss_one_channel(load, granularity, delays))
    assert share == pytest.approx(theory, abs=half)
    assert half < 0.1 * theory


@pytest.mark.parametrize(("granularity", "delays"), [FINE, EQUAL, COARSE])
def test_eight_channels_are_between_the_bounds(
    tmp_path: Path, granularity: float, delays: int
) -> None:
    share, half = lost(tmp_path, 8, 8.0, **lines(granularity, delays))
    low, high = models.delay_line_loss_bounds(8.0, 8, granularity * delays)
    assert low + half < share < high - half


def test_the_lower_bound_is_the_loss_with_fine_delays(tmp_path: Path) -> None:
    share, half = lost(tmp_path, 8, 7.2, **lines(0.002, 250))
    assert share == pytest.approx(float(models.limited_delay_loss(7.2, 8, 0.5)), abs=half)


def test_few_lines_that_hold_one_burst_are_a_room_of_so_many_places(tmp_path: Path) -> None:
    shares = []
    for number in (1, 2):
        held = lines(0.5, 4, lines=number, occupied="inside")
        share, half = lost(tmp_path, 8, 8.0, **held)
        low, high = models.delay_line_loss_bounds(8.0, 8, 2.0, 4 * number)
        assert low + half < share < high - half
        shares.append(share)
    assert shares[0] > shares[1] + half


def test_of_lines_that_bursts_follow_each_other_through_there_need_be_one_for_each_channel(
    tmp_path: Path,
) -> None:
    unlimited = lost(tmp_path, 4, 3.6, **lines(0.5, 3))
    assert lost(tmp_path, 4, 3.6, **lines(0.5, 3, lines=4)) == unlimited
    assert lost(tmp_path, 4, 3.6, **lines(0.5, 3, lines=1)) > unlimited


@pytest.mark.parametrize("other", [2, 6])
def test_what_is_deflected_finds_so_many_channels_more(tmp_path: Path, other: int) -> None:
    # Over X, on otherwise unused fibres.
    way = [{"source": a, "target": b, "wavelengths": other} for a, b in ("CX", "XD")]
    there = {"kind": "deflection", "loops": False}
    share, half = lost(tmp_path, 4, 5.0, *way, contention=[there])
    assert share == pytest.approx(float(models.erlang_b(5.0, 4 + other)), abs=half)
    share, half = lost(tmp_path, 4, 5.0, *way, contention=[there | {"hop_limit": 2}])
    assert share == pytest.approx(float(models.erlang_b(5.0, 4)), abs=half)

"""JET with classes against the reference, and where isolation and conservation end."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from lightburst import models
from lightburst.foundation.errors import InputError
from loss_simulations import LAWS, agrees, interval, poisson, reserved

REFERENCE = json.loads((Path(__file__).parents[1] / "data" / "loss_closed_forms.json").read_text())


def test_two_equal_classes_equal_the_reference() -> None:
    rows = REFERENCE["jet_two_equal_classes_8_channels"]
    load = np.array([[4 * row["rho"]] * 2 for row in rows])
    expected = [[row["P_high"], row["P_low"]] for row in rows]
    np.testing.assert_allclose(models.jet_class_loss(load, 8), expected, rtol=1e-12)
    high, low = models.jet_two_class_loss(load[:, 0], load[:, 1], 8, 1.0)
    np.testing.assert_allclose(np.transpose([high, low]), expected, rtol=1e-11)


def test_isolation_equals_the_reference() -> None:
    rows = REFERENCE["isolation_exponential"]
    got = models.isolation([row["dt_over_L"] for row in rows])
    np.testing.assert_allclose(got, [row["R"] for row in rows], rtol=1e-14)
    np.testing.assert_allclose(models.isolation([0, 0.3, 1, 7], "constant"), [0, 0.3, 1, 1])


def test_isolation_is_the_law_of_what_is_left_of_a_burst_under_way() -> None:
    for law in ("exponential", "constant"):
        times, lengths = map(np.array, poisson(1, 50.0, 100_000, law))
        left = (times + lengths)[times < 1500] - 1500
        # At one instant about fifty bursts are in progress: take many.
        for instant in np.linspace(100, 1499, 200):
            here = (times <= instant) & (times + lengths > instant)
            left = np.append(left, (times + lengths)[here] - instant)
        left = left[left > 0]
        assert np.mean(left < 0.4) == pytest.approx(float(models.isolation(0.4, law)), abs=0.015)


def test_what_all_classes_lose_is_kept() -> None:
    load = np.array([[1.0, 2.0, 3.0], [0.5, 0.1, 9.0]])
    for channels in (8, [8, 4]):
        loss = models.jet_class_loss(load, channels)
        whole = (load * loss).sum(axis=1)
        total = load.sum(axis=1)
        np.testing.assert_allclose(whole, total * models.erlang_b(total, channels), rtol=1e-13)
        np.testing.assert_allclose(loss[:, 0], models.erlang_b(load[:, 0], channels), rtol=1e-13)
        assert np.all(np.diff(loss, axis=1) > 0)


def two_classes(
    load: float, extra: float, law: str, count: int = 20_000
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which bursts are lost, and which are high: half of them, with an extra offset."""
    times, lengths = poisson(2, load, count, law)
    high = np.random.default_rng(3).random(count) < 0.5
    lost = reserved(times, lengths, (extra * high).tolist(), 8)
    return np.array(lost), high, np.array(lengths)


@pytest.mark.parametrize("law", LAWS)
def test_the_high_class_does_not_notice_the_low_one(law: str) -> None:
    # The longest burst of "two" is 5.5; the rest of an exponential one is rarely longer.
    lost, high, _ = two_classes(9.6, 6.0, law, 60_000)
    theory, low = models.jet_class_loss([4.8, 4.8], 8)
    assert agrees(lost[high], float(theory), precision=0.25)
    # The conservation law is an approximation that ignores the distribution of the lengths.
    about = {"exponential": 0.91, "constant": 1.16, "two": 0.89}[law]
    assert lost[~high].mean() / low == pytest.approx(about, abs=0.02)


@pytest.mark.parametrize("law", ["exponential", "constant"])
def test_without_an_extra_offset_there_are_no_classes(law: str) -> None:
    lost, high, _ = two_classes(6.4, 0.0, law)
    for group in (lost[high], lost[~high]):
        assert agrees(group, float(models.erlang_b(6.4, 8)), precision=0.2)


def test_conservation_holds_in_bursts_for_exponential_lengths_and_not_in_bytes() -> None:
    lost, _, lengths = two_classes(6.4, 5.0, "exponential", 40_000)
    whole = float(models.erlang_b(6.4, 8))
    assert lost.mean() == pytest.approx(whole, rel=0.05)
    assert (lost * lengths).sum() / lengths.sum() > 1.2 * whole
    lost, _, _ = two_classes(6.4, 5.0, "constant", 40_000)
    assert lost.mean() == pytest.approx(1.2 * whole, rel=0.05)


@pytest.mark.parametrize("extra", [0.25, 0.5, 1.0])
def test_two_classes_that_are_isolated_in_part(extra: float) -> None:
    lost, high, _ = two_classes(6.4, extra, "exponential", 30_000)
    upper, lower = models.jet_two_class_loss(3.2, 3.2, 8, models.isolation(extra))
    assert lost[high].mean() == pytest.approx(float(upper), rel=0.25)
    assert lost[~high].mean() == pytest.approx(float(lower), rel=0.06)
    # Closer than either extreme.
    for extreme in (models.erlang_b(6.4, 8), models.erlang_b(3.2, 8)):
        mean, half = interval(lost[high])
        assert abs(mean - float(extreme)) > half


@pytest.mark.parametrize("degree", [0.0, 0.3, 1.0])
def test_both_equations_of_two_classes_hold(degree: float) -> None:
    high, low = models.jet_two_class_loss([1.0, 5.0, 40.0], [2.0, 0.5, 40.0], [4, 8, 16], degree)
    above, below = np.array([1.0, 5.0, 40.0]), np.array([2.0, 0.5, 40.0])
    whole = (above + below) * models.erlang_b(above + below, [4, 8, 16])
    np.testing.assert_allclose(above * high + below * low, whole, rtol=1e-12)
    met = above + below * (1 - low) * (1 - degree)
    np.testing.assert_allclose(high, models.erlang_b(met, [4, 8, 16]), rtol=1e-12)


BAD: list[tuple[str, Callable[[], object]]] = [
    ("load: given 0.0", lambda: models.jet_class_loss([1.0, 0.0], 8)),
    ("load: given 3.0; allowed: a load for each class", lambda: models.jet_class_loss(3.0, 8)),
    ("wavelengths: given 0", lambda: models.jet_class_loss([1.0, 2.0], 0)),
    ("low: given -1.0", lambda: models.jet_two_class_loss(1.0, -1.0, 8, 1.0)),
    ("isolation: given 1.5", lambda: models.jet_two_class_loss(1.0, 1.0, 8, 1.5)),
    ("extra_offset: given -1.0", lambda: models.isolation(-1.0)),
    ("lengths: given 'pareto'", lambda: models.isolation(1.0, "pareto")),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("message", "call"), BAD)
def test_what_makes_no_sense_is_named(message: str, call: Callable[[], object]) -> None:
    with pytest.raises(InputError) as error:
        call()
    assert str(error.value).startswith(message)

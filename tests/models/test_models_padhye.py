"""Padhye's and Mathis's formulas against independent numbers and their limits."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lightburst.models import padhye1998

GOLDEN = pd.read_csv(Path(__file__).parents[1] / "data" / "yu2004_model_golden.csv.gz")
PATH = [GOLDEN[name].to_numpy() for name in ("p", "RTT_s", "RTO_s", "Wm_seg", "b")]


def test_both_models_equal_the_reference() -> None:
    full = padhye1998.full_throughput(*PATH)
    np.testing.assert_allclose(full, GOLDEN["pftk_full_at_RTT"], rtol=1e-9)
    approximate = padhye1998.approximate_throughput(*PATH)
    np.testing.assert_allclose(approximate, GOLDEN["pftk_approx_at_RTT"], rtol=1e-9)


@pytest.mark.parametrize("b", [1, 2])
def test_a_small_loss_gives_the_square_root_law(b: int) -> None:
    law = padhye1998.square_root_throughput(1e-8, 0.1, b)
    assert law == pytest.approx(math.sqrt(1.5 / (b * 1e-8)) / 0.1)
    path = (1e-8, 0.1, 0.2, np.inf, b)
    assert padhye1998.full_throughput(*path) == pytest.approx(law, rel=1e-3)
    assert padhye1998.approximate_throughput(*path) == pytest.approx(law, rel=1e-3)


def test_the_window_limits_the_throughput() -> None:
    limited = padhye1998.full_throughput(1e-9, 0.1, 0.2, [20, 50])
    np.testing.assert_allclose(limited, [200, 500], rtol=1e-4)
    np.testing.assert_array_equal(padhye1998.approximate_throughput(1e-9, 0.1, 0.2, 20), 200)


def test_the_timeout_ratio_has_its_limits() -> None:
    # Padhye et al.: about 3/w for a small loss, and 1 for a window of up to three packets.
    assert padhye1998.timeout_ratio(1e-6, 30) == pytest.approx(0.1, rel=1e-3)
    np.testing.assert_allclose(padhye1998.timeout_ratio(0.1, [1, 2, 3]), 1)


@pytest.mark.parametrize(
    ("name", "value"),
    [("loss", 0), ("loss", 1), ("round_trip_s", 0), ("timeout_s", -1), ("window_limit", 0.5),
     ("rounds_per_increase", 0)],
)  # fmt: skip
def test_what_is_outside_the_model_is_refused(name: str, value: float) -> None:
    path = {"loss": 0.1, "round_trip_s": 0.1, "timeout_s": 1, "window_limit": 9} | {name: value}
    with pytest.raises(ValueError, match=name):
        padhye1998.full_throughput(**path)
    with pytest.raises(ValueError, match=name):
        padhye1998.approximate_throughput(**path)

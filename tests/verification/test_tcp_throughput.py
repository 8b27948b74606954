"""TCP under independent loss against ns-2, an independent prototype, and closed forms.

The numbers of both simulators are segments a second; half of a 95 % interval follows a +-.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from senders import sender

from lightburst.models.padhye1998 import full_throughput, square_root_throughput
from lightburst.scenario import Scenario
from lightburst.simulation.simulate import run

Settings = dict[str, Any]

ROUND_TRIP_S, TIMEOUT_S = 0.1, 0.25
NO_QUEUE: Settings = {
    "topology": {"kind": "obs-path", "access_rate": "10 Gb/s", "fibre_rate": "10 Gb/s"},
    "switching": {"kind": "electronic", "queue_size": "unlimited"},
}
#: The paper's path: 125 segments a second, S = 5.
BURSTS: Settings = {
    "topology": {"kind": "obs-path", "access_rate": "1 Mb/s"},
    "switching": {"kind": "burst", "assembly": {"kind": "timer", "time": "32 ms"}},
}
SEGMENTS: Settings = {
    "kind": "tcp",
    "segment_size": "1 kB",
    "control_size": "40 B",
    "clock_granularity": "10 ms",
    "acknowledge_every": 1,
}
#: The rules of ns-2.
NS2: Settings = SEGMENTS | {
    "advertised_window": 50,
    "initial_window": 2,
    "initial_timeout": "3 s",
    "min_timeout": "0.2 s",
    "halving": "window",
    "bug_fix": True,
    "window_growth_on_exit": True,
    "full_acknowledgement": "ssthresh",
}


def endless(
    path: Settings, loss: float, transport: Settings, seconds: int, **measured: Any
) -> Scenario:
    """One flow that never ends."""
    return Scenario.from_dict(
        {
            **path,
            "loss": {"probability": loss},
            "transport": sender(**transport),
            "workload": {"kind": "pairs", "size": {"kind": "constant", "value": "1000 TB"}},
            "measurement": {"time_limit": f"{seconds} s", **measured},
        }
    )


def delivered(path: Settings, loss: float, transport: Settings, seconds: int, seed: int) -> float:
    """Useful segments a second of one flow that never ends."""
    flows = run(endless(path, loss, transport, seconds), seed=seed).columns["flows"]
    return float(flows["delivered_bytes"][0]) / 1000 / seconds


def interval(values: list[float]) -> tuple[float, float]:
    """Mean, and half of its 95 % interval."""
    error = float(stats.sem(values))
    return float(np.mean(values)), float(stats.t.ppf(0.975, len(values) - 1)) * error


def replicated(
    path: Settings, loss: float, transport: Settings, *, seconds: int, within: float
) -> tuple[float, float]:
    """Run with the seeds 1, 2... until the interval is at most a part `within` of the mean."""
    values: list[float] = []
    for seed in range(1, 100):
        values.append(delivered(path, loss, transport, seconds, seed))
        if len(values) >= 4:
            mean, half = interval(values)
            if half <= within * mean:
                return mean, half
    raise AssertionError(f"after {len(values)} runs the interval is still {values}")


#: ns-2.35 (ns2/README.md): recovery, bug_fix, limited_transmit; rate and half its interval.
NS2_RATES = [
    ("tahoe", False, False, 94.4, 1.0),
    ("tahoe", True, False, 94.4, 1.0),
    ("reno", False, False, 110.9, 0.5),
    ("reno", True, False, 107.9, 0.8),
    ("new-reno", False, False, 117.4, 0.8),
    ("new-reno", True, False, 116.6, 1.1),
    ("sack1", True, False, 116.9, 1.3),
    ("sack1", False, False, 116.9, 1.3),
    ("tahoe", True, True, 96.4, 0.4),
    ("reno", False, True, 110.1, 0.8),
    ("reno", True, True, 107.7, 1.0),
    ("new-reno", False, True, 117.8, 1.4),
    ("new-reno", True, True, 117.2, 1.1),
    ("sack1", True, True, 116.8, 1.2),
    ("sack1", False, True, 116.8, 1.2),
]


def assert_ns2(
    row: tuple[str, bool, bool, float, float],
    *,
    seconds: int = 10_000,
    within: float = 0.006,
    differs: bool = False,
) -> None:
    """Intervals meet, or do not where they must differ."""
    recovery, bug_fix, limited, theirs, their_half = row
    changes = {"recovery": recovery, "bug_fix": bug_fix, "limited_transmit": limited}
    rate, half = replicated(NO_QUEUE, 0.01, NS2 | changes, seconds=seconds, within=within)
    assert (abs(rate - theirs) > half + their_half) == differs, f"{rate:.2f} +- {half:.2f}"


@pytest.mark.parametrize("row", [NS2_RATES[i] for i in (0, 3, 5, 6)], ids=lambda row: row[0])
def test_one_loss_in_a_hundred_packets_slows_us_as_it_slows_ns2(
    row: tuple[str, bool, bool, float, float],
) -> None:
    assert_ns2(row, seconds=4000, within=0.015)


@pytest.mark.slow
@pytest.mark.parametrize("row", NS2_RATES, ids=lambda row: " ".join(map(str, row[:3])))
def test_each_variant_is_as_fast_as_that_of_ns2(row: tuple[str, bool, bool, float, float]) -> None:
    assert_ns2(row)


@pytest.mark.slow
def test_ns2_tahoe_loses_by_old_segments_of_limited_transmit() -> None:
    """Rule 8 of ns2/README.md: without `bugFix_` their duplicates start false retransmissions.

    Ours sends new ones only, so `bug_fix` has no effect. The interval is of the seeds 1 to 13.
    """
    assert_ns2(("tahoe", False, True, 94.3, 0.4), differs=True)
    assert_ns2(("tahoe", False, True, 96.4, 0.4))


LOG_LOSSES = (-3.0, -2.5, -2.0, -1.5, -1.0)
#: yu2004's setting in an independent prototype: S = 5, 125 kB/s, b = 1, limited transmit.
PROTOTYPE: dict[str, tuple[Settings, tuple[float, ...]]] = {
    "reno without bug_fix": (
        {"recovery": "reno", "bug_fix": False},
        (117.1, 101.6, 74.8, 43.8, 21.2),
    ),
    "reno": ({"recovery": "reno"}, (120.2, 106.8, 80.8, 46.6, 21.1)),
    "new-reno impatient": ({"recovery": "new-reno"}, (119.3, 110.7, 84.7, 49.2, 22.8)),
    "new-reno slow but steady": (
        {"recovery": "new-reno", "partial_acknowledgement": "slow-but-steady"},
        (121.9, 116.8, 97.8, 56.7, 24.6),
    ),
    "sack1": ({"recovery": "sack1"}, (124.2, 122.9, 109.7, 63.6, 25.3)),
    "sack": (
        {"recovery": "sack", "window_growth_on_exit": False},
        (124.5, 123.5, 110.5, 65.8, 26.95),
    ),
}


def assert_prototype(name: str, log_loss: float) -> None:
    """Ours within 3 % of the prototype's, both known to 1 %."""
    changes, rates = PROTOTYPE[name]
    transport = NS2 | {"initial_window": 1, "limited_transmit": True} | changes
    rate, _ = replicated(BURSTS, 10**log_loss, transport, seconds=3000, within=0.01)
    assert rate == pytest.approx(rates[LOG_LOSSES.index(log_loss)], rel=0.03)


@pytest.mark.parametrize("name", PROTOTYPE)
def test_lost_bursts_of_five_slow_us_as_they_slow_the_prototype(name: str) -> None:
    assert_prototype(name, -2.0)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROTOTYPE)
@pytest.mark.parametrize("log_loss", [log for log in LOG_LOSSES if log != -2])
def test_so_they_do_at_other_probabilities(name: str, log_loss: float) -> None:
    assert_prototype(name, log_loss)


@pytest.mark.parametrize("recovery", ["reno", "new-reno", "sack"])
@pytest.mark.parametrize(("every", "window"), [(1, 50), (2, 10_000)], ids=["b1 W50", "b2"])
def test_the_throughput_is_that_of_padhye(recovery: str, every: int, window: int) -> None:
    """The standard's TCP, losses of single packets of which few end in timeouts.

    The model's losses are correlated, and its Reno has no second loss in a window to fear: a tenth,
    and 12 % at 3 % loss, where Reno's second losses are the rule. With ns-2's halving of the window
    it is 0.893, 0.880 and 0.888 of the model there (three seeds), with ours 0.894, 0.883 and 0.890.
    """
    losses = np.array([0.001, 0.003, 0.01, 0.03])
    transport = SEGMENTS | {
        "recovery": recovery,
        "acknowledge_every": every,
        "advertised_window": window,
        "min_timeout": f"{TIMEOUT_S} s",
    }
    rates = [delivered(NO_QUEUE, loss, transport, 2500, 1) for loss in losses]
    # The model counts segments sent, lost or not.
    model = full_throughput(losses, ROUND_TRIP_S, TIMEOUT_S, window, every) * (1 - losses)
    within = np.array([0.1, 0.1, 0.1, 0.12 if recovery == "reno" else 0.1])
    np.testing.assert_array_less(np.abs(rates / model - 1), within)


@pytest.mark.parametrize("every", [1, 2])
def test_the_throughput_falls_with_the_square_root_of_the_loss(every: int) -> None:
    """Mathis et al.: no timeouts, no window limit; at 3 % timeouts matter."""
    transport = SEGMENTS | {"recovery": "sack", "acknowledge_every": every}
    transport |= {"advertised_window": 10_000, "min_timeout": f"{TIMEOUT_S} s"}
    losses = np.array([0.001, 0.002, 0.004])
    rates = np.array([delivered(NO_QUEUE, loss, transport, 2500, 1) for loss in losses])
    law = square_root_throughput(losses, ROUND_TRIP_S, every)
    np.testing.assert_allclose(rates, law, rtol=0.07)
    above = delivered(NO_QUEUE, 0.03, transport, 2500, 1)
    assert above < 0.9 * square_root_throughput(0.03, ROUND_TRIP_S, every)


@pytest.mark.parametrize(
    ("loss", "ratio"), [(3e-4, 1.078), (1e-3, 1.043), (3e-3, 1.026), (1e-2, 1)]
)
def test_the_mean_window_is_that_of_the_prototype(loss: float, ratio: float) -> None:
    """Over `sqrt(1.5 / p)`, in the prototype for vlachos2008, which does not define its average.

    Ours, over time, is 2.5 % lower at the least loss, 1 % at the next two, and 5 % where timeouts
    begin to matter.
    """
    transport = SEGMENTS | {"recovery": "sack", "advertised_window": 60_000, "initial_window": 2}
    transport |= {"min_timeout": "0.2 s", "initial_timeout": "1 s"}
    measured = {"synchronisation": {"begin": "20 s"}}
    windows = [
        float(result.summary["aggregate_window_mean_segments"])
        for result in (
            run(endless(NO_QUEUE, loss, transport, 4000, **measured), seed=seed) for seed in (1, 2)
        )
    ]
    assert np.mean(windows) / np.sqrt(1.5 / loss) == pytest.approx(ratio, rel=0.07)

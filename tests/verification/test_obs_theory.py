"""Bursts that reserve channels, against the theory of loss.

One output of a node with many sources: Poisson bursts that come at equal offsets find it as calls
find trunks (Erlang 1917), for any distribution of their lengths. Where bursts keep their
wavelength, each channel is a separate system.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from lone_bursts import FAST, MEAN_S, interval, lengths, poisson, run, star

from lightburst.models import (
    engset_call_congestion,
    engset_dumping_loss,
    erlang_b,
    idle_source_load,
)

BURSTS = 20_000
SEEDS = range(1, 9)


def lost(
    path: Path,
    wavelengths: int,
    load: float,
    law: str = "exponential",
    edges: int = 5,
    wide: int = 64,
    **switching: Any,
) -> tuple[float, float]:
    """Share of the bursts that are lost at the one output, and half of its 99 % interval.

    Poisson bursts from several edges over one node to one edge.
    """
    links, ends = star(edges, wide)
    loads = [load * wavelengths / edges] * edges
    shares = []
    for seed in SEEDS:
        draw = np.random.default_rng([seed, wavelengths])
        bursts = poisson(draw, ends, loads, BURSTS, law)
        switches = run(path, bursts, links, wavelengths, seed, **switching).switches
        shares.append(lost_at(switches, "C"))
    return interval(shares)


def lost_at(switches: pd.DataFrame, node: str) -> float:
    """Share of the bursts that are lost at the only node that loses any."""
    dropped = switches.set_index("node")["dropped_no_channel"]
    assert dropped.drop(node).sum() == 0
    return float(dropped[node] / BURSTS)


@pytest.mark.parametrize("load", [0.2, 0.4, 0.6, 0.8, 1.0])
def test_full_conversion_is_erlang_b(tmp_path: Path, load: float) -> None:
    share, half = lost(tmp_path, 8, load)
    assert share == pytest.approx(float(erlang_b(8 * load, 8)), abs=half)
    # The interval is narrow enough to detect one channel more or less.
    assert half < 0.2 * float(erlang_b(8 * load, 7) - erlang_b(8 * load, 9))


@pytest.mark.parametrize("law", ["constant", "uniform"])
@pytest.mark.parametrize("load", [0.4, 0.8])
def test_erlang_b_does_not_ask_for_the_law_of_the_lengths(
    tmp_path: Path, law: str, load: float
) -> None:
    share, half = lost(tmp_path, 4, load, law)
    assert share == pytest.approx(float(erlang_b(4 * load, 4)), abs=half)


@pytest.mark.parametrize("scheduler", ["first-fit", "first-fit-vf", "lauc", "random-fit"])
def test_at_equal_offsets_no_scheduler_is_better(tmp_path: Path, scheduler: str) -> None:
    share, half = lost(tmp_path, 4, 0.6, scheduler=scheduler)
    assert share == pytest.approx(float(erlang_b(2.4, 4)), abs=half)


@pytest.mark.parametrize("load", [0.05, 0.2, 0.3, 0.6, 1.0])
def test_one_channel(tmp_path: Path, load: float) -> None:
    share, half = lost(tmp_path, 1, load)
    assert share == pytest.approx(load / (1 + load), abs=half)


@pytest.mark.parametrize("load", [0.3, 0.9])
def test_without_conversion_each_wavelength_is_alone(tmp_path: Path, load: float) -> None:
    # Random fit spreads the bursts over the wavelengths. They would be independent except for those
    # of one edge, which never meet: a known share of the bursts in flight.
    edges, wavelengths = 60, 4
    share, half = lost(
        tmp_path,
        wavelengths,
        load,
        edges=edges,
        wide=wavelengths,
        conversion="none",
        scheduler="random-fit",
    )
    theory = load / (1 + load)
    assert share == pytest.approx(theory, abs=half + theory * load * wavelengths / edges)
    # With conversion far fewer are lost.
    assert share > 1.5 * float(erlang_b(load * wavelengths, wavelengths))


def test_just_in_time_reserves_the_offset_too(tmp_path: Path) -> None:
    # Each reservation is longer by the offset: at equal offsets just a higher load.
    share, half = lost(tmp_path, 4, 0.5, "exponential", signalling="jit", offset_time="50 us")
    assert share == pytest.approx(float(erlang_b(4 * 0.5 * 1.5, 4)), abs=half)


def from_few(path: Path, sources: int, load: float, seed: int) -> float:
    """Share that is lost at 4 channels of the bursts of sources that are idle in between.

    A source does not learn of a lost burst: it sends each to its end.
    """
    draw = np.random.default_rng([seed, sources])
    each = BURSTS // sources
    shape = (sources, each)
    size = lengths("exponential", draw, sources * each).reshape(shape)
    # Its load while it is idle is such that it sends for `load` of the time.
    idle_s = draw.exponential(MEAN_S / float(idle_source_load(load)), shape)
    sent_s = size * 8 / 10e9
    start_s = np.cumsum(idle_s, axis=1) + np.cumsum(sent_s, axis=1) - sent_s
    bursts = pd.DataFrame({"start_s": start_s.ravel(), "size_bytes": size.ravel()})
    bursts = bursts.sort_values("start_s").assign(source="s", destination="r")
    # At the beginning all sources are idle, and at the end some have done.
    begin, end = start_s[:, 10].max(), start_s[:, -1].min()
    bursts = bursts[bursts["start_s"] <= end]
    links: list[dict[str, Any]] = [
        {"source": "s", "target": "E", **FAST},
        {"source": "E", "target": "C", "wavelengths": sources},
        {"source": "C", "target": "D"},
        {"source": "D", "target": "r", **FAST},
    ]
    flows = run(path, bursts, links, 4, seed).flows
    chosen = flows[flows["start_s"] >= begin]
    return float((chosen["status"] == "lost").mean())


@pytest.mark.parametrize("sources", [6, 10])
@pytest.mark.parametrize("load", [0.2, 0.6, 1.0])
def test_few_sources_that_go_on_sending_what_is_lost(
    tmp_path: Path, sources: int, load: float
) -> None:
    each = load * 4 / sources
    share, half = interval([from_few(tmp_path, sources, each, seed) for seed in SEEDS])
    theory = float(engset_dumping_loss(idle_source_load(each), sources, 4))
    assert share == pytest.approx(theory, abs=half)
    # Far from Erlang's formula; from a load of 0.6 on also from Engset's, whose sources are idle
    # at once when a burst is lost.
    assert half < 0.3 * (float(erlang_b(4 * load, 4)) - theory)
    engset = float(engset_call_congestion(idle_source_load(each), sources, 4))
    assert load < 0.6 or half < 0.5 * (engset - theory)


def test_as_many_sources_as_channels_lose_nothing(tmp_path: Path) -> None:
    assert from_few(tmp_path, 4, 0.9, 1) == 0

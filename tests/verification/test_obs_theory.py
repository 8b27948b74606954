"""Bursts that book channels, against the theory of loss.

One output of a node with many sources: Poisson bursts that come at equal offsets find it as calls
find trunks (Erlang 1917), whatever the law of their lengths. Where bursts keep their wavelength,
each channel is a system of its own.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import lightburst as lb
from lightburst.models import erlang_b

SOURCES = 5
BURSTS = 20_000
SEEDS = range(1, 9)
# At 10 Gb/s.
MEAN_S, MEAN_BYTES = 100e-6, 125_000


def lengths(law: str, draw: np.random.Generator) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Draw the bytes of the bursts, of one mean."""
    match law:
        case "exponential":
            drawn = draw.exponential(MEAN_BYTES, BURSTS)
        case "uniform":
            drawn = draw.uniform(0, 2 * MEAN_BYTES, BURSTS)
        case _:
            drawn = np.full(BURSTS, float(MEAN_BYTES))
    return np.maximum(drawn.round(), 1).astype(np.int64)


def scenario(
    path: Path, wavelengths: int, load: float, seed: int, law: str, edges: int, wide: int
) -> dict[str, Any]:
    """Poisson bursts, each a packet, from several edges over one node to one edge."""
    draw = np.random.default_rng([seed, wavelengths])
    start_s = np.cumsum(draw.exponential(MEAN_S / (load * wavelengths), BURSTS))
    source = draw.integers(0, edges, BURSTS)
    table = path / f"{seed}.csv"
    pd.DataFrame(
        {
            "source": [f"s{i}" for i in source],
            "destination": "r",
            "start_s": start_s,
            "size_bytes": lengths(law, draw),
        }
    ).to_csv(table, index=False)
    fast = {"rate": "1000 Tb/s", "length": "0 m"}
    links: list[dict[str, Any]] = [
        {"source": "C", "target": "D"},
        {"source": "D", "target": "r", **fast},
    ]
    for i in range(edges):
        links.append({"source": f"s{i}", "target": f"E{i}", **fast})
        links.append({"source": f"E{i}", "target": "C", "wavelengths": wide})
    return {
        "topology": {
            "kind": "graph",
            "links": links,
            "link_rate": "10 Gb/s",
            "link_length": "1 km",
            "wavelengths": wavelengths,
        },
        "switching": {
            "kind": "obs",
            "assembly": {"kind": "timer", "time": "0 s"},
            "ingress": "lose",
            "offset_time": "10 us",
        },
        "transport": {
            "kind": "datagram",
            "segment_size": "10 MB",
            "header_size": "0 B",
            "spacing": "constant",
        },
        "workload": {"kind": "table", "file": str(table)},
        "measurement": {"time_limit": "1000 s"},
    }


def lost(
    path: Path,
    wavelengths: int,
    load: float,
    law: str = "exponential",
    edges: int = 5,
    wide: int = 64,
    **switching: Any,
) -> tuple[float, float]:
    """Share of the bursts that are lost at the one output, and half of its 99 % interval."""
    shares = []
    for seed in SEEDS:
        made = scenario(path, wavelengths, load, seed, law, edges, wide)
        made["switching"] |= switching
        switches = lb.run(lb.Scenario.from_dict(made), seed=seed).switches.set_index("node")
        assert switches["dropped_late_header"].sum() == 0
        assert switches["dropped_no_channel"].drop("C").sum() == 0
        shares.append(switches["dropped_no_channel"]["C"] / BURSTS)
    half = stats.t.ppf(0.995, len(shares) - 1) * stats.sem(shares)
    return float(np.mean(shares)), float(half)


@pytest.mark.parametrize("load", [0.2, 0.4, 0.6, 0.8, 1.0])
def test_full_conversion_is_erlang_b(tmp_path: Path, load: float) -> None:
    share, half = lost(tmp_path, 8, load)
    assert share == pytest.approx(float(erlang_b(8 * load, 8)), abs=half)
    # The interval is narrow enough to tell a channel more or less.
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


@pytest.mark.parametrize("load", [0.2, 0.6, 1.0])
def test_one_channel(tmp_path: Path, load: float) -> None:
    share, half = lost(tmp_path, 1, load)
    assert share == pytest.approx(load / (1 + load), abs=half)


@pytest.mark.parametrize("load", [0.3, 0.9])
def test_without_conversion_each_wavelength_is_alone(tmp_path: Path, load: float) -> None:
    # Random fit spreads the bursts over the wavelengths. They would be independent but for those of
    # one edge, which never meet: that is so many of the bursts that are under way.
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


def test_just_in_time_books_the_offset_too(tmp_path: Path) -> None:
    # Each booking is longer by what the header is ahead: at equal offsets just a higher load.
    share, half = lost(tmp_path, 4, 0.5, "exponential", signalling="jit", offset_time="50 us")
    assert share == pytest.approx(float(erlang_b(4 * 0.5 * 1.5, 4)), abs=half)

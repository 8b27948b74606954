"""Bursts of which nodes cut packets, against the theory: the part of the segments that is lost.

Each burst is 50 packets in the mean, Poisson, from several edges over one node to one edge.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lone_bursts import FAST, MEAN_BYTES, interval, poisson, run

from lightburst.models import contention_probability, segment_loss

BURSTS = 6_000
SEEDS = range(1, 7)
EDGES = 4
PACKET = MEAN_BYTES // 50


def lost(path: Path, wavelengths: int, load: float, law: str) -> tuple[list[float], list[float]]:
    """Share of the packets that are lost, and of the bursts that are cut or lost, in each run."""
    links: list[dict[str, Any]] = [
        {"source": "C", "target": "D"},
        {"source": "D", "target": "r", **FAST},
    ]
    for i in range(EDGES):
        links.append({"source": f"s{i}", "target": f"E{i}", **FAST})
        links.append({"source": f"E{i}", "target": "C", "wavelengths": 64})
    ends = [(f"s{i}", "r") for i in range(EDGES)]
    packets, bursts = [], []
    for seed in SEEDS:
        draw = np.random.default_rng([seed, wavelengths])
        made = poisson(draw, ends, [load * wavelengths / EDGES] * EDGES, BURSTS, law)
        result = run(
            path,
            made,
            links,
            wavelengths,
            seed,
            segment=f"{PACKET} B",
            # The packets of a flow come within some nanoseconds.
            assembly={"kind": "timer", "time": "50 ns"},
            contention=[{"kind": "segmentation", "drop": "head"}],
        )
        switches = result.switches.set_index("node")
        assert switches[["bursts_cut", "dropped_no_channel"]].drop("C").sum().sum() == 0
        met = int(switches[["bursts_cut", "dropped_no_channel"]].to_numpy().sum())
        bursts.append(met / float(result.summary["bursts"]))
        packets.append(float(result.summary["loss_end_to_end"]))
    return packets, bursts


@pytest.mark.parametrize(
    ("law", "load"), [("exponential", 0.8), ("constant", 0.5), ("uniform", 1.0)]
)
@pytest.mark.parametrize("wavelengths", [1, 4])
def test_the_loss_of_segments(tmp_path: Path, wavelengths: int, load: float, law: str) -> None:
    packets, bursts = lost(tmp_path, wavelengths, load, law)
    erlangs = load * wavelengths
    met, of_met = interval(bursts)
    theory = float(contention_probability(erlangs, wavelengths))
    assert met == pytest.approx(theory, abs=of_met + 0.01 * theory)
    # Segments of no length lose just what overlaps; of a burst that is cut, less than one packet
    # more is lost, one in fifty.
    share, half = interval(packets)
    least = float(segment_loss(erlangs, wavelengths))
    assert least - half < share < least + half + theory / 50
    assert half < 0.2 * least

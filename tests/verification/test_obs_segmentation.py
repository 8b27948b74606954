"""Bursts whose packets are cut by nodes, against the theory: the lost part of the segments.

Each burst is 50 packets in the mean, Poisson, from several edges over one node to one edge.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from lone_bursts import MEAN_BYTES, MEAN_S, interval, poisson, run, star

from lightburst.models import contention_probability, segment_loss

BURSTS = 6_000
SEEDS = range(1, 7)
EDGES = 4
PACKET = MEAN_BYTES // 50


class Lost(NamedTuple):
    """Shares in one run: of the packets lost, of the bytes lost, and of the bytes that must be
    lost.

    `met` is that of the bursts that meet another one: each is lost, or one of the two is cut.
    """

    packets: float
    bytes: float
    least: float
    met: float


def overflow(bursts: pd.DataFrame, wavelengths: int) -> float:
    """Share of the bytes that come while all channels are busy, if bytes are infinitely small."""
    start = bursts["start_s"].to_numpy()
    length = bursts["size_bytes"].to_numpy() * MEAN_S / MEAN_BYTES
    times = np.concatenate([start, start + length])
    order = np.argsort(times)
    under_way = np.cumsum(np.repeat([1, -1], start.size)[order])[:-1]
    beyond = np.maximum(under_way - wavelengths, 0)
    return float((beyond * np.diff(times[order])).sum() / length.sum())


def lost(path: Path, wavelengths: int, load: float, law: str, drop: str) -> Iterator[Lost]:
    """The losses of each run."""
    links, ends = star(EDGES)
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
            contention=[{"kind": "segmentation", "drop": drop}],
        )
        switches = result.switches.set_index("node")
        assert switches[["bursts_cut", "dropped_no_channel"]].drop("C").sum().sum() == 0
        met = int(switches[["bursts_cut", "dropped_no_channel"]].to_numpy().sum())
        arrived = float(result.flows["delivered_bytes"].sum())
        yield Lost(
            packets=float(result.summary["loss_end_to_end"]),
            bytes=1 - arrived / float(made["size_bytes"].sum()),
            least=overflow(made, wavelengths),
            met=met / float(result.summary["bursts"]),
        )


@pytest.mark.parametrize(
    ("law", "load"), [("exponential", 0.8), ("constant", 0.5), ("uniform", 1.0)]
)
@pytest.mark.parametrize("wavelengths", [1, 4])
@pytest.mark.parametrize("drop", ["head", "tail"])
def test_the_loss_of_segments(
    tmp_path: Path, drop: str, wavelengths: int, load: float, law: str
) -> None:
    runs = list(lost(tmp_path, wavelengths, load, law, drop))
    # Exactly the overlap, and less than one packet more, one in fifty, of each burst that is cut.
    for one in runs:
        assert one.least < one.bytes < one.least + one.met / 50
    erlangs = load * wavelengths
    met, of_met = interval([one.met for one in runs])
    theory = float(contention_probability(erlangs, wavelengths))
    assert met == pytest.approx(theory, abs=of_met + 0.01 * theory)
    share, half = interval([one.packets for one in runs])
    least = float(segment_loss(erlangs, wavelengths))
    assert least - half < share < least + half + theory / 50
    assert half < 0.2 * least

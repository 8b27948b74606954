"""Bursts with given times and lengths, as the theory of loss assumes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

import lightburst as lb

# At 10 Gb/s.
MEAN_S, MEAN_BYTES = 100e-6, 125_000
# The link of a host, which takes no time.
FAST = {"rate": "1000 Tb/s", "length": "0 m"}

Floats = np.ndarray[Any, np.dtype[np.float64]]


def lengths(law: str, draw: np.random.Generator, count: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Draw the bytes of bursts, of one mean."""
    match law:
        case "exponential":
            drawn = draw.exponential(MEAN_BYTES, count)
        case "uniform":
            drawn = draw.uniform(0, 2 * MEAN_BYTES, count)
        case _:
            drawn = np.full(count, float(MEAN_BYTES))
    return np.maximum(drawn.round(), 1).astype(np.int64)


def poisson(
    draw: np.random.Generator,
    ends: Sequence[tuple[str, str]],
    loads: Sequence[float],
    count: int,
    law: str = "exponential",
) -> pd.DataFrame:
    """Draw a number of bursts: Poisson between each pair of hosts, with a load in erlangs."""
    total = sum(loads)
    pair = draw.choice(len(ends), count, p=np.divide(loads, total))
    return pd.DataFrame(
        {
            "source": [ends[i][0] for i in pair],
            "destination": [ends[i][1] for i in pair],
            "start_s": np.cumsum(draw.exponential(MEAN_S / total, count)),
            "size_bytes": lengths(law, draw, count),
        }
    )


def star(edges: int, wide: int = 64) -> tuple[list[dict[str, Any]], list[tuple[str, str]]]:
    """Links of a number of edges, with one host each, over C, the one node with few channels, to D
    and r.

    `wide` is the number of wavelengths from an edge to C. Also returns the pairs of hosts that
    send.
    """
    links: list[dict[str, Any]] = [
        {"source": "C", "target": "D"},
        {"source": "D", "target": "r", **FAST},
    ]
    for i in range(edges):
        links.append({"source": f"s{i}", "target": f"E{i}", **FAST})
        links.append({"source": f"E{i}", "target": "C", "wavelengths": wide})
    return links, [(f"s{i}", "r") for i in range(edges)]


def run(
    path: Path,
    bursts: pd.DataFrame,
    links: Sequence[dict[str, Any]],
    wavelengths: int,
    seed: int,
    segment: str | None = None,
    packet: str | None = None,
    **switching: Any,
) -> lb.Result:
    """Send these bursts through a network whose headers take no time; all have one offset.

    The edges make them, of packets of some size or as one packet each, or hosts send each in
    segments of some size, which are assembled at once.
    A column ``group`` makes groups of them.
    """
    groups = {}
    for name, own in bursts.groupby("group") if "group" in bursts else [("all", bursts)]:
        table = path / f"{seed}-{name}.parquet"
        # Numbers as text would take as long as the run.
        own[["source", "destination", "start_s", "size_bytes"]].to_parquet(table, index=False)
        groups[name] = {"workload": {"kind": "table", "file": str(table)}}
    datagrams = {"kind": "datagram", "segment_size": segment, "spacing": "constant"}
    of_edges = {"kind": "bursts"} | ({"packet_size": packet} if packet else {})
    scenario = {
        "topology": {
            "kind": "graph",
            "links": list(links),
            "link_rate": "10 Gb/s",
            "link_length": "1 km",
            "wavelengths": wavelengths,
        },
        "switching": {
            "kind": "obs",
            "assembly": {"kind": "timer", "time": "0 s"},
            "ingress": "lose",
            "offset_time": "10 us",
            **switching,
        },
        "transport": datagrams if segment else of_edges,
        "groups": groups,
        "measurement": {"time_limit": "1000 s"},
    }
    result = lb.run(lb.Scenario.from_dict(scenario), seed=seed)
    assert result.switches["dropped_late_header"].sum() == 0
    return result


def interval(shares: ArrayLike) -> tuple[float, float]:
    """Mean over runs, and half of its 99 % interval."""
    found = np.asarray(shares)
    half = stats.t.ppf(0.995, found.size - 1) * stats.sem(found)
    return float(found.mean()), float(half)

"""A made-up paper with sequential stopping, tables and traces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from lightburst.papers.claims import Claim, Verdict
from lightburst.papers.figure import PACKET_COLUMNS, Listing, Packets
from lightburst.papers.paper import Paper, Part, Traced
from lightburst.scenario import Scenario
from lightburst.study import Block, Stopping, Study

BASE = Scenario.from_dict(
    {
        "topology": {"kind": "fat-tree", "k": 4},
        "switching": {"kind": "hybrid"},
        "transport": {"kind": "sawl"},
        "workload": {
            "kind": "poisson",
            "arrival_rate": "1e6 /s",
            "flows": 20,
            "size": {"kind": "constant", "value": "20 kB"},
        },
    }
)


def blocks(parts: Sequence[str], quick: bool) -> list[Block]:
    ports = [0, 1]
    study = Study(BASE, {"switching.buffer_ports": ports}, range(1, 7))
    # The target is so coarse that the first look is the last.
    rule = Stopping("throughput_bps", precision=100.0, first=3)
    return [Block(study, pd.DataFrame({"ports": ports}), rule)]


def record(parts: Sequence[str]) -> dict[str, pd.DataFrame]:
    dots = [("one", "sent", 0.1, 1), ("one", "sent", 0.2, 2)]
    return {"trace_dots": pd.DataFrame(dots, columns=list(PACKET_COLUMNS))}


def trace_figures(
    parts: Sequence[str], tables: Mapping[str, pd.DataFrame], version: str
) -> list[Packets]:
    return [
        Packets("dots", "Dots", f"By {version}.", "Time (s)", "Packet", ("one",), ("sent",),
                tables["trace_dots"])
    ]  # fmt: skip


def trace_claims(parts: Sequence[str], tables: Mapping[str, pd.DataFrame]) -> list[Claim]:
    count = float(len(tables["trace_dots"]))
    return [Claim("dots", "dots", "Two", 2.0, count, count, count, Verdict.HOLDS, "two", "")]


def tables(runs: pd.DataFrame) -> list[Listing]:
    means = runs.groupby("ports")[["throughput_bps"]].mean().reset_index()
    return [Listing("means", "Means <by> ports", "All of them.", means, shown=1)]


TRACED = Paper(
    "traced2000", "A traced paper", "Nobody, 2000.", {"all": Part("everything", tables=tables)},
    blocks, lambda table: table, Traced(record, trace_figures, trace_claims),
)  # fmt: skip

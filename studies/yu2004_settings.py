"""Open parameters of yu2004: the settings of the search, and their points."""

from __future__ import annotations

import itertools
from typing import Any, Final

from lightburst.papers.yu2004.design import BURSTS, TABLE_LOSSES, table_point
from lightburst.papers.yu2004.points import HIGH, MEDIUM, TABLES, Point, assembly_time
from lightburst.papers.yu2004.senders import NEW_RENO, RENO, SACK, Sender

Network = dict[str, Any]

# Grid: every combination of these values, with every sender below.
ACCESS: Final = (TABLES, MEDIUM, HIGH)
WINDOWS: Final = (20, 50, 100)
TIMEOUTS: Final = (0.2, 0.5, 1.0)
ACKS: Final = (1, 2)
HALVINGS: Final = ("window", "flight-size")
RENOS: Final = {"on": RENO, "off": RENO._replace(bug_fix=False)}
NEW_RENOS: Final = {
    "slow-but-steady": NEW_RENO,
    "impatient": NEW_RENO._replace(partial="impatient"),
}
SACKS: Final = {"sack1": SACK, "sack": SACK._replace(recovery="sack")}
# Setting of the paper's scenario, and parameters varied alone around it. The value "p" stands for
# the loss probability of the data.
OWN: Final[Network] = {"access": TABLES, "window": 50, "b": 1, "min_timeout": 0.2}
ALONE: Final[dict[str, Network]] = {
    "35 ms more": {"extra": 0.035},
    "ACKs not assembled": {"assembled": False},
    "initial window 2": {"initial_window": 2},
    "limited transmit": {"limited": True},
    "ticks of 0.1 s": {"tick": 0.1},
    "no growth on exit": {"exit_growth": False},
    "ACKs lost as data": {"ack_loss": "p"},
    "each fibre loses": {"every_link": True},
}
# Setting inferred by the independent prototype, as columns of the table of scores.
INFERRED: Final = {
    "access_kB_s": 125.0,
    "window": 50,
    "b": 1,
    "min_timeout_s": 0.2,
    "more": "",
    "halving": "window",
    "reno_bug_fix": "on",
    "new_reno_timer": "slow-but-steady",
    "sack": "sack1",
}
WORDS: Final = {
    "access_kB_s": "access bandwidth (kB/s)",
    "window": "W_m",
    "b": "b",
    "min_timeout_s": "minimum timeout (s)",
    "more": "what is varied alone",
    "halving": "what is halved",
    "reno_bug_fix": "Reno's bug_fix",
    "new_reno_timer": "New-Reno's timer",
    "sack": "kind of SACK",
}


def networks(quick: bool = False) -> list[tuple[str, Network]]:
    """List the settings of the path: parameter varied alone (empty in the grid), and fields."""
    if quick:
        return [("", OWN), ("", {**OWN, "min_timeout": 1.0})]
    grid = itertools.product(ACCESS, WINDOWS, ACKS, TIMEOUTS)
    found = [("", dict(zip(OWN, values, strict=True))) for values in grid]
    return [*found, *((name, {**OWN, **fields}) for name, fields in ALONE.items())]


def point_of(network: Network, burst: int, p: float, sender: Sender) -> Point:
    """Return the point with bursts of S; fields of the network override those of the sender."""
    fields: Network = {name: p if value == "p" else value for name, value in network.items()}
    time = assembly_time(fields["access"], burst)
    return table_point(burst, p, sender)._replace(**fields, time=time)


def points(quick: bool = False) -> list[Point]:
    """List all points, without repetition."""
    senders = [
        sender._replace(halving=halving)
        for choice in (RENOS, NEW_RENOS, SACKS)
        for sender in choice.values()
        for halving in (HALVINGS[:1] if quick else HALVINGS)
    ]
    found = (
        point_of(network, burst, p, sender)
        for _, network in networks(quick)
        for burst in BURSTS
        for p in TABLE_LOSSES
        for sender in senders
    )
    return list(dict.fromkeys(found))

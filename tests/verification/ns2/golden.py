"""Stored runs of ns-2's TCP agents, and the comparison of another simulator with them."""

from __future__ import annotations

import gzip
import io
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

HERE = Path(__file__).resolve().parent
GOLDEN = HERE / "golden"
AGENTS = ("Tahoe", "Reno", "Newreno", "Sack1")
HEADER = "time_s,event,seq,cwnd,ssthresh"

#: Arguments of ``path.tcl`` in all cases: a path of 0.1 s without queues. A minimum of 0.23 s holds
#: the timeout from the third round trip on, so that it does not depend on ns-2's clock ticks, and
#: no multiple of it meets a multiple of the round trip.
COMMON = {"minrto": "0.23"}

#: The access links of the paper: 8 ms for a segment, so a window of 50 waits in the first queue.
#: The minimum of 1 s holds the timeout there, of 4 s with a window of 200.
SLOW = {"access": "1Mb", "minrto": "1.0"}

FIVE_OF_200 = {"drop": "600-604", "window": "200", "segments": "1000"}

#: Scenarios: the losses, and changes of the path.
SCENARIOS: dict[str, dict[str, str]] = {
    "none": {},
    "none-initial-1": {"initial": "1"},
    "none-slow": {**SLOW},
    "one": {"drop": "40"},
    "one-odd": {"drop": "41"},
    "one-initial-1": {"drop": "40", "initial": "1"},
    "one-slow": {"drop": "40", **SLOW},
    "two": {"drop": "40-41"},
    "three": {"drop": "40-42"},
    "five": {"drop": "40-44"},
    "five-slow": {"drop": "40-44", **SLOW},
    "five-window-20": {"drop": "100-104", "window": "20"},
    "five-window-200": FIVE_OF_200,
    "five-window-200-slow": {**FIVE_OF_200, **SLOW, "minrto": "4.0"},
    "twenty-five-window-40": {"drop": "200-224", "window": "40"},
    "whole-window": {"drop": "100-119", "window": "20"},
    "spread": {"drop": "40 43 46 49 52"},
    "spread-slow": {"drop": "40 43 46 49 52", **SLOW},
    "retransmission": {"drop": "40 40*2"},
    "retransmissions": {"drop": "40 40*2 40*3 40*4"},
    "acknowledgements": {"acks": "40-59"},
    "acknowledgements-of-a-window": {"acks": "101-120", "window": "20"},
}

#: Variants of the agents: arguments, the agents that have them, and in which scenarios.
VARIANTS: dict[str, tuple[dict[str, str], tuple[str, ...], tuple[str, ...]]] = {
    "": ({}, AGENTS, tuple(SCENARIOS)),
    "no-bugfix": (
        {"bugfix": "0"},
        AGENTS,
        (
            "two",
            "three",
            "five",
            "spread",
            "five-window-20",
            "five-window-200-slow",
            "twenty-five-window-40",
        ),
    ),
    "limited-transmit": (
        {"limited": "1"},
        AGENTS,
        ("one", "two", "five", "spread", "five-window-20", "twenty-five-window-40"),
    ),
    "slow-but-steady": (
        {"impatient": "0"},
        ("Newreno",),
        ("two", "three", "five", "five-window-20", "five-window-200", "spread"),
    ),
    "no-deflation": ({"deflation": "0"}, ("Newreno",), ("five", "spread")),
    "whole-segments": ({"precision": "0"}, ("Reno", "Newreno", "Sack1"), ("one-odd", "five")),
}


@dataclass(frozen=True)
class Case:
    """One run of ``path.tcl``: an agent, perhaps with a variant, in a scenario."""

    agent: str
    scenario: str
    variant: str = ""

    @property
    def name(self) -> str:
        """Name of the golden file, without its suffix."""
        return ".".join(filter(None, (self.scenario, self.agent, self.variant)))

    @property
    def parameters(self) -> dict[str, str]:
        """Arguments of ``path.tcl`` that are not its defaults."""
        variant = VARIANTS[self.variant][0]
        return {**COMMON, **SCENARIOS[self.scenario], **variant, "agent": self.agent}

    @property
    def window(self) -> int:
        """Advertised window, in segments."""
        return int(self.parameters.get("window", "50"))

    @property
    def path(self) -> Path:
        """The golden file."""
        return GOLDEN / f"{self.name}.csv.gz"


def cases() -> Iterator[Case]:
    """All runs that have a golden file."""
    for variant, (_, agents, scenarios) in VARIANTS.items():
        for scenario, agent in itertools.product(scenarios, agents):
            yield Case(agent, scenario, variant)


@dataclass(frozen=True)
class Run:
    """The events of one sender: equally long columns, one row for each event, in order.

    `time_s` counts from the first data segment. `event` is ``send``, ``ack`` or ``timeout``. `seq`
    counts data segments from 0; that of an ack is the next segment expected. `cwnd` and `ssthresh`
    are segments, after the event, and `cwnd` is without the inflation by duplicates.
    """

    time_s: npt.NDArray[np.float64]
    event: npt.NDArray[np.str_]
    seq: npt.NDArray[np.int64]
    cwnd: npt.NDArray[np.float64]
    ssthresh: npt.NDArray[np.float64]
    window: int

    @property
    def sent(self) -> list[tuple[float, int, float]]:
        """Each segment sent: time (s), number of the segment, window (segments, at most W)."""
        chosen = self.event == "send"
        usable = np.minimum(self.cwnd[chosen], self.window)
        times, numbers = self.time_s[chosen].tolist(), self.seq[chosen].tolist()
        return list(zip(times, numbers, usable.tolist(), strict=True))

    @property
    def timeouts(self) -> list[float]:
        """Times at which the retransmission timer expired, in seconds."""
        times: list[float] = self.time_s[self.event == "timeout"].tolist()
        return times


def parse(text: str, window: int) -> Run:
    """Read what ``path.tcl`` printed."""
    header, _, body = text.partition("\n")
    if header != HEADER:
        raise ValueError(f"not the output of path.tcl: {header!r}")
    kinds = [("time_s", "f8"), ("event", "U7"), ("seq", "i8"), ("cwnd", "f8"), ("ssthresh", "f8")]
    rows = np.loadtxt(io.StringIO(body), delimiter=",", dtype=kinds, ndmin=1)
    return Run(rows["time_s"], rows["event"], rows["seq"], rows["cwnd"], rows["ssthresh"], window)


def load(case: Case) -> Run:
    """Read the golden file of a case."""
    return parse(gzip.decompress(case.path.read_bytes()).decode(), case.window)


def differences(
    sent: Iterable[tuple[float, int, float]],
    golden: Run,
    *,
    window_tolerance: float = 1e-3,
    time_tolerance_s: float | None = None,
) -> list[str]:
    """Differences of another sender's segments from those of ns-2.

    Parameters
    ----------
    sent
        For each segment sent, in order: time (s; any origin), number of the segment from 0, and
        congestion window (segments, without inflation, after the event that let it be sent).
    golden
        The run of ns-2.
    window_tolerance
        Largest difference of the two windows, each at most the advertised one, in segments.
    time_tolerance_s
        Largest difference of the times since the first segment; None compares no times.

    Returns
    -------
    list of str
        A line for the first segment that is out of order, if there is one, and up to there one for
        each window and each time that differ. Empty: they agree.
    """
    ours, theirs = list(sent), golden.sent
    lines: list[str] = []
    start = ours[0][0] if ours else 0.0
    for i, (mine, other) in enumerate(zip(ours, theirs, strict=False)):
        (time, number, window), (other_time, other_number, other_window) = mine, other
        where = f"send {i}, {other_time:.6f} s in ns-2"
        if number != other_number:
            return [*lines, f"{where}: segment {number}, ns-2 sends {other_number}"]
        if abs(min(window, golden.window) - other_window) > window_tolerance:
            lines.append(f"{where}, segment {number}: window {window:g}, ns-2 has {other_window:g}")
        if time_tolerance_s is not None and abs(time - start - other_time) > time_tolerance_s:
            lines.append(f"{where}, segment {number}: at {time - start:.6f} s")
    if len(ours) != len(theirs):
        lines.append(f"{len(ours)} segments sent, ns-2 sends {len(theirs)}")
    return lines

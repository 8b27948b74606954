"""A history as the table that one would print, and the stored ones.

A row is an event of the sender with its time: `expected` is the segment that the receiver wants
(from 1). Then, in segments, `window` (cwnd) without the `inflation` by duplicates, `threshold`
(ssthresh) and `flight`, all as they are when it is done; its state; and the segments `sent` and
`lost` from then until the next row. Times count from the first segment. In the tables by rounds a
row is a round of 0.1 s, as it is at its end, and `again` are segments sent again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

from scripted.cases import ROUNDS, Case, play
from scripted.history import Heard, History, Sent

GOLDEN = Path(__file__).resolve().parent / "golden"
HEADER = "time_s,event,expected,window,inflation,threshold,flight,state,sent,lost"
ROUNDS_HEADER = "round,window,threshold,state,sent,again,lost"
ROUND_S = 0.1


def ranges(segments: Iterable[int]) -> str:
    """Write 1 2 3 5 as ``1-3 5``, in the order in which they come."""
    runs: list[list[int]] = []
    for segment in segments:
        if runs and segment == runs[-1][-1] + 1:
            runs[-1].append(segment)
        else:
            runs.append([segment])
    return " ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs)


def _between(segments: Iterable[Sent], start: float, end: float) -> str:
    return ranges(each.segment for each in segments if start <= each.time_s < end)


def _windows(heard: Heard) -> str:
    return f"{heard.window:.6g},{heard.inflation:.6g},{heard.threshold:.6g},{heard.flight:.6g}"


def events(history: History) -> Iterator[str]:
    """Return a row for each event, with the segments sent and lost from then until the next."""
    yield HEADER
    ends = [heard.time_s for heard in history.heard[1:]] + [float("inf")]
    for heard, end in zip(history.heard, ends, strict=True):
        # The window opens when the answer to the SYN arrives; the data follows an ACK.
        start = heard.time_s
        sent, lost = (_between(each, start, end) for each in (history.sent, history.lost))
        told = f"{heard.event},{heard.expected},{_windows(heard)},{heard.state}"
        # Zero has no sign.
        yield f"{round(start, 6) + 0.0:.6f},{told},{sent},{lost}"


def rounds(history: History) -> Iterator[str]:
    """Return a row for each round trip: the sender's state at its end, and the segments sent."""
    yield ROUNDS_HEADER
    last = int(history.heard[-1].time_s / ROUND_S)
    edges = [i * ROUND_S - ROUND_S / 10 for i in range(last + 2)]
    for number, (start, end) in enumerate(pairwise(edges)):
        heard = [each for each in history.heard if each.time_s < end][-1]
        sent = [each for each in history.sent if start <= each.time_s < end]
        fresh = ranges(each.segment for each in sent if not each.again)
        again = ranges(each.segment for each in sent if each.again)
        yield (
            f"{number},{heard.window:.6g},{heard.threshold:.6g},{heard.state},{fresh},{again},"
            f"{_between(history.lost, start, end)}"
        )


def table(case: Case, flavour: str) -> str:
    """Run a case and give its table."""
    if case is ROUNDS:
        rows = rounds(play(case, flavour, initial_window=1))
    else:
        rows = events(play(case, flavour))
    return "".join(f"{row}\n" for row in rows)


def stored() -> dict[tuple[str, str], Path]:
    """Find the table of each case and flavour; flavours that do the same have one together."""
    found = {}
    for file in GOLDEN.iterdir():
        case, flavours, _ = file.name.split(".")
        found.update({(case, flavour): file for flavour in flavours.split("+")})
    return found

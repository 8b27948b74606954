"""Our sender in the cases of ns-2, and the differences of the two."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

from scripted.history import History, history
from senders import sender

from lightburst.scenario import Scenario
from lightburst.simulation.simulate import run
from ns2.golden import Case, Run

RECOVERIES = {"Tahoe": "tahoe", "Reno": "reno", "Newreno": "new-reno", "Sack1": "sack1"}
#: Of `path.tcl`.
DEFAULTS = {
    "segments": "300",
    "initial": "2",
    "drop": "",
    "acks": "",
    "bugfix": "1",
    "limited": "0",
    "impatient": "1",
}
WINDOW_TOLERANCE = 1e-3
#: An acknowledgement with SACK blocks is longer by 8 bytes for each in ns-2; ours are all equal.
#: That is 64 us at 1 Mb/s, for each of three blocks, and for each such acknowledgement in a row.
TIME_TOLERANCE_S = 5e-4


def _drops(given: dict[str, str]) -> list[dict[str, Any]]:
    """Read the losses of `path.tcl`, which counts segments from 0 and leaves out the SYN+ACK."""
    drops: list[dict[str, Any]] = []
    for word in given["drop"].split():
        span, _, transmission = word.partition("*")
        first, _, last = span.partition("-")
        segments = [int(first) + 1, int(last or first) + 1]
        drops.append({"segments": segments, "transmission": int(transmission or 1)})
    for word in given["acks"].split():
        first, _, last = word.partition("-")
        drops.append({"acknowledgements": [int(first) + 1, int(last) + 1]})
    return drops


def transport(case: Case) -> dict[str, Any]:
    """Return the settings with which our sender is closest to that of ns-2."""
    given = DEFAULTS | case.parameters
    return {
        "kind": "tcp",
        "recovery": RECOVERIES[case.agent],
        "segment_size": "1 kB",
        "control_size": "40 B",
        "advertised_window": case.window,
        "initial_window": int(given["initial"]),
        "acknowledge_every": 1,
        "initial_timeout": "3 s",
        "min_timeout": f"{given['minrto']} s",
        "clock_granularity": "10 ms",
        "halving": "window",
        "window_growth_on_exit": True,
        "full_acknowledgement": "ssthresh",
        "bug_fix": given["bugfix"] == "1",
        "limited_transmit": given["limited"] == "1",
        "partial_acknowledgement": "impatient" if given["impatient"] == "1" else "slow-but-steady",
        "sack_blocks": 3,
        "duplicate_sack": False,
    }


def scenario(case: Case, **changes: Any) -> Scenario:
    """Give the scenario of a case, its transport with changes."""
    given = DEFAULTS | case.parameters
    access = "10 Gb/s" if given.get("access", "10Gb") == "10Gb" else "1 Mb/s"
    size = {"kind": "constant", "value": f"{given['segments']} kB"}
    return Scenario.from_dict(
        {
            "topology": {"kind": "obs-path", "access_rate": access, "fibre_rate": "10 Gb/s"},
            "switching": {"kind": "electronic", "queue_size": "unlimited"},
            "loss": {"drops": _drops(given)},
            "transport": sender(**transport(case) | changes),
            "workload": {"kind": "pairs", "size": size},
            "measurement": {"time_limit": "100 s", "trace": [0]},
        }
    )


def play(case: Case, **changes: Any) -> History:
    """Run a case; all scripted losses must happen."""
    result = run(scenario(case, **changes), seed=1)
    assert result.warnings == ()
    return history(result)


def differences(ours: History, theirs: Run) -> list[str]:
    """Return the first difference of each kind between our sender and ns-2's.

    Compared are the order of the segments sent, the times at which their transmissions began
    (unless they had to wait for the interface: ns-2 has the times of their hand-over), the events
    (acknowledgements by number, and timeouts) with their order and times, and after each both
    windows, up to the advertised one. Times count from the first data segment.
    """
    return [
        line
        for line in (_order(ours, theirs), *_heard(ours, theirs), _transmissions(ours, theirs))
        if line
    ]


def _order(ours: History, theirs: Run) -> str:
    pairs = zip_longest(
        (s.segment - 1 for s in ours.sent), (number for _, number, _ in theirs.sent)
    )
    for place, (mine, other) in enumerate(pairs):
        if mine != other:
            return f"send {place} is segment {mine}, ns-2's {other}"
    return ""


def _transmissions(ours: History, theirs: Run) -> str:
    pairs = list(zip(ours.sent, theirs.sent, strict=False))
    waited = any(abs(mine.time_s - other[0]) > TIME_TOLERANCE_S for mine, other in pairs[:60])
    if waited or _order(ours, theirs):
        return ""
    late = [
        f"segment {mine.segment - 1} is sent at {mine.time_s:.2f} s, ns-2's at {other[0]:.2f} s"
        for mine, other in pairs
        if abs(mine.time_s - other[0]) > TIME_TOLERANCE_S
    ]
    return f"{late[0]}, and {len(late) - 1} more" if late else ""


def _heard(ours: History, theirs: Run) -> list[str]:
    chosen = theirs.event != "send"
    columns = (theirs.time_s, theirs.event, theirs.seq, theirs.cwnd, theirs.ssthresh)
    rows = list(zip(*(column[chosen].tolist() for column in columns), strict=True))
    window, time = "", ""
    # The first is the answer to the SYN, which ns-2's runs leave out.
    for place, (mine, other) in enumerate(zip(ours.heard[1:], rows, strict=False)):
        moment, event, expected, *windows = other
        if (mine.event == "timeout", mine.expected - 1) != (event == "timeout", expected):
            return [time, window, f"{mine.event} {mine.expected - 1}, ns-2's {event} {expected}"]
        for name, own, value in zip(
            ("cwnd", "ssthresh"), (mine.window, mine.threshold), windows, strict=True
        ):
            own, value = min(own, theirs.window), min(value, theirs.window)
            if abs(own - value) > WINDOW_TOLERANCE and not window:
                window = f"{name} {own:g} at {event} {expected} ({place}), ns-2's {value:g}"
        if abs(mine.time_s - moment) > TIME_TOLERANCE_S and not time:
            time = f"{event} {expected} comes at {mine.time_s:.2f} s, ns-2's at {moment:.2f} s"
    if len(rows) != len(ours.heard) - 1:
        return [time, window, f"{len(ours.heard) - 1} heard, ns-2's {len(rows)}"]
    return [time, window]

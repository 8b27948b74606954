"""Recorded cases of the kernel, replayed to the core's sender."""

from __future__ import annotations

import json
import math
from typing import Any

from lightburst import _core
from lightburst.compile.settings import transport_settings
from lightburst.scenario.transport import Tcp
from linux.recorded import Row, Stamps, events, options
from linux.state import Options

MICROSECOND = 10**6
"""Picoseconds."""
MINUTE = 60 * 10**12
LAWS = {"reno": "linux-reno", "cubic": "linux-cubic", "bbr": "bbr1"}
"""Law of the core for each of the kernel."""


def transport(case: Row, name: str) -> Tcp:
    """The transport whose settings are those of a recorded case."""
    given: Options = options(case)
    law: dict[str, Any] = {"kind": LAWS[case["cc"]]}
    if name.endswith("no-hystart"):
        law["hystart"] = False
    window = (case["window"] << (case["wscale"] or 0)) // case["mss"]
    return Tcp.model_validate(
        {
            "preset": "linux",
            "congestion_control": law,
            "recovery": {
                "kind": "rack-tlp",
                "sack": given.sack,
                "sack_blocks": 3,
                "duplicate_threshold": given.reordering,
                "reordering_threshold": not given.recovery & 4,
                "static_reordering_window": bool(given.recovery & 2),
                "tail_loss_probe": given.early_retransmit in (3, 4),
                "frto": given.frto,
                "restart_after_idle": given.slow_start_after_idle,
                "pacing": given.pacing or case["cc"] == "bbr",
            },
            "timestamps": given.timestamps,
            "ecn": given.ecn,
            "segment_size": f"{given.mss + given.header} B",
            "header_size": f"{given.header} B",
            "initial_window": given.initial_window,
            "advertised_window": window,
        }
    )


def capture(
    recorded: Row, seed: int = 0, phase_us: int = 0
) -> tuple[dict[str, Any], list[int | None]]:
    """A recorded case as the core reads it, and the number of the acknowledgement of each event.

    All events come `phase_us` later after the handshake, from which the core counts its ticks.
    """
    case = recorded["case"]
    sender = transport(case, recorded["id"])
    mss, written = sender.payload, 0
    stamps = Stamps(recorded).echoed if case["timestamps"] else {}
    rows: list[dict[str, Any]] = []
    numbers: list[int | None] = []
    for when, what in events(recorded):
        row: dict[str, Any] = {"at_ps": (when + phase_us) * MICROSECOND}
        if isinstance(what, int):
            written += what
            row["written"] = written * mss
            numbers.append(None)
        else:
            row["acknowledgement"] = what["upto"] * mss
            row["blocks"] = [[(first - 1) * mss, last * mss] for first, last in what["sack"]]
            row["echo"] = bool(what.get("ece", False)) and case["ecn"]
            if (stamp := stamps.get(what["i"])) is not None:
                row["timestamp_ps"] = stamp * 1000 * MICROSECOND
            numbers.append(what["i"])
        rows.append(row)
    handshake = next(row["min_rtt"] for row in recorded["log"] if "min_rtt" in row)
    return {
        "transport": transport_settings(sender),
        "handshake_ps": handshake * MICROSECOND,
        "end_ps": rows[-1]["at_ps"] + MINUTE,
        "seed": seed,
        "events": rows,
    }, numbers


def replay(recorded: Row, seed: int = 0, phase_us: int = 0) -> list[Row]:
    """Log of the core's sender that hears the acknowledgements of a recorded case.

    Rows as in the recording; segments that a timer sends after the last event are left out.
    """
    given, numbers = capture(recorded, seed, phase_us)
    mss = given["transport"]["segment_bytes"] - given["transport"]["header_bytes"]
    found = _core.replay(json.dumps(given))
    last = given["events"][-1]["at_ps"]
    times = [event["at_ps"] for event in given["events"]]
    log: list[tuple[int, int, Row]] = []
    sent: dict[int, int] = {}
    for row in found["transmissions"]:
        if row["at_ps"] > last:
            break
        segment = row["sequence"] // mss + 1
        sent[segment] = sent.get(segment, 0) + 1
        event = row["event"]
        cause = "timer" if event is None else numbers[event] or "write"
        log.append(
            (row["at_ps"], 2, {"ev": "tx", "seg": segment, "nth": sent[segment], "cause": cause})
        )
    for row in found["states"]:
        ssthresh = row["ssthresh"]
        state = {
            "ca_state": row["state"],
            "ssthresh": None if math.isinf(ssthresh) else round(ssthresh / mss),
            "cwnd": round(row["cwnd"] / mss),
            "sacked": row["sacked"],
            "lost": row["lost"],
            "retrans": row["retransmitted"],
            "reordering": row["reordering"],
            "delivered": row["delivered"],
            "unacked": row["outstanding"],
        }
        if "bandwidth" in row:
            state |= {
                "bbr_bw": row["bandwidth"],
                "bbr_min_rtt": row["min_rtt_ps"] // MICROSECOND,
                "pacing_rate": row["pacing_rate"],
                "pacing_gain": round(row["pacing_gain"] * 256),
                "cwnd_gain": round(row["cwnd_gain"] * 256),
            }
        # The state right after an acknowledgement includes the segments that it releases.
        log.append((times[row["event"]], 3, {"ev": "ack", "i": numbers[row["event"]], **state}))
    return [row for *_, row in sorted(log, key=lambda one: one[:1])]

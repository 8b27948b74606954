"""Recorded cases of the kernel, written as scripts of packetdrill."""

from __future__ import annotations

from collections.abc import Iterator

from linux.recorded import Row, Stamps, events
from linux.state import STATES

OPEN = """\
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 65535 <{offered}>
+0 > S. 0:0(0) ack 1 <...>
+{handshake} < . 1:1(0) ack 1 win {window}{stamp}
+0 accept(3, ..., ...) = 4
"""
ASSERTED = {
    "ca_state": "ca_state",
    "ssthresh": "snd_ssthresh",
    "cwnd": "snd_cwnd",
    "sacked": "sacked",
    "lost": "lost",
    "retrans": "retrans",
    "reordering": "reordering",
    "delivered": "delivered",
    "unacked": "unacked",
}
INFINITE = 0x7FFF_FFFF


def convertible(recorded: Row) -> bool:
    """Whether a case was the same in all repeats, and what the script would say of it is short."""
    stable = recorded["stable"]
    sure = all(stable[name] for name in ("order", "cause", "retransmissions"))
    return sure and len(recorded["log"]) < 330 and not recorded["id"].endswith("no-hystart")


def script(recorded: Row) -> str:
    """A script that hears the acknowledgements of a case, and expects its segments and states."""
    return "\n".join([*_head(recorded), *_body(recorded)])


def _head(recorded: Row) -> Iterator[str]:
    case = recorded["case"]
    settings = {
        "tcp_congestion_control": case["cc"],
        "tcp_ecn": 2 * case["ecn"],
        **{key.removeprefix("net.ipv4."): value for key, value in case["sysctl"].items()},
    }
    words = " ".join(f"net.ipv4.{key}={value}" for key, value in settings.items())
    yield f"`sysctl -q {words}`"
    if case["initcwnd"]:
        yield f"`ip route replace 192.0.2.0/24 dev tun0 initcwnd {case['initcwnd']}`"
    if case["pacing"]:
        yield "`tc qdisc replace dev tun0 root fq`"
    options = [f"mss {case['mss']}", f"wscale {case['wscale'] or 0}"]
    options += ["sackOK"] if case["sack"] else []
    options += ["TS val 1 ecr 0"] if case["timestamps"] else []
    handshake = next(row["min_rtt"] for row in recorded["log"] if "min_rtt" in row)
    opening = OPEN.format(
        offered=",".join(options),
        handshake=f"{handshake / 1e6:.6f}",
        window=case["window"],
        stamp=" <TS val 1 ecr 0>" if case["timestamps"] else "",
    )
    yield opening.replace("< S ", "< SEW ").replace("> S.", "> SE.") if case["ecn"] else opening


def _body(recorded: Row) -> Iterator[str]:
    """The events in their order: what is heard, what is expected of it, and the state after it."""
    case = recorded["case"]
    mss = case["mss"] - (12 if case["timestamps"] else 0)
    stamps = Stamps(recorded).echoed if case["timestamps"] else {}
    start = next(row["min_rtt"] for row in recorded["log"] if "min_rtt" in row)
    items: list[tuple[int, int, str]] = []
    times: dict[object, int] = {}
    for when, what in events(recorded):
        if isinstance(what, int):
            text = f"write(4, ..., {what * mss}) = {what * mss}"
        else:
            times[what["i"]] = when
            text = _heard(what, mss, case["window"], stamps.get(what["i"]))
            items.append((when, 2, _state(what, recorded["stable"])))
        items.append((when, 0, text))
    last = items[-1][0]
    told = _answers(recorded)
    for number, row in enumerate(recorded["log"]):
        if row["ev"] != "tx" or row["t"] > last:
            continue
        first = (row["seg"] - 1) * mss + 1
        stamp = f" <nop,nop,TS val {row['t'] // 1000 + 1000} ecr 1>" if stamps else ""
        flags = "W." if number in told else "."
        text = f"> {flags} {first}:{first + mss}({mss}) ack 1{stamp}"
        items.append((times.get(row["cause"], row["t"]), 1, text))
    for when, _, text in sorted(items, key=lambda one: one[:2]):
        yield f"{(when + start) / 1e6:.6f} {text}"


def _answers(recorded: Row) -> set[int]:
    """Rows of the segments with CWR: the first new one after each reduction (RFC 3168, 6.1.2)."""
    found: set[int] = set()
    reduced, before = False, "Open"
    for number, row in enumerate(recorded["log"] if recorded["case"]["ecn"] else []):
        if row["ev"] == "ack" and "ca_state" in row:
            reduced |= before in ("Open", "Disorder") and row["ca_state"] in ("CWR", "Recovery")
            before = row["ca_state"]
        elif row["ev"] == "tx" and reduced and row["nth"] == 1:
            found.add(number)
            reduced = False
    return found


def _heard(row: Row, mss: int, window: int, stamp: int | None) -> str:
    sack = " ".join(f"{(a - 1) * mss + 1}:{b * mss + 1}" for a, b in row["sack"])
    options = [f"sack {sack}"] if sack else []
    options += [] if stamp is None else [f"TS val 1 ecr {stamp + 1000}"]
    given = f" <{','.join(options)}>" if options else ""
    flags = "E." if row.get("ece") else "."
    return f"< {flags} 1:1(0) ack {row['upto'] * mss + 1} win {window}{given}"


def _state(row: Row, stable: Row) -> str:
    values = {
        **row,
        "ca_state": STATES.index(row["ca_state"]),
        "ssthresh": INFINITE if row["ssthresh"] is None else row["ssthresh"],
    }
    parts = [f"tcpi_{name} == {values[key]}" for key, name in ASSERTED.items() if stable[key]]
    return f"%{{ assert {' and '.join(parts)} }}%"

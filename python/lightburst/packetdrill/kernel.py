"""The kernel of a script: settings, and the transport of a connection that they give."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from lightburst.packetdrill.marking import MOST, Mode
from lightburst.packetdrill.script import Options
from lightburst.packetdrill.shell import DEFAULTS
from lightburst.scenario.transport import Tcp

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lightburst.packetdrill.script import Packet

LARGEST_SEGMENT: Final = 1460
"""MSS of the host: that of an Ethernet."""
_STAMPS: Final = 12
_HEADERS: Final = 40
LAWS: Final[Mapping[str, str]] = {"cubic": "linux-cubic", "reno": "linux-reno", "dctcp": "dctcp"}
"""Window laws by their names in the kernel."""
_LEAST_SEGMENT: Final = 88
_NUMBERS: Final = tuple(sorted(set(DEFAULTS) - {"tcp_congestion_control", "qdisc"}))
_RANGES: Final[Mapping[str, tuple[int, int]]] = {
    "initial_window": (1, 10_000),
    "tcp_ecn": (0, MOST),
    "tcp_reordering": (1, 300),
    "tcp_rto_min_us": (1_000, 100_000_000),
}


@dataclass
class Kernel:
    """Settings of the host and of a socket, by their names in the kernel."""

    settings: dict[str, str] = field(default_factory=lambda: dict(DEFAULTS))
    law: str | None = None
    largest_segment: int = LARGEST_SEGMENT

    def wrong(self) -> tuple[str, str, str] | None:
        """Return a setting whose value has no meaning here: name, value and what it may be."""
        law = self.settings["tcp_congestion_control"]
        if law not in LAWS:
            return "tcp_congestion_control", law, ", ".join(LAWS)
        for name in _NUMBERS:
            value = self.settings[name]
            least, most = _RANGES.get(name, (0, 255))
            if not re.fullmatch(r"[0-9]{1,9}", value) or not least <= int(value) <= most:
                return name, value, f"a number from {least} to {most}"
        if self.number("hystart_detect") not in (0, 3):
            return "hystart_detect", self.settings["hystart_detect"], "0 or 3"
        return None

    def number(self, name: str) -> int:
        """Return a setting."""
        return int(self.settings[name])

    def offers(self) -> dict[str, bool]:
        """Return the options that the kernel agrees to."""
        return {
            "sack_permitted": self.number("tcp_sack") > 0,
            "window_scale": self.number("tcp_window_scaling") > 0,
            "timestamp": self.number("tcp_timestamps") > 0,
        }


@dataclass(frozen=True)
class Agreed:
    """What both ends agreed to in the handshake.

    Attributes
    ----------
    segment : int
        Payload of a full segment.
    sack, timestamps, scaled : bool
        Options.
    ecn : str
        Congestion notification.
    shift : int
        Window scale of the other end.
    """

    segment: int
    sack: bool
    timestamps: bool
    ecn: Mode
    scaled: bool
    shift: int


def agree(kernel: Kernel, syn: Packet, ecn: Mode) -> Agreed:
    """Return what the kernel and a SYN, or a SYN that acknowledges, agree to."""
    options = syn.options
    assert options is not None
    offers = kernel.offers()
    timestamps = offers["timestamp"] and options.timestamp is not None
    # RFC 9293, section 3.7.1: 536 bytes without the option.
    mss = max(min(options.mss or 536, kernel.largest_segment), _LEAST_SEGMENT)
    scaled = offers["window_scale"] and options.window_scale is not None
    return Agreed(
        segment=mss - (_STAMPS if timestamps else 0),
        sack=offers["sack_permitted"] and options.sack_permitted,
        timestamps=timestamps,
        ecn=ecn,
        scaled=scaled,
        shift=(options.window_scale or 0) if scaled else 0,
    )


def answer(kernel: Kernel, syn: Options | None) -> Options:
    """Return the options of the kernel's SYN: all that it offers, or those that a SYN offered."""
    offers = kernel.offers()
    if syn is not None:
        offers["sack_permitted"] &= syn.sack_permitted
        offers["window_scale"] &= syn.window_scale is not None
        offers["timestamp"] &= syn.timestamp is not None
    return Options(
        mss=kernel.largest_segment,
        sack_permitted=offers["sack_permitted"],
        window_scale=0 if offers["window_scale"] else None,
        timestamp=(0, 0) if offers["timestamp"] else None,
    )


def transport(kernel: Kernel, agreed: Agreed) -> Tcp:
    """Return the transport of a sender with these settings."""
    header = _HEADERS + (_STAMPS if agreed.timestamps else 0)
    law: dict[str, Any] = {"kind": LAWS[kernel.law or kernel.settings["tcp_congestion_control"]]}
    if law["kind"] == "linux-cubic":
        law["hystart"] = kernel.number("hystart") > 0 and kernel.number("hystart_detect") > 0
    recovery = kernel.number("tcp_recovery")
    return Tcp.model_validate(
        {
            "kind": "tcp",
            "preset": "linux",
            "congestion_control": law,
            "recovery": {
                "kind": "rack-tlp",
                "sack": agreed.sack,
                "duplicate_threshold": kernel.number("tcp_reordering"),
                "reordering_threshold": not recovery & 4,
                "static_reordering_window": bool(recovery & 2),
                "tail_loss_probe": kernel.number("tcp_early_retrans") in (3, 4),
                "frto": kernel.number("tcp_frto") > 0,
                "restart_after_idle": kernel.number("tcp_slow_start_after_idle") > 0,
                "pacing": kernel.settings["qdisc"] == "fq",
            },
            "timestamps": agreed.timestamps,
            "ecn": {"none": False, "classic": True}.get(agreed.ecn, agreed.ecn),
            "segment_size": f"{agreed.segment + header} B",
            "header_size": f"{header} B",
            "initial_window": kernel.number("initial_window"),
            "min_timeout": f"{kernel.number('tcp_rto_min_us')} us",
        }
    )

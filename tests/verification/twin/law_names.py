"""The window laws of `tcp` by name."""

from typing import Any

from twin.bbr import Bbr1
from twin.bbr3 import Bbr3
from twin.coupled import Lia, Olia
from twin.law import Law
from twin.laws import (
    Cubic,
    Dctcp,
    Fast,
    HighSpeed,
    HyStartPlusPlus,
    Reno,
    Scalable,
    StopAndWait,
    Vegas,
)
from twin.linux_laws import LinuxCubic, LinuxReno

LAWS: dict[str, type[Law]] = {
    "bbr1": Bbr1,
    "bbr3": Bbr3,
    "cubic": Cubic,
    "dctcp": Dctcp,
    "fast": Fast,
    "highspeed": HighSpeed,
    "lia": Lia,
    "linux-cubic": LinuxCubic,
    "linux-reno": LinuxReno,
    "olia": Olia,
    "reno": Reno,
    "scalable": Scalable,
    "stop-and-wait": StopAndWait,
    "vegas": Vegas,
}


def law_of(transport: dict[str, Any], m: int) -> Law:
    """The law of a transport, with the rule for its first slow start."""
    settings = transport["congestion_control"]
    law = LAWS[settings["kind"]]
    if settings.get("slow_start", {}).get("kind") == "hystart++":
        law = type(f"HyStartPlusPlus{law.__name__}", (HyStartPlusPlus, law), {})
    return law(transport, m)

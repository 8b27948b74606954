"""Event-by-event trace of one flow: tables, and captures for other tools such as Wireshark.

The other way round, recorded acknowledgements are replayed to a sender.
"""

from lightburst.trace.flow import FlowTrace
from lightburst.trace.packets import Capture, capture
from lightburst.trace.pcapng import write
from lightburst.trace.replay import Acknowledgement, Replay, Write, replay

__all__ = [
    "Acknowledgement",
    "Capture",
    "FlowTrace",
    "Replay",
    "Write",
    "capture",
    "replay",
    "write",
]

"""Event-by-event trace of one flow: tables, and captures for other tools such as Wireshark."""

from lightburst.trace.flow import FlowTrace
from lightburst.trace.packets import Capture, capture
from lightburst.trace.pcapng import write

__all__ = ["Capture", "FlowTrace", "capture", "write"]

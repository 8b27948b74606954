"""What one flow did, event by event: its tables, and a capture for other people's tools."""

from lightburst.trace.flow import FlowTrace
from lightburst.trace.packets import Capture, capture
from lightburst.trace.pcapng import write

__all__ = ["Capture", "FlowTrace", "capture", "write"]

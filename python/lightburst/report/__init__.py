"""Saved results: papers run again, and offline pages of anything that was saved."""

from __future__ import annotations

from lightburst.report.reproduction import Reproduction, reproduce

__all__ = ["Reproduction", "reproduce"]

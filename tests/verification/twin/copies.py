"""Packets that travel on two paths at once, until their egress selects a copy."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from twin.units import Packet

if TYPE_CHECKING:
    from twin.link import Link
    from twin.network import Network
    from twin.rules import Cause
    from twin.units import Unit


class Copies:
    """The copies of one run: both have the serial number of their packet, and a label each."""

    def __init__(self, network: Network) -> None:
        self.network = network
        # Labels of the copies in the network, and of the one that the egress has selected.
        self.labels: dict[int, set[int]] = {}
        self.selected: dict[int, int] = {}
        self.causes: dict[int, Cause] = {}
        self.created = 0
        self.ended = 0
        self.unselected = 0

    def at_switch(self, unit: Unit, link: Link) -> list[Unit]:
        """What a switch takes of a unit that arrives: both copies, the one or nothing."""
        rule, network = self.network.labels, self.network
        if not isinstance(unit, Packet) or not rule.protects:
            return [unit]
        if not rule.duplicates:
            from_host = link.source < network.hosts
            label = rule.selected(unit, network.events.now) if from_host else unit.label
            return [replace(unit, label=label)]
        if rule.number(unit) < 2:
            return [unit]
        if link.source < network.hosts:
            self.created += 1
            self.labels[unit.serial] = {0, 1}
            return [unit, replace(unit, label=1)]
        if link.target != rule.pair(unit)[1]:
            return [unit]
        wanted = unit.label == rule.selected(unit, network.events.now)
        if wanted and unit.serial not in self.selected:
            self.selected[unit.serial] = unit.label
            return [unit]
        self.unselected += 1
        if not self.goes_on(unit, None):
            here: Cause = "not-selected", link.target, link.index, None, None
            reason, node, wanted_link, on, begins = self.causes.get(unit.serial, here)
            network.end(unit)
            what = f"drop {reason}"
            network.note(what, node, unit, on, wanted=wanted_link, begins=begins)
        return []

    def goes_on(self, unit: Unit, cause: Cause | None) -> bool:
        """End a copy, if the packet goes on in the other one; whether it does."""
        if not isinstance(unit, Packet) or unit.serial not in self.labels:
            return False
        here = self.labels[unit.serial]
        selected = self.selected.get(unit.serial)
        if selected == unit.label or (selected is None and len(here) == 1):
            return False
        here.remove(unit.label)
        self.ended += 1
        if selected is None and cause is not None:
            self.causes[unit.serial] = cause
        return True

    def totals(self) -> dict[str, int]:
        """The numbers of copies; none without."""
        if not self.network.labels.duplicates:
            return {}
        return {
            "copies_created": self.created,
            "copies_in_flight": self.created - self.ended,
            "copies_unselected": self.unselected,
        }

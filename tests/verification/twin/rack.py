"""RACK-TLP as a recovery: the state of the model, as the rest of the twin asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linux.state import LOSS, RECOVERY

from twin.recovery import Recovery

if TYPE_CHECKING:
    from linux.state import State


class RackTlp(Recovery):
    """A recovery whose decisions are those of the model."""

    @property
    def recovering(self) -> bool:
        return self.machine is not None and self.machine.ca_state == RECOVERY

    @recovering.setter
    def recovering(self, value: bool) -> None:
        pass

    @property
    def in_loss(self) -> bool:
        return self.machine is not None and self.machine.ca_state == LOSS

    @property
    def machine(self) -> State | None:
        """The model, once there is one."""
        return getattr(self.sender, "machine", None)

    def newly_lost(self) -> int:
        assert self.machine is not None
        lost, self.lost_bytes = self.machine.lost - self.lost_bytes, self.machine.lost
        return lost * self.m

"""``[transport]``: transmission of a flow's data; one file per family."""

from typing import Annotated

from pydantic import Field

from lightburst.scenario.transport.base import BaseTransport, Connection
from lightburst.scenario.transport.open_loop import OPEN_LOOP, Bursts, Datagram, OpenLoop
from lightburst.scenario.transport.rdma import Rdma
from lightburst.scenario.transport.stop_and_wait import Saw, Sawl
from lightburst.scenario.transport.tcp import Tcp

Transport = Annotated[Saw | Sawl | Tcp | Rdma | Datagram | Bursts, Field(discriminator="kind")]

__all__ = [
    "OPEN_LOOP",
    "BaseTransport",
    "Bursts",
    "Connection",
    "Datagram",
    "OpenLoop",
    "Rdma",
    "Saw",
    "Sawl",
    "Tcp",
    "Transport",
]

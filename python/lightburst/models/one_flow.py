"""Input of the theory of TCP from a scenario: one flow over one path with random loss.

This module connects scenarios and closed forms, which do not depend on each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from lightburst.compile import compile_plan
from lightburst.foundation.errors import InputError, combine
from lightburst.foundation.units import BITS_PER_BYTE, PICOSECONDS_PER_SECOND, format_size
from lightburst.scenario.tables.topology import ObsPath
from lightburst.scenario.tables.workload import Pairs
from lightburst.scenario.transport import Tcp

if TYPE_CHECKING:
    from lightburst.scenario import Scenario
    from lightburst.scenario.tables.workload import Workload
    from lightburst.scenario.transport import Transport

# Flavour of the theory for each recovery of a scenario.
Flavour = Literal["sack", "new-reno", "reno"]
FLAVOURS: Final[Mapping[str, Flavour]] = {
    "sack": "sack",
    "sack1": "sack",
    "new-reno": "new-reno",
    "reno": "reno",
}


@dataclass(frozen=True, slots=True)
class OneFlow:
    """One TCP flow and its path, in SI units.

    Attributes
    ----------
    transport : Tcp
        Sender of the flow.
    loss : float
        Probability that a unit on fibres (a burst, or a packet) is lost on its path.
    round_trip_s : float
        Propagation time there and back, without transmission times.
    transmission_s : float
        Sum of the transmission times of a full segment on all links there, and of its
        acknowledgement on all links back.
    rate_bps : float
        Rate of the slowest link there.
    flavour : {"sack", "new-reno", "reno"}
        ``"sack"``, ``"new-reno"`` or ``"reno"``.
    """

    transport: Tcp
    loss: float
    round_trip_s: float
    transmission_s: float
    rate_bps: float
    flavour: Flavour

    @property
    def useful_bits(self) -> int:
        """Useful bits of a full segment: converts segments a second to bits a second."""
        return BITS_PER_BYTE * self.transport.payload

    def timeout_s(self, round_trip_s: float) -> float:
        """Return the timeout for a constant round trip: one tick more, and at least the minimum."""
        least, tick = (
            held / PICOSECONDS_PER_SECOND
            for held in (self.transport.min_timeout, self.transport.clock_granularity)
        )
        return max(least, round_trip_s + tick)


def one_flow(scenario: Scenario, model: str) -> OneFlow:
    """Read the one flow of a scenario.

    Parameters
    ----------
    scenario : Scenario
        Two hosts and the path between them.
    model : str
        Name of the theory, for messages.

    Returns
    -------
    OneFlow

    Raises
    ------
    InputError
        With each field outside the assumptions of the theory.
    """
    errors = tuple(_outside(scenario, model))
    if errors:
        raise combine(errors)
    (group,) = scenario.flow_groups
    transport = group.transport
    assert isinstance(transport, Tcp)
    assert scenario.loss is not None
    plan = compile_plan(scenario, 1)
    there, delay, rate = _links(plan.links, plan.settings["hosts"])
    fibres = int(there.sum()) - 2
    if fibres < 1:
        given = f"{int(there.sum())} links"
        raise outside(
            "topology.links", given, model, "at least 3: only links between switches lose"
        )
    every = scenario.loss.on == "every-link"
    through = (1 - scenario.loss.probability) ** fibres
    sizes = np.where(there, transport.segment_size, transport.control_size)
    return OneFlow(
        transport,
        1 - through if every else scenario.loss.probability,
        float(delay.sum()) / PICOSECONDS_PER_SECOND,
        float((BITS_PER_BYTE * sizes / rate).sum()),
        float(rate[there].min()),
        FLAVOURS[transport.recovery.kind],
    )


def outside(path: str, given: str, model: str, assumes: str) -> InputError:
    """Build the error for a field outside the assumptions of a theory."""
    return InputError(path, given, f"{assumes} (assumed by {model})")


def _links(
    links: Mapping[str, NDArray[Any]], hosts: int
) -> tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.float64]]:
    """Return for each link of a chain whether it leads there, its delay and its rate.

    Of several wavelengths the first is used. The chain is followed from host 0.
    """
    ends = np.stack([links["from"], links["to"]])
    _, first = np.unique(ends, axis=1, return_index=True)
    source, target = ends[:, first].astype(np.int64)
    following = {
        (int(a), int(b)): place for place, (a, b) in enumerate(zip(source, target, strict=True))
    }
    there = np.zeros(first.size, np.bool_)
    before, here = -1, 0
    while here != hosts - 1:
        here, before = next(b for a, b in following if a == here and b != before), here
        there[following[before, here]] = True
    delay, rate = (links[name][first].astype(np.float64) for name in ("delay_ps", "rate_bps"))
    return there, delay, rate


def _outside(scenario: Scenario, model: str) -> Iterator[InputError]:
    if len(scenario.flow_groups) > 1:
        yield outside("groups", f"{len(scenario.flow_groups)} groups", model, "one flow")
        return
    topology, loss = scenario.topology, scenario.loss
    if topology.kind not in ("obs-path", "path"):
        yield outside(
            "topology.kind", f"'{topology.kind}'", model, "a path of its own for one flow: "
            "'obs-path' or 'path'",
        )  # fmt: skip
    if isinstance(topology, ObsPath) and topology.host_pairs > 1:
        yield outside("topology.host_pairs", str(topology.host_pairs), model, "one flow: 1")
    if loss is None or not 0 < loss.probability < 1:
        given = "nothing" if loss is None else str(loss.probability)
        yield outside("loss.probability", given, model, "a probability above 0 and below 1")
    elif loss.acknowledgement_probability:
        given = str(loss.acknowledgement_probability)
        yield outside(
            "loss.acknowledgement_probability", given, model, "no lost acknowledgements: 0"
        )
    for path in loss.scripts if loss is not None else ():
        yield outside(path, "a script", model, "losses by chance alone")
    (group,) = scenario.flow_groups
    yield from _of_transport(group.transport, group.transport_path, model)
    yield from _of_workload(group.workload, f"{group.path}workload", model)


def _of_transport(transport: Transport, path: str, model: str) -> Iterator[InputError]:
    if not isinstance(transport, Tcp):
        yield outside(f"{path}.kind", f"'{transport.kind}'", model, "'tcp'")
        return
    law, recovery = transport.congestion_control.kind, transport.recovery.kind
    if law != "reno":
        yield outside(
            f"{path}.congestion_control", f"'{law}'", model, "a window that grows by a segment a "
            "round and is halved: 'reno'",
        )  # fmt: skip
    if transport.subflows > 1:
        yield outside(f"{path}.subflows", str(transport.subflows), model, "one window: 1")
    if recovery not in FLAVOURS:
        words = ", ".join(f"'{name}'" for name in FLAVOURS)
        yield outside(f"{path}.recovery", f"'{recovery}'", model, f"one of {words}")
    if transport.access_buffer is not None:
        given = format_size(transport.access_buffer)
        yield outside(f"{path}.access_buffer", given, model, "losses by chance alone: 'unlimited'")


def _of_workload(workload: Workload, path: str, model: str) -> Iterator[InputError]:
    if not isinstance(workload, Pairs):
        yield outside(f"{path}.kind", f"'{workload.kind}'", model, "one flow: 'pairs'")
    if workload.writes is not None:
        yield outside(f"{path}.writes", "writes in parts", model, "data that is always there")

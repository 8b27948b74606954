"""Conversion of a scenario to a flow of yu2004."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lightburst.foundation.errors import combine
from lightburst.foundation.units import PICOSECONDS_PER_SECOND, format_size
from lightburst.models.one_flow import OneFlow, one_flow, outside
from lightburst.models.yu2004.flow import Flow
from lightburst.scenario.switching import Burst
from lightburst.scenario.tables.assembly import Timer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lightburst.foundation.errors import InputError
    from lightburst.scenario import Scenario

_MODEL = "yu2004"


def read(scenario: Scenario) -> tuple[Flow, OneFlow]:
    """Read a scenario as the paper's flow, with the data that the equations do not use.

    Parameters
    ----------
    scenario : Scenario
        One TCP flow over burst switching, whose bursts are cut by a timer and lost by chance.

    Returns
    -------
    flow : Flow
        Flow of shape (). ``lambda`` is the rate of the slowest link over the size of a segment,
        headers included; ``RTT_0`` the propagation time; the timeout that of a constant round trip.
    one : OneFlow
        Flavour of the sender, and useful bits of a segment.

    Raises
    ------
    InputError
        With each field outside the assumptions of the model.
    """
    errors = list(_outside(scenario))
    if errors:
        raise combine(errors)
    one = one_flow(scenario, _MODEL)
    switching, transport = scenario.switching, one.transport
    assert isinstance(switching, Burst)
    assert isinstance(switching.assembly, Timer)
    time_s = switching.assembly.time / PICOSECONDS_PER_SECOND
    flow = Flow(
        loss=one.loss,
        assembly_time_s=time_s,
        access_rate=one.rate_bps / (8 * transport.segment_size),
        round_trip_s=one.round_trip_s,
        timeout_s=one.timeout_s(one.round_trip_s + 2 * time_s),
        window_limit=float(transport.advertised_window),
        rounds_per_increase=float(transport.acknowledge_every),
    )
    return flow, one


def _outside(scenario: Scenario) -> Iterator[InputError]:
    switching = scenario.switching
    if not isinstance(switching, Burst) or any(switching.others()):
        given = f"'{switching.kinds}'"
        yield outside("switching.kind", given, _MODEL, "bursts that are lost by chance: 'burst'")
        return
    if not isinstance(switching.assembly, Timer):
        given = "nothing" if switching.assembly is None else f"'{switching.assembly.kind}'"
        yield outside("switching.assembly.kind", given, _MODEL, "bursts cut by time: 'timer'")
    else:
        for name in ("max_size", "min_size"):
            held = getattr(switching.assembly, name)
            if held is not None:
                path = f"switching.assembly.{name}"
                yield outside(path, format_size(held), _MODEL, "bursts of any size: no limit")
    if not switching.assemble_acknowledgements:
        words = "a round trip of RTT_0 + 2 T_b: true"
        yield outside("switching.assemble_acknowledgements", "false", _MODEL, words)

"""Plans on a grid of time, so that most events have others at their instant."""

from typing import Any

import numpy as np
from plans import GIGABIT, MICROSECOND, Arrays, Plan

from lightburst.scenario.tables.loss import SCRIPTS

#: The transmission time of a packet on any link, of which all delays and times are multiples.
TICK = 12 * MICROSECOND
#: The bytes of each packet, without data too.
PACKET = 1_500


def in_step(plan: Plan, *, scripts: bool = False) -> Plan:
    """The same network with equal links and packets, and flows that start together.

    In other random plans two nodes seldom have an event at one instant. Without `scripts` there are
    none on lossy links: they count over all links together, and only for them the order of the
    events of different nodes matters.
    """
    settings = dict(plan.settings)
    for key in ("switches", "balance"):
        if settings.get(key) is not None:
            settings[key] = _on_grid(settings[key])
    settings["groups"] = [
        {**group, "transport": _transport(group["transport"])} for group in settings["groups"]
    ]
    if settings.get("loss") is not None and not scripts:
        settings["loss"] = {**settings["loss"]} | dict.fromkeys(SCRIPTS, ())
    for switch in settings["switches"]:
        if switch["kind"] == "circuit":
            _room(switch.get("schedule") or switch["scheduler"])
    links = {
        **plan.links,
        "rate_bps": np.full_like(plan.links["rate_bps"], GIGABIT),
        "delay_ps": np.maximum(_ticks(plan.links["delay_ps"]), TICK),
    }
    return plan._replace(settings=settings, links=links, flows=_flows(plan, settings["groups"]))


def _ticks(times: Any) -> Any:
    """Times on the grid, of which only 0 is 0."""
    whole = np.asarray(times, np.uint64)
    return np.where(whole == 0, whole, np.maximum(TICK, (whole + TICK // 2) // TICK * TICK))


def _on_grid(settings: Any) -> Any:
    """The settings with all times in them on the grid."""
    if isinstance(settings, list):
        return [_on_grid(one) for one in settings]
    if not isinstance(settings, dict):
        return settings
    return {
        key: _ticks(value).tolist()
        if key.endswith("_ps") and value is not None
        else _on_grid(value)
        for key, value in settings.items()
    }


def _room(circuits: dict[str, Any]) -> None:
    """Give each slot of circuits time for a packet, and racks time to learn of a circuit."""
    circuits["slot_ps"] += circuits["guard_ps"] + TICK
    if "delay_ps" in circuits:
        # Links have a delay of a few ticks at most.
        circuits["delay_ps"] += 3 * TICK


def _transport(transport: dict[str, Any]) -> dict[str, Any]:
    """The transport with packets of one size, and windows that hold one."""
    payload = PACKET - transport["header_bytes"]
    windows = {
        key: max(transport[key], payload)
        for key in ("initial_window_bytes", "advertised_window_bytes")
        if transport.get(key) is not None
    }
    sizes = {"segment_bytes": PACKET, "control_bytes": PACKET}
    if "packet_bytes" in transport:
        sizes["packet_bytes"] = PACKET // 2
    return {**_on_grid(transport), **sizes, **windows}


def _flows(plan: Plan, groups: list[dict[str, Any]]) -> Arrays:
    """The flows, all from the beginning on; the number of datagrams is unchanged."""
    flows = {**plan.flows, "start_ps": np.zeros_like(plan.flows["start_ps"])}
    if "departures_ps" not in flows:
        return flows
    flows["departures_ps"] = _ticks(flows["departures_ps"])
    group = flows.get("group", np.zeros(len(flows["bytes"]), np.uint16))
    numbers = np.diff(flows["departure_offsets"])
    payloads = [PACKET - groups[i]["transport"]["header_bytes"] for i in group.tolist()]
    sizes = numbers * np.array(payloads, np.uint64)
    flows["bytes"] = np.where(numbers > 0, sizes, flows["bytes"])
    return flows

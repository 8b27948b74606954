"""From the columns that the simulator counts to the figures that a researcher quotes.

Plain NumPy over whole columns, because a study computes one summary for each of its runs: about a
quarter of a millisecond for a thousand flows.
"""

import hashlib
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lightburst import _core
from lightburst.compile import Plan

# A table is a mapping of column names to arrays; "totals" is one of names to whole numbers.
Table = Mapping[str, Any]
Columns = Mapping[str, Table]
FloatArray = NDArray[np.float64]
Metric = float | int | str | None

PS: Final = 1e-12
UNFINISHED: Final = np.uint64(2**64 - 1)
STATUSES: Final = tuple(_core.registry()["statuses"])
DROPS: Final = (
    "dropped_contention",
    "dropped_no_input_port",
    "dropped_buffer_full",
    "dropped_queue_full",
)

# Units that are bursts, and what their assembly took.
BURSTS: Final = ("bursts", "burst_packets", "burst_bytes", "assembly_wait_ps")

# What the model says, in the order in which it is hashed. How many events it took is the engine's
# affair and not in it: an engine that needs fewer gives the same digest.
DIGESTED: Final = {
    "flows": (
        "received_ps",
        "acknowledged_ps",
        "delivered_bytes",
        "transmissions",
        "retransmissions",
        "timeouts",
        "duplicates",
        "drops",
        "status",
    ),
    "links": ("units", "bytes", "busy_ps", "lost"),
    "switches": (
        "arrived",
        "forwarded",
        "buffered",
        "marked",
        *DROPS,
        "oe_bytes",
        "eo_bytes",
        "buffer_max_bytes",
        "buffer_byte_ps",
        *BURSTS,
    ),
    "drops": ("time_ps", "units"),
}


def digest(columns: Columns) -> str:
    """Digest of a result: equal if and only if the model did the same, to the bit.

    Parameters
    ----------
    columns : mapping of str to mapping of str to ndarray
        The tables ``flows``, ``links``, ``switches`` and ``drops`` of a run.

    Returns
    -------
    str
        SHA-256 over name, type and little-endian bytes of the columns of `DIGESTED`, in hex.
    """
    sha = hashlib.sha256()
    for table, name in ((table, name) for table, names in DIGESTED.items() for name in names):
        column = np.asarray(columns[table][name])
        little = np.ascontiguousarray(column, dtype=column.dtype.newbyteorder("<"))
        sha.update(f"{table}.{name}:{little.dtype.str}:{little.size};".encode())
        sha.update(little.data)
    return sha.hexdigest()


def ideal_completion_s(plan: Plan, flows: Table) -> FloatArray:
    """Completion time of each flow if it had the network to itself and no protocol held it back.

    Parameters
    ----------
    plan : Plan
        What was run.
    flows : mapping of str to ndarray, each of shape (flows,)
        ``path_links``, ``path_delay_ps`` and ``path_rate_bps`` of the run.

    Returns
    -------
    ndarray of float, shape (flows,)
        Seconds, from the start to the arrival of the last byte.

    Notes
    -----
    All segments back to back at the rate R of the slowest link of a shortest path, without set-up:
    ``sum(tx_i) + D + hold(max(tx_i))``, with tx the transmission time at R and D the delay of the
    path. Each of the switches on the path
    holds a unit for the switching time, or, if it receives whole units, for another transmission
    (of the largest unit, since the smaller ones catch up behind it). Exact where all links of the
    path have one rate, which those of optical switches always have.

    With bursts each link of a host has its own rate, and the fibres have theirs: a unit is received
    whole at both edges, and only cores hold it for the switching time. Waiting for the assembly of
    a burst is not in it, so that the slowdown has all that the assembly costs.
    """
    switch, transport = plan.settings["switch"], plan.settings["transport"]
    header, control = transport["header_bytes"], transport["control_bytes"]
    payload = transport["segment_bytes"] - header
    size = plan.flows["bytes"].astype(np.int64)
    rate = flows["path_rate_bps"].astype(np.float64)
    delay = flows["path_delay_ps"].astype(np.float64)
    switches = flows["path_links"].astype(np.float64) - 1

    def transmission(wire: NDArray[np.int64] | int, at: FloatArray = rate) -> FloatArray:
        return np.asarray(np.ceil(8e12 * np.maximum(wire, control) / at), dtype=np.float64)

    def hold(wire: NDArray[np.int64] | int) -> FloatArray:
        if switch["kind"] == "electronic":
            return np.asarray(switches * transmission(wire))
        if switch["kind"] != "burst":
            return np.asarray(switches * switch["switching_time_ps"])
        others = sum(transmission(wire, at) for at in _rates_with_bursts(plan, flows))
        cores = np.maximum(switches - 2, 0)
        return np.asarray(others - transmission(wire) + cores * switch["switching_time_ps"])

    full, rest = np.divmod(size, payload)
    full_tx, rest_tx = transmission(payload + header), transmission(rest + header)
    total = full * full_tx + np.where(rest > 0, rest_tx, 0.0)
    ideal = total + delay + hold(np.where(full > 0, payload, rest) + header)
    return np.asarray(ideal * PS, dtype=np.float64)


def _rates_with_bursts(plan: Plan, flows: Table) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Rates at which a unit is received whole: at both edges and at its host, in bits a second."""
    links, hosts = plan.links, plan.settings["hosts"]
    rate = links["rate_bps"].astype(np.float64)
    # Hosts come first and have one link each.
    source, destination = (rate[plan.flows[end]] for end in ("source", "destination"))
    fibres = rate[np.minimum(links["from"], links["to"]) >= hosts]
    # Between hosts of one edge there is no fibre, and no time is spent on it.
    fibre = np.where(flows["path_links"] > 2, fibres.max(initial=0), np.inf)
    return source, fibre, destination


def due(plan: Plan) -> NDArray[np.bool_]:
    """Which flows of a plan are meant to finish within the time limit.

    Parameters
    ----------
    plan : Plan
        What is run.

    Returns
    -------
    ndarray of bool, shape (flows,)
        Not those that have more to send than their host's link carries in the time, which is how a
        scenario says "without end"; and no datagrams, whose losses are what they are sent for.
    """
    if plan.settings["transport"]["kind"] == "datagram":
        return np.zeros(plan.flows["bytes"].shape, dtype=np.bool_)
    # A host has one link, and hosts come first.
    rate = plan.links["rate_bps"][plan.flows["source"]].astype(np.float64)
    soonest_ps = plan.flows["start_ps"] + 8e12 * plan.flows["bytes"] / rate
    return np.asarray(soonest_ps <= plan.settings["time_limit_ps"])


def observed_until_ps(plan: Plan, columns: Columns) -> int:
    """Time at which the last useful byte was in, or at which the run stopped waiting for more.

    Parameters
    ----------
    plan : Plan
        What was run.
    columns : mapping of str to mapping
        The tables of the run.

    Returns
    -------
    int
        Picoseconds. The last acknowledgement of data (of datagrams: the last arrival) if all was
        acknowledged; the time limit if that cut a flow off; the last event if some flow lost data
        that nothing sends again.
    """
    end = columns["flows"]["acknowledged_ps"]
    open_ended = columns["flows"]["status"][end == UNFINISHED]
    if open_ended.size == 0:
        return int(end.max())
    only_lost = bool((open_ended == STATUSES.index("lost")).all())
    return int(columns["totals"]["end_ps"] if only_lost else plan.settings["time_limit_ps"])


def summary(
    plan: Plan, columns: Columns, energy_j_per_b: Mapping[str, float] | None
) -> dict[str, Metric]:
    """Figures of a whole run, under the stable names of the JSON contract.

    Parameters
    ----------
    plan : Plan
        What was run.
    columns : mapping of str to mapping
        The tables ``flows``, ``links``, ``switches``, ``drops`` and ``totals`` of the run.
    energy_j_per_b : mapping of str to float, optional
        Joules a bit for ``host_transmit``, ``host_receive``, ``switch_oe`` and ``switch_eo``.

    Returns
    -------
    dict
        SI base units; None where a figure does not exist (no flow finished, no energy given). The
        keys and their meaning are in the documentation of `lightburst.Result.summary`.
    """
    flows, switches, totals = columns["flows"], columns["switches"], columns["totals"]
    delivered = int(flows["delivered_bytes"].sum(dtype=np.uint64))
    makespan_ps = observed_until_ps(plan, columns) - int(plan.flows["start_ps"][0])
    converted = int(switches["oe_bytes"].sum()) + int(switches["eo_bytes"].sum())
    lost = int(columns["links"]["lost"].sum())
    dropped = sum(int(switches[reason].sum()) for reason in DROPS) + lost
    ended = int(totals["units_dropped"]) + int(totals["units_delivered"])
    return {
        "throughput_bps": _ratio(8e12 * delivered, makespan_ps),
        "makespan_s": makespan_ps * PS,
        "flows": int(flows["status"].size),
        "finished": int(np.count_nonzero(flows["received_ps"] != UNFINISHED)),
        "delivered_bytes": delivered,
        "retransmissions": int(flows["retransmissions"].sum()),
        "timeouts": int(flows["timeouts"].sum()),
        "loss_per_hop": _ratio(dropped, int(switches["arrived"].sum()) + lost),
        "loss_end_to_end": _ratio(int(totals["units_dropped"]), ended),
        "drops_missed": int(np.count_nonzero(columns["drops"]["units"] == 0)),
        **_bursts(switches, totals),
        **_completion(plan, flows),
        "conversions_per_delivered_bit": _ratio(converted / 2, delivered),
        "energy_j": None if energy_j_per_b is None else _energy(plan, columns, energy_j_per_b),
        "packet_hops": int(totals["packet_hops"]),
        "events": int(totals["events"]),
    }


def _bursts(switches: Table, totals: Mapping[str, int]) -> dict[str, Metric]:
    assembled, packets, size, wait = (float(switches[name].sum()) for name in BURSTS)
    return {
        "bursts": int(totals["bursts_created"]),
        "burst_loss": _ratio(int(totals["bursts_lost"]), int(totals["bursts_created"])),
        "burst_mean_packets": _ratio(packets, assembled),
        "burst_mean_bytes": _ratio(size, assembled),
        "assembly_mean_s": _ratio(wait * PS, packets),
    }


def _completion(plan: Plan, flows: Table) -> dict[str, Metric]:
    finished = flows["received_ps"] != UNFINISHED
    names = (
        "completion_time_mean_s",
        "completion_time_median_s",
        "completion_time_p99_s",
        "slowdown_mean",
        "slowdown_p99",
    )
    if not finished.any():
        return dict.fromkeys(names)
    time = (flows["received_ps"] - plan.flows["start_ps"])[finished] * PS
    slowdown = time / ideal_completion_s(plan, flows)[finished]
    median, p99 = _quantiles(time, 0.5, 0.99)
    values = (float(time.mean()), median, p99, float(slowdown.mean()), *_quantiles(slowdown, 0.99))
    return dict(zip(names, values, strict=True))


def _energy(plan: Plan, columns: Columns, joule: Mapping[str, float]) -> float:
    """Energy of all conversions: at the hosts' ends of links, and in the switches."""
    hosts, carried = plan.settings["hosts"], columns["links"]["bytes"]
    bits = {
        "host_transmit": 8 * int(carried[plan.links["from"] < hosts].sum()),
        "host_receive": 8 * int(carried[plan.links["to"] < hosts].sum()),
        "switch_oe": 8 * int(columns["switches"]["oe_bytes"].sum()),
        "switch_eo": 8 * int(columns["switches"]["eo_bytes"].sum()),
    }
    return sum(joule[kind] * converted for kind, converted in bits.items())


def _quantiles(values: FloatArray, *probabilities: float) -> list[float]:
    """Interpolated quantiles, as by `numpy.quantile` but in a fifth of its time."""
    last = values.size - 1
    where = np.multiply(probabilities, last)
    return [float(x) for x in np.interp(where, np.arange(values.size), np.sort(values))]


def _ratio(numerator: float, denominator: float) -> float | None:
    return numerator / denominator if denominator else None

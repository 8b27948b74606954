"""Metrics of a run, from the columns that the simulator counts.

The code is plain NumPy over whole columns, because a study computes one summary for each of its
runs: about a quarter of a millisecond for a thousand flows.
"""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

import numpy as np

from lightburst import _core
from lightburst.compile import Plan
from lightburst.foundation.counts import (
    PS,
    UNFINISHED,
    Columns,
    Counts,
    FloatArray,
    Mask,
    Metric,
    Table,
    quantiles,
    ratio,
    share,
)
from lightburst.foundation.support import TIMED
from lightburst.measurement.window import counted
from lightburst.result.warm_up import Active
from lightburst.scenario.transport import OPEN_LOOP

STATUSES: Final = tuple(_core.registry()["statuses"])
FINISHED: Final = STATUSES.index("finished")
# Flows with losses in an open loop, which has no retransmissions.
LOST: Final = STATUSES.index("lost")
# Unfinished flows of which no more data will arrive.
ENDED: Final = (LOST, STATUSES.index("gave-up"))
# The metrics of any set of flows.
OF_FLOWS: Final = (
    "flows",
    "unfinished",
    TIMED,
    *(f"completion_time_{word}_s" for word in ("mean", "median", "p99")),
    *(f"slowdown_{word}" for word in ("mean", "median", "p99")),
)

# Retransmissions of connections, their necessity, and the order of arriving segments.
REPEATED: Final = (
    "retransmissions",
    "spurious_bytes",
    "fast_retransmits",
    "false_fast_retransmits",
    "timeouts",
    "false_timeouts",
    "reordered",
)

# Separator of the warnings of a run in one text; no warning contains it.
BETWEEN_WARNINGS: Final = "; "

# Name of the count of lost units in the totals, by the kind of unit.
_LOST: Final = {"units": "units_dropped", "bursts": "bursts_lost"}
# Columns about bursts: their number, packets and bytes, and the waits of packets for assembly.
BURSTS: Final = ("bursts", "burst_packets", "burst_bytes", "assembly_wait_ps")

# Columns that are in every digest, in this order, even if all their counts are zero. They are the
# columns of the first results, whose digests must not change. The number of events is not among
# them, because a faster engine may need fewer events for the same result.
_FIRST: Final = {
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
    "links": ("units", "bytes", "waiting_bytes", "busy_ps", "lost"),
    "switches": (
        "arrived",
        "forwarded",
        "buffered",
        "marked",
        "dropped_contention",
        "dropped_no_input_port",
        "dropped_buffer_full",
        "dropped_queue_full",
        "oe_bytes",
        "eo_bytes",
        "buffer_max_bytes",
        "buffer_byte_ps",
        *BURSTS,
    ),
    "drops": ("time_ps", "units"),
    "classes": (),
}
# Columns that follow from the plan alone, which has a digest of its own.
_OF_THE_PLAN: Final = frozenset({"path_links", "ideal_ps"})
# Columns in no digest: those of the plan; dropped units by link, which other columns count by
# switch; and delivered bursts.
_BESIDE: Final = _OF_THE_PLAN | {"dropped", "bursts_delivered"}


def drops(switches: Iterable[str]) -> list[str]:
    """Return the names of the columns of dropped units: ``dropped_contention`` and so on."""
    return [name for name in switches if name.startswith("dropped_")]


def dropped(switches: Table) -> Counts:
    """Return the number of units that each switch dropped for any reason, shape (switches,)."""
    reasons = [switches[reason] for reason in drops(switches)]
    units: Counts = np.sum(reasons, axis=0, dtype=np.uint64)
    return units


def offered(plan: Plan, columns: Columns) -> Counts:
    """Return the number of units offered to each switch, which it forwarded or dropped.

    Parameters
    ----------
    plan : Plan
        The plan of the run.
    columns : mapping of str to mapping
        The tables ``links`` and ``switches`` of the run.

    Returns
    -------
    ndarray of uint64, shape (switches,)
        Units that arrived. Where edges make bursts, arriving units are packets on some links and
        bursts on others; there the result is the bursts for fibres (links between switches): those
        transmitted on a fibre, and those dropped.
    """
    arrived: Counts = columns["switches"]["arrived"]
    if not plan.makes_bursts:
        return arrived
    fibre = plan.between_switches
    source = plan.links["from"][fibre] - plan.settings["hosts"]
    handed = np.bincount(source, columns["links"]["units"][fibre], arrived.size)
    return handed.astype(np.uint64) + dropped(columns["switches"])


def digest(columns: Columns) -> str:
    """Return the digest of a result: equal if and only if all events were the same, to the bit.

    Parameters
    ----------
    columns : mapping of str to mapping of str to ndarray
        The tables ``flows``, ``links``, ``switches`` and ``drops`` of a run, and ``classes`` if
        there are classes.

    Returns
    -------
    str
        SHA-256 in hex over name, type and little-endian bytes of the columns of these tables,
        except those that follow from the plan, dropped units by link, and delivered bursts. A
        column of zeros is left out, unless the first results had it, so that a new counter changes
        no digest of a run without it.
    """
    sha = hashlib.sha256()
    for table, first in _FIRST.items():
        if table not in columns:
            continue
        for name in (*first, *_counted_in(columns[table], first)):
            column = np.asarray(columns[table][name])
            little = np.ascontiguousarray(column, dtype=column.dtype.newbyteorder("<"))
            sha.update(f"{table}.{name}:{little.dtype.str}:{little.size};".encode())
            sha.update(little.data)
    return sha.hexdigest()


def _counted_in(table: Table, first: Iterable[str]) -> list[str]:
    """Return the names of the columns with counts above zero, without the first ones."""
    others = table.keys() - _BESIDE - set(first)
    return sorted(name for name in others if np.any(table[name]))


def worst_flow(plan: Plan, columns: Columns) -> int:
    """Return the number of the flow with the worst performance.

    Parameters
    ----------
    plan : Plan
        The plan of the run.
    columns : mapping of str to mapping
        The tables of the run.

    Returns
    -------
    int
        The counted flow with the largest slowdown; of equal ones the first. An unfinished flow that
        was meant to finish is worse than any finished one. Flows without end have no slowdown: if
        all are without end, the one that delivered the fewest bytes over its duration.
    """
    flows = columns["flows"]
    slowdown = completion_s(plan, flows) / (flows["ideal_ps"] * PS)
    slowdown[unfinished(plan, flows)] = np.inf
    counted = np.where(plan.counted, slowdown, np.nan)
    if not np.isnan(counted).all():
        return int(np.nanargmax(counted))
    lasted = np.maximum(float(plan.settings["time_limit_ps"]) - plan.flows["start_ps"], 1.0)
    rate = np.where(plan.counted, flows["delivered_bytes"] / lasted, np.inf)
    return int(np.argmin(rate)) if rate.size else 0


def completion_s(plan: Plan, flows: Table) -> FloatArray:
    """Return the time from the start of each flow to the arrival of its last byte.

    Parameters
    ----------
    plan : Plan
        The plan of the run.
    flows : mapping of str to ndarray, each of shape (flows,)
        ``received_ps`` and ``status`` of the run.

    Returns
    -------
    ndarray of float, shape (flows,)
        Seconds. If the last byte did not arrive: NaN for a flow that was not meant to finish, see
        `Plan.due`, and for losses in an open loop, where the metrics of loss stand for it;
        otherwise infinite.
    """
    endless = plan.due & (flows["status"] != LOST)
    return plan.since_start_s(flows["received_ps"], np.where(endless, np.inf, np.nan))


def unfinished(plan: Plan, flows: Table) -> Mask:
    """Return whether each flow was meant to finish and did not, shape (flows,)."""
    return np.asarray(plan.due & (flows["received_ps"] == UNFINISHED))


def flow_metrics(plan: Plan, flows: Table, chosen: Mask) -> dict[str, Metric]:
    """Return the metrics of some flows of a run.

    Parameters
    ----------
    plan : Plan
        The plan of the run.
    flows : mapping of str to ndarray, each of shape (flows,)
        ``received_ps``, ``status`` and ``ideal_ps`` of the run.
    chosen : ndarray of bool, shape (flows,)
        Whether each flow is one of them.

    Returns
    -------
    dict
        ``flows``, their number; ``unfinished``, the number of those that were meant to finish and
        did not; ``timed_flows``, the number of flows in the following metrics; and mean, median and
        99th percentile of completion time and slowdown, with infinity for unfinished flows:
        ``completion_time_p99_s``, ``slowdown_p99``... The latter leave out flows that were not
        meant to finish, and flows with losses in an open loop. None without flows.
    """
    time = completion_s(plan, flows)
    taken = chosen & ~np.isnan(time)
    slowdown = time[taken] / (flows["ideal_ps"][taken] * PS)
    counted = chosen, chosen & unfinished(plan, flows), taken
    numbers = (np.count_nonzero(rows) for rows in counted)
    found = (*map(int, numbers), *_spread(time[taken]), *_spread(slowdown))
    return dict(zip(OF_FLOWS, found, strict=True))


def _spread(values: FloatArray) -> tuple[Metric, Metric, Metric]:
    """Return mean, median and 99th percentile; None without values."""
    if values.size == 0:
        return (None, None, None)
    median, p99 = quantiles(values, 0.5, 0.99)
    return (float(values.mean()), median, p99)


def observed_until_ps(plan: Plan, columns: Columns) -> int:
    """Return the time at which the last useful byte arrived, or the wait for it ended.

    Parameters
    ----------
    plan : Plan
        The plan of the run.
    columns : mapping of str to mapping
        The tables of the run.

    Returns
    -------
    int
        Picoseconds, for the counted flows. The last acknowledgement of data (of datagrams: the last
        arrival) if all data was acknowledged; the time limit if it cut a flow off; the last event
        if an open loop lost data or an endpoint gave up (the last arrival instead, if flows that
        are not counted continue). If only open loops lost data, which wait for no timer, the timers
        of other flows are left out: the end of the last transmission, or of a flow if later.
    """
    end = columns["flows"]["acknowledged_ps"][plan.counted]
    open_ended = columns["flows"]["status"][plan.counted][end == UNFINISHED]
    if open_ended.size == 0:
        return int(end.max())
    last, limit = int(columns["totals"]["end_ps"]), int(plan.settings["time_limit_ps"])
    patient = all("max_retransmissions" not in transport for transport in plan.transports)
    # If senders give up, a sender without its last acknowledgement may belong to a finished flow.
    over = ENDED if patient or last == limit else (*ENDED, FINISHED)
    if not np.isin(open_ended, over).all():
        return limit
    arrived = int(end[end != UNFINISHED].max(initial=0))
    if not plan.counted.all():
        return arrived or last
    kinds = [transport["kind"] in OPEN_LOOP for transport in plan.transports]
    waits_for_nothing = np.array(kinds)[plan.group][end == UNFINISHED].all()
    if waits_for_nothing and not all(kinds):
        return max(arrived, int(columns["totals"]["transmitted_until_ps"]))
    return max(arrived, last)


def summary(
    plan: Plan, columns: Columns, energy_j_per_b: Mapping[str, float] | None
) -> dict[str, Metric]:
    """Return the metrics of a whole run, under the stable names of the JSON contract.

    Parameters
    ----------
    plan : Plan
        The plan of the run.
    columns : mapping of str to mapping
        The tables ``flows``, ``links``, ``switches``, ``drops`` and ``totals`` of the run.
    energy_j_per_b : mapping of str to float, optional
        Joules per bit for ``host_transmit``, ``host_receive``, ``switch_oe`` and ``switch_eo``.

    Returns
    -------
    dict
        Values in SI base units; None if a metric does not exist (no flow started, no energy given).
        The documentation of `lightburst.Result.summary` defines the keys.
    """
    columns = counted(columns)
    flows, switches, totals = columns["flows"], columns["switches"], columns["totals"]
    those = plan.counted

    def total(name: str) -> int:
        return int(flows[name][those].sum(dtype=np.uint64))

    makespan_ps = _makespan_ps(plan, columns)
    of_flows = flow_metrics(plan, flows, those)
    converted = int(switches["oe_bytes"].sum()) + int(switches["eo_bytes"].sum())
    return {
        "throughput_bps": ratio(8e12 * total("delivered_bytes"), makespan_ps),
        "makespan_s": makespan_ps * PS,
        "flows": of_flows.pop("flows"),
        "finished": int(np.count_nonzero(flows["received_ps"][those] != UNFINISHED)),
        "unfinished": of_flows.pop("unfinished"),
        **_in_progress(plan, columns),
        "delivered_bytes": total("delivered_bytes"),
        **{name: total(name) for name in REPEATED},
        **share("loss_per_hop", *_lost_per_hop(plan, columns)),
        **share("loss_end_to_end", *fates(totals, "units")),
        "drops_missed": int(np.count_nonzero(columns["drops"]["units"] == 0)),
        **_bursts(plan, columns),
        **of_flows,
        "conversions_per_delivered_bit": ratio(converted / 2, totals["delivered_bytes"]),
        **_by_packets(plan, switches),
        "energy_j": None if energy_j_per_b is None else _energy(plan, columns, energy_j_per_b),
        "packet_hops": int(totals["packet_hops"]),
        "events": int(totals["events"]),
    }


def _by_packets(plan: Plan, switches: Table) -> dict[str, Metric]:
    """Return the shares of bytes and flows of a packet network beside circuits, if there is one."""
    rules = [own["packet"] for own in plan.settings["switches"] if own.get("packet")]
    if not rules:
        return {}
    packets, circuits = (int(switches[f"{kind}_bytes"].sum()) for kind in ("packet", "circuit"))
    started = plan.counted & (plan.flows["start_ps"] <= np.uint64(plan.settings["time_limit_ps"]))
    whole = started & (plan.flows["bytes"] <= np.uint64(rules[0]["threshold_bytes"]))
    return {
        "packet_bytes_share": ratio(packets, packets + circuits),
        "packet_flows_share": ratio(int(whole.sum()), int(started.sum())),
    }


def _makespan_ps(plan: Plan, columns: Columns) -> int:
    """Return the time from the first start of a counted flow to the last byte; 0 without flows."""
    starts = plan.flows["start_ps"][plan.counted]
    return max(0, observed_until_ps(plan, columns) - int(starts[0])) if starts.size else 0


def _in_progress(plan: Plan, columns: Columns) -> dict[str, Metric]:
    """Return the mean of flows in progress and the offered bit rate, while flows start."""
    active, begin = Active.of(plan, columns), plan.window_ps[0]
    start, size = plan.flows["start_ps"], plan.flows["bytes"]
    offered = size[(start >= np.uint64(begin)) & (start < np.uint64(active.until_ps))]
    seconds = max(0, active.until_ps - begin) * PS
    return {
        "active_flows": active.mean(begin),
        "offered_bps": ratio(8 * float(offered.sum(dtype=np.float64)), seconds),
    }


def _lost_per_hop(plan: Plan, columns: Columns) -> tuple[int, int]:
    """Return the packets lost at a switch or on a link to one, and all; 0 if edges make bursts."""
    if plan.makes_bursts:
        return 0, 0
    lost = int(columns["links"]["lost"].sum())
    hops = int(offered(plan, columns).sum()) + lost
    return int(dropped(columns["switches"]).sum()) + lost, hops


class Fates(NamedTuple):
    """Numbers of lost units, and of lost or delivered units.

    Units in transit are neither lost nor offered.
    """

    lost: int
    offered: int


def fates(counts: Table, units: str) -> Fates:
    """Return the fates of packets (``units``) or ``bursts``, from totals."""
    lost = int(counts[_LOST[units]])
    return Fates(lost, lost + int(counts[f"{units}_delivered"]))


def _bursts(plan: Plan, columns: Columns) -> dict[str, Metric]:
    """Return the metrics of bursts; where edges make bursts, fibres carry nothing else."""
    switches, totals = columns["switches"], columns["totals"]
    assembled, packets, size, wait = (float(switches[name].sum()) for name in BURSTS)
    lost = int(totals["bursts_lost"])
    # A burst behind a late header is lost on the fibre on which it is transmitted, which counts
    # the offer already.
    late = int(switches["dropped_late_header"].sum())
    hops = int(offered(plan, columns).sum()) - late if plan.makes_bursts else 0
    return {
        "bursts": int(totals["bursts_created"]),
        **share("burst_loss", *fates(totals, "bursts")),
        **share("burst_loss_per_hop", lost, hops),
        "burst_mean_packets": ratio(packets, assembled),
        "burst_mean_bytes": ratio(size, assembled),
        "assembly_mean_s": ratio(wait * PS, packets),
    }


def to_json(metrics: Mapping[str, Metric]) -> dict[str, Metric]:
    """Return metrics as JSON values; infinity, which JSON lacks, becomes ``"inf"``."""
    return {name: "inf" if value == np.inf else value for name, value in metrics.items()}


def from_json(metrics: Mapping[str, Metric]) -> dict[str, Metric]:
    """Return the metrics from the JSON values of `to_json`."""
    return {name: np.inf if value == "inf" else value for name, value in metrics.items()}


def _energy(plan: Plan, columns: Columns, joule: Mapping[str, float]) -> float:
    """Return the energy in joules of all conversions: in hosts, and in switches."""
    hosts, carried = plan.settings["hosts"], columns["links"]["bytes"]
    bits = {
        "host_transmit": 8 * int(carried[plan.links["from"] < hosts].sum()),
        "host_receive": 8 * int(carried[plan.links["to"] < hosts].sum()),
        "switch_oe": 8 * int(columns["switches"]["oe_bytes"].sum()),
        "switch_eo": 8 * int(columns["switches"]["eo_bytes"].sum()),
    }
    return sum(joule[kind] * converted for kind, converted in bits.items())

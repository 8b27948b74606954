"""From the columns that the simulator counts to the metrics that a researcher quotes.

Plain NumPy over whole columns, because a study computes one summary for each of its runs: about a
quarter of a millisecond for a thousand flows.
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
# Flows of which nothing more will come, though not all of it came.
FINISHED: Final = STATUSES.index("finished")
# Of an open loop, which sends nothing again.
LOST: Final = STATUSES.index("lost")
ENDED: Final = (LOST, STATUSES.index("gave-up"))
# The metrics of any set of flows.
OF_FLOWS: Final = (
    "flows",
    "unfinished",
    TIMED,
    *(f"completion_time_{word}_s" for word in ("mean", "median", "p99")),
    *(f"slowdown_{word}" for word in ("mean", "median", "p99")),
)

# What connections send again, whether that was needed, and the order in which segments arrive.
REPEATED: Final = (
    "retransmissions",
    "spurious_bytes",
    "fast_retransmits",
    "false_fast_retransmits",
    "timeouts",
    "false_timeouts",
    "reordered",
)

# Stands between the warnings of a run where they are one text; no warning contains it.
BETWEEN_WARNINGS: Final = "; "

# What is lost of each kind of unit, as totals call it.
_LOST: Final = {"units": "units_dropped", "bursts": "bursts_lost"}
# Columns about bursts: how many there were, what they held, how long packets waited for them.
BURSTS: Final = ("bursts", "burst_packets", "burst_bytes", "assembly_wait_ps")

# The one exception from the rule that a column in which nothing was counted is in no digest: the
# columns of the first results are always in it, and in this order, so that their digests stay. The
# number of events is not among them: an engine that needs fewer gives the same digest.
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
# Nor does what tells where something is that other columns count (dropped units, by link), and
# what became of bursts that were not lost.
_BESIDE: Final = _OF_THE_PLAN | {"dropped", "bursts_delivered"}


def drops(switches: Iterable[str]) -> list[str]:
    """Choose the columns of what switches dropped: ``dropped_contention`` and so on."""
    return [name for name in switches if name.startswith("dropped_")]


def dropped(switches: Table) -> Counts:
    """Count what each switch dropped, for all reasons together, shape (switches,)."""
    reasons = [switches[reason] for reason in drops(switches)]
    units: Counts = np.sum(reasons, axis=0, dtype=np.uint64)
    return units


def offered(plan: Plan, columns: Columns) -> Counts:
    """Count what each switch could have lost.

    Parameters
    ----------
    plan : Plan
        What was run.
    columns : mapping of str to mapping
        The tables ``links`` and ``switches`` of the run.

    Returns
    -------
    ndarray of uint64, shape (switches,)
        Units that arrived. Where edges make bursts, these are packets at some links and bursts at
        others; there it is the bursts for fibres (links between switches): those that the switch
        handed to one, and those that it dropped.
    """
    arrived: Counts = columns["switches"]["arrived"]
    if not plan.makes_bursts:
        return arrived
    fibre = plan.between_switches
    source = plan.links["from"][fibre] - plan.settings["hosts"]
    handed = np.bincount(source, columns["links"]["units"][fibre], arrived.size)
    return handed.astype(np.uint64) + dropped(columns["switches"])


def digest(columns: Columns) -> str:
    """Digest of a result: equal if and only if the model did the same, to the bit.

    Parameters
    ----------
    columns : mapping of str to mapping of str to ndarray
        The tables ``flows``, ``links``, ``switches`` and ``drops`` of a run, and ``classes``
        where there are some.

    Returns
    -------
    str
        SHA-256 over name, type and little-endian bytes of all columns of these tables that do not
        follow from the plan, in hex. A column in which nothing was counted is left out, but for the
        first ones, so that a new counter moves no digest of a run without it.
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
    """Choose the columns in which something was counted, beside the first ones."""
    others = table.keys() - _BESIDE - set(first)
    return sorted(name for name in others if np.any(table[name]))


def worst_flow(plan: Plan, columns: Columns) -> int:
    """Give the number of the flow that did worst.

    Parameters
    ----------
    plan : Plan
        What was run.
    columns : mapping of str to mapping
        The tables of the run.

    Returns
    -------
    int
        The one with the largest slowdown of those that count; a flow that should have finished and
        did not is worse than any that did, and of several it is the first. Flows without end have
        no slowdown: where all are such, the one that delivered least for its time.
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
    """Time from the start of each flow to the arrival of its last byte.

    Parameters
    ----------
    plan : Plan
        What was run.
    flows : mapping of str to ndarray, each of shape (flows,)
        ``received_ps`` and ``status`` of the run.

    Returns
    -------
    ndarray of float, shape (flows,)
        Seconds. Infinite if the last byte did not arrive; NaN if, besides, the flow was not meant
        to finish, see `Plan.due`, or was lost: what an open loop loses has no delay, and is told by
        the loss.
    """
    endless = plan.due & (flows["status"] != LOST)
    return plan.since_start_s(flows["received_ps"], np.where(endless, np.inf, np.nan))


def unfinished(plan: Plan, flows: Table) -> Mask:
    """Tell which flows were meant to finish and did not, shape (flows,); `flows` as they ran."""
    return np.asarray(plan.due & (flows["received_ps"] == UNFINISHED))


def flow_metrics(plan: Plan, flows: Table, chosen: Mask) -> dict[str, Metric]:
    """Metrics of some of the flows of a run.

    Parameters
    ----------
    plan : Plan
        What was run.
    flows : mapping of str to ndarray, each of shape (flows,)
        ``received_ps``, ``status`` and ``ideal_ps`` of the run.
    chosen : ndarray of bool, shape (flows,)
        Which flows.

    Returns
    -------
    dict
        ``flows``, how many; ``unfinished``, how many of them were meant to finish and did not;
        ``timed_flows``, how many the following are over; and of those that were meant to, mean,
        median and 99th percentile of the completion time and of the slowdown, in which what did not
        finish is infinite: ``completion_time_p99_s``, ``slowdown_p99``... But what open loops lost
        is left out. None where there is no flow.
    """
    time = completion_s(plan, flows)
    taken = chosen & ~np.isnan(time)
    slowdown = time[taken] / (flows["ideal_ps"][taken] * PS)
    counted = chosen, chosen & unfinished(plan, flows), taken
    numbers = (np.count_nonzero(rows) for rows in counted)
    found = (*map(int, numbers), *_spread(time[taken]), *_spread(slowdown))
    return dict(zip(OF_FLOWS, found, strict=True))


def _spread(values: FloatArray) -> tuple[Metric, Metric, Metric]:
    """Mean, median and 99th percentile."""
    if values.size == 0:
        return (None, None, None)
    median, p99 = quantiles(values, 0.5, 0.99)
    return (float(values.mean()), median, p99)


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
        Picoseconds, of the flows that count. The last acknowledgement of data (of datagrams: the
        last arrival) if all was acknowledged; the time limit if that cut a flow off; the last event
        if some flow lost data that nothing sends again, or an end gave up (the last arrival, where
        other flows go on that do not count). Where only open loops lost data, which wait for
        nothing, timers of others do not count: the end of the last transmission, or of a flow if
        that is later.
    """
    end = columns["flows"]["acknowledged_ps"][plan.counted]
    open_ended = columns["flows"]["status"][plan.counted][end == UNFINISHED]
    if open_ended.size == 0:
        return int(end.max())
    last, limit = int(columns["totals"]["end_ps"]), int(plan.settings["time_limit_ps"])
    patient = all("max_retransmissions" not in transport for transport in plan.transports)
    # If senders give up, one of these may be of a flow all of which arrived.
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
        SI base units; None where a metric does not exist (no flow started, no energy given). The
        keys and their meaning are in the documentation of `lightburst.Result.summary`.
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
        "energy_j": None if energy_j_per_b is None else _energy(plan, columns, energy_j_per_b),
        "packet_hops": int(totals["packet_hops"]),
        "events": int(totals["events"]),
    }


def _makespan_ps(plan: Plan, columns: Columns) -> int:
    """Time from the first start of a flow that counts; 0 where none does."""
    starts = plan.flows["start_ps"][plan.counted]
    return max(0, observed_until_ps(plan, columns) - int(starts[0])) if starts.size else 0


def _in_progress(plan: Plan, columns: Columns) -> dict[str, Metric]:
    """Flows in progress and bits offered, from the warm-up on as long as flows begin."""
    active, begin = Active.of(plan, columns), plan.window_ps[0]
    start, size = plan.flows["start_ps"], plan.flows["bytes"]
    offered = size[(start >= np.uint64(begin)) & (start < np.uint64(active.until_ps))]
    seconds = max(0, active.until_ps - begin) * PS
    return {
        "active_flows": active.mean(begin),
        "offered_bps": ratio(8 * float(offered.sum(dtype=np.float64)), seconds),
    }


def _lost_per_hop(plan: Plan, columns: Columns) -> tuple[int, int]:
    """Packets that are lost at a switch or on a link to one, and all; none where bursts go."""
    if plan.makes_bursts:
        return 0, 0
    lost = int(columns["links"]["lost"].sum())
    hops = int(offered(plan, columns).sum()) + lost
    return int(dropped(columns["switches"]).sum()) + lost, hops


class Fates(NamedTuple):
    """How many units were lost, and how many met their end.

    Those that are still under way are neither lost nor offered.
    """

    lost: int
    offered: int


def fates(counts: Table, units: str) -> Fates:
    """Count what became of packets (``units``) or of ``bursts``, from totals."""
    lost = int(counts[_LOST[units]])
    return Fates(lost, lost + int(counts[f"{units}_delivered"]))


def _bursts(plan: Plan, columns: Columns) -> dict[str, Metric]:
    """Figures of the bursts that edges made; all that goes over fibres is one of them."""
    switches, totals = columns["switches"], columns["totals"]
    assembled, packets, size, wait = (float(switches[name].sum()) for name in BURSTS)
    lost = int(totals["bursts_lost"])
    # Behind a late header the burst is lost on the fibre that it was handed to, and offered to no
    # other.
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
    """Write metrics as JSON can hold them, which has no infinity: it becomes ``"inf"``."""
    return {name: "inf" if value == np.inf else value for name, value in metrics.items()}


def from_json(metrics: Mapping[str, Metric]) -> dict[str, Metric]:
    """Read what `to_json` wrote."""
    return {name: np.inf if value == "inf" else value for name, value in metrics.items()}


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

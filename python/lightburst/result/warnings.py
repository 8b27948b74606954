"""Warnings of a run: unmet requests of the scenario, and settings that are likely mistakes."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lightburst.compile import Plan
from lightburst.compile.circuits.loads import hottest_circuits, packet_load
from lightburst.compile.offered import link_loads
from lightburst.foundation.counts import Columns
from lightburst.foundation.formatting import exactly
from lightburst.foundation.units import format_about, format_duration, format_rate, format_size
from lightburst.measurement.window import counted
from lightburst.result import metrics, pauses
from lightburst.result.short_runs import brief
from lightburst.result.waits import schedules
from lightburst.scenario import Scenario
from lightburst.scenario.switching import Circuit, Electronic, tables_of
from lightburst.scenario.switching.queue import Trim
from lightburst.scenario.tables.groups import FlowGroup
from lightburst.scenario.tables.sizes import Exponential, Lognormal, Pareto
from lightburst.scenario.tables.workload import Poisson
from lightburst.scenario.transport import Rdma
from lightburst.workload.sizes import mean_size

# Fraction of a group's retransmissions up to which unnecessary ones cause no warning: with losses,
# a rare timeout behind a long queue is normal.
_FEW: Final = 0.01
# Fraction of the stated mean size up to which a maximum causes a warning.
_NEARLY: Final = 0.99
# Relative standard deviation of a sample mean of sizes, above which a warning is issued.
_FAR: Final = 0.2
# Up to this number of edges, bursts of different edges never meet at one output.
_TWO_EDGES: Final = 2
# Schedulers by which each edge takes the same wavelengths first.
_PACKING: Final = ("first-fit", "first-fit-vf", "horizon", "lauc", "lauc-vf")
# The recovery whose receivers answer the headers of trimmed packets.
_ANSWERS_HEADERS: Final = "selective-repeat"
# Laws that need marks.
_ANSWER_MARKS: Final = ("dctcp", "dcqcn")
# Tolerance of a load of 1 for rounding errors.
_ROUNDED: Final = 1e-9


class _Run(NamedTuple):
    scenario: Scenario
    plan: Plan
    columns: Columns


def caveats(
    scenario: Scenario, plan: Plan, columns: Columns, known: Sequence[str] | None = None
) -> Iterator[str]:
    """Yield the warnings that a user should know before relying on the metrics of a run.

    Parameters
    ----------
    scenario : Scenario
        The scenario of the run.
    plan : Plan
        The plan of the run.
    columns : mapping of str to mapping
        The tables of the run.
    known : sequence of str, optional
        The warnings that were known before the run, `pauses.foreseen`, if they were looked for.

    Yields
    ------
    str
        One sentence for each warning, without full stop.
    """
    run = _Run(scenario, plan, counted(columns))
    yield from _not_begun(run)
    yield from _overloaded(run)
    yield from _other_means(run)
    yield from _unsettled(run)
    yield from _unfinished(run)
    if (stalled := schedules.stalled(plan, columns)) is not None:
        yield stalled
    yield from pauses.caveats(scenario, plan, columns, known)
    yield from _unmarked(scenario)
    yield from _hasty(run)
    yield from _spurious(run)
    yield from _sprayed(run)
    yield from _lost_headers(run)
    yield from _packed(run)
    yield from _late_headers(run)
    yield from _used_up_offsets(run)
    scripts = {} if scenario.loss is None else scenario.loss.scripts
    yield from brief(plan, run.columns, by_chance=not scripts and _is_random(scenario))
    for units, (path, script) in zip(columns["drops"]["units"], scripts.items(), strict=True):
        if units == 0:
            yield f"{path} ({script.words}) never occurred"


def _is_random(scenario: Scenario) -> bool:
    return any(
        isinstance(group.workload, Poisson)
        or getattr(group.transport, "spacing", None) == "poisson"
        for group in scenario.flow_groups
    )


def _not_begun(run: _Run) -> Iterator[str]:
    first, limit = int(run.plan.flows["start_ps"][0]), run.scenario.measurement.time_limit
    if first > limit:
        begins, ends = format_about(first), format_about(limit)
        yield f"no flow started: the first starts at {begins}, after the time limit of {ends}"


def _overloaded(run: _Run) -> Iterator[str]:
    """Warn of a load within the capacity of the senders that exceeds that of a link."""
    loads = [getattr(group.workload, "load", None) for group in run.scenario.flow_groups]
    if not any(loads):
        return
    circuits = hottest_circuits(run.scenario, run.plan)
    if circuits is not None and circuits.load > 1 + _ROUNDED:
        yield (
            f"the circuits {circuits.circuits} are overloaded: they are offered "
            f"{_about_rate(circuits.offered_bps)} and carry "
            f"{_about_rate(circuits.carried_bps)} at most, in the mean over time"
        )
    packets = packet_load(run.scenario, run.plan)
    if packets is not None and packets.load > 1 + _ROUNDED:
        yield (
            f"the packet network beside the circuits is overloaded {packets.circuits}: "
            f"switching.packet gives it {_about_rate(packets.offered_bps)}, and its link carries "
            f"{_about_rate(packets.carried_bps)} at most"
        )
    found = link_loads(run.scenario, run.plan)
    if found is not None and found.largest > 1 + _ROUNDED:
        yield (
            f"the link {found.link} is overloaded: its load is {found.largest:.3g} (mean of the "
            f"{found.over}: {found.mean:.3g}), because workload.load refers to the capacity of the "
            "senders, and with load_of = 'hottest-link' to that link"
        )


def _about_rate(bits_per_second: float) -> str:
    return format_rate(int(float(f"{bits_per_second:.4g}")))


def _other_means(run: _Run) -> Iterator[str]:
    """Warn if the mean of the flow sizes is not the stated one."""
    for number, group in enumerate(run.scenario.flow_groups):
        size, path = getattr(group.workload, "size", None), f"{group.path}workload.size.mean"
        if not isinstance(size, Exponential | Lognormal | Pareto) or size.mean is None:
            continue
        asked = format_size(size.mean)
        if size.max is not None and mean_size(size) < _NEARLY * size.mean:
            drawn = f"{format_size(size.max)}, have a mean of {_about(mean_size(size))}"
            instead = (
                f" (truncated_mean = '{asked}' sets the latter)" if isinstance(size, Pareto) else ""
            )
            yield f"{path} ({asked}) is the mean before the maximum: sizes, up to {drawn}{instead}"
        sizes = run.plan.flows["bytes"][run.plan.group == number]
        if size.max is None and (spread := _spread(size, sizes.size)):
            yield (
                f"{path} ({asked}) is that of infinitely many flows: {spread}, and the flows of "
                f"this run have a mean of {_about(sizes.mean())}"
            )


def _spread(size: Exponential | Lognormal | Pareto, flows: int) -> str:
    """Return why the mean of a sample of sizes can be far from its expectation; "" if it cannot."""
    if isinstance(size, Pareto) and size.tail_index <= 2:
        truncated = "with a max and truncated_mean the drawn sizes have the stated mean"
        return f"with the shape {size.tail_index:.4g} their variance is infinite ({truncated})"
    if not isinstance(size, Lognormal):
        return ""
    # Var X / (E X)^2 = exp(sigma^2) - 1
    deviation = math.sqrt(math.expm1(size.sigma**2) / flows)
    if deviation <= _FAR:
        return ""
    return f"with sigma = {exactly(size.sigma)} a mean of {flows} sizes has a deviation of " + (
        f"{100 * deviation:.3g} %" if deviation < 10 else f"{deviation:.3g} times the mean"
    )


def _unsettled(run: _Run) -> Iterator[str]:
    if not run.plan.settled:
        yield (
            f"measurement.warm_up: 'mser-5' cut off {format_about(run.plan.window_ps[0])}, but a "
            "cut in the second half of the run would be better: the number of active flows still "
            "drifts, and the run is too short"
        )


def _about(size: float) -> str:
    """Format a size with three significant digits."""
    return format_size(round(float(f"{size:.3g}")))


def _late_headers(run: _Run) -> Iterator[str]:
    """Warn of bursts lost behind late headers, which is due to settings and not to load."""
    if number := int(run.columns["switches"]["dropped_late_header"].sum()):
        offered = metrics.fates(run.columns["totals"], "bursts").offered
        yield (
            f"{number} of {offered} bursts were lost because their headers came too late: headers "
            "waited for each other, for which a longer switching.offset_time leaves time"
        )


def _packed(run: _Run) -> Iterator[str]:
    """Warn of losses because all edges prefer the same wavelengths, which is not due to load."""
    edges = np.unique(run.plan.next_to_hosts).size
    if edges <= _TWO_EDGES or run.plan.channels.max() == 1:
        return
    lost = run.columns["switches"]["dropped_no_channel"]
    which = run.plan.nodes["switch"]
    for number, settings in enumerate(run.plan.settings["switches"]):
        conversion = (settings.get("conversion") or {}).get("kind", "full")
        scheduler = settings.get("scheduler")
        if conversion == "full" or scheduler not in _PACKING:
            continue
        if lost[which == number].any():
            yield (
                f"switching.scheduler = '{scheduler}' with conversion = '{conversion}': all "
                f"{edges} edges prefer the same wavelengths, on which their bursts meet later, "
                "while 'random-fit' spreads them and mostly loses less"
            )


def _used_up_offsets(run: _Run) -> Iterator[str]:
    """Warn of bursts whose offset time was too short for deflection."""
    if number := int(run.columns["switches"]["dropped_offset_used_up"].sum()):
        offered = metrics.fates(run.columns["totals"], "bursts").offered
        yield (
            f"{number} of {offered} bursts were lost because their offset time was too short for "
            "deflection: a longer switching.offset_time leaves time for detours"
        )


def _unfinished(run: _Run) -> Iterator[str]:
    flows, measurement = run.columns["flows"], run.scenario.measurement
    never = run.plan.counted & np.isinf(metrics.completion_s(run.plan, flows))
    those = np.count_nonzero(run.plan.counted)
    gave_up = never & (flows["status"] == metrics.STATUSES.index("gave-up"))
    if number := np.count_nonzero(gave_up):
        paths = {f"{group.transport_path}.max_retransmissions" for group in _impatient(run)}
        yield f"{number} of {those} flows gave up: {', '.join(sorted(paths))}"
    # Losses of datagrams are a measurement, and no reason for a warning.
    unfinished = never & ~np.isin(flows["status"], metrics.ENDED)
    number = np.count_nonzero(unfinished)
    if number == 0:
        return
    limit = format_duration(measurement.time_limit)
    words = f"{number} of {those} flows did not finish before the time limit ({limit})"
    if silent := np.count_nonzero(flows["delivered_bytes"][unfinished] == 0):
        words += f", {silent} of them with nothing delivered"
    switches = run.plan.settings["switches"]
    if any((switch.get("assembly") or {}).get("kind") == "size" for switch in switches):
        words += ", and assembly by size alone never sends a burst that does not fill"
    yield words


def _impatient(run: _Run) -> Iterator[FlowGroup]:
    for group in run.scenario.flow_groups:
        if getattr(group.transport, "max_retransmissions", None) is not None:
            yield group


def _unmarked(scenario: Scenario) -> Iterator[str]:
    """Warn of senders that slow down at marks (ECN) where nothing marks: losses alone slow them."""
    tables = tables_of(scenario.switching).values()
    packets = [table.packet for table in tables if isinstance(table, Circuit) and table.packet]
    if (
        any(isinstance(table, Electronic) and table.marks for table in tables)
        or any(network.ecn_threshold is not None for network in packets)
        or (scenario.loss is not None and scenario.loss.marks)
    ):
        return
    names = ["switching.packet.ecn_threshold"] if packets else []
    if any(isinstance(table, Electronic) for table in tables):
        names += ["switching.ecn_threshold", "a switching.queue with ecn"]
    remedy = f": set {' or '.join(names)}" if names else ": only electronic ones can"
    groups = {group.transport_path: group.transport for group in scenario.flow_groups}
    for path, transport in groups.items():
        law = getattr(transport, "congestion_control", None)
        if law is not None and law.kind in _ANSWER_MARKS:
            given = f"congestion_control = '{law.kind}'"
        elif getattr(transport, "ecn", False):
            given = "ecn"
        else:
            continue
        yield f"{path}.{given} answers marks (ECN), but no switch makes any{remedy}"


def _hasty(run: _Run) -> Iterator[str]:
    tables = {group.transport_path: group.transport for group in run.scenario.flow_groups}
    for path, transport in tables.items():
        if transport.kind != "tcp" or transport.acknowledge_every == 1:
            continue
        least, delay = transport.min_timeout, transport.acknowledgement_delay
        if least < delay:
            yield (
                f"{path}.min_timeout ({format_duration(least)}) is below acknowledgement_delay "
                f"({format_duration(delay)}): a sender can time out while the acknowledgement "
                "of its last segment is delayed, and retransmit a segment that arrived. Set "
                "acknowledgement_delay below min_timeout, or acknowledge_every to 1"
            )


def _spurious(run: _Run) -> Iterator[str]:
    """Warn of retransmissions by flows that lost no packet, all of which were unnecessary."""
    # Stop-and-wait is left out: its timeouts have no margin, and expire too early by design.
    tcp = run.plan.by_flow(lambda transport: transport["kind"] == "tcp")
    flows = run.columns["flows"]
    again, spared = flows["retransmissions"], tcp & (flows["drops"] == 0)
    for number, name in enumerate(run.plan.group_names or ("",)):
        own = run.plan.group == number
        needless = int(again[own & spared].sum())
        if needless <= _FEW * int(again[own & tcp].sum()):
            continue
        causes = " or ".join(_causes(run, own & spared)) or "packets came out of order"
        whose = f"group {name}: " if name else ""
        words = "retransmissions by flows without losses"
        yield f"{whose}{needless} {words}: {causes}"


def _sprayed(run: _Run) -> Iterator[str]:
    """Warn of unnecessary retransmissions of sprayed packets that overtake each other.

    Flows with timeouts are left out: at one all that is outstanding is taken for lost.
    """
    choice = run.scenario.routing_choice
    if choice != "entropy-spray":
        return
    flows = run.columns["flows"]
    needless, spared = flows["spurious_retransmissions"], flows["timeouts"] == 0
    for number, group in enumerate(run.scenario.flow_groups):
        own = (run.plan.group == number) & spared
        of_group = int(needless[own].sum())
        again = int(flows["retransmissions"][own].sum())
        if isinstance(group.transport, Rdma) and of_group > _FEW * again:
            whose = f"group {group.name}: " if group.name else ""
            yield (
                f"{whose}{of_group} of {again} retransmissions were unnecessary: "
                f"{_overtaken(f'routing.choice = {choice!r}')}, for which reordering of the "
                "recovery allows"
            )


def _lost_headers(run: _Run) -> Iterator[str]:
    """Warn of headers of trimmed packets that found no room: nobody tells their senders.

    Also of headers that were to return to senders that have no use for them.
    """
    switches = run.columns["switches"]
    transports = [group.transport for group in run.scenario.flow_groups]
    tables = tables_of(run.scenario.switching).values()
    queues = [table.queue for table in tables if isinstance(table, Electronic)]
    back = [queue for queue in queues if isinstance(queue, Trim) and queue.return_to_sender]
    repaired = [
        one for one in transports if isinstance(one, Rdma) and one.recovery.kind == _ANSWERS_HEADERS
    ]
    if back and not repaired:
        yield (
            "no packet can be trimmed, and no header returns to its sender (return_to_sender of "
            f"queue = 'trim'): that needs transport.recovery = {_ANSWERS_HEADERS!r} of rdma"
        )
    if not all(isinstance(one, Rdma) for one in transports):
        return
    if lost := int(switches["dropped_queue_full"][switches["trimmed"] > 0].sum()):
        yield (
            f"{lost} packets without data found no room (header_queue of queue = 'trim'): "
            + (
                "a pull, an answer or a returned header that is lost leaves a message to "
                "transport.acknowledgement_timeout"
                if back
                else "a trimmed packet whose header is lost waits for "
                "transport.acknowledgement_timeout, and return_to_sender = true sends headers back"
            )
        )


def _causes(run: _Run, flows: NDArray[np.bool_]) -> Iterator[str]:
    if run.columns["flows"]["timeouts"][flows].any():
        yield "a timeout was shorter than the round trip"
    loss = run.scenario.loss
    if loss is not None and loss.holds:
        yield "later packets overtook held ones (loss.holds)"
    fast = run.columns["flows"]["fast_retransmits"][flows].any()
    if run.plan.by_flow(_probes)[flows].any() and not fast:
        yield "probes of the tail (recovery.tail_loss_probe) came before acknowledgements"
    routing, choice = run.scenario.routing, run.scenario.routing_choice
    switching = run.scenario.switching
    if isinstance(switching, Circuit):
        # Their schedule leaves no choice.
        if switching.forwarding != "direct":
            yield _overtaken(f"switching.forwarding = {switching.forwarding!r}")
        if switching.packet is not None and switching.packet.by == "age":
            yield _overtaken("switching.packet.by = 'age'")
    elif choice != "flow-hash":
        yield _overtaken(f"routing.choice = {choice!r}")
    if routing.labelled and routing.label.kind in ("random", "load"):
        yield _overtaken(f"routing.label = {routing.label.kind!r}")


def _probes(transport: dict[str, Any]) -> bool:
    return bool(transport.get("recovery", {}).get("tail_loss_probe"))


def _overtaken(cause: str) -> str:
    return f"paths of different delay changed the order ({cause})"

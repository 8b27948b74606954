"""Names of all mechanisms that a scenario can select, such as the values of ``kind``."""

from typing import get_args

from lightburst.scenario.switching import Switching
from lightburst.scenario.switching.circuit import Forwarding, Schedule
from lightburst.scenario.switching.contention import Resolver
from lightburst.scenario.switching.obs import Scheduler, Signalling
from lightburst.scenario.switching.queue import Queue
from lightburst.scenario.tables.assembly import Assembly
from lightburst.scenario.tables.hosts import Queueing
from lightburst.scenario.tables.routing import Choice, Label, Metric
from lightburst.scenario.tables.sizes import EmpiricalName, FlowSize
from lightburst.scenario.tables.topology import Topology
from lightburst.scenario.tables.workload import Workload
from lightburst.scenario.transport import Transport
from lightburst.scenario.transport.congestion_control import CongestionControl
from lightburst.scenario.transport.presets import PRESETS
from lightburst.scenario.transport.rate_law import RateLaw
from lightburst.scenario.transport.rdma import RdmaRecovery
from lightburst.scenario.transport.recovery import Recovery


def _kinds(union: object) -> tuple[str, ...]:
    members = get_args(get_args(union)[0])
    return tuple(str(member.model_fields["kind"].default) for member in members)


KINDS: dict[str, tuple[str, ...]] = {
    "topologies": _kinds(Topology),
    "switches": _kinds(Switching),
    "assemblies": _kinds(Assembly),
    "schedulers": get_args(Scheduler),
    "signallings": get_args(Signalling),
    "resolvers": _kinds(Resolver),
    "queues": _kinds(Queue),
    "schedules": _kinds(Schedule),
    "forwardings": get_args(Forwarding),
    "transports": _kinds(Transport),
    "congestion_controls": _kinds(CongestionControl),
    "recoveries": _kinds(Recovery),
    "rate_laws": _kinds(RateLaw),
    "rdma_recoveries": _kinds(RdmaRecovery),
    "presets": tuple(PRESETS),
    "workloads": _kinds(Workload),
    "sizes": _kinds(FlowSize),
    "distributions": get_args(EmpiricalName),
    "choices": _kinds(Choice),
    "labels": _kinds(Label),
    "queueings": _kinds(Queueing),
    "metrics": get_args(Metric),
}

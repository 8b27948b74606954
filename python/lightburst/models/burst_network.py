"""Input of the theory of loss from a scenario: Poisson streams of bursts over fibres.

This module connects scenarios and closed forms, which do not depend on each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from lightburst.compile import Plan, compile_plan
from lightburst.compile.offered import Pattern, demands, edges_of, senders_in
from lightburst.compile.ways import Ways, before
from lightburst.foundation.errors import InputError, combine
from lightburst.foundation.units import BITS_PER_BYTE, format_duration, format_size
from lightburst.models.erlang import erlang_b
from lightburst.models.one_flow import outside
from lightburst.models.reduced_load import fixed_point
from lightburst.scenario.switching import Obs
from lightburst.scenario.switching.obs import FullConversion
from lightburst.scenario.tables.routing import LoadLabel
from lightburst.scenario.tables.workload import Poisson
from lightburst.scenario.transport import Bursts
from lightburst.workload import with_arrival_rate
from lightburst.workload.sizes import mean_size

if TYPE_CHECKING:
    from lightburst.models.checks import FloatArray, IntArray
    from lightburst.scenario import Scenario
    from lightburst.topology import Network

_MODEL: Final = "the theory of loss"
# A flow counts as one burst if no flow, or hardly any, exceeds this multiple of the mean size.
_MEANS: Final = 20


@dataclass(frozen=True, slots=True)
class BurstNetwork:
    """Streams of bursts between edges, and their paths according to the routing.

    Attributes
    ----------
    streams : list of (Ways, ndarray of float, shape (ways, nodes))
        Paths, and the load that enters each at each node, in erlangs: bursts a second times the
        transmission time of one on a wavelength.
    wavelengths : ndarray of int, shape (links,)
        Channels per link.
    free : bool
        Whether a burst chooses, among several equally good next hops, one with a free channel.
    share : float
        Share of the bursts that go over fibres; the others stay at their edge.
    equal_offsets : bool
        Whether channels are reserved in the order in which the bursts come to a fibre.
    kept_apart : bool
        Whether all bursts between two edges with several paths take the same path.
    """

    streams: list[tuple[Ways, FloatArray]]
    wavelengths: IntArray
    free: bool
    share: float
    equal_offsets: bool
    kept_apart: bool

    @classmethod
    def from_scenario(cls, scenario: Scenario) -> BurstNetwork:
        """Read the streams of a scenario in which edges send bursts of their own.

        Parameters
        ----------
        scenario : Scenario
            With ``obs`` switching that loses at the ingress and has full conversion, the transport
            ``bursts``, and a ``poisson`` workload.

        Returns
        -------
        BurstNetwork
            Streams with the loads of the scenario; the loads of single runs scatter about them.

        Raises
        ------
        InputError
            With each field outside the assumptions of the theory.
        """
        errors = tuple(_outside(scenario))
        if errors:
            raise combine(errors)
        (group,) = scenario.flow_groups
        # Few flows: the network is the same and builds faster. Without a measurement, because a
        # window of time may contain none of them.
        few = scenario.with_({f"{group.path}workload": _FEW, "measurement": {}})
        plan = compile_plan(few, 1)
        assert plan.network is not None
        erlangs, share = _erlangs(scenario, plan, plan.network)
        streams = demands(plan.network, plan.links["delay_ps"], scenario.routing, erlangs)
        switching, choice = scenario.switching, scenario.routing_choice
        assert isinstance(switching, Obs)
        labelled = scenario.routing.labelled
        splits = any(ways.splits for ways, _ in streams)
        hashed = labelled and scenario.routing.label.kind == "hash"
        return cls(
            streams,
            _wavelengths(plan),
            splits and choice == "free",
            share,
            switching.offset_of_hop == 0,
            hashed or (splits and choice == "flow-hash"),
        )

    @property
    def most_fibres(self) -> int:
        """Number of fibres on the longest path of any burst."""
        return max(int(ways.longest(entering)) for ways, entering in self.streams)

    @property
    def fed(self) -> dict[int, set[int | None]]:
        """By used link, the links from which its bursts come; None for bursts entering there."""
        found: dict[int, set[int | None]] = {}
        for link, last in before(*zip(*self.streams, strict=True)):
            found.setdefault(link, set()).add(last)
        return found

    def loss(self) -> float:
        """Compute the share of the load lost on its path, by the fixed point.

        Returns
        -------
        float
            Loss probability. A link whose bursts all come over one other link with at most as many
            channels loses none.

        Notes
        -----
        As `lightburst.models.reduced_load`, along paths that split. If bursts choose a free next
        hop, each of several links is offered ``a E[1 / (1 + K)]`` while it has a free channel, with
        a the load that comes to the node and K the number of the other links with a free channel.
        Channels of different links are assumed independent, as everywhere in the fixed point.
        """
        fed_by_one = np.zeros(self.wavelengths.size, np.bool_)
        for link, (first, *more) in ((link, [*ends]) for link, ends in self.fed.items()):
            if first is not None and not more:
                fed_by_one[link] = self.wavelengths[first] <= self.wavelengths[link]

        def lost(on_links: FloatArray) -> FloatArray:
            offered = sum(self._spread(on_links)[0])
            return np.where(fed_by_one, 0.0, erlang_b(offered, self.wavelengths))

        on_links = fixed_point(lost, np.zeros(self.wavelengths.size))
        entered = sum(float(entering.sum()) for _, entering in self.streams)
        arrived = sum(float(part.sum()) for part in self._spread(on_links)[1])
        return 1 - arrived / entered

    def _spread(self, lost: FloatArray) -> tuple[list[FloatArray], list[FloatArray]]:
        each = [ways.spread(entering, lost, free=self.free) for ways, entering in self.streams]
        return [offered for offered, _ in each], [arrived for _, arrived in each]


_FEW: Final = {"kind": "pairs", "size": "1 kB"}


def _outside(scenario: Scenario) -> Iterator[InputError]:
    switching = scenario.switching
    if len(scenario.flow_groups) > 1:
        yield outside("groups", f"{len(scenario.flow_groups)} groups", _MODEL, "one kind of bursts")
        return
    if not isinstance(switching, Obs) or any(switching.others()):
        yield outside("switching.kind", f"'{switching.kinds}'", _MODEL, "booked channels: 'obs'")
        return
    if switching.ingress != "lose":
        words = "that no burst waits at its ingress: 'lose'"
        yield outside("switching.ingress", f"'{switching.ingress}'", _MODEL, words)
    if not isinstance(switching.conversion, FullConversion):
        given = f"'{switching.conversion.kind}'"
        yield outside("switching.conversion", given, _MODEL, "full conversion: 'full'")
    if switching.contention:
        given = ", ".join(f"'{one.kind}'" for one in switching.contention)
        yield outside("switching.contention", given, _MODEL, "that what finds no channel is lost")
    if switching.switching_time:
        given = format_duration(switching.switching_time)
        yield outside("switching.switching_time", given, _MODEL, "switching in no time: '0 s'")
    if switching.signalling != "jet":
        yield outside("switching.signalling", f"'{switching.signalling}'", _MODEL, "'jet'")
    if scenario.routing.labelled and isinstance(scenario.routing.label, LoadLabel):
        words = "paths that are chosen without regard to the load"
        yield outside("routing.label", "'load'", _MODEL, words)
    if scenario.loss is not None:
        yield outside("loss", "a table", _MODEL, "that bursts are lost by contention alone")
    yield from _of_flows(scenario)


def _of_flows(scenario: Scenario) -> Iterator[InputError]:
    (group,) = scenario.flow_groups
    transport, workload = group.transport, group.workload
    if not isinstance(transport, Bursts):
        given = f"'{transport.kind}'"
        words = "bursts that come as a Poisson process: 'bursts'"
        yield outside(f"{group.transport_path}.kind", given, _MODEL, words)
        return
    if not isinstance(workload, Poisson):
        given = f"'{workload.kind}'"
        yield outside(f"{group.path}workload.kind", given, _MODEL, "Poisson arrivals: 'poisson'")
        return
    mean = mean_size(workload.size)
    least = mean if workload.size.kind == "constant" else _MEANS * mean
    if transport.payload < least:
        given = format_size(transport.segment_size)
        words = f"that a flow is one burst: at least {least + transport.header_size:,.0f} B"
        yield outside(f"{group.transport_path}.segment_size", given, _MODEL, words)


def _erlangs(scenario: Scenario, plan: Plan, network: Network) -> tuple[FloatArray, float]:
    """Return the load between edges, shape (edges, edges), and the share that goes over fibres."""
    (group,) = scenario.flow_groups
    edges = edges_of(network)
    workload = with_arrival_rate(group.workload, senders_in(plan, group, scenario)[0], edges)
    assert isinstance(workload, Poisson)
    assert workload.arrival_rate is not None
    fibres = plan.between_switches
    rates = np.unique(plan.links["rate_bps"][fibres])
    if rates.size > 1:
        raise outside("topology", "fibres of different rates", _MODEL, "one rate")
    bits = BITS_PER_BYTE * (mean_size(workload.size) + group.transport.header_size)
    apart = Pattern.of(workload, network).matrix
    return workload.arrival_rate * bits / float(rates[0]) * apart, float(apart.sum())


def _wavelengths(plan: Plan) -> IntArray:
    fibres = np.flatnonzero(plan.between_switches)
    parallel = fibres[plan.first_of_parallel[fibres] != fibres]
    if parallel.size:
        ends = (plan.name(int(plan.links[end][parallel[0]])) for end in ("from", "to"))
        given = f"parallel fibres from {' to '.join(ends)}"
        raise outside("topology", given, _MODEL, "one fibre between two nodes")
    return plan.channels.astype(np.int64)

"""The result of a run: a summary, and one table each for flows, links and switches."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from lightburst.compile import Plan
from lightburst.compile.offered import senders_in
from lightburst.expressions import Expression, beside, parse, parse_all
from lightburst.foundation.counts import Columns, Metric
from lightburst.foundation.files.dataframes import frame
from lightburst.foundation.files.directory import replace
from lightburst.foundation.formatting import html_list, html_table, readable
from lightburst.foundation.provenance import Provenance
from lightburst.foundation.provenance import trace as provenance_of
from lightburst.foundation.support import Support, as_json, weak
from lightburst.result import groups, metrics, tables
from lightburst.result.fairness import Shared, busiest
from lightburst.result.saving import write
from lightburst.result.warnings import caveats
from lightburst.scenario import Scenario
from lightburst.simulation.completed import CompletedRun
from lightburst.workload import Offered, offered

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd


class Result(CompletedRun):
    """The result of one run of a scenario with one seed.

    Tables are made when they are first used. All quantities are in SI base units, which the name of
    the column states (``_s``, ``_bps``, ``_bytes``).

    Parameters
    ----------
    scenario : Scenario
        The scenario of the run.
    seed : int
        Seed of the run.
    plan : Plan
        The plan of the run.
    columns : mapping of str to mapping
        The tables of the simulator, in integer picoseconds and bytes.
    wall_s : float
        Wall-clock time of the simulation in seconds.
    own : mapping of str to Expression, optional
        User-defined metrics, by their names in `summary`.
    foreseen : sequence of str, optional
        Warnings that were known before the run, if they were looked for.

    Attributes
    ----------
    scenario, seed, plan, columns, wall_s, own
        As given.
    """

    def __init__(
        self,
        scenario: Scenario,
        seed: int,
        plan: Plan,
        columns: Columns,
        wall_s: float,
        own: Mapping[str, str | Expression] | None = None,
        foreseen: Sequence[str] | None = None,
    ) -> None:
        super().__init__(scenario, plan, columns)
        self._foreseen = foreseen
        self.seed = seed
        self.wall_s = wall_s
        self.own = parse_all(own or {})
        self._created = datetime.now(UTC)

    def __repr__(self) -> str:
        found = self.metrics
        throughput = found["throughput_bps"]
        speed = f"{throughput / 1e9:.4g} Gb/s" if isinstance(throughput, float) else "no throughput"
        return (
            f"<Result of {self.scenario.name or 'a scenario'!r}, seed {self.seed}: {speed}, "
            f"{found['finished']} of {found['flows']} flows finished>"
        )

    def _repr_html_(self) -> str:
        rows = [
            (key, readable(key, value)) for key, value in self.metrics.items() if value is not None
        ]
        return html_table(repr(self).strip("<>"), rows) + html_list(self.warnings)

    @cached_property
    def metrics(self) -> Mapping[str, Metric]:
        """The summary as a read-only mapping, without importing pandas."""
        measurement = self.scenario.measurement
        energy = measurement.energy
        summary = metrics.summary(self.plan, self.columns, None if energy is None else dict(energy))
        loads = groups.offered_loads(self.scenario, self.plan, self.offered).values()
        load = {} if self.plan.group_names else dict(zip(["offered_load"], loads, strict=False))
        summary |= self._of_waits
        for one in measurement.asked:
            summary |= one.of_run(measurement, self.plan, self.columns)
        found = load | summary | {"wall_s": self.wall_s, "digest": self.digest}
        own = {
            f"{name}{ending}": value
            for name, metric in self.own.items()
            for ending, value in self.measured(metric, f"metrics[{name!r}]").items()
        }
        return MappingProxyType(beside(found, own))

    def metric(self, expression: str | Expression) -> Metric:
        """Evaluate an expression over the counted flows.

        Parameters
        ----------
        expression : str
            Such as ``p99 of slowdown where bytes < 100 kB``, ``share of slowdown < 2 where group =
            'query'``, ``count where retransmissions > 0``; docs/metrics.md has the grammar.

        Returns
        -------
        float, int or None
            The value in SI base units, by the rules of `summary`: a flow that did not finish is
            infinitely slow, and missing values (NaN) are left out. None if no values remain.

        Raises
        ------
        InputError
            If the expression is invalid, or names a column, group or node that this run does not
            have.

        Examples
        --------
        >>> result.metric("p99 of slowdown where bytes < 100 kB")  # doctest: +SKIP
        """
        return self.measured(parse(expression), "metric")[""]

    def measured(self, expression: Expression, path: str = "metric") -> dict[str, Metric]:
        """Evaluate an expression, with the sample sizes of its value: see `Expression.over`."""
        expression.check(self.scenario, path)
        return expression.over(self.flows, self._nodes, path)

    @cached_property
    def _nodes(self) -> Collection[object]:
        numbers = np.arange(self.plan.settings["nodes"])
        network = self.plan.network
        return set((numbers if network is None else network.named(numbers)).tolist())

    @cached_property
    def record(self) -> Mapping[str, Metric]:
        """The row of this run in a table of runs.

        `metrics`, then those of `groups` as ``slowdown_p99[query]`` and of `size_classes` as
        ``slowdown_p99[below 100 kB]``; with several groups ``jain_index``, the index of `fairness`
        if its flows were in progress together, else None; and ``warnings`` as one text.
        """
        parts = {
            f"{key}[{name}]": value
            for name, row in (*self._by_group.items(), *self._by_size.items())
            for key, value in row.items()
        }
        warnings = metrics.BETWEEN_WARNINGS.join(self.warnings)
        # Not in `metrics`, because the index takes longer than all other metrics.
        shared = self.fairness if self.plan.group_names else None
        together = shared.jain_index if shared is not None and shared.together else None
        index = {"jain_index": together} if self.plan.group_names else {}
        return MappingProxyType({**self.metrics, **parts, **index, "warnings": warnings})

    @cached_property
    def weak(self) -> Mapping[str, Support]:
        """Metrics of `record` with weak support, by name, each with its numbers of flows.

        Percentiles of too few flows, and metrics that leave flows out; see docs/statistics.md.
        """
        return MappingProxyType(weak({key: [value] for key, value in self.record.items()}))

    @cached_property
    def summary(self) -> pd.Series:
        """Metrics of the whole run.

        Returns
        -------
        pandas.Series
            Metrics of flows are over the counted flows: all flows, unless ``measurement.warm_up``
            or ``until`` set a window. All others are of this `window`; see docs/metrics.md.

            ``offered_load``
                useful bits of the flows / (time in which they start times the capacity in
                `offered`); only if the workload has a ``load`` (with several groups: in `groups`);
            ``throughput_bps``
                useful bits delivered / ``makespan_s``;
            ``makespan_s``
                from the first start of a flow to the last acknowledgement of data; 0 without
                flows. If a flow did not finish, to the time limit; if it never can (an endpoint
                gave up, datagrams were lost), to the last event, or to the last transmission if
                only timers of connections remain;
            ``flows``, ``finished``
                number of flows, and of flows whose last byte arrived;
            ``unfinished``
                number of flows that were meant to finish and did not; flows of 1000 TB, which have
                no end, are not meant to;
            ``active_flows``, ``offered_bps``
                mean number of connections in progress, and useful bits of the flows that start per
                second, from ``warm_up`` to the start of the last flow; ``active_flows`` to the end
                of the run if no flow has an end;
            ``delivered_bytes``
                useful bytes that arrived in order, each counted once;
            ``retransmissions``, ``fast_retransmits``, ``timeouts``, ``false_timeouts``...
                sums of these columns of `flows`, also of ``spurious_bytes`` and ``reordered``;
            ``loss_per_hop``
                packets dropped at a switch or lost on the link to it / packets that arrived there
                or were lost on that link; None where edges make bursts;
            ``loss_end_to_end``
                packets dropped or lost anywhere / packets dropped, lost or delivered,
                acknowledgements included;
            ``drops_missed``
                scripts of ``[loss]`` that never occurred, see `warnings`;
            ``bursts``, ``burst_loss``, ``burst_loss_per_hop``
                bursts assembled; lost / (lost + disassembled at their egress); and lost / offers to
                fibres: transmissions between switches, and drops for want of a channel.
                ``data_burst_loss`` leaves out bursts that carry only acknowledgements. The counts
                of each loss are ``burst_loss_count`` and ``burst_loss_of``;
            ``burst_mean_packets``, ``burst_mean_bytes``
                mean packets and bytes (padding included) of a burst with or without data;
            ``assembly_mean_s``
                mean wait of a packet until its burst is closed;
            ``completion_time_mean_s``, ``completion_time_median_s``, ``completion_time_p99_s``
                over the flows meant to finish, from the start to the arrival of the last byte;
                infinite if unfinished; flows with losses in an open loop are left out;
            ``slowdown_mean``, ``slowdown_median``, ``slowdown_p99``
                completion time / that of the flow alone on its fastest path: never below 1;
            ``conversions_per_delivered_bit``
                optical-electronic-optical conversions in switches of all bits, lost bits included,
                per useful bit delivered; one conversion, O/E or E/O, counts as half;
            ``packet_bytes_share``, ``packet_flows_share``
                only with a packet network beside circuits: what it carried (docs/scenario.md);
            ``energy_j``
                energy of all conversions; None unless the scenario states joules per bit;
            ``packet_hops``, ``events``, ``wall_s``
                work of the run: transmissions of a unit over a link, events, wall-clock time;
            ``digest``
                digest of the columns: equal digests mean equal results, to the bit.

            None means that the metric does not exist. docs/scenario.md has the metrics of further
            tables of ``measurement``. User-defined metrics come last, see `metric`.
        """
        return tables.summary(self.metrics)

    @cached_property
    def groups(self) -> pd.DataFrame:
        """One row for each group of flows, in their order; no row without several groups.

        Returns
        -------
        pandas.DataFrame
            By name of the group, the metrics of flows in `summary`: ``flows``, ``finished``,
            ``throughput_bps`` (over the group's own makespan), ``delivered_bytes``,
            ``retransmissions`` to ``reordered``, completion times and slowdowns:
            ``result.groups.loc["query", "slowdown_p99"]``; ``offered_load`` first, if a group has
            a ``load``; and with ``switching.extra_offset``, which makes each group a class,
            ``bursts`` and ``burst_loss`` of the group's own bursts.
        """
        import pandas as pd

        index = pd.Index(list(self._by_group), name="group")
        names = [*(["offered_load"] if self.offered else []), *groups.METRICS]
        names += groups.OF_CLASSES if "classes" in self.columns else ()
        more = (key for row in self._by_group.values() for key in row)
        columns = list(dict.fromkeys((*names, *more)))
        return pd.DataFrame(list(self._by_group.values()), index, columns=columns)

    @cached_property
    def _by_group(self) -> dict[str, dict[str, Metric]]:
        return groups.summaries(*self._ran, self.offered)

    @cached_property
    def offered(self) -> Mapping[str, Offered]:
        """Capacity, flow size and arrival rate of each group with a ``load``, by name of the group.

        The name is empty in a scenario without groups.
        """
        found = {
            group.name or "": offered(group.workload, *senders_in(self.plan, group, self.scenario))
            for group in self.scenario.flow_groups
        }
        return MappingProxyType({name: load for name, load in found.items() if load is not None})

    def details(self) -> dict[str, Any]:
        """Return the parts of the JSON beside the summary.

        Returns
        -------
        dict
            ``window``: ``begin_s`` and ``end_s`` of the measurement window, and ``offered`` and
            ``lost`` of ``packets`` and ``bursts`` (offered: lost or delivered in the window; units
            in transit at its end are neither);
            ``metrics``: the expression of each user-defined metric;
            ``size_classes``: a row for each class;
            ``offered``: `offered` (by name of the group, if groups have names);
            ``link_loads``: `link_loads`, if a workload has a load;
            ``groups``: the metrics of each group; ``weak``: those with weak support;
            ``fairness``: `fairness` of the busiest shared link, None without one.
            A part without content is left out, except classes, ``weak`` and ``fairness``.
        """
        loads = {name: asdict(load) for name, load in self.offered.items()}
        found = {name: metrics.to_json(row) for name, row in self._by_group.items()}
        classes = self._by_size.items()
        own = {name: expression.written for name, expression in self.own.items()}
        return {
            "window": self._counted_in_window,
            **({"metrics": own} if own else {}),
            "size_classes": [{"size_class": name} | metrics.to_json(row) for name, row in classes],
            **({"offered": loads.get("", loads)} if loads else {}),
            **({"link_loads": asdict(self.link_loads)} if loads and self.link_loads else {}),
            **({"groups": found} if found else {}),
            "weak": as_json(self.weak),
            "fairness": None if self.fairness is None else self.fairness.as_dict(),
        }

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Warnings: requests of the scenario that the run did not meet, and metrics in doubt.

        Among them: a time limit before the first flow; overloaded links; sizes with another mean
        than stated; unfinished flows, unless they have no end or lost datagrams; scripts that never
        occurred; timeouts below the delay of an acknowledgement; unnecessary retransmissions.
        """
        return tuple(caveats(self.scenario, self.plan, self.columns, self._foreseen))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the columns, in hexadecimal."""
        return metrics.digest(self.columns)

    @cached_property
    def provenance(self) -> Provenance:
        """Versions, scenario, seed and digests."""
        return provenance_of(
            self.scenario.in_use(), self.seed, self.plan.digest(), self.digest, self._created
        )

    @cached_property
    def flows(self) -> pd.DataFrame:
        """One row for each flow, in order of arrival.

        Returns
        -------
        pandas.DataFrame
            ``group`` (with several groups), ``source``, ``destination`` (names in a graph, else
            numbers), ``start_s``, ``received_s`` (arrival of the last byte at the receiver),
            ``acknowledged_s`` (arrival of its acknowledgement at the sender; equal to
            ``received_s`` for datagrams), both NaN without such an arrival; ``size_bytes``,
            ``delivered_bytes``, ``completion_time_s`` (from ``start_s`` to ``received_s``; infinite
            if unfinished; NaN if unfinished and not meant to finish, or lost in an open loop, which
            has no retransmissions), ``ideal_s``, ``slowdown``, ``throughput_bps`` (all bits of the
            flow from ``start_s`` to ``acknowledged_s``, else NaN), ``transmissions`` (data segments
            sent, ``retransmissions`` included), ``spurious_retransmissions`` and ``spurious_bytes``
            (retransmissions of data of which an earlier transmission was not lost, and their
            bytes), ``fast_retransmits`` and ``false_fast_retransmits`` (losses inferred from
            duplicate acknowledgements, and those where the data was not lost), ``timeouts`` (of
            set-up, data and close) and ``false_timeouts`` (those where the data was not lost),
            ``duplicates`` (data segments that arrived again), ``reinjections`` (those that a
            further subflow sent, with ``transport.reinjection``), ``reordered`` (segments that
            arrived after one sent later), ``reorder_extent_mean`` and ``reorder_extent_max`` (in
            segments, RFC 4737), ``drops`` (packets of both directions, dropped or lost),
            ``bursts``, ``bursts_lost`` and ``bursts_cut`` (bursts with data of the flow that were
            assembled, lost, and that lost a part with such data; with ``measurement.bursts``),
            ``cut_packets`` and ``recovery_s`` (``measurement.recovery``), ``path_links`` (of the
            path with label 0, by the first ports) and ``status`` (the reason, if unfinished);
            ``counted`` if some are not. docs/model.md defines false and spurious.
        """
        return frame(self.columns_of("flows"))

    @cached_property
    def size_classes(self) -> pd.DataFrame:
        """Metrics of the counted flows, by classes of their size.

        Returns
        -------
        pandas.DataFrame
            One row for each class, whose name is the index (``below 100 kB``...; a size on a
            boundary belongs to the class above it): ``flows``, ``unfinished``, and mean, median
            and 99th percentile of completion time and slowdown as in `summary`:
            ``completion_time_p99_s``, ``slowdown_p99``..., and the optional metrics of flows that
            the scenario requests. NaN in a class without flows.
        """
        return tables.size_classes(self._by_size)

    @cached_property
    def _by_size(self) -> dict[str, dict[str, Metric]]:
        return groups.by_size(*self._ran)

    @property
    def _ran(self) -> tuple[Scenario, Plan, Columns]:
        return self.scenario, self.plan, self.columns

    @cached_property
    def links(self) -> pd.DataFrame:
        """One row for each direction of each link.

        Returns
        -------
        pandas.DataFrame
            ``source`` and ``target`` (names in a graph, else numbers, hosts first), ``name`` (if
            links have names), ``wavelength`` (from 0), ``rate_bps``, ``delay_s`` (propagation, and
            header processing at ``target``), and for the `window` (also in ``attrs["window"]``)
            ``units`` given to the link, ``bytes`` transmitted, ``waiting_bytes`` not yet
            transmitted at the end of the window, ``lost`` (units lost by ``[loss]``, after their
            transmission), ``dropped`` (units dropped at this output for want of buffer space or of
            a channel, or that came over the link behind their header; `switches` has the same sum
            by reason), and ``utilisation`` (busy fraction of the time from the first start of a
            flow to the end of the last transmission, if all flows finished; otherwise to the end
            of the run, which is the time limit or the last event; of this time, the part in the
            window); ``flows``, the number of flows in progress in the window, counted or not, that
            certainly use the link, because it is on all paths that the routing allows them (NaN
            where not known: between switches in a fat-tree, where flows have a choice, with
            deflection, and in networks of thousands of switches); ``jain_index`` of the throughputs
            of these flows, each over its own duration, NaN with fewer than two; and with ``pfc``
            ``pauses`` and ``paused_s``, the pauses that began and their time, over all classes.
        """
        return self._of_window("links")

    @cached_property
    def fairness(self) -> Shared | None:
        """The busiest link that at least two flows certainly use; None if there is no such link.

        Its attributes are ``source``, ``target``, ``flows``, ``utilisation``, ``jain_index``,
        ``together`` (whether all these flows were in progress at one moment) and, with several
        groups, ``group_throughput_bps``: the mean throughput of each group's flows on the link.
        """
        return busiest(self.plan, tables.utilisation(self.plan, self.columns), self._use)

    @cached_property
    def switches(self) -> pd.DataFrame:
        """One row for each switch, with its counts in the `window`.

        Returns
        -------
        pandas.DataFrame
            ``node`` (name in a graph, else number); ``layer`` (``edge``, ``aggregation``,
            ``core``; ``switch`` in a topology without layers); units that ``arrived``, were
            ``forwarded`` (directly or out of the buffer), ``buffered``, ``marked``, and dropped, by
            reason; ``loss`` (dropped / arrived; where edges make bursts, dropped / (dropped +
            transmitted on fibres, the links between switches)); bytes converted from optics to
            electronics (``oe_bytes``) and back (``eo_bytes``); the largest and the mean content of
            the buffer (``buffer_max_bytes``, ``buffer_mean_bytes``, over the same time as the
            ``utilisation`` of links); for an edge the ``bursts`` assembled, their mean numbers of
            packets and bytes (``burst_mean_packets``, ``burst_mean_bytes``), and the mean wait of a
            packet until its burst was closed (``assembly_mean_s``), NaN without bursts; bursts that
            took a delay line or another path (``bursts_delayed``, ``delay_line_s`` in total,
            ``bursts_deflected``); units that waited for a second circuit (``relayed``); bytes for a
            packet network, and for circuits beside one (``packet_bytes``, ``circuit_bytes``).
        """
        return self._of_window("switches")

    @cached_property
    def network(self) -> nx.DiGraph[Any]:
        """The network as a networkx graph, with the results on it.

        Returns
        -------
        networkx.DiGraph
            Nodes by name in a graph, else by number, with ``layer`` (``host``, or that of the
            switch) and, for a switch, all columns of its row in `switches`; an edge for each row
            of `links`, with all its columns:
            ``result.network["Seattle"]["Chicago"]["utilisation"]``. With parallel links a
            `networkx.MultiDiGraph`, whose edges have one more key.
        """
        return tables.graph(self.plan, self.switches, self.links)

    def save(self, directory: str | Path) -> Path:
        """Write the tables as Parquet and ``run.json`` with summary, warnings and provenance.

        Traces are in tables ``trace_...``, samples in ``samples_...``, reordered segments in
        ``reordering``, contents of bursts in ``bursts``, the time series of loss synchronisation
        in ``synchronisation``.

        Parameters
        ----------
        directory : str or Path
            Created if it does not exist. An earlier result in it is replaced, all or nothing.

        Returns
        -------
        Path
            The directory.

        Raises
        ------
        InputError
            If the directory cannot be written or contains other files. No partial result remains.
        """
        return replace(directory, partial(write, self))

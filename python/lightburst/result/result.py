"""What a run gave: a summary, and one table each for flows, links and switches."""

from __future__ import annotations

from collections.abc import Collection, Mapping
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
    """The outcome of one run of a scenario with one seed.

    Tables are made when they are first looked at. All quantities are in SI base units, named in the
    column (``_s``, ``_bps``, ``_bytes``).

    Parameters
    ----------
    scenario : Scenario
        What was run.
    seed : int
        Seed of the run.
    plan : Plan
        What the scenario was compiled to.
    columns : mapping of str to mapping
        The tables as the simulator gave them: whole picoseconds and bytes.
    wall_s : float
        Time that the simulation took.
    own : mapping of str to Expression, optional
        Metrics of the user's own, by the names that they have in `summary`.

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
    ) -> None:
        super().__init__(scenario, plan, columns)
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
        """The summary as a read-only mapping, without the cost of pandas."""
        energy = self.scenario.measurement.energy
        summary = metrics.summary(self.plan, self.columns, None if energy is None else dict(energy))
        loads = groups.offered_loads(self.scenario, self.plan, self.offered)
        alone = () if self.plan.group_names else loads.values()
        load = dict(zip(["offered_load"], alone, strict=False))
        measurement = self.scenario.measurement
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
        """Evaluate an expression over the flows that count.

        Parameters
        ----------
        expression : str
            Such as ``p99 of slowdown where bytes < 100 kB``, ``share of slowdown < 2 where group =
            'query'``, ``count where retransmissions > 0``; docs/metrics.md has the grammar.

        Returns
        -------
        float, int or None
            In SI base units, by the rules of `summary`: a flow that did not finish is infinitely
            slow, and what is not there (NaN) is left out. None where nothing is left.

        Raises
        ------
        InputError
            If it cannot be read, or names what this run does not have.

        Examples
        --------
        >>> result.metric("p99 of slowdown where bytes < 100 kB")  # doctest: +SKIP
        """
        return self.measured(parse(expression), "metric")[""]

    def measured(self, expression: Expression, path: str = "metric") -> dict[str, Metric]:
        """Evaluate an expression, with what its value rests on: see `Expression.over`."""
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
        ``slowdown_p99[below 100 kB]``; with several groups ``jain_index``, that of `fairness` if
        its flows were there together, else None; and ``warnings`` as one text.
        """
        parts = {
            f"{key}[{name}]": value
            for name, row in (*self._by_group.items(), *self._by_size.items())
            for key, value in row.items()
        }
        warnings = metrics.BETWEEN_WARNINGS.join(self.warnings)
        # Only here, since it costs more than all the rest.
        index = {"jain_index": self._index_of_those_together} if self.plan.group_names else {}
        return MappingProxyType({**self.metrics, **parts, **index, "warnings": warnings})

    @cached_property
    def weak(self) -> Mapping[str, Support]:
        """Figures of `record` that their flows cannot give, or that leave flows out.

        With what they rest on; see docs/statistics.md.
        """
        return MappingProxyType(weak({key: [value] for key, value in self.record.items()}))

    @property
    def _index_of_those_together(self) -> float | None:
        shared = self.fairness
        return shared.jain_index if shared is not None and shared.together else None

    @cached_property
    def summary(self) -> pd.Series:
        """Figures of the whole run.

        Returns
        -------
        pandas.Series
            Those of flows are of the flows that count: all, unless ``measurement.warm_up`` or
            ``until`` say otherwise; others of that time (`window`), see docs/metrics.md.

            ``offered_load``
                only where the workload has a ``load`` (with several groups: in `groups`): what it
                was in this run, useful bits of the flows / (time in which they start times the
                capacity in `offered`);
            ``throughput_bps``
                useful bits delivered / ``makespan_s``;
            ``makespan_s``
                from the first start (0 if none) of a flow to the last acknowledgement of data. If
                one did not finish, to the time limit; if it never can (an end gave up, lost
                datagrams), to the last event, or transmission where only connections wait on;
            ``flows``, ``finished``
                numbers of flows, and of those whose last byte arrived;
            ``unfinished``
                how many did not finish that were meant to; flows of 1000 TB, without end, are not;
            ``active_flows``, ``offered_bps``
                mean number of connections in progress, and useful bits that begin in a second, from
                ``warm_up`` until the last flow starts; the first to the end where none has an end;
            ``delivered_bytes``
                useful bytes that arrived in order, each counted once;
            ``retransmissions``, ``fast_retransmits``, ``timeouts``, ``false_timeouts``...
                sums of these columns of `flows`, of ``spurious_bytes`` and others of its columns;
            ``loss_per_hop``
                packets dropped at a switch or lost on the way to it / packets that arrived there or
                were lost on the way; None where edges make bursts;
            ``loss_end_to_end``
                packets dropped or lost anywhere / packets dropped, lost or delivered; those of
                acknowledgements count, too;
            ``drops_missed``
                drops that the scenario orders and that never came, see `warnings`;
            ``bursts``, ``burst_loss``, ``burst_loss_per_hop``
                bursts assembled; lost / (lost + taken apart at their egress); and lost / how often
                bursts were offered to fibres: handed to a link between switches, or dropped for
                want of one. In ``data_burst_loss`` those of acknowledgements alone do not count.
                Beside each loss stand its counts, ``burst_loss_count`` of ``burst_loss_of``;
            ``burst_mean_packets``, ``burst_mean_bytes``
                packets and bytes (padding included) in a burst, of data and acknowledgements alike;
            ``assembly_mean_s``
                how long a packet waited for its burst to be closed;
            ``completion_time_mean_s``, ``completion_time_median_s``, ``completion_time_p99_s``
                over the flows that were meant to finish, from the start to the arrival of the last
                byte; infinite for one that did not finish; what an open loop lost is left out;
            ``slowdown_mean``, ``slowdown_median``, ``slowdown_p99``
                completion time / that of the flow alone on its fastest way: never below 1;
            ``conversions_per_delivered_bit``
                optical-electronic-optical conversions in switches of all bits, lost ones too, for
                each useful bit delivered; into electronics or out of it is half a conversion;
            ``energy_j``
                of all conversions, None unless the scenario gives joules a bit;
            ``packet_hops``, ``events``, ``wall_s``
                work done: transmissions of a unit over a link, events, and time taken;
            ``digest``
                of the columns: equal digests mean equal results, to the bit.

            None stands for no figure. What other tables of ``measurement`` add is in
            docs/scenario.md. Metrics of the user's own come last, see `metric`.
        """
        return tables.summary(self.metrics)

    @cached_property
    def groups(self) -> pd.DataFrame:
        """One row for each group of flows, in their order; no row without several groups.

        Returns
        -------
        pandas.DataFrame
            By name of the group those metrics of `summary` that are of flows: ``flows``,
            ``finished``, ``throughput_bps`` (over the group's own makespan), ``delivered_bytes``,
            what is sent again from ``retransmissions`` to ``reordered``, completion times and
            slowdowns: ``result.groups.loc["query", "slowdown_p99"]``; ``offered_load`` first, if a
            group has a ``load``; and with ``switching.extra_offset``, which makes each group a
            class, ``bursts`` and ``burst_loss`` of its own bursts.
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
        """What the ``load`` of each group that has one comes to, by name of the group.

        The name is empty in a scenario without groups.
        """
        found = {
            group.name or "": offered(group.workload, *senders_in(self.plan, group, self.scenario))
            for group in self.scenario.flow_groups
        }
        return MappingProxyType({name: load for name, load in found.items() if load is not None})

    def details(self) -> dict[str, Any]:
        """Give what JSON has beside the summary.

        Returns
        -------
        dict
            ``window``: ``begin_s`` and ``end_s`` of the time that links, switches and bursts are
            of, and what was ``offered`` and ``lost`` in it of ``packets`` and ``bursts`` (lost or
            delivered there; what was under way at its end is neither);
            ``metrics``: the expression of each metric of the user's own; ``size_classes``: a row
            for each; ``offered``: what a load comes to (by name of the group, if they have names);
            ``link_loads``: what is offered to links, `link_loads`, where the workload has a load;
            ``groups``: the metrics of each group; each but the classes only if there is such a
            thing. ``fairness``: that of the busiest shared link, None without one.
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
        """What the scenario asks for and did not happen.

        A time limit before the first flow; sizes of another mean; flows that did not finish, unless
        they are to have no end, or lost datagrams; scripted drops that never came; a timeout that
        can be shorter than the delay of an acknowledgement; and retransmissions by TCP flows that
        lost nothing, if they are more than 1 % of those of their group.
        """
        return tuple(caveats(self.scenario, self.plan, self.columns))

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
            ``group`` (where there are several), ``source``, ``destination`` (names in a graph, else
            numbers), ``start_s``, ``received_s`` (arrival of the last byte at the receiver),
            ``acknowledged_s`` (arrival of its acknowledgement at the sender; for datagrams, which
            have none, as ``received_s``), both NaN if it did not come; ``size_bytes``,
            ``delivered_bytes``, ``completion_time_s`` (from ``start_s`` to ``received_s``; infinite
            if unfinished, NaN if, besides, it was not meant to finish, or was lost by an open loop,
            which sends nothing again), ``ideal_s``, ``slowdown``,
            ``throughput_bps`` (all its bits from ``start_s`` to ``acknowledged_s``, else NaN),
            ``transmissions`` (data segments sent, with ``retransmissions``),
            ``spurious_retransmissions`` and ``spurious_bytes`` (those of data of which a sending
            before was not lost), ``fast_retransmits`` and ``false_fast_retransmits`` (losses seen
            by duplicate acknowledgements, and those of what was not lost), ``timeouts`` (of set-up,
            data and close) and ``false_timeouts`` (of what was not lost), ``duplicates`` (data
            segments that arrived once more than needed), ``reordered`` (segments that arrived
            behind one sent later), ``reorder_extent_mean`` and ``reorder_extent_max`` (how many
            segments further behind than the first of these, RFC 4737), ``drops`` (packets of both
            directions, dropped or lost), ``bursts``, ``bursts_lost`` and ``bursts_cut`` (with data
            of the flow that were made, lost, and lost a part with such data; only with
            ``measurement.bursts``), ``path_links`` (of the path with label 0, by the first
            port of each set) and ``status`` (why, if unfinished); and ``counted``, where some do
            not. What is false or spurious is said in docs/model.md.
        """
        return frame(self.columns_of("flows"))

    @cached_property
    def size_classes(self) -> pd.DataFrame:
        """Figures of the flows that count, by classes of their size.

        Returns
        -------
        pandas.DataFrame
            One row for each class, which is the index (``below 100 kB``...; a size on a boundary
            belongs above it): ``flows``, ``unfinished``, and mean, median and 99th percentile of
            completion time and slowdown as in `summary`: ``completion_time_p99_s``,
            ``slowdown_p99``..., and those of flows that the scenario asks for. NaN in a class
            without flows.
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
            ``source`` and ``target`` (names in a graph, else numbers, hosts first), ``name`` (where
            links have names), ``wavelength`` (from 0), ``rate_bps``, ``delay_s`` (propagation, and
            header processing where it leads), and of the `window` (also in ``attrs["window"]``)
            the ``units`` that it was given, ``bytes`` that it transmitted, ``waiting_bytes`` that
            it had still to transmit at its end,
            ``lost`` (units that ``[loss]`` took, after their transmission), ``dropped`` (units that
            wanted it and found no room or no channel, or came over it behind their header; why is
            in `switches`, with the same sum) and ``utilisation`` (busy fraction of the time from
            the first start of a flow to the end of the last transmission, if all flows finished;
            else to the end of the run: the time limit, if that cut it off, or the last event; and
            of this what is in the window); ``flows``, how many flows in progress in the window
            certainly use the link, whether they count or not, since it lies on all paths that
            the routing allows them (NaN where that is not known: between switches in a fat-tree,
            where flows have a choice, and in networks of thousands of switches); and ``jain_index``
            of the throughputs of these flows, each over its own time, NaN with fewer than two.
        """
        return self._of_window("links")

    @cached_property
    def fairness(self) -> Shared | None:
        """The busiest link that at least two flows certainly use; None if there is none.

        With ``source``, ``target``, ``flows``, ``utilisation``, ``jain_index``, ``together``
        (whether all these flows were there at one moment) and, with several groups,
        ``group_throughput_bps``: the mean of each group's flows there.
        """
        return busiest(self.plan, tables.utilisation(self.plan, self.columns), self._use)

    @cached_property
    def switches(self) -> pd.DataFrame:
        """One row for each switch, of what it did in the `window`.

        Returns
        -------
        pandas.DataFrame
            ``node`` (its name in a graph, else its number); ``layer`` (``edge``, ``aggregation``,
            ``core``; ``switch`` in a topology without layers); the units that ``arrived``, were
            ``forwarded`` (directly or out of the buffer), ``buffered``, ``marked``, and dropped, by
            reason; ``loss`` (dropped / arrived; where edges make bursts dropped / (dropped + handed
            to fibres, the links between switches)); bytes converted from optics to electronics
            (``oe_bytes``) and back (``eo_bytes``); the largest and the mean content of the buffer
            (``buffer_max_bytes``, ``buffer_mean_bytes``, over the same time as the
            ``utilisation`` of links); and of an edge the ``bursts`` that it assembled, how many
            packets and bytes they have in the mean (``burst_mean_packets``, ``burst_mean_bytes``),
            and how long a packet waited for its burst to be closed (``assembly_mean_s``); NaN
            without bursts. Where headers book channels also how many bursts took a delay line there
            or another way (``bursts_delayed``, ``delay_line_s`` in all, ``bursts_deflected``). What
            only one kind of switch counts is 0 for the others.
        """
        return self._of_window("switches")

    @cached_property
    def network(self) -> nx.DiGraph[Any]:
        """The network as a networkx graph, with the results on it.

        Returns
        -------
        networkx.DiGraph
            Nodes by name in a graph, else by number, with ``layer`` (``host``, or that of the
            switch) and, for a switch, all else of its row in `switches`; an edge for each row of
            `links`, with all of it: ``result.network["Seattle"]["Chicago"]["utilisation"]``. A
            `networkx.MultiDiGraph`, with one more key for an edge, if links are parallel.
        """
        return tables.graph(self.plan, self.switches, self.links)

    def save(self, directory: str | Path) -> Path:
        """Write the tables as Parquet and ``run.json`` with summary, warnings and provenance.

        Traces are in tables ``trace_...``, samples in ``samples_...``; what came out of order in
        ``reordering``; what bursts carried in ``bursts``; the series of ``synchronisation``.

        Parameters
        ----------
        directory : str or Path
            Made if it does not exist. An earlier result in it is replaced, all or nothing.

        Returns
        -------
        Path
            The directory.

        Raises
        ------
        InputError
            If the directory cannot be written or holds something else. Nothing is left behind.
        """
        return replace(directory, partial(write, self))

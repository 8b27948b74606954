"""What a run gave: a summary, and one table each for flows, links and switches."""

import json
import tempfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lightburst import metrics
from lightburst.compile import Plan
from lightburst.errors import InputError
from lightburst.metrics import PS, Columns, Metric
from lightburst.provenance import Provenance
from lightburst.provenance import trace as provenance_of
from lightburst.scenario import Scenario
from lightburst.traced import TABLES as TRACES
from lightburst.traced import Trace
from lightburst.units import format_duration

_TABLES = ("flows", "links", "switches")
# The page is made from the others by `lightburst report`.
_FILES = (
    *(f"{name}.parquet" for name in (*_TABLES, *(f"trace_{name}" for name in TRACES))),
    "run.json",
    "index.html",
)


class Result:
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

    Attributes
    ----------
    scenario, seed, plan, columns, wall_s
        As given.
    """

    def __init__(
        self, scenario: Scenario, seed: int, plan: Plan, columns: Columns, wall_s: float
    ) -> None:
        self.scenario = scenario
        self.seed = seed
        self.plan = plan
        self.columns = columns
        self.wall_s = wall_s
        self._created = datetime.now(UTC)

    def __repr__(self) -> str:
        figures = self.metrics
        throughput = figures["throughput_bps"]
        speed = f"{throughput / 1e9:.4g} Gb/s" if isinstance(throughput, float) else "no throughput"
        return (
            f"<Result of {self.scenario.name or 'a scenario'!r}, seed {self.seed}: {speed}, "
            f"{figures['finished']} of {figures['flows']} flows finished>"
        )

    @cached_property
    def metrics(self) -> Mapping[str, Metric]:
        """The summary as a read-only mapping, without the cost of pandas."""
        energy = self.scenario.measurement.energy
        figures = metrics.summary(self.plan, self.columns, None if energy is None else dict(energy))
        return MappingProxyType(figures | {"wall_s": self.wall_s, "digest": self.digest})

    @cached_property
    def summary(self) -> pd.Series:
        """Figures of the whole run.

        Returns
        -------
        pandas.Series
            ``throughput_bps``
                useful bits delivered / ``makespan_s``;
            ``makespan_s``
                from the first arrival of a flow to the last acknowledgement of data. If a flow did
                not finish, to the time limit, or, if it can never finish (lost datagrams), to the
                last event;
            ``flows``, ``finished``
                numbers of flows;
            ``delivered_bytes``
                useful bytes that arrived in order, each counted once;
            ``retransmissions``
                data segments sent again;
            ``timeouts``
                retransmission timers that expired: of set-up, data and close;
            ``loss_per_hop``
                units dropped at a switch or lost on the way to it / units that arrived there or
                were lost on the way; a burst is one unit;
            ``loss_end_to_end``
                packets dropped or lost anywhere / packets dropped, lost or delivered; those of
                acknowledgements count, too;
            ``drops_missed``
                drops that the scenario orders and that never came, see `warnings`;
            ``bursts``, ``burst_loss``
                bursts assembled, and how many of them were lost / their number. A burst that holds
                nothing but acknowledgements counts, too, so that this is not the
                ``loss.probability`` of bursts with data: of those `links` tells for each direction,
                and `trace` for each burst;
            ``burst_mean_packets``, ``burst_mean_bytes``
                packets and bytes (padding included) in a burst, of data and acknowledgements alike;
            ``assembly_mean_s``
                how long a packet waited for its burst to be closed;
            ``completion_time_mean_s``, ``completion_time_median_s``, ``completion_time_p99_s``
                over the finished flows, from the start to the arrival of the last byte at the
                receiver;
            ``slowdown_mean``, ``slowdown_p99``
                completion time / that of the flow alone on the network, see
                `lightburst.metrics.ideal_completion_s`;
            ``conversions_per_delivered_bit``
                optical-electronic-optical conversions in switches of all bits (headers,
                acknowledgements and lost units too) for each useful bit delivered; one into
                electronics or one out of it is half a conversion;
            ``energy_j``
                of all conversions, None unless the scenario gives joules a bit;
            ``packet_hops``, ``events``, ``wall_s``
                work done: transmissions of a unit over a link, events, and time taken;
            ``digest``
                of the columns: equal digests mean equal results, to the bit.

            None stands where there is no such figure.
        """
        return pd.Series(dict(self.metrics), dtype=object, name="value")

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What the scenario asks for and did not happen.

        Flows that did not finish, unless they have more to send than their host's link carries
        within the time limit, or send datagrams; scripted drops that never came; and a timeout that
        can be shorter than the delay of an acknowledgement.
        """
        loss, units = self.scenario.loss, self.columns["drops"]["units"]
        drops = () if loss is None else loss.drops
        return (
            *self._unfinished(),
            *self._hasty(),
            *(
                f"loss.drops[{i}] ({drop.words}) never came"
                for i, drop in enumerate(drops)
                if units[i] == 0
            ),
        )

    def _unfinished(self) -> Iterator[str]:
        flows, measurement = self.columns["flows"], self.scenario.measurement
        unfinished = metrics.due(self.plan) & (flows["received_ps"] == metrics.UNFINISHED)
        number = np.count_nonzero(unfinished)
        if number == 0:
            return
        limit = f"time-limit ({format_duration(measurement.time_limit)})"
        words = f"{number} of {unfinished.size} flows unfinished: {limit}"
        if silent := np.count_nonzero(flows["delivered_bytes"][unfinished] == 0):
            words += f", {silent} of them with nothing delivered"
        switching = self.scenario.switching
        if switching.kind == "burst" and switching.assembly.kind == "size":
            words += "; assembly by size alone never sends a burst that does not fill"
        yield words

    def _hasty(self) -> Iterator[str]:
        transport = self.scenario.transport
        if transport.kind != "tcp" or transport.acknowledge_every == 1:
            return
        least, delay = transport.min_timeout, transport.acknowledgement_delay
        if least < delay:
            yield (
                f"transport.min_timeout ({format_duration(least)}) is below acknowledgement_delay "
                f"({format_duration(delay)}): a sender can time out while the acknowledgement of "
                "its last segment is held back, and send again what arrived. Set "
                "acknowledgement_delay below min_timeout, or acknowledge_every to 1"
            )

    @cached_property
    def trace(self) -> Trace | None:
        """What happened to the flows of ``measurement.trace``, event by event; None without any."""
        return Trace(self.columns) if self.scenario.measurement.trace else None

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the columns, in hexadecimal."""
        return metrics.digest(self.columns)

    @cached_property
    def provenance(self) -> Provenance:
        """Versions, scenario, seed and digests."""
        return provenance_of(
            self.scenario.to_dict(), self.seed, self.plan.digest(), self.digest, self._created
        )

    @cached_property
    def flows(self) -> pd.DataFrame:
        """One row for each flow, in order of arrival.

        Returns
        -------
        pandas.DataFrame
            ``source``, ``destination``, ``start_s``, ``received_s`` (the last byte arrives at the
            receiver), ``acknowledged_s`` (its acknowledgement arrives at the sender; for datagrams,
            which have none, as ``received_s``), both NaN if it did not come; ``size_bytes``,
            ``delivered_bytes``, ``completion_time_s`` (from ``start_s`` to ``received_s``),
            ``ideal_s``, ``slowdown``, ``transmissions`` (data segments sent, with
            ``retransmissions``), ``duplicates`` (data segments that arrived once more than needed),
            ``timeouts`` (of set-up, data and close), ``drops`` (packets of both directions, dropped
            or lost), ``path_links`` and ``status`` (why, if unfinished).
        """
        plan, ran = self.plan.flows, self.columns["flows"]
        finished = ran["received_ps"] != metrics.UNFINISHED
        time = np.full(finished.shape, np.nan)
        time[finished] = (ran["received_ps"] - plan["start_ps"])[finished] * PS
        ideal = metrics.ideal_completion_s(self.plan, ran)
        return pd.DataFrame(
            {
                "source": plan["source"],
                "destination": plan["destination"],
                "start_s": plan["start_ps"] * PS,
                **{
                    f"{name}_s": np.where(at == metrics.UNFINISHED, np.nan, at * PS)
                    for name in ("received", "acknowledged")
                    for at in [ran[f"{name}_ps"]]
                },
                "size_bytes": plan["bytes"],
                "delivered_bytes": ran["delivered_bytes"],
                "completion_time_s": time,
                "ideal_s": ideal,
                "slowdown": time / ideal,
                "transmissions": ran["transmissions"],
                "retransmissions": ran["retransmissions"],
                "duplicates": ran["duplicates"],
                "timeouts": ran["timeouts"],
                "drops": ran["drops"],
                "path_links": ran["path_links"],
                "status": pd.Categorical.from_codes(
                    ran["status"], categories=pd.Index(metrics.STATUSES)
                ),
            }
        )

    @cached_property
    def links(self) -> pd.DataFrame:
        """One row for each direction of each link.

        Returns
        -------
        pandas.DataFrame
            ``source`` and ``target`` (node numbers, hosts first), ``rate_bps``, ``delay_s``
            (propagation, and header processing where it leads), ``units``, ``bytes``, ``lost``
            (units, after their transmission) and ``utilisation`` (busy fraction of the time from
            the first arrival to the last event).
        """
        plan, ran = self.plan.links, self.columns["links"]
        return pd.DataFrame(
            {
                "source": plan["from"],
                "target": plan["to"],
                "rate_bps": plan["rate_bps"],
                "delay_s": plan["delay_ps"] * PS,
                "units": ran["units"],
                "bytes": ran["bytes"],
                "lost": ran["lost"],
                "utilisation": self._over_time(ran["busy_ps"]),
            }
        )

    @cached_property
    def switches(self) -> pd.DataFrame:
        """One row for each switch.

        Returns
        -------
        pandas.DataFrame
            ``node``; the units that ``arrived``, were ``forwarded`` (directly or out of the
            buffer), ``buffered``, ``marked``, and dropped, by reason; ``loss`` (dropped / arrived);
            bytes converted from optics to electronics (``oe_bytes``) and back (``eo_bytes``);
            the largest and the mean content of the buffer (``buffer_max_bytes``,
            ``buffer_mean_bytes``, over the time from the first arrival to the last event); and of
            an edge the ``bursts`` that it assembled, how many packets and bytes they have in the
            mean (``burst_mean_packets``, ``burst_mean_bytes``), and how long a packet waited for
            its burst to be closed (``assembly_mean_s``); NaN without bursts.
        """
        ran = self.columns["switches"]
        arrived = ran["arrived"].astype(np.float64)
        dropped = sum(ran[reason].astype(np.float64) for reason in metrics.DROPS)
        loss = np.divide(dropped, arrived, out=np.zeros_like(arrived), where=arrived > 0)
        counted = ("arrived", "forwarded", "buffered", "marked", *metrics.DROPS)
        return pd.DataFrame(
            {
                "node": self.plan.settings["hosts"] + np.arange(arrived.size),
                **{name: ran[name] for name in counted},
                "loss": loss,
                "oe_bytes": ran["oe_bytes"],
                "eo_bytes": ran["eo_bytes"],
                "buffer_max_bytes": ran["buffer_max_bytes"],
                "buffer_mean_bytes": self._over_time(ran["buffer_byte_ps"]),
                "bursts": ran["bursts"],
                "burst_mean_packets": _mean(ran["burst_packets"], ran["bursts"]),
                "burst_mean_bytes": _mean(ran["burst_bytes"], ran["bursts"]),
                "assembly_mean_s": _mean(ran["assembly_wait_ps"] * PS, ran["burst_packets"]),
            }
        )

    def save(self, directory: str | Path) -> Path:
        """Write the tables as Parquet and ``run.json`` with summary, warnings and provenance.

        What was traced is in ``trace_segments``, ``trace_windows`` and ``trace_bursts``.

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
        target = Path(directory).resolve()
        _check_replaceable(target)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=target.parent, prefix=".lightburst-") as work:
                fresh = Path(work, "new")
                fresh.mkdir()
                self._write(fresh)
                if target.exists():
                    target.rename(Path(work, "old"))
                fresh.rename(target)
        except OSError as error:
            raise _unwritable(target, error) from error
        return target

    def _write(self, directory: Path) -> None:
        tables = {name: getattr(self, name) for name in _TABLES}
        if self.trace is not None:
            tables |= {f"trace_{name}": getattr(self.trace, name) for name in TRACES}
        for name, table in tables.items():
            table.to_parquet(directory / f"{name}.parquet", index=False)
        content = {
            "summary": dict(self.metrics),
            "warnings": list(self.warnings),
            "provenance": self.provenance.as_dict(),
        }
        text = json.dumps(content, indent=2, allow_nan=False)
        (directory / "run.json").write_text(text + "\n", encoding="utf-8")

    def _over_time(self, integral: NDArray[np.generic]) -> NDArray[np.float64]:
        observed = int(self.columns["totals"]["end_ps"]) - int(self.plan.flows["start_ps"][0])
        return integral.astype(np.float64) / max(observed, 1)


def _mean(total: NDArray[np.generic], count: NDArray[np.generic]) -> NDArray[np.float64]:
    """Mean of each row; NaN where nothing was counted."""
    found = np.full(count.shape, np.nan)
    np.divide(total, count, out=found, where=count != 0)
    return found


def _check_replaceable(target: Path) -> None:
    try:
        held = {entry.name for entry in target.iterdir()} if target.exists() else set()
    except OSError as error:
        raise _unwritable(target, error) from error
    if held and (not held <= set(_FILES) or "run.json" not in held):
        raise InputError(
            "--out", str(target), "a directory that is new, empty, or holds an earlier result"
        )


def _unwritable(target: Path, error: OSError) -> InputError:
    reason = error.strerror or str(error)
    return InputError("--out", f"{target} ({reason})", "a directory that can be written")

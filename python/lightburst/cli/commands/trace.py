"""``lightburst trace``: packet trace of one flow of a scenario."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pandas as pd

from lightburst.cli.commands.run import changed, print_table
from lightburst.cli.terminal.aside import run_aside
from lightburst.cli.terminal.options import choice, seed_of, whole
from lightburst.cli.terminal.streams import say, warn
from lightburst.experiment.flow_trace import record, save
from lightburst.foundation.errors import InputError, inside, show
from lightburst.foundation.files.directory import check
from lightburst.foundation.units import parse_duration
from lightburst.result.metric_text import aligned, readable, records, transports_of
from lightburst.scenario import load
from lightburst.scenario.transport import OpenLoop
from lightburst.simulation.foretold import Foretold
from lightburst.trace import FlowTrace, series, tables
from lightburst.trace.packets import check_segment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from lightburst.result.result import Result
    from lightburst.scenario import Scenario
    from lightburst.scenario.tables.groups import FlowGroup

_TRACED = "measurement.trace"
_ALL = "all"
_HOP_COLUMNS = (
    "packet", "burst", "node", "to", "came", "held", "queued", "begins", "arrives",
)  # fmt: skip


def trace(
    path: str,
    settings: Sequence[str],
    flow: str,
    subflow: str | None,
    seed: str,
    hops: str | None,
    bins: str | None,
    format: str,
    out: str | None,
) -> None:
    """Simulate a scenario, print a summary of one flow, and write its trace.

    Parameters
    ----------
    path : str
        Path of the scenario file.
    settings : sequence of str
        Changes, ``path=value`` each.
    flow, seed : str
        Number of the flow and seed of the run, as given on the command line.
    subflow : str or None
        Number of its subflow, as given.
    hops : str or None
        ``"all"`` or the number of a packet, as given: packets whose hops are printed.
    bins : str or None
        Length of the bins in which window and throughput are printed, as given.
    format : str
        ``"table"`` or ``"json"``.
    out : str or None
        Directory for the capture, the tables and the figures.

    Raises
    ------
    InputError
        If an argument is invalid; nothing has been written then.
    """
    choice("--format", format, ("table", "json"))
    number, first = whole("--flow", flow, 0), seed_of(seed)
    packet = None if hops in (None, _ALL) else whole("--hops", hops, 0)
    part = whole("--subflow", subflow or "0", 0)
    bin_ps = None if bins is None else parse_duration(bins, "--bins")
    scenario = changed(load(path), settings).with_({_TRACED: [number]})
    _check(scenario.flow_groups)
    _check_subflow(part, scenario.flow_groups)
    if out is not None:
        _check_out(out, scenario.flow_groups)
    foretell = Foretold(warn)
    result = _run(scenario, first, foretell)
    own = [scenario.flow_groups[result.plan.group[number]]]
    _check(own)
    _check_subflow(part, own)
    found = FlowTrace.of(result, number, part)
    way = None if hops is None else _way(found, packet)
    over_time = None if bin_ps is None else _bins(found, bin_ps)
    directory = None if out is None else save(result, number, out, over_time, part)
    about = record(result, number, part)
    if format == "json":
        files = None if directory is None else [str(file) for file in _written(directory)]
        asked = {"hops": way, "bins": over_time}
        told = {name: records(rows) for name, rows in asked.items() if rows is not None}
        print(json.dumps({**about, **told, "files": files}, indent=2, allow_nan=False))
    else:
        _print(scenario, about)
        for line in () if way is None else _hops(way):
            print(line)
        if over_time is not None:
            print(over_time.to_string(index=False))
        say(*(() if directory is None else _written(directory)))
    warn(foretell.rest(result.warnings))


def _check(groups: Sequence[FlowGroup]) -> None:
    if all(isinstance(group.transport, OpenLoop) for group in groups):
        allowed = "a transport with connections, which has segments and acknowledgements to trace"
        raise InputError(
            f"{groups[0].transport_path}.kind", show(groups[0].transport.kind), allowed
        )


def _check_out(out: str, groups: Sequence[FlowGroup]) -> None:
    """Refuse a directory that cannot be written, and segments that fit no capture."""
    check(out)
    for group in groups:
        with inside(group.transport_path.removesuffix("transport")):
            check_segment(group.transport.payload, getattr(group.transport, "timestamps", False))


def _check_subflow(number: int, groups: Sequence[FlowGroup]) -> None:
    most = max(getattr(group.transport, "subflows", 1) for group in groups)
    if number >= most:
        allowed = "0, as the flow has one" if most == 1 else f"a whole number from 0 to {most - 1}"
        raise InputError("--subflow", str(number), allowed)


def _run(scenario: Scenario, seed: int, foretell: Foretold) -> Result:
    """Run the scenario; map an error about the traced flow to its option."""
    try:
        return run_aside(scenario, seed, foretell=foretell)
    except InputError as error:
        if error.path.startswith(_TRACED):
            raise InputError("--flow", error.given, error.allowed) from None
        raise


def _way(trace: FlowTrace, packet: int | None) -> pd.DataFrame:
    """Return the hops of all packets of the flow, packet by packet, or of a single packet."""
    table = tables.hops(trace)
    if packet is None:
        return table.sort_values("packet", kind="stable")
    found = table[table["packet"] == packet]
    if found.empty:
        allowed = f"'all', or the number of a packet of flow {trace.flow} that was sent"
        raise InputError("--hops", str(packet), allowed)
    return found


def _bins(trace: FlowTrace, bin_ps: int) -> pd.DataFrame:
    try:
        return series.bins(trace, bin_ps)
    except InputError as error:
        raise InputError("--bins", error.given, error.allowed) from None


def _hops(table: pd.DataFrame) -> Iterator[str]:
    rows: list[tuple[str, ...]] = [_HOP_COLUMNS]
    for row in table.to_dict("records"):
        times = ("came_s", "held_s", "queued_s", "start_s", "arrival_s")
        burst = "" if pd.isna(row["burst"]) else str(row["burst"])
        ends = (str(row["packet"]), burst, str(row["node"]), str(row["link_target"]))
        rows.append((*ends, *(_time(row[name]) for name in times)))
    return aligned(rows)


def _time(seconds: float) -> str:
    """Format a time to the picosecond, which separates packets; NaN is a lost packet."""
    return "lost" if pd.isna(seconds) else f"{seconds * 1e6:,.6f} us"


def _written(directory: Path) -> list[Path]:
    return sorted(directory.iterdir())


def _print(scenario: Scenario, about: dict[str, Any]) -> None:
    kinds = f"{scenario.switching.kinds}, {transports_of(scenario.to_dict())}"
    name = scenario.name or "unnamed scenario"
    part = f", subflow {about['subflow']}" if "subflow" in about else ""
    title = f"{name}: {kinds}; flow {about['flow']}{part}, seed {about['seed']}"
    print_table(title, _rows(about))
    print(f"digest {about['provenance']['digest']}")


def _rows(about: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "from host, to host", f"{about['source']}, {about['destination']}"
    yield "size", readable("size_bytes", about["size_bytes"])
    for key in ("status", "segments", "retransmissions", "timeouts", "acknowledgements"):
        yield key, str(about[key])
    if not about["losses"]:
        yield "lost packets", "0"
    for reason, number in about["losses"].items():
        yield f"lost packets, {reason}", str(number)
    if about["trimmed"]:
        yield "trimmed packets", str(about["trimmed"])
    if about["returned"]:
        yield "headers returned to the source", str(about["returned"])
    yield "bursts with data", str(about["bursts"])
    yield "lost bursts with data", str(about["bursts_lost"])

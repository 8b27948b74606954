"""``lightburst run``: a scenario with one seed or several."""

from __future__ import annotations

import csv
import io
import json
import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lightburst.cli.terminal.aside import run_aside
from lightburst.cli.terminal.guard import complete, resumable
from lightburst.cli.terminal.next_steps import next_steps
from lightburst.cli.terminal.options import agreed, choice, seed_of, whole
from lightburst.cli.terminal.streams import warn
from lightburst.compile import LARGEST_SEED, MOST_SEEDS
from lightburst.expressions import check_all, parse_all
from lightburst.foundation.errors import InputError, show
from lightburst.foundation.files.directory import check
from lightburst.foundation.support import COUNT, OF, beside, bound, notes
from lightburst.result.files import STORE
from lightburst.result.metric_text import (
    in_parts,
    is_bound,
    meaningful,
    own_words,
    readable,
    readable_interval,
    rows_of,
    seen,
    signed,
    transports_of,
    unit_key,
    words_of,
)
from lightburst.result.metrics import LOST, to_json
from lightburst.result.saving import of_run
from lightburst.scenario import Scenario, load
from lightburst.scenario.transport import Bursts, Datagram
from lightburst.simulation.foretold import Foretold
from lightburst.simulation.parts import check_threads

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lightburst.experiment.replicate import Replications
    from lightburst.expressions import Expression
    from lightburst.result.metric_text import Parts
    from lightburst.result.result import Result

# Number of runs above which the user has to confirm: more are likely a typing error.
_MOST_RUNS: Final = 10_000


def run(
    path: str,
    settings: Sequence[str],
    seed: str,
    replications: str,
    format: str,
    out: str | None,
    yes: bool,
    metrics: Sequence[str] = (),
    threads: str = "1",
) -> None:
    """Simulate a scenario and print its metrics.

    Parameters
    ----------
    path : str
        Path of the scenario file.
    settings : sequence of str
        Changes, ``path=value`` each.
    seed, replications : str
        Seed of the first run, and number of runs, as given on the command line.
    format : str
        ``"table"``, ``"json"`` or ``"csv"``.
    out : str or None
        Directory for the tables.
    yes : bool
        Whether to run any number of runs without confirmation.
    metrics : sequence of str
        User-defined metrics, ``name=expression`` each.
    threads : str
        Largest number of threads of the run, as given on the command line.

    Raises
    ------
    InputError
        If an argument is invalid; nothing has been written then.
    """
    choice("--format", format, ("table", "json", "csv"))
    scenario = changed(load(path), settings)
    own = _own(metrics, scenario)
    first, number, most_threads = _numbers(seed, replications, threads, yes=yes)
    if out is not None:
        check(out)
    foretell = Foretold(warn)
    if number == 1:
        result = run_aside(scenario, first, foretell=foretell, metrics=own, threads=most_threads)
        if out is not None:
            result.save(out)
        _print_run(result, format)
        warn(foretell.rest(result.warnings))
        if format == "table":
            print("\nnext:", *next_steps(result, path, settings, metrics, out), sep="\n")
    else:
        from lightburst.experiment.replicate import replicate

        with resumable(STORE):
            found = replicate(scenario, range(first, first + number), own, foretell=foretell)
        if out is not None:
            found.save(out)
        _print_replications(found, format)
        warn(foretell.rest(found.warnings))
        complete(found.failed)


def _numbers(seed: str, replications: str, threads: str, *, yes: bool) -> tuple[int, int, int]:
    """Return the first seed, the number of runs, and the largest number of threads of one run."""
    first, number = seed_of(seed), whole("--replications", replications, 1)
    most_threads = check_threads(whole("--threads", threads, 1), "--threads")
    if most_threads > 1 and number > 1:
        raise InputError(
            "--threads", threads, "1 with --replications: each run has a core of its own"
        )
    if number > (most := LARGEST_SEED + 1 - first):
        raise InputError("--replications", str(number), f"up to {most}: there are no more seeds")
    if number > MOST_SEEDS:
        raise InputError("--replications", show(number), f"up to {MOST_SEEDS:,}")
    if number > _MOST_RUNS and not yes:
        agreed("--replications", number, _MOST_RUNS, "runs")
    return first, number, most_threads


def changed(scenario: Scenario, settings: Sequence[str]) -> Scenario:
    """Apply ``--set`` options to a scenario.

    Parameters
    ----------
    scenario : Scenario
        Scenario to change.
    settings : sequence of str
        Changes, ``path=value`` each.

    Returns
    -------
    Scenario
        Scenario with all changes applied at once.

    Raises
    ------
    InputError
        If a setting has no ``=``, or is invalid for the scenario.
    """
    changes = {}
    for setting in settings:
        path, equals, value = setting.partition("=")
        if not equals or not path.strip():
            raise InputError("--set", show(setting), "PATH=VALUE, as switching.buffer_ports=5")
        changes[path.strip()] = value.strip()
    return scenario.with_(changes) if changes else scenario


def _own(metrics: Sequence[str], scenario: Scenario) -> dict[str, Expression]:
    """Parse ``--metric`` options; `InputError` if one is invalid for the scenario."""
    found: dict[str, str] = {}
    for metric in metrics:
        name, equals, text = (part.strip() for part in metric.partition("="))
        if not equals or not name:
            allowed = "NAME=EXPRESSION, as 'mice=p99 of slowdown where bytes < 100 kB'"
            raise InputError("--metric", show(metric), allowed)
        if name in found:
            raise InputError("--metric", show(metric), "each name once")
        found[name] = text
    read = dict(parse_all(found, "--metric"))
    check_all(read, scenario, "--metric")
    return read


def _print_run(result: Result, format: str) -> None:
    if format == "json":
        found = {**to_json(result.metrics), **result.details()}
        print(json.dumps(of_run(result, found), indent=2, allow_nan=False))
    elif format == "csv":
        _print_csv([{"seed": result.seed, **result.record}])
    else:
        own = {name: expression.written for name, expression in result.own.items()}
        texts = {key: readable(unit_key(key, own), value) for key, value in result.metrics.items()}
        texts |= {key: f"0 (below {readable(key, end)})" for key, end in _bounds(result.metrics)}
        shown = meaningful(result.metrics, result.scenario.to_dict(), own)
        words = own_words(own, alone=True)
        rows = [(words_of(key, words), signed(texts[key], result.weak.get(key))) for key in shown]
        print_table(_title(result.scenario, f"seed {result.seed}"), rows)
        groups, classes = in_parts(result.record, result.plan.group_names)
        _print_parts(classes, rows_of(classes, readable, result.weak))
        for name, load in result.offered.items():
            key = f"offered_load[{name}]" if groups else "offered_load"
            line = f"{load}; this run offered {readable(key, result.record[key])}"
            print(f"{name}: {line}" if name else line)
        if result.offered and result.link_loads is not None:
            print(result.link_loads)
        _print_parts(groups, [*rows_of(groups, readable, result.weak), *_shared(result)])
        signs = seen(result.weak, shown, classes, groups)
        rare = _INDEPENDENT if any(key in shown for key, _ in _bounds(result.metrics)) else ()
        for line in (*notes(signs), *rare, *_end(result), *_gaps(result)):
            print(line)
        if result.fairness is not None and result.fairness.together:
            print(result.fairness)
        # Too long for the column of values on a terminal.
        print(f"digest {result.digest}")


def _end(result: Result) -> Iterator[str]:
    """Note flows missing from the completion times, and a long time with few active flows."""
    status = result.columns["flows"]["status"][result.plan.counted]
    if lost := int(np.count_nonzero(status == LOST)):
        yield (
            f"{lost:,} of {status.size:,} flows lost data in an open loop: completion times and "
            "slowdowns are of the others"
        )
    starts = result.plan.flows["start_ps"][result.plan.counted]
    if starts.size == 0:
        yield "no flow starts in the window: the metrics are of links, switches and bursts"
        return
    # Flows that wait for others do not start in their order.
    began_s, makespan_s = float(np.ptp(starts)) / 1e12, result.metrics["makespan_s"]
    if isinstance(makespan_s, float) and 0 < 2 * began_s < makespan_s:
        yield (
            f"throughput is over the makespan of {readable('_s', makespan_s)}; the flows began in "
            f"its first {readable('_s', began_s)}"
        )


def _gaps(result: Result) -> Iterator[str]:
    """Note that completion times include a gap before the first datagram, if flows have only one.

    In scenarios with one flow per packet, made to measure waiting times in a queue, the gap would
    be mistaken for waiting.
    """
    for number, group in enumerate(result.scenario.flow_groups):
        transport = group.transport
        if not isinstance(transport, Datagram | Bursts) or transport.spacing != "poisson":
            continue
        sizes = result.plan.flows["bytes"][result.plan.group == number]
        if sizes.size < 2 or np.median(sizes) > transport.segment_size - transport.header_size:
            continue
        rate = transport.rate or int(result.plan.host_rate_bps.max())
        gap = readable("_s", 8 * transport.segment_size / rate)
        yield (
            f"completion times include a gap before the first datagram, {gap} or more in the mean, "
            f"and most flows are one datagram: {group.path}transport.spacing = 'constant' has none"
        )


def _shared(result: Result) -> Iterator[tuple[str, ...]]:
    """Return the mean throughput of each group on the busiest shared link."""
    if shared := result.fairness:
        means = (shared.group_throughput_bps.get(name) for name in result.plan.group_names)
        words = f"throughput on {shared.source} - {shared.target}, mean"
        yield words, *(readable("throughput_bps", mean) for mean in means)


def _print_replications(found: Replications, format: str) -> None:
    if format == "json":
        print(json.dumps(found.as_dict(), indent=2, allow_nan=False))
    elif format == "csv":
        _print_csv(found.records())
    else:
        summary = found.summary()
        means = {key: interval["mean"] for key, interval in summary.items()}
        own = {name: expression.written for name, expression in found.own.items()}
        shown = meaningful(means, found.scenario.to_dict(), own)
        words = own_words(own, alone=True)
        rows = [
            (
                words_of(key, words),
                signed(readable_interval(unit_key(key, own), summary[key]), found.weak.get(key)),
            )
            for key in shown
        ]
        of = f"{len(found.runs)} of " if found.failed else ""
        seeds = f"{of}{len(found.seeds)} seeds, {found.seeds[0]} to {found.seeds[-1]}: mean, 95 %"
        print_table(_title(found.scenario, seeds), rows)
        groups, classes = in_parts(summary, found.scenario.groups or {})
        for parts in (classes, groups):
            _print_parts(parts, rows_of(parts, readable_interval, found.weak))
        signs = seen(found.weak, shown, classes, groups)
        for line in (*notes(signs), *_rare(summary, shown), *_end_of_many(found, means)):
            print(line)


def _bounds(metrics: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield the shares that are zero in a run, each with its upper bound."""
    for key, value in metrics.items():
        if value == 0 and beside(key, COUNT) in metrics and metrics[beside(key, OF)]:
            yield key, bound(metrics[beside(key, OF)])


def _rare(summary: Mapping[str, Any], shown: Iterable[str]) -> tuple[str, ...]:
    """Return the assumption behind the bounds of shares that are zero."""
    return _INDEPENDENT if any(is_bound(summary[key]) for key in shown) else ()


_INDEPENDENT: Final = ("a share of 0 is below its bound with 95 % if units are lost independently",)

# With fewer seeds, intervals are several times as wide as with a few more.
_FEW_SEEDS: Final = 4


def _end_of_many(found: Replications, means: Mapping[str, Any]) -> Iterator[str]:
    """Note properties of several runs that their means would hide."""
    delivered, offered = means.get("throughput_bps"), means.get("offered_bps")
    if means.get("unfinished") == 0 and delivered and offered and offered > 2 * delivered:
        yield (
            "throughput is over the makespan, and in more than half of that no flow began: all "
            "offered data was delivered"
        )
    runs = len(found.runs)
    if runs > 1 and found.runs["digest"].nunique() == 1:
        yield "the same in every run, to the bit: nothing in this scenario depends on the seed"
    elif runs > 1 and runs < _FEW_SEEDS:
        yield f"intervals of {runs} runs are very wide: --replications 10 makes them narrower"


def _print_parts(parts: Parts, rows: Iterable[tuple[str, ...]]) -> None:
    """Print one column per class or group of flows, if there are several."""
    if len(parts) < 2:
        return
    from rich.table import Table

    from lightburst.cli.terminal.screen import show_table

    table = Table("")
    for name in parts:
        table.add_column(name, justify="right", no_wrap=True)
    for key, *cells in rows:
        # The interval goes below its mean, to keep the columns narrow.
        table.add_row(words_of(key), *(cell.replace(" (", "\n(") for cell in cells))
    show_table(table)


def _title(scenario: Scenario, seeds: str) -> str:
    name = scenario.name or "unnamed scenario"
    transports = transports_of(scenario.to_dict())
    return f"{name}: {scenario.switching.kinds}, {transports}; {seeds}"


def _print_csv(records: Sequence[Mapping[str, Any]]) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    sys.stdout.write(text.getvalue())


def print_table(title: str, rows: Iterable[tuple[str, str]]) -> None:
    """Print names and values below a title.

    Parameters
    ----------
    title : str
        Title; wrapped if the terminal is narrow.
    rows : iterable of (str, str)
        Name and value of each row.
    """
    from rich.table import Table

    from lightburst.cli.terminal.screen import show_table

    table = Table(show_header=False)
    table.add_column()
    table.add_column(justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    show_table(table, title)

"""Text for metrics: their names, and values formatted for people."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lightburst.expressions import parse
from lightburst.foundation.errors import InputError, did_you_mean, show
from lightburst.foundation.formatting import readable as readable
from lightburst.foundation.support import is_support
from lightburst.result.labels import words_of as words_of
from lightburst.result.metrics import REPEATED
from lightburst.scenario.tables.loss import SCRIPTS
from lightburst.scenario.transport import OPEN_LOOP

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    import pandas as pd

    from lightburst.expressions import Expression
    from lightburst.foundation.support import Support

#: Maximum number of characters per line of a text on a terminal.
_SCREEN: Final = 96
#: Maximum column at which a wrapped row continues.
_FURTHEST: Final = 60
# Descriptions of a flow's status.
STATUS_WORDS: Final = {
    "finished": "finished",
    "time-limit": "not finished when the run ended",
    "not-started": "not started before the time limit",
    "lost": "data was lost",
}

# Metrics by name of a group or size class, and by metric.
Parts = dict[str, dict[str, Any]]

# Metrics shown only if they are not zero.
_IF_ANY: Final = (
    "unfinished",
    "spurious_bytes",
    "fast_retransmits",
    "false_fast_retransmits",
    "false_timeouts",
    "reordered",
    "bursts",
    "conversions_per_delivered_bit",
    "flow_mean_bursts_cut",
    "flows_unacknowledged",
    "unacknowledged_bytes",
)


def meaningful(
    metrics: Mapping[str, float | str | None],
    scenario: Mapping[str, Any],
    own: Collection[str] = (),
) -> list[str]:
    """Select the metrics that are meaningful for a scenario.

    Parameters
    ----------
    metrics : mapping of str to float, str or None
        Summary of a run, or means of several.
    scenario : mapping
        Scenario, as returned by `lightburst.Scenario.to_dict`.
    own : collection of str
        Names of user-defined metrics, all of which are kept.

    Returns
    -------
    list of str
        Keys in their order, without missing values, events that did not occur, losses that were not
        requested, retransmissions of datagrams, and the metrics of groups or size classes.
    """
    without = {"digest"}
    if not any(scenario.get("loss", {}).get(key) for key in SCRIPTS):
        without.add("drops_missed")
    if all(table["kind"] in OPEN_LOOP for table in _transports(scenario).values()):
        without |= set(REPEATED)
    without |= {key for key in _IF_ANY if not metrics.get(key)}
    return [
        key
        for key, value in metrics.items()
        if key in own or not (value is None or key in without or "[" in key or is_support(key))
    ]


def in_parts(metrics: Mapping[str, Any], groups: Collection[str]) -> tuple[Parts, Parts]:
    """Split off the metrics of groups and size classes, such as ``slowdown_p99[query]``.

    Parameters
    ----------
    metrics : mapping of str to object
        Row of a run, or summary of several.
    groups : collection of str
        Names of the groups; other names in brackets are size classes.

    Returns
    -------
    dict of str to dict, twice
        Metrics by name of the group; and by name of the size class, without empty classes.
    """
    by_group: Parts = {}
    by_class: Parts = {}
    for name, value in metrics.items():
        key, bracket, rest = name.partition("[")
        if bracket:
            part = rest.removesuffix("]")
            (by_group if part in groups else by_class).setdefault(part, {})[key] = value
    return by_group, {name: row for name, row in by_class.items() if _is_any(row["flows"])}


def rows_of(
    parts: Parts, read: Callable[[str, Any], str], weak: Mapping[str, Support] | None = None
) -> list[tuple[str, ...]]:
    """Format the metrics of groups or size classes as rows, with one column per part.

    Parameters
    ----------
    parts : dict of str to dict
        Metrics by name of the part.
    read : callable
        Formats a value, given the name of its metric: `readable` or `readable_interval`.
    weak : mapping of str to Support, optional
        Metrics to mark, by name and part: ``slowdown_p99[query]``.

    Returns
    -------
    list of tuple of str
        Name of the metric, and one cell per part; rows of events that occurred in no part are
        dropped.
    """
    rows, marked = list(parts.values()), weak or {}
    keys = dict.fromkeys(key for row in rows for key in row if not is_support(key))
    empty = {key for key in _IF_ANY if not any(_is_any(row.get(key)) for row in rows)}
    return [
        (
            key,
            *(
                signed(read(key, row.get(key)), marked.get(f"{key}[{part}]"))
                for part, row in parts.items()
            ),
        )
        for key in keys
        if key not in empty
    ]


def signed(written: str, support: Support | None) -> str:
    """Append the sign that marks weak support to a formatted value, if it has any."""
    return f"{written} {support.sign}" if support is not None else written


def seen(weak: Mapping[str, Support], shown: Collection[str], *parts: Parts) -> list[Support]:
    """Return the support of the marked metrics that appear in a table of metrics and parts."""
    several = [part for table in parts if len(table) > 1 for part in table]
    names = {*shown, *(key for key in weak if key.partition("[")[2].removesuffix("]") in several)}
    return [one for key, one in weak.items() if key in names]


def _is_any(value: Any) -> bool:
    return bool(value["mean"] if isinstance(value, dict) else value)


def unit_key(key: str, own: Mapping[str, str]) -> str:
    """Return a key from which `readable` derives the unit; user-defined metrics have a suffix."""
    return parse(own[key]).suffix if key in own else key


def own_words(own: Mapping[str, str], *, alone: bool = False) -> dict[str, str]:
    """Return the display names of user-defined metrics, given as expressions by name.

    Parameters
    ----------
    own : mapping of str to str
        Expressions by name.
    alone : bool
        Whether the display name is the only identification; then a metric without a label is
        displayed by its name instead of its expression.
    """
    return {name: parse(text).label or (name if alone else text) for name, text in own.items()}


def metric_words(own: Mapping[str, str | Expression], key: str) -> str:
    """Return the display name of a study's metric; the label of a user-defined one, if any."""
    return (parse(own[key]).label if key in own else "") or words_of(key)


def where(node: object, source: object, target: object) -> str:
    """Describe the place of a loss: a link from the node, or to it if the burst came too late."""
    return f"at {node}, from {source}" if node == target else f"at {node}, to {target}"


def readable_interval(key: str, found: Mapping[str, float | str | None]) -> str:
    """Format a mean with its interval.

    Parameters
    ----------
    key : str
        Name of the metric.
    found : mapping of str to float
        ``mean``, ``ci_low`` and ``ci_high`` in the SI base unit.

    Returns
    -------
    str
        ``89.7 Gb/s (87.1 to 92.3 Gb/s)``; the mean alone if all runs agree; ``0 (below 0.003)`` for
        a share of zero with an upper bound.
    """
    if is_bound(found):
        return f"0 (below {readable(key, found['ci_high'])})"
    mean, low, high = (readable(key, found[name]) for name in ("mean", "ci_low", "ci_high"))
    if low == high:
        return mean
    number, _, unit = low.partition(" ")
    return f"{mean} ({number if high.endswith(f' {unit}') else low} to {high})"


def is_bound(found: Mapping[str, float | str | None]) -> bool:
    """Tell whether an interval is an upper bound, for a share whose event was never observed."""
    return found["mean"] == found["ci_low"] == 0 and bool(found["ci_high"])


def transports_of(scenario: Mapping[str, Any]) -> str:
    """List the transports of a scenario with their presets, by group."""
    return ", ".join(
        f"{name}: {_transport(table)}" if name else _transport(table)
        for name, table in _transports(scenario).items()
    )


def _transports(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """Return the transport table of each group by name; under an empty name without groups."""
    shared = scenario.get("transport")
    groups = scenario.get("groups") or {"": {}}
    return {name: group.get("transport", shared) for name, group in groups.items()}


def _transport(table: Any) -> str:
    preset = table.get("preset")
    return f"{table['kind']} (preset {preset})" if preset else str(table["kind"])


def aligned(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Format rows of text as lines with aligned columns.

    Parameters
    ----------
    rows : sequence of tuple of str
        Rows of equal length.

    Yields
    ------
    str
        One line per row, indented by two spaces.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield ("  " + "  ".join(cells)).rstrip()


def on_screen(text: str) -> str:
    """Wrap the long lines of a text for a terminal.

    Parameters
    ----------
    text : str
        Sentences, and rows formatted by `aligned`.

    Returns
    -------
    str
        Text with at most 96 characters per line; a row continues below its last column.
    """
    return "\n".join(part for line in text.split("\n") for part in _broken(line))


def _broken(line: str) -> list[str]:
    if len(line) <= _SCREEN:
        return [line]
    # Columns are separated by two spaces, which do not occur inside a cell.
    last = max(line.rfind("  ", 0, _FURTHEST) + 2, 0) if line.startswith("  ") else 0
    below = " " * last
    return textwrap.wrap(
        line, _SCREEN, subsequent_indent=below, break_on_hyphens=False, drop_whitespace=True
    )


def in_rows(table: pd.DataFrame) -> list[Any]:
    """Return the rows of a table, with its columns as attributes."""
    return list(table.itertuples())


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as JSON-compatible dictionaries; missing values become None."""
    plain = table.astype(object).where(table.notna(), None)
    rows = plain.to_dict("records")
    return [{str(key): _plain(value) for key, value in row.items()} for row in rows]


def of_records(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Convert the output of `records` back to a table; ``"inf"`` becomes infinite."""
    import pandas as pd

    table = pd.DataFrame(rows).astype(object)
    table = table.mask(table == "inf", np.inf)
    return table.where(table.notna(), np.nan).infer_objects()


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def check_metric(known: Sequence[str], where: str, name: str) -> None:
    """Check the name of a metric.

    Parameters
    ----------
    known : sequence of str
        Names of the metrics in the runs.
    where, name : str
        Option or field that contains the name, and the name.

    Raises
    ------
    InputError
        If the runs have no such metric.
    """
    if name not in known:
        # Metrics of groups and size classes would repeat the list.
        names = ", ".join(one for one in known if "[" not in one)
        allowed = f"a metric of the runs{did_you_mean(name, known)}: {names}"
        raise InputError(where, show(name), allowed)

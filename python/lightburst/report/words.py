"""The figures of a run in words: what they are called and how their values are read."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lightburst.errors import InputError, did_you_mean, show
from lightburst.expressions import parse
from lightburst.metrics import REPEATED
from lightburst.scenario.transport import OPEN_LOOP
from lightburst.shown import readable as readable
from lightburst.support import is_support
from lightburst.words import words_of as words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    import pandas as pd

    from lightburst.expressions import Expression
    from lightburst.support import Support

#: Columns of a screen that a story in words takes at the most.
_SCREEN: Final = 96
#: Words of a row begin no further to the right than this.
_FURTHEST: Final = 60
# What became of a flow.
STATUS_WORDS: Final = {
    "finished": "finished",
    "time-limit": "not finished when the run ended",
    "not-started": "not started before the time limit",
    "lost": "some of it was lost",
}

# By name of a group or of a class of size, and by figure.
Parts = dict[str, dict[str, Any]]

# Figures that mean something only where they are not zero.
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
    figures: Mapping[str, float | str | None],
    scenario: Mapping[str, Any],
    own: Collection[str] = (),
) -> list[str]:
    """Choose the figures of a run, or of several, that mean something in its scenario.

    Parameters
    ----------
    figures : mapping of str to float, str or None
        The summary.
    scenario : mapping
        What was run, as `lightburst.Scenario.to_dict` writes it.
    own : collection of str
        Names of the user's own metrics, which are all shown.

    Returns
    -------
    list of str
        Keys in their order: none of what is not there or did not happen, nothing of losses that
        were not ordered or of datagrams sent again, and not those of groups or classes of size.
    """
    without = {"digest"}
    if not scenario.get("loss", {}).get("drops"):
        without.add("drops_missed")
    if all(table["kind"] in OPEN_LOOP for table in _transports(scenario).values()):
        without |= set(REPEATED)
    without |= {key for key in _IF_ANY if not figures.get(key)}
    return [
        key
        for key, value in figures.items()
        if key in own or not (value is None or key in without or "[" in key or is_support(key))
    ]


def in_parts(figures: Mapping[str, Any], groups: Collection[str]) -> tuple[Parts, Parts]:
    """Take the figures of groups and of classes of size apart, ``slowdown_p99[query]``.

    Parameters
    ----------
    figures : mapping of str to object
        The row of a run, or a summary of several.
    groups : collection of str
        Names of the groups; all others are those of classes of size.

    Returns
    -------
    dict of str to dict, twice
        By name and figure: the groups, and the classes of size that have flows.
    """
    by_group: Parts = {}
    by_class: Parts = {}
    for name, value in figures.items():
        key, bracket, rest = name.partition("[")
        if bracket:
            part = rest.removesuffix("]")
            (by_group if part in groups else by_class).setdefault(part, {})[key] = value
    return by_group, {name: row for name, row in by_class.items() if _is_any(row["flows"])}


def rows_of(
    parts: Parts, read: Callable[[str, Any], str], weak: Mapping[str, Support] | None = None
) -> list[tuple[str, ...]]:
    """Write the figures of parts of the flows below each other, a column for each part.

    Parameters
    ----------
    parts : dict of str to dict
        By name and figure.
    read : callable
        Writes a figure for people, given its name: `readable`, or `readable_interval`.
    weak : mapping of str to Support, optional
        Figures that are marked, by name and part: ``slowdown_p99[query]``.

    Returns
    -------
    list of tuple of str
        The name of the figure, and a cell for each part; nothing of what did not happen in any.
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
    """Put the sign of a marked figure behind it."""
    return f"{written} {support.sign}" if support is not None else written


def seen(weak: Mapping[str, Support], shown: Collection[str], *parts: Parts) -> list[Support]:
    """Give what marked figures rest on, those that a table of figures and of parts shows."""
    several = [part for table in parts if len(table) > 1 for part in table]
    names = {*shown, *(key for key in weak if key.partition("[")[2].removesuffix("]") in several)}
    return [one for key, one in weak.items() if key in names]


def _is_any(value: Any) -> bool:
    return bool(value["mean"] if isinstance(value, dict) else value)


def unit_key(key: str, own: Mapping[str, str]) -> str:
    """Give the key that tells `readable` the unit; of a metric of the user's `own` an ending."""
    return parse(own[key]).suffix if key in own else key


def own_words(own: Mapping[str, str], *, alone: bool = False) -> dict[str, str]:
    """Say what metrics of the user's own are called, which are given as text by name.

    Parameters
    ----------
    own : mapping of str to str
        Expressions by name.
    alone : bool
        Whether nothing else names them: then one without a label is called by its name, and not by
        its text.
    """
    return {name: parse(text).label or (name if alone else text) for name, text in own.items()}


def metric_words(own: Mapping[str, str | Expression], key: str) -> str:
    """Say what a metric of a study is called: one of the user's `own` by its label, if any."""
    return (parse(own[key]).label if key in own else "") or words_of(key)


def where(node: object, source: object, target: object) -> str:
    """Say where something was lost: at a node, on a link from it, or to it if it came too late."""
    return f"at {node}, from {source}" if node == target else f"at {node}, to {target}"


def readable_interval(key: str, found: Mapping[str, float | str | None]) -> str:
    """Write a mean with its interval for people.

    Parameters
    ----------
    key : str
        Name of the figure.
    found : mapping of str to float
        ``mean``, ``ci_low`` and ``ci_high`` in the SI base unit.

    Returns
    -------
    str
        ``89.7 Gb/s (87.1 to 92.3 Gb/s)``; the mean alone where all runs agree; ``0 (below 0.003)``
        where nothing was seen, which a share of 0 with an upper end is.
    """
    if is_bound(found):
        return f"0 (below {readable(key, found['ci_high'])})"
    mean, low, high = (readable(key, found[name]) for name in ("mean", "ci_low", "ci_high"))
    if low == high:
        return mean
    number, _, unit = low.partition(" ")
    return f"{mean} ({number if high.endswith(f' {unit}') else low} to {high})"


def is_bound(found: Mapping[str, float | str | None]) -> bool:
    """Tell whether an interval is only an upper bound: of a share of which nothing was seen."""
    return found["mean"] == found["ci_low"] == 0 and bool(found["ci_high"])


def transports_of(scenario: Mapping[str, Any]) -> str:
    """Say what sends the flows of a scenario: the transport, with its preset, of each group."""
    return ", ".join(
        f"{name}: {_transport(table)}" if name else _transport(table)
        for name, table in _transports(scenario).items()
    )


def _transports(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """Give the table of the transport of each group, by name; without groups that of no name."""
    shared = scenario.get("transport")
    groups = scenario.get("groups") or {"": {}}
    return {name: group.get("transport", shared) for name, group in groups.items()}


def _transport(table: Any) -> str:
    preset = table.get("preset")
    return f"{table['kind']} (preset {preset})" if preset else str(table["kind"])


def aligned(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Write rows of text below each other, each column as wide as it must be.

    Parameters
    ----------
    rows : sequence of tuple of str
        All of one length.

    Yields
    ------
    str
        A line for each row, indented by two spaces.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield ("  " + "  ".join(cells)).rstrip()


def on_screen(text: str) -> str:
    """Break the long lines of a text for a terminal.

    Parameters
    ----------
    text : str
        Sentences, and rows as `aligned` writes them.

    Returns
    -------
    str
        Without lines of more than 96 characters; a row goes on below its last column.
    """
    return "\n".join(part for line in text.split("\n") for part in _broken(line))


def _broken(line: str) -> list[str]:
    if len(line) <= _SCREEN:
        return [line]
    # Columns are two blanks apart, and no words have two.
    last = max(line.rfind("  ", 0, _FURTHEST) + 2, 0) if line.startswith("  ") else 0
    below = " " * last
    return textwrap.wrap(
        line, _SCREEN, subsequent_indent=below, break_on_hyphens=False, drop_whitespace=True
    )


def in_rows(table: pd.DataFrame) -> list[Any]:
    """Give the rows of a table, each with its columns as attributes."""
    return list(table.itertuples())


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Give the rows of a table as JSON can hold them; None for what is missing."""
    plain = table.astype(object).where(table.notna(), None)
    rows = plain.to_dict("records")
    return [{str(key): _plain(value) for key, value in row.items()} for row in rows]


def of_records(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Make a table of rows that `records` gave, with ``"inf"`` in place of what is infinite."""
    import pandas as pd

    table = pd.DataFrame(rows).astype(object)
    table = table.mask(table == "inf", np.inf)
    return table.where(table.notna(), np.nan).infer_objects()


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def check_metric(known: Sequence[str], where: str, name: str) -> None:
    """Refuse the name of a metric that runs do not have.

    Parameters
    ----------
    known : sequence of str
        Those that they have.
    where, name : str
        What gave it, and the name.

    Raises
    ------
    InputError
        If it is none of them.
    """
    if name not in known:
        # Those of groups and classes of size are the same again.
        names = ", ".join(one for one in known if "[" not in one)
        allowed = f"a metric of the runs{did_you_mean(name, known)}: {names}"
        raise InputError(where, show(name), allowed)

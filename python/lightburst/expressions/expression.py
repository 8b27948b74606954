"""A user-defined metric: an expression over the flow table of a run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from lightburst.expressions.columns import (
    OF_GROUPS,
    OF_REINJECTION,
    STATUSES,
    SUFFIXES,
    Kind,
)
from lightburst.expressions.grammar import Grammar
from lightburst.expressions.parts import Column, Comparison, Part
from lightburst.expressions.reader import LONGEST, Reader
from lightburst.expressions.statistic import STATISTICS, probability, statistic
from lightburst.foundation.counts import Metric, share
from lightburst.foundation.errors import InputError, did_you_mean, show, some
from lightburst.foundation.support import NEEDED, OF, needed
from lightburst.scenario.tables.measurement import MEASUREMENTS

if TYPE_CHECKING:
    import pandas as pd

    from lightburst.scenario import Scenario

_LONGEST_NAME: Final = 100
# Names used next to the metrics of a run in its JSON and in tables of runs.
_TAKEN: Final = ("seed", "place", "metrics", "size_classes", "offered", "groups", "fairness",
    "warnings", "provenance")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Expression:
    """A statistic over a selection of the flows of a run; `parse` builds it from text.

    ``str`` gives a canonical text: two expressions that differ only in spaces, redundant
    parentheses, and the spelling of columns and units have the same text.

    Attributes
    ----------
    statistic : str
        One of `STATISTICS`, or a percentile: ``p99``.
    of : Part or None
        Argument of the statistic: a condition for ``share``, None for ``count``.
    where : Part or None
        Condition that selects flows; None selects all flows that count.
    label : str
        Name for display, given as ``as 'Slowdown of mice'``, or empty. It changes no value, and is
        therefore not part of the text under which values are stored.
    """

    statistic: str
    of: Part | None
    where: Part | None
    label: str = field(default="", compare=False)

    def __str__(self) -> str:
        of = "" if self.of is None else f" of {self.of}"
        where = "" if self.where is None else f" where {self.where}"
        return f"{self.statistic}{of}{where}"

    @property
    def written(self) -> str:
        """The canonical text followed by the label; `parse` can read it back."""
        quote = '"' if "'" in self.label else "'"
        return f"{self} as {quote}{self.label}{quote}" if self.label else str(self)

    @property
    def suffix(self) -> str:
        """Unit suffix for the name of the value: ``_s``, ``_bytes``, ``_bps``, or empty."""
        alone = self.of is None or self.statistic in ("count", "share", "variance")
        return "" if alone or self.of is None else SUFFIXES.get(self.of.kind, "")

    def check(self, scenario: Scenario, path: str = "metric") -> None:
        """Refuse columns and texts that the flows of a scenario do not have.

        Parameters
        ----------
        scenario : Scenario
            Scenario whose flows the expression is evaluated on.
        path : str
            Name of the expression in messages.

        Raises
        ------
        InputError
            If this scenario's flow table lacks a column, or a column of text never holds the text
            it is compared with. Host names are checked later, by `over`, which knows the network.
        """
        names = {part.name for part in self._parts() if isinstance(part, Column)}
        for one in MEASUREMENTS:
            if names & set(one.flow_columns) and not one.is_asked(scenario.measurement):
                raise InputError(path, show(str(self)), one.flow_columns_need)
        groups = tuple(scenario.groups or ())
        groups = groups if len(groups) > 1 else ()  # a single group holds all flows
        if names & set(OF_GROUPS) and not groups:
            allowed = "'group' only in a scenario with several groups of flows"
            raise InputError(path, show(str(self)), allowed)
        reinjected = [getattr(one.transport, "reinjection", False) for one in scenario.flow_groups]
        if names & set(OF_REINJECTION) and not any(reinjected):
            allowed = "'reinjections' only with transport.reinjection = true"
            raise InputError(path, show(str(self)), allowed)
        for column, word in self._words():
            if column.kind is Kind.TEXT:
                _known(word, groups if column.name == "group" else STATUSES, column.name, path)

    def over(
        self, flows: pd.DataFrame, nodes: Collection[object] = (), path: str = "metric"
    ) -> dict[str, Metric]:
        """Evaluate the expression, and count the values that it is computed from.

        Parameters
        ----------
        flows : pandas.DataFrame
            As `lightburst.Result.flows`. Flows whose ``counted`` is false are excluded.
        nodes : collection of str or int
            Names of the nodes of the network, or their numbers where they have no names.
        path : str
            Name of the expression in messages.

        Returns
        -------
        dict of str to float, int or None
            Results by the suffix to append to the name of the metric. Empty suffix: the value
            itself, in the SI base unit of its argument. Missing values (NaN) are ignored; if none
            remain, ``count`` and ``sum`` are 0 and other statistics None, as are undefined results.
            ``_of`` (except for ``count``): number of values that the statistic is computed from.
            ``_count`` (``share`` only): number of flows for which the condition holds. ``_needed``
            (percentiles only): see `lightburst.foundation.support`.

        Raises
        ------
        InputError
            If the expression names a host that the network does not have.
        """
        for column, word in self._words():
            if column.kind is Kind.NODE:
                _known(word, nodes, column.name, path)
        if "counted" in flows:
            flows = flows[flows["counted"]]
        chosen = _mask(self.where, flows)
        if self.statistic == "count":
            return {"": int(np.count_nonzero(chosen))}
        if self.statistic == "share":
            hits = int(np.count_nonzero(chosen & _mask(self.of, flows)))
            return share("", hits, int(np.count_nonzero(chosen)))
        assert self.of is not None  # the parser requires an argument for all other statistics
        values = np.broadcast_to(np.asarray(self.of.of(flows)), chosen.shape)[chosen]
        values = values[~np.isnan(values)]
        found = {"": statistic(self.statistic, values), OF: values.size}
        if (quantile := probability(self.statistic)) is not None:
            found[NEEDED] = needed(quantile)
        return found

    def _parts(self) -> list[Part]:
        return [part for whole in (self.of, self.where) if whole for part in whole.walk()]

    def _words(self) -> list[tuple[Column, object]]:
        """Return the columns of text and of hosts that are compared, each with its literal."""
        found: list[tuple[Column, object]] = []
        for part in self._parts():
            if isinstance(part, Comparison):
                for column, other in ((part.left, part.right), (part.right, part.left)):
                    if isinstance(column, Column) and column.kind in (Kind.TEXT, Kind.NODE):
                        found.append((column, other.of(None)))  # type: ignore[arg-type]
        return found


def parse(text: str | Expression, path: str = "metric") -> Expression:
    """Read an expression: ``p99 of slowdown where bytes < 100 kB``.

    Parameters
    ----------
    text : str
        Text in the grammar of docs/metrics.md. It is parsed, never executed as code.
    path : str
        Name of the expression in messages.

    Returns
    -------
    Expression

    Raises
    ------
    InputError
        If the text is not an expression; the message states the position of the error and the
        allowed continuation.
    """
    if isinstance(text, Expression):
        return text
    if not isinstance(text, str):
        allowed = "an expression as text, such as 'p99 of slowdown where bytes < 100 kB'"
        raise InputError(path, show(text), allowed)
    reader = Reader(text, path)
    statistic = _read_statistic(reader)
    grammar = Grammar(reader)
    of: Part | None = None
    if reader.take("of"):
        if statistic == "count":
            reader.fail("'where' and a condition, or nothing")
        of = grammar.condition() if statistic == "share" else grammar.value()
    elif statistic not in ("count", "share"):
        reader.fail(f"'of' and what it is of, as {statistic} of slowdown")
    where = grammar.condition() if reader.take("where") else None
    label = _read_label(reader) if reader.take("as") else ""
    if reader.take(kind="end") is None:
        near = did_you_mean(reader.token.text, ("where", "of"))
        reader.fail(f"an operator, 'where' and a condition, or the end{near}")
    if statistic == "share" and of is None:
        if where is None:
            reader.fail("'of' or 'where' and a condition, as share of slowdown < 2")
        of, where = where, None
    found = Expression(statistic, of, where, label)
    if len(found.written) > LONGEST:  # so that the stored text can be parsed again
        given = f"{len(found.written):,} characters, written out"
        raise InputError(path, given, f"up to {LONGEST:,}")
    return found


def parse_all(metrics: object, path: str = "metrics") -> Mapping[str, Expression]:
    """Read a mapping of named expressions.

    Parameters
    ----------
    metrics : mapping of str to str
        Texts of expressions by the names that the user chose.
    path : str
        Name of the mapping in messages.

    Returns
    -------
    mapping of str to Expression
        The parsed expressions, in the same order.

    Raises
    ------
    InputError
        At ``path`` or ``path['name']``: a name is not a short text, or a text not an expression.
    """
    if not isinstance(metrics, Mapping):
        raise InputError(path, show(metrics), "expressions by name, as {'mice': 'count where ...'}")
    for name in metrics:
        fits = isinstance(name, str) and name.strip() == name and 0 < len(name) <= _LONGEST_NAME
        if not fits or not name.isprintable() or set(name) & set("[]"):
            allowed = f"names of up to {_LONGEST_NAME} characters without [ and ]"
            raise InputError(path, show(name), allowed)
        beside(dict.fromkeys(_TAKEN), {name: None}, path)
    return MappingProxyType(
        {name: parse(text, f"{path}[{name!r}]") for name, text in metrics.items()}
    )


def check_all(metrics: Mapping[str, Expression], scenario: Scenario, path: str = "metrics") -> None:
    """Refuse expressions on columns that a scenario's flows lack; see `Expression.check`."""
    for name, expression in metrics.items():
        expression.check(scenario, f"{path}[{name!r}]")


def beside(
    builtin: Mapping[str, Metric], own: Mapping[str, Metric], path: str = "metrics"
) -> dict[str, Metric]:
    """Merge user-defined metrics into the built-in metrics of a run.

    Parameters
    ----------
    builtin, own : mapping of str to Metric
        Built-in metrics, and user-defined metrics.
    path : str
        Name of the user-defined metrics in messages.

    Returns
    -------
    dict of str to Metric
        The built-in metrics, then the user-defined ones.

    Raises
    ------
    InputError
        If a user-defined metric has the name of a built-in one.
    """
    for name in own:
        if name in builtin:
            allowed = "names that no metric and no column of a run has"
            raise InputError(f"{path}[{name!r}]", show(name), allowed)
    return {**builtin, **own}


def _read_statistic(reader: Reader) -> str:
    token = reader.token
    if token.kind == "percentile":
        if Decimal(token.text[1:]) > 100:
            reader.fail("a percentile from p0 to p100")
        reader.take(kind="percentile")
        return f"p{Decimal(token.text[1:]).normalize():f}"
    if token.kind != "word" or token.text not in STATISTICS:
        near = did_you_mean(token.text.lower(), STATISTICS) if token.text else ""
        known = f"a statistic: {some(STATISTICS)}, or a percentile such as p99 or p99.9"
        reader.fail(known + near)
    reader.take(token.text)
    return token.text


def _read_label(reader: Reader) -> str:
    token = reader.token
    fits = token.kind == "text" and 0 < len(token.text.strip()) <= _LONGEST_NAME
    if not fits or not token.text.isprintable() or token.text.strip() != token.text:
        reader.fail(f"a label in quotes of up to {_LONGEST_NAME} characters")
    reader.take(kind="text")
    return token.text


def _known(word: object, names: Collection[object], column: str, path: str) -> None:
    if word not in names:
        texts = [str(name) for name in names]
        allowed = f"{some(texts)}{did_you_mean(word, texts)}"
        raise InputError(path, f"{column} = {show(word)}", allowed)


def _mask(condition: Part | None, flows: pd.DataFrame) -> NDArray[np.bool_]:
    found = True if condition is None else condition.of(flows)
    return np.broadcast_to(np.asarray(found), (len(flows),))

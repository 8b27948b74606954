"""A metric of the user's own: an expression over the table of flows of a run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from lightburst.counts import Metric, share
from lightburst.errors import InputError, did_you_mean, show, some
from lightburst.expressions.columns import OF_GROUPS, STATUSES, SUFFIXES, Kind
from lightburst.expressions.grammar import Grammar
from lightburst.expressions.parts import Column, Comparison, Part
from lightburst.expressions.reader import LONGEST, Reader
from lightburst.expressions.statistic import STATISTICS, probability, statistic
from lightburst.scenario.measurement import MEASUREMENTS
from lightburst.support import NEEDED, OF, needed

if TYPE_CHECKING:
    import pandas as pd

    from lightburst.scenario import Scenario

_LONGEST_NAME: Final = 100
# What stands beside the figures of a run in its JSON and in tables of runs.
_TAKEN: Final = ("seed", "place", "metrics", "size_classes", "offered", "groups", "fairness",
    "warnings", "provenance")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Expression:
    """A statistic of some of the flows of a run; `parse` makes it of text.

    ``str`` of it is its text in one form: two expressions that are the same but for spaces,
    parentheses and the spelling of columns and units have the same text.

    Attributes
    ----------
    statistic : str
        One of `STATISTICS`, or a percentile: ``p99``.
    of : Part or None
        What it is of: of ``share`` a condition, of ``count`` nothing.
    where : Part or None
        Which flows; all that count without it.
    label : str
        What it is called for people, ``as 'Slowdown of mice'``, or nothing: it changes no value,
        and so it is not in the text under which values are kept.
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
        """Its text with its label, to be read again."""
        quote = '"' if "'" in self.label else "'"
        return f"{self} as {quote}{self.label}{quote}" if self.label else str(self)

    @property
    def suffix(self) -> str:
        """The ending of names of what it gives: ``_s``, ``_bytes``, ``_bps``, or none."""
        alone = self.of is None or self.statistic in ("count", "share", "variance")
        return "" if alone or self.of is None else SUFFIXES.get(self.of.kind, "")

    def check(self, scenario: Scenario, path: str = "metric") -> None:
        """Refuse what the flows of a scenario do not have.

        Parameters
        ----------
        scenario : Scenario
            What is to be run.
        path : str
            What messages call the expression.

        Raises
        ------
        InputError
            If a column is not there for this scenario, or a text is none that stands in it. Names
            of hosts are looked up when there is a network, by `over`.
        """
        names = {part.name for part in self._parts() if isinstance(part, Column)}
        for one in MEASUREMENTS:
            if names & set(one.flow_columns) and not one.is_asked(scenario.measurement):
                raise InputError(path, show(str(self)), one.flow_columns_need)
        groups = tuple(scenario.groups or ())
        groups = groups if len(groups) > 1 else ()  # one alone is all flows
        if names & set(OF_GROUPS) and not groups:
            allowed = "'group' only in a scenario with several groups of flows"
            raise InputError(path, show(str(self)), allowed)
        for column, word in self._words():
            if column.kind is Kind.TEXT:
                _known(word, groups if column.name == "group" else STATUSES, column.name, path)

    def over(
        self, flows: pd.DataFrame, nodes: Collection[object] = (), path: str = "metric"
    ) -> dict[str, Metric]:
        """Evaluate it, and say what the value rests on.

        Parameters
        ----------
        flows : pandas.DataFrame
            As `lightburst.Result.flows`; without those that do not count, see ``counted``.
        nodes : collection of str or int
            Names of the nodes of the network, for messages; numbers where they have none.
        path : str
            What messages call the expression.

        Returns
        -------
        dict of str to float, int or None
            By what is put behind its name: nothing for the value itself, in the SI base unit of
            what it is of. A value that is not there (NaN) is left out; None where then nothing is
            left, or where the result is not defined, and 0 for ``count`` and ``sum``. ``_of``: how
            many values it is of, but of ``count``; of a share ``_count``, for how many the
            condition holds; of a percentile ``_needed``, see `lightburst.support`.

        Raises
        ------
        InputError
            If the name of a host is none of the network.
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
        assert self.of is not None  # the parser gives all others something
        values = np.broadcast_to(np.asarray(self.of.of(flows)), chosen.shape)[chosen]
        values = values[~np.isnan(values)]
        found = {"": statistic(self.statistic, values), OF: values.size}
        if (quantile := probability(self.statistic)) is not None:
            found[NEEDED] = needed(quantile)
        return found

    def _parts(self) -> list[Part]:
        return [part for whole in (self.of, self.where) if whole for part in whole.walk()]

    def _words(self) -> list[tuple[Column, object]]:
        """Give the columns that are compared with text, or hosts with numbers, and with which."""
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
        In the grammar of docs/metrics.md. No code is run, whatever stands there.
    path : str
        What messages call it.

    Returns
    -------
    Expression

    Raises
    ------
    InputError
        If it is none, with the place at which it goes wrong and what can stand there.
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
    if len(found.written) > LONGEST:  # so that what is kept of it can be read again
        given = f"{len(found.written):,} characters, written out"
        raise InputError(path, given, f"up to {LONGEST:,}")
    return found


def parse_all(metrics: object, path: str = "metrics") -> Mapping[str, Expression]:
    """Read expressions by name.

    Parameters
    ----------
    metrics : mapping of str to str
        Names of the user's own, and expressions.
    path : str
        What messages call all of them.

    Returns
    -------
    mapping of str to Expression
        In the same order.

    Raises
    ------
    InputError
        At ``path`` or ``path['name']``: a name is no short text, or an expression is none.
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
    """Refuse expressions that name what the flows of a scenario do not have; `Expression.check`."""
    for name, expression in metrics.items():
        expression.check(scenario, f"{path}[{name!r}]")


def beside(
    figures: Mapping[str, Metric], own: Mapping[str, Metric], path: str = "metrics"
) -> dict[str, Metric]:
    """Put metrics of the user's own beside the figures of a run.

    Parameters
    ----------
    figures, own : mapping of str to Metric
        Those of lightburst, and those of the user.
    path : str
        What messages call the latter.

    Returns
    -------
    dict of str to Metric
        Both.

    Raises
    ------
    InputError
        If one has the name of a figure.
    """
    for name in own:
        if name in figures:
            allowed = "names that no figure and no column of a run has"
            raise InputError(f"{path}[{name!r}]", show(name), allowed)
    return {**figures, **own}


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

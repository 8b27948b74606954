"""What a paper consists of, for those who reproduce it: runs, figures and claims."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

from lightburst.scenario import Scenario, load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import pandas as pd

    from lightburst.papers.claims import Claim
    from lightburst.papers.figure import AnyFigure, Listing
    from lightburst.study import Block


@dataclass(frozen=True, slots=True)
class Traced:
    """What a paper shows of single runs, packet by packet.

    Parameters
    ----------
    record : callable
        ``record(parts)`` runs what the parts need and gives tables by name; a table is kept as a
        Parquet file of that name. No tables where the parts need none.
    figures : callable
        ``figures(parts, tables, version)`` draws up the figures.
    claims : callable
        ``claims(parts, tables)`` judges the claims.
    """

    record: Callable[[Sequence[str]], dict[str, pd.DataFrame]]
    figures: Callable[[Sequence[str], Mapping[str, pd.DataFrame], str], Iterable[AnyFigure]]
    claims: Callable[[Sequence[str], Mapping[str, pd.DataFrame]], Iterable[Claim]]


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a paper that can be reproduced alone.

    Parameters
    ----------
    shows : str
        What it shows.
    figures : callable
        ``figures(runs, version)`` draws them up; ``runs`` is what `Paper.runs` makes.
    claims : callable
        ``claims(runs)`` judges what the paper says.
    tables : callable
        ``tables(runs)`` draws up what is read as a table and not as a figure.
    beyond : bool
        Whether it goes beyond the paper, which is reproduced without it.
    """

    shows: str
    figures: Callable[[Any, str], Iterable[AnyFigure]] = lambda runs, version: ()
    claims: Callable[[Any], Iterable[Claim]] = lambda runs: ()
    tables: Callable[[Any], Iterable[Listing]] = lambda runs: ()
    beyond: bool = False


class Outcome(NamedTuple):
    """What the runs of a paper show."""

    figures: list[AnyFigure]
    claims: list[Claim]
    tables: list[Listing]


@dataclass(frozen=True, slots=True)
class Paper:
    """One paper that can be reproduced.

    Parameters
    ----------
    name : str
        The name to call it by: first author and year.
    title, citation : str
        What it is.
    parts : mapping of str to Part
        What can be reproduced alone.
    blocks : callable
        ``blocks(parts, quick)`` gives the studies that the named parts need.
    runs : callable
        Sorts the table of all runs, so that figures and claims find them.
    traced : Traced, optional
        What it shows of single runs.
    """

    name: str
    title: str
    citation: str
    parts: Mapping[str, Part]
    blocks: Callable[[Sequence[str], bool], list[Block]]
    runs: Callable[[pd.DataFrame], Any]
    traced: Traced | None = None

    @property
    def default(self) -> tuple[str, ...]:
        """The parts that make up the paper itself."""
        return tuple(name for name, part in self.parts.items() if not part.beyond)

    def outcome(
        self,
        parts: Sequence[str],
        table: pd.DataFrame,
        version: str,
        recorded: Mapping[str, pd.DataFrame] | None = None,
    ) -> Outcome:
        """Draw up and judge some parts.

        Parameters
        ----------
        parts : sequence of str
            Parts of the paper.
        table : pandas.DataFrame
            One row for each run.
        version : str
            Of lightburst, for the captions.
        recorded : mapping of str to DataFrame, optional
            What was recorded of single runs.
        """
        runs = self.runs(table)
        found = Outcome([], [], [])
        for part in (self.parts[name] for name in parts):
            found.figures.extend(part.figures(runs, version))
            found.claims.extend(part.claims(runs))
            found.tables.extend(part.tables(runs))
        if recorded and self.traced is not None:
            found.figures.extend(self.traced.figures(parts, recorded, version))
            found.claims.extend(self.traced.claims(parts, recorded))
        return found


def packaged(package: str) -> Scenario:
    """Read ``scenario.toml`` of a paper's package."""
    with resources.as_file(resources.files(package) / "scenario.toml") as path:
        return load(path)

"""Definition of a paper to be reproduced: its runs, figures and claims."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

from lightburst.papers.differences import classed, differences_of
from lightburst.scenario import Scenario, load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import pandas as pd

    from lightburst.papers.claims import Claim
    from lightburst.papers.figure import AnyFigure, Listing
    from lightburst.study import Block


@dataclass(frozen=True, slots=True)
class Traced:
    """Figures and claims of a paper about single runs, packet by packet.

    Parameters
    ----------
    record : callable
        ``record(parts)`` makes the runs that the parts need and returns tables by name, each stored
        as a Parquet file of that name. Empty if the parts need none.
    figures : callable
        ``figures(parts, tables, version)`` builds the figures.
    claims : callable
        ``claims(parts, tables)`` judges the claims.
    """

    record: Callable[[Sequence[str]], dict[str, pd.DataFrame]]
    figures: Callable[[Sequence[str], Mapping[str, pd.DataFrame], str], Iterable[AnyFigure]]
    claims: Callable[[Sequence[str], Mapping[str, pd.DataFrame]], Iterable[Claim]]


@dataclass(frozen=True, slots=True)
class Part:
    """Part of a paper that can be reproduced by itself.

    Parameters
    ----------
    shows : str
        Short description of the contents.
    figures : callable
        ``figures(runs, version)`` builds the figures; ``runs`` is the value of `Paper.runs`.
    claims : callable
        ``claims(runs)`` judges the paper's claims.
    tables : callable
        ``tables(runs)`` builds the listings, which are shown as tables.
    beyond : bool
        Whether the part goes beyond the paper; by default such parts are not run.
    """

    shows: str
    figures: Callable[[Any, str], Iterable[AnyFigure]] = lambda runs, version: ()
    claims: Callable[[Any], Iterable[Claim]] = lambda runs: ()
    tables: Callable[[Any], Iterable[Listing]] = lambda runs: ()
    beyond: bool = False


class Outcome(NamedTuple):
    """Results of reproducing some parts of a paper."""

    figures: list[AnyFigure]
    claims: list[Claim]
    tables: list[Listing]


@dataclass(frozen=True, slots=True)
class Paper:
    """Paper that can be reproduced.

    Parameters
    ----------
    name : str
        Name on the command line: first author and year.
    title, citation : str
        Title and full citation.
    parts : mapping of str to Part
        Separately reproducible parts, by name.
    blocks : callable
        ``blocks(parts, quick)`` returns the studies that the named parts need.
    runs : callable
        Groups the table of all runs by point, for figures and claims.
    traced : Traced, optional
        Figures and claims about single runs.
    package : str
        Package with the paper's ``open.toml``, the parameters that it leaves open
        (`lightburst.papers.open`), and ``classes.toml``, why its claims differ
        (`lightburst.papers.differences`); empty for a paper without them.
    """

    name: str
    title: str
    citation: str
    parts: Mapping[str, Part]
    blocks: Callable[[Sequence[str], bool], list[Block]]
    runs: Callable[[pd.DataFrame], Any]
    traced: Traced | None = None
    package: str = ""

    @property
    def default(self) -> tuple[str, ...]:
        """Names of the parts that belong to the paper itself."""
        return tuple(name for name, part in self.parts.items() if not part.beyond)

    def outcome(
        self,
        parts: Sequence[str],
        table: pd.DataFrame,
        version: str,
        recorded: Mapping[str, pd.DataFrame] | None = None,
    ) -> Outcome:
        """Build the figures and tables of some parts, and judge their claims.

        Parameters
        ----------
        parts : sequence of str
            Names of parts.
        table : pandas.DataFrame
            One row per run.
        version : str
            Version of lightburst, for captions.
        recorded : mapping of str to DataFrame, optional
            Recordings of single runs, by name.
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
        return found._replace(claims=classed(found.claims, differences_of(self.package)))


def packaged(package: str) -> Scenario:
    """Load ``scenario.toml`` from a paper's package."""
    with resources.as_file(resources.files(package) / "scenario.toml") as path:
        return load(path)

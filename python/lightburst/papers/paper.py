"""What a paper consists of, for those who reproduce it: runs, figures and claims."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from lightburst.scenario import Scenario, load
from lightburst.study import Stopping, Store, Study, execute_until, run_all

if TYPE_CHECKING:
    from lightburst.papers.claims import Claim
    from lightburst.papers.figure import AnyFigure, Listing


@dataclass(frozen=True, slots=True)
class Block:
    """A study, and the paper's own words for its points.

    Parameters
    ----------
    study : Study
        What to run.
    labels : pandas.DataFrame
        One row for each point of the study, in its order: the columns by which figures and claims
        know the point.
    stopping : Stopping, optional
        When a point has seeds enough; without it every point is run with all seeds of the study.
    """

    study: Study
    labels: pd.DataFrame
    stopping: Stopping | None = None

    def run(
        self, store: Store | str | Path | None, *, workers: int | None, progress: bool
    ) -> pd.DataFrame:
        """Run what is not finished yet of the study.

        Parameters
        ----------
        store, workers, progress
            As for `lightburst.study.execute`.

        Returns
        -------
        pandas.DataFrame
            One row for each run: the labels, ``seed`` and the metrics.

        Raises
        ------
        InputError, KeyboardInterrupt
            As `lightburst.study.execute`.
        """
        if self.stopping is None:
            table = run_all(self.study, store, workers=workers, progress=progress)
            places = np.repeat(np.arange(len(self.study.points)), len(self.study.seeds))
        else:
            table = execute_until(
                self.study, self.stopping, store, workers=workers, progress=progress
            )
            places = table.pop("place").to_numpy()
        repeated = self.labels.iloc[places]
        rest = table.loc[:, "seed":]  # the parameters are the columns before
        return pd.concat([repeated.reset_index(drop=True), rest.reset_index(drop=True)], axis=1)


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
    figures: Callable[[Sequence[str], Mapping[str, pd.DataFrame], str], Sequence[AnyFigure]]
    claims: Callable[[Sequence[str], Mapping[str, pd.DataFrame]], list[Claim]]


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

    def figures(self, parts: Sequence[str], table: pd.DataFrame, version: str) -> list[AnyFigure]:
        """Draw up the figures of some parts from the table of runs."""
        runs = self.runs(table)
        return [drawn for part in parts for drawn in self.parts[part].figures(runs, version)]

    def claims(self, parts: Sequence[str], table: pd.DataFrame) -> list[Claim]:
        """Judge the claims of some parts."""
        runs = self.runs(table)
        return [claim for part in parts for claim in self.parts[part].claims(runs)]

    def tables(self, parts: Sequence[str], table: pd.DataFrame) -> list[Listing]:
        """Draw up the tables of some parts."""
        runs = self.runs(table)
        return [listing for part in parts for listing in self.parts[part].tables(runs)]


def packaged(package: str) -> Scenario:
    """Read ``scenario.toml`` of a paper's package."""
    with resources.as_file(resources.files(package) / "scenario.toml") as path:
        return load(path)

"""What a paper consists of, for those who reproduce it: runs, figures and claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

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


def _no_tables(parts: Sequence[str], runs: pd.DataFrame) -> list[Listing]:
    return []


@dataclass(frozen=True, slots=True)
class Paper:
    """One paper that can be reproduced.

    Parameters
    ----------
    name : str
        The name to call it by: first author and year.
    title, citation : str
        What it is.
    parts : mapping of str to str
        Each part that can be reproduced alone, and what it shows.
    default : tuple of str
        The parts that make up the paper itself; the others go beyond it.
    blocks : callable
        ``blocks(parts, quick)`` gives the studies that the parts need.
    figures : callable
        ``figures(parts, runs, version)`` draws up the figures of the parts.
    claims : callable
        ``claims(parts, runs)`` judges the claims of the parts.
    tables : callable
        ``tables(parts, runs)`` draws up what is read as a table and not as a figure.
    traced : Traced, optional
        What it shows of single runs.
    """

    name: str
    title: str
    citation: str
    parts: Mapping[str, str]
    default: tuple[str, ...]
    blocks: Callable[[Sequence[str], bool], list[Block]]
    figures: Callable[[Sequence[str], pd.DataFrame, str], Sequence[AnyFigure]]
    claims: Callable[[Sequence[str], pd.DataFrame], list[Claim]]
    tables: Callable[[Sequence[str], pd.DataFrame], list[Listing]] = _no_tables
    traced: Traced | None = None

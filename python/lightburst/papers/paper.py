"""What a paper consists of, for those who reproduce it: runs, figures and claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from lightburst.study.sweep import Study

if TYPE_CHECKING:
    from lightburst.papers.claims import Claim
    from lightburst.papers.figure import Figure


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
    """

    study: Study
    labels: pd.DataFrame

    def label(self, table: pd.DataFrame) -> pd.DataFrame:
        """Give the runs of the study under the paper's words.

        Parameters
        ----------
        table : pandas.DataFrame
            What `lightburst.study.execute` returned: point by point, seed by seed.

        Returns
        -------
        pandas.DataFrame
            The labels, ``seed`` and the metrics.
        """
        repeated = self.labels.loc[self.labels.index.repeat(len(self.study.seeds))]
        varied = [path for point in self.study.points for path in point]
        rest = table.drop(columns=list(dict.fromkeys(varied)), errors="ignore")
        return pd.concat([repeated.reset_index(drop=True), rest.reset_index(drop=True)], axis=1)


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
    """

    name: str
    title: str
    citation: str
    parts: Mapping[str, str]
    default: tuple[str, ...]
    blocks: Callable[[Sequence[str], bool], list[Block]]
    figures: Callable[[Sequence[str], pd.DataFrame, str], list[Figure]]
    claims: Callable[[Sequence[str], pd.DataFrame], list[Claim]]

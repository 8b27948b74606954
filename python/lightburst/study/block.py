"""A study whose points have names of their own: what papers and sweeps are made of."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from lightburst.study.executor import PLACE, run_placed
from lightburst.study.failures import FailedRun, settle
from lightburst.study.kept import SCENARIO, Kept
from lightburst.study.stopping import Stopping, execute_until
from lightburst.study.store import Store
from lightburst.study.sweep import Study

if TYPE_CHECKING:
    from lightburst.study.workers.where import Where


@dataclass(frozen=True, slots=True)
class Block:
    """A study, and the words by which its points are known.

    Parameters
    ----------
    study : Study
        What to run.
    labels : pandas.DataFrame
        One row for each point of the study, in its order: the columns by which figures and claims
        know the point, such as those of a paper's tables.
    stopping : Stopping, optional
        When a point has seeds enough; without it every point is run with all seeds of the study.
    """

    study: Study
    labels: pd.DataFrame
    stopping: Stopping | None = None

    def run(
        self,
        store: Store | str | Path | None,
        *,
        workers: Where,
        progress: bool,
        kept: Kept | None = None,
        failed: list[FailedRun] | None = None,
    ) -> pd.DataFrame:
        """Run what is not finished yet of the study.

        Parameters
        ----------
        store, workers, progress
            As for `lightburst.study.execute`.
        kept : Kept, optional
            Where tables of the runs are kept.
        failed : list of FailedRun, optional
            Takes the runs that have failed; without it the first error is raised, when all other
            runs have ended.

        Returns
        -------
        pandas.DataFrame
            One row for each run that has finished: the labels, ``seed`` and the metrics; with
            `kept` at last ``scenario``, the digest that with the seed is the key of the run there.

        Raises
        ------
        InputError, KeyboardInterrupt
            As `lightburst.study.execute`.
        """
        found_failed: list[FailedRun] = []
        how: dict[str, Any] = {"workers": workers, "progress": progress, "kept": kept}
        if self.stopping is None:
            table = run_placed(self.study, store, failed=found_failed, **how)
        else:
            table = execute_until(self.study, self.stopping, store, failed=found_failed, **how)
        settle(found_failed, len(table), failed)
        places = table.pop(PLACE).to_numpy()
        repeated = self.labels.iloc[places]
        rest = table.loc[:, "seed":]  # the parameters are the columns before
        found = pd.concat([repeated.reset_index(drop=True), rest.reset_index(drop=True)], axis=1)
        if kept is None:
            return found
        # All points for one seed come before the next one.
        digests = [run.scenario_digest for run in self.study.runs[: len(self.study.points)]]
        return found.assign(**{SCENARIO: [digests[place] for place in places]})

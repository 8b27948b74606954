"""A study whose points have labels, as used by papers and sweeps."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from lightburst.study.execution.executor import PLACE, run_placed
from lightburst.study.execution.stopping import Stopping, execute_until
from lightburst.study.runs import Study
from lightburst.study.store.failures import FailedRun, settle
from lightburst.study.store.kept import SCENARIO, Kept
from lightburst.study.store.store import Store

if TYPE_CHECKING:
    from lightburst.simulation.foretold import Foretold
    from lightburst.study.workers.where import Where


@dataclass(frozen=True, slots=True)
class Block:
    """A study with labels for its points.

    Parameters
    ----------
    study : Study
        The study to run.
    labels : pandas.DataFrame
        One row per point of the study, in its order, with the columns by which figures and claims
        select points, such as those of a paper's tables.
    stopping : Stopping, optional
        Rule for the number of seeds per point; None runs every point with all seeds of the study.
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
        foretell: Foretold | None = None,
    ) -> pd.DataFrame:
        """Run the unfinished runs of the study.

        Parameters
        ----------
        store, workers, progress
            As for `lightburst.study.execute`.
        kept : Kept, optional
            Storage for tables of the runs.
        failed : list of FailedRun, optional
            Receives the failed runs; if None, the first error is raised after all other runs have
            ended.
        foretell : Foretold, optional
            Tells what is known before the first run.

        Returns
        -------
        pandas.DataFrame
            One row per finished run: the labels, ``seed`` and the metrics; with `kept` also a last
            column ``scenario``, the digest that together with the seed identifies the run in
            `kept`.

        Raises
        ------
        InputError, KeyboardInterrupt
            As `lightburst.study.execute`.
        """
        found_failed: list[FailedRun] = []
        how: dict[str, Any] = {"workers": workers, "progress": progress, "kept": kept}
        how["foretell"] = foretell
        if self.stopping is None:
            table = run_placed(self.study, store, failed=found_failed, **how)
        else:
            table = execute_until(self.study, self.stopping, store, failed=found_failed, **how)
        settle(found_failed, len(table), failed)
        places = table.pop(PLACE).to_numpy()
        repeated = self.labels.iloc[places]
        rest = table.loc[:, "seed":]  # the columns before "seed" are the point's parameters
        found = pd.concat([repeated.reset_index(drop=True), rest.reset_index(drop=True)], axis=1)
        if kept is None:
            return found
        # Runs are ordered by seed, then by point: the first ones cover all points.
        digests = [run.scenario_digest for run in self.study.runs[: len(self.study.points)]]
        return found.assign(**{SCENARIO: [digests[place] for place in places]})

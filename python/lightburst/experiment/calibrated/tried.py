"""Runs a paper at settings of its open parameters, and judges its statements there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from lightburst.foundation.errors import InputError
from lightburst.papers.claims import Origin
from lightburst.study.execution.executor import PLACE, run_placed
from lightburst.study.runs import Study
from lightburst.study.store.failures import FailedRun

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lightburst.papers.claims import Claim
    from lightburst.papers.open import Open
    from lightburst.papers.paper import Paper
    from lightburst.study import Block, Store
    from lightburst.study.calibration.implausibility import FloatArray
    from lightburst.study.execution.progress import Bar
    from lightburst.study.workers.interface import Workers

#: Claims of a paper by id.
Judged = dict[str, "Claim"]
#: Column with the cost of a run on any machine: packets times links.
COST: Final = "packet_hops"


@dataclass(frozen=True)
class Outcome:
    """What the runs of a setting say.

    Attributes
    ----------
    judged : dict of str to Claim
        Claims by id, without those of which some runs were not made; none at a setting that the
        scenario refuses.
    share : float
        Share of the seeds on which they are judged.
    given_up : bool
        Whether the setting was given up before all its runs.
    """

    judged: Judged
    share: float = 1.0
    given_up: bool = False

    @property
    def whole(self) -> bool:
        """Whether all runs of the setting were made."""
        return not self.given_up and bool(self.judged)


@dataclass
class Tries:
    """Runs a paper at settings, as ordinary runs of studies.

    Attributes
    ----------
    paper : Paper
        The paper.
    parts : tuple of str
        Its parts.
    blocks : sequence of Block
        Studies of the parts.
    opened : Open
        What the paper leaves open.
    store : Store
        Store of the runs, which are reused from there.
    workers : Workers
        Where runs are computed.
    bar : Bar
        Progress.
    runs : int
        Number of runs so far, with those found in the store.
    packet_hops : int
        Packets times links of these runs, which measures their cost on any machine.
    failed : list of FailedRun
        Failed runs; a statement has no number where it needs one of them.
    impossible : list of str
        Settings that the scenario refuses, with its words; nothing is run there.
    """

    paper: Paper
    parts: tuple[str, ...]
    blocks: Sequence[Block]
    opened: Open
    store: Store
    workers: Workers
    bar: Bar
    runs: int = 0
    packet_hops: int = 0
    failed: list[FailedRun] = field(default_factory=list)
    impossible: list[str] = field(default_factory=list)

    def tables(self, settings: FloatArray, seeds: Sequence[int]) -> list[pd.DataFrame | None]:
        """Run settings, each a row of fractions, on seeds.

        Returns
        -------
        list of DataFrame or None
            For each setting one row per run, with the labels of its point, ``seed`` and the
            metrics; None for a setting that the scenario refuses.
        """
        possible = self.possible(settings)
        found = self.ran(settings, possible, seeds, self.blocks)
        return [found.get(place) for place in range(len(settings))]

    def possible(self, settings: FloatArray) -> list[int]:
        """Return the places of the settings that the scenario takes."""
        return [place for place, one in enumerate(settings) if self._is_possible(one)]

    def ran(
        self,
        settings: FloatArray,
        places: Sequence[int],
        seeds: Sequence[int],
        blocks: Sequence[Block],
    ) -> dict[int, pd.DataFrame]:
        """Run some of the settings, by place, at the points of some studies, as `tables`."""
        found: dict[int, list[pd.DataFrame]] = {place: [] for place in places}
        for block in blocks if places else ():
            for place, rows in self._ran(block, settings, places, seeds).items():
                found[place].append(rows)
        return {place: pd.concat(rows, ignore_index=True) for place, rows in found.items()}

    def judged(self, settings: FloatArray, seeds: Sequence[int]) -> list[Judged]:
        """Run settings and judge the paper's own claims at each; none where it is impossible."""
        tables = self.tables(settings, seeds)
        return [{} if table is None else judge(self.paper, self.parts, table) for table in tables]

    def _is_possible(self, parts: FloatArray) -> bool:
        try:
            for block in self.blocks:
                _points(block, self.opened, parts)
        except InputError as error:
            self.impossible.append(str(error))
            return False
        return True

    def _ran(
        self, block: Block, settings: FloatArray, possible: Sequence[int], seeds: Sequence[int]
    ) -> dict[int, pd.DataFrame]:
        """Run the points of a block at all settings in one study, so that no worker waits."""
        points: list[Mapping[str, object]] = []
        for place in possible:
            points += _points(block, self.opened, settings[place])
        study = Study(block.study.base, points, seeds, block.study.metrics)
        failed: list[FailedRun] = []
        table = run_placed(
            study, self.store, workers=self.workers, progress=self.bar, failed=failed
        )
        self.failed += failed
        self.runs += len(table) + len(failed)
        self.packet_hops += int(table[COST].sum()) if len(table) else 0
        each = len(block.study.points)
        places = table.pop(PLACE).to_numpy()
        rest = table.loc[:, "seed":].reset_index(drop=True)
        labels = block.labels.iloc[places % each].reset_index(drop=True)
        whole = pd.concat([labels, rest], axis=1)
        of = places // each
        return {
            place: whole[of == number].reset_index(drop=True)
            for number, place in enumerate(possible)
        }


def _points(block: Block, opened: Open, parts: FloatArray) -> list[Mapping[str, object]]:
    """Return the points of a block at a setting; refused with the scenario's own error."""
    found: list[Mapping[str, object]] = []
    for place, (point, scenario) in enumerate(
        zip(block.study.points, block.study.scenarios, strict=True)
    ):
        more = opened.at(parts.tolist(), scenario, block.labels.iloc[place])
        scenario.with_(more)
        found.append({**point, **more})
    return found


def judge(paper: Paper, parts: Sequence[str], table: pd.DataFrame) -> Judged:
    """Judge a paper's own claims on a table of runs; without those about single recorded runs."""
    runs: Any = paper.runs(table)
    claims = [claim for name in parts for claim in paper.parts[name].claims(runs)]
    return {claim.id: claim for claim in claims if claim.origin is Origin.PAPER}


def has_number(claim: Claim) -> bool:
    """Return whether a claim has a measured number."""
    return claim.measured is not None and bool(np.isfinite(claim.measured))


def numbers(judged: Sequence[Judged], claims: Sequence[str]) -> FloatArray:
    """Return the measured numbers of claims, shape (settings, claims); NaN where there is none."""
    return np.array(
        [
            [
                np.nan if (one := found.get(name)) is None or one.measured is None else one.measured
                for name in claims
            ]
            for found in judged
        ],
        dtype=np.float64,
    ).reshape(len(judged), len(claims))

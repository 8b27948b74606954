"""An alternative to a paper's set-up beside its base: statements gained and lost on fresh seeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from lightburst.experiment.calibrated.tried import judge
from lightburst.papers import find
from lightburst.papers.claims import Verdict
from lightburst.papers.statements import records, statements_of
from lightburst.papers.variants import variant_of
from lightburst.result.files import STORE
from lightburst.study import Block
from lightburst.study.runs import Study
from lightburst.study.workers.where import workers_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lightburst.papers.claims import Claim
    from lightburst.papers.variants import Variant
    from lightburst.study.store.store import Store
    from lightburst.study.workers.where import Where

#: First seed of the comparison; no reproduction has so many seeds.
FIRST_SEED: Final = 1001
#: Numbers of seeds, in full and for a preview.
SEEDS: Final = 10
FEW_SEEDS: Final = 2


@dataclass(frozen=True)
class Beside:
    """An alternative beside the base.

    Attributes
    ----------
    name : str
        Paper.
    variant : Variant
        The alternative.
    base, claims : tuple of Claim
        The paper's own claims in the base and in the alternative, on the same seeds.
    seeds : range
        Seeds of both.
    runs : int
        Number of runs of both.
    """

    name: str
    variant: Variant
    base: tuple[Claim, ...]
    claims: tuple[Claim, ...]
    seeds: range
    runs: int

    @property
    def gained(self) -> list[str]:
        """Ids of the statements that hold in the alternative and not in the base."""
        before = _holding(self.base)
        return [id for id in _holding(self.claims) if id not in before]

    @property
    def lost(self) -> list[str]:
        """Ids of the statements that hold in the base and not in the alternative."""
        after = _holding(self.claims)
        return [id for id in _holding(self.base) if id not in after]

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON output."""
        return {
            "paper": self.name,
            "variant": self.variant.name,
            "settings": dict(self.variant.settings),
            "parts": list(self.variant.parts),
            "why": self.variant.why,
            "source": self.variant.source,
            "seeds": list(self.seeds),
            "runs": self.runs,
            "gained": self.gained,
            "lost": self.lost,
            "base": records(self.base),
            "claims": records(self.claims),
        }


def _holding(claims: Sequence[Claim]) -> list[str]:
    return [one.id for one in statements_of(claims) if one.verdict is Verdict.HOLDS]


def beside(
    name: str,
    variant: str,
    *,
    quick: bool = False,
    store: Store | str | Path | None = STORE,
    workers: Where = None,
    progress: bool = True,
) -> Beside:
    """Run an alternative and the base of a paper on fresh seeds, and judge both.

    The points and lengths are those of ``reproduce --quick``; the seeds are ten from 1001 on.

    Parameters
    ----------
    name : str
        Paper.
    variant : str
        Name of the alternative.
    quick : bool
        Use two seeds.
    store, workers, progress
        As for `lightburst.reproduce`.

    Returns
    -------
    Beside
        The paper's own claims of both.

    Raises
    ------
    InputError
        If there is no such paper or alternative, or the store cannot be used.
    """
    paper, _ = find(name)
    chosen = variant_of(paper, variant)
    seeds = range(FIRST_SEED, FIRST_SEED + (FEW_SEEDS if quick else SEEDS))
    judged, runs = [], 0
    with workers_of(workers) as computing:
        for one in (None, chosen):
            blocks = [_at(block, one, seeds) for block in paper.blocks(chosen.parts, True)]
            tables = [block.run(store, workers=computing, progress=progress) for block in blocks]
            table = pd.concat(tables, ignore_index=True)
            runs += len(table)
            judged.append(tuple(judge(paper, chosen.parts, table).values()))
    return Beside(paper.name, chosen, judged[0], judged[1], seeds, runs)


def _at(block: Block, variant: Variant | None, seeds: range) -> Block:
    """Return a block on other seeds, with an alternative at each of its points."""
    study = block.study
    points = [
        {**point, **(variant.at(scenario, study.base) if variant else {})}
        for point, scenario in zip(study.points, study.scenarios, strict=True)
    ]
    return Block(Study(study.base, points, seeds, study.metrics), block.labels)

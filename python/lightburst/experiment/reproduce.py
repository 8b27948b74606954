"""Reproduction of a paper: runs, figures, claims and a page."""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from lightburst.foundation.errors import InputError
from lightburst.foundation.files.checksums import verify
from lightburst.foundation.files.directory import replace
from lightburst.foundation.files.parquet import read_frame
from lightburst.foundation.provenance import MODEL_VERSION, source_commit
from lightburst.papers import find
from lightburst.papers.claims import Claims
from lightburst.papers.statements import headline, records
from lightburst.result.files import CLAIMS, PAGE, REPRODUCTION, RUNS, STORE, reading
from lightburst.study.store.store import Store
from lightburst.study.workers.where import workers_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure as Canvas

    from lightburst.papers.figure import AnyFigure, Listing
    from lightburst.papers.paper import Paper
    from lightburst.study.workers.where import Where


@dataclass(frozen=True)
class Reproduction:
    """Result of reproducing a paper or a part of it.

    Parameters
    ----------
    paper : Paper
        Reproduced paper.
    parts : tuple of str
        Names of the reproduced parts.
    quick : bool
        Whether fewer seeds and points were used.
    runs : pandas.DataFrame
        One row per run: the point, ``seed`` and the summary of the run.
    figures : tuple of Figure
        Figures, as data.
    claims : Claims
        Tuple of the judged claims.
    tables : tuple of Listing
        Results that are presented as tables.
    traces : mapping of str to DataFrame
        Recordings of single runs, by name; empty for most papers.
    provenance : dict
        Versions, scenario, seeds and the digest over the digests of all runs.
    """

    paper: Paper
    parts: tuple[str, ...]
    quick: bool
    runs: pd.DataFrame
    figures: tuple[AnyFigure, ...]
    claims: Claims
    tables: tuple[Listing, ...]
    traces: Mapping[str, pd.DataFrame]
    provenance: dict[str, Any]

    @property
    def name(self) -> str:
        """Name that reproduces the same parts."""
        if self.parts == self.paper.default:
            return self.paper.name
        return f"{self.paper.name}/{self.parts[0]}"

    @property
    def headline(self) -> str:
        """Number of the paper's own statements by verdict, and of their readings."""
        return headline(self.claims)

    def __repr__(self) -> str:
        return f"<Reproduction of {self.name}: {len(self.runs)} runs; {self.headline}>"

    def _repr_html_(self) -> str:
        return self.claims.html(repr(self).strip("<>"))

    def verdicts(self) -> dict[str, int]:
        """Count all claims by verdict, each reading of a statement for itself.

        Returns
        -------
        dict of str to int
            Counts of ``holds``, ``differs`` and ``not comparable``, without zeros.
        """
        found = [claim.verdict.value for claim in self.claims]
        return {verdict: found.count(verdict) for verdict in dict.fromkeys(sorted(found))}

    def table(self) -> pd.DataFrame:
        """Return the claims as a table.

        Returns
        -------
        pandas.DataFrame
            One row per claim, with the columns of the JSON output.
        """
        return pd.DataFrame(records(self.claims))

    def plot(self, id: str | None = None) -> Canvas:
        """Draw a figure, or all of them side by side.

        Parameters
        ----------
        id : str, optional
            Id of one figure.

        Returns
        -------
        matplotlib.figure.Figure
            Figure to show or to save.

        Raises
        ------
        InputError
            If there is no such figure.
        """
        from lightburst.plots import static

        chosen = [figure for figure in self.figures if id in (None, figure.id)]
        if not chosen:
            known = ", ".join(figure.id for figure in self.figures)
            raise InputError("figure", str(id), f"one of {known}")
        return static.draw(chosen)

    def save(self, directory: str | Path) -> Path:
        """Write figures (PNG and SVG), claims, runs and an offline page.

        Parameters
        ----------
        directory : str or Path
            Created if it does not exist; an existing result in it is replaced atomically.

        Returns
        -------
        Path
            Path of the page, ``index.html`` in the directory.

        Raises
        ------
        InputError
            If the directory cannot be written or contains foreign files.
        """
        return replace(directory, self._write) / PAGE

    def _write(self, directory: Path) -> None:
        self.runs.to_parquet(directory / RUNS, index=False)
        for name, trace in self.traces.items():
            trace.to_parquet(directory / f"{name}.parquet", index=False)
        about = {
            "name": self.name,
            "quick": self.quick,
            "traces": list(self.traces),
            "provenance": self.provenance,
        }
        _write_json(directory / REPRODUCTION, about)
        self.write_derived(directory)

    def write_derived(self, directory: Path) -> None:
        """Write the files derived from the runs: figures, tables, claims and the page.

        Parameters
        ----------
        directory : Path
            Directory to write to.
        """
        from lightburst.plots import static
        from lightburst.report.paper_page import paper_page

        pictures = {figure.id: static.save(figure, directory)[1] for figure in self.figures}
        for table in self.tables:
            table.data.to_csv(directory / f"{table.id}.csv", index=False)
        _write_json(directory / CLAIMS, records(self.claims))
        (directory / PAGE).write_text(paper_page(self, pictures), encoding="utf-8")


def reproduce(
    name: str,
    *,
    quick: bool = False,
    store: Store | str | Path | None = STORE,
    workers: Where = None,
    progress: bool = True,
) -> Reproduction:
    """Run the simulations of a paper and judge its claims.

    Parameters
    ----------
    name : str
        ``"minakhmetov2018"``, or one part of it: ``"minakhmetov2018/fig2a"``.
    quick : bool
        Use fewer seeds and points: a minute instead of a quarter of an hour.
    store : Store, str or Path, optional
        Store of finished runs, from which a repeated call continues; None stores nothing.
    workers
        As for `lightburst.execute`.
    progress : bool
        Show a progress bar with the time left, if standard error is a terminal.

    Returns
    -------
    Reproduction
        Runs, figures and claims.

    Raises
    ------
    InputError
        If there is no such paper or part, or the store cannot be used.
    KeyboardInterrupt
        On Ctrl-C, within a second; finished runs are in the store.

    Examples
    --------
    >>> reproduce("minakhmetov2018/fig2a", quick=True).plot()  # doctest: +SKIP
    """
    paper, parts = find(name)
    return reproduce_parts(
        paper, parts, quick=quick, store=store, workers=workers, progress=progress
    )


def reproduce_parts(
    paper: Paper,
    parts: tuple[str, ...],
    *,
    quick: bool = False,
    store: Store | str | Path | None = STORE,
    workers: Where = None,
    progress: bool = True,
) -> Reproduction:
    """Run some parts of a paper, or of a study described like a paper, as `reproduce` does."""
    blocks = paper.blocks(parts, quick)
    with workers_of(workers) as computing:
        tables = [block.run(store, workers=computing, progress=progress) for block in blocks]
    runs = pd.concat(tables, ignore_index=True)
    traces = {} if paper.traced is None else paper.traced.record(parts)
    provenance = {
        "version": metadata.version("lightburst"),
        "model_version": MODEL_VERSION,
        "commit": source_commit(),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "seeds": f"{runs['seed'].min()} to {runs['seed'].max()}",
        "runs": len(runs),
        "packet_hops": int(runs["packet_hops"].sum()),
        "scenario": json.loads(blocks[0].study.base.canonical_json()),
        "digest": _digest(runs),
    }
    return _judge(paper, parts, quick, runs, traces, provenance)


def load(directory: str | Path) -> Reproduction:
    """Read a saved reproduction and judge it again.

    Parameters
    ----------
    directory : str or Path
        Directory written by `Reproduction.save`.

    Returns
    -------
    Reproduction
        Restored reproduction, with the claims of this version.

    Raises
    ------
    InputError
        If a file is damaged, or was not written by `Reproduction.save`.
    """
    source = Path(directory)
    with reading(source, REPRODUCTION, RUNS) as about:
        runs = read_frame(source / RUNS)
        files = {str(name): f"{name}.parquet" for name in about.get("traces", [])}
        verify(source, files.values())
        traces = {name: read_frame(source / file) for name, file in files.items()}
        paper, parts = find(str(about["name"]))
        return _judge(paper, parts, bool(about["quick"]), runs, traces, dict(about["provenance"]))


def _judge(
    paper: Paper,
    parts: tuple[str, ...],
    quick: bool,
    runs: pd.DataFrame,
    traces: Mapping[str, pd.DataFrame],
    provenance: dict[str, Any],
) -> Reproduction:
    found = paper.outcome(parts, runs, str(provenance["version"]), traces)
    return Reproduction(
        paper=paper,
        parts=parts,
        quick=quick,
        runs=runs,
        figures=tuple(found.figures),
        claims=Claims(found.claims),
        tables=tuple(found.tables),
        traces=traces,
        provenance=provenance,
    )


def _digest(runs: pd.DataFrame) -> str:
    """Return the SHA-256 over the digests of all runs, in the order of points and seeds."""
    return hashlib.sha256("\n".join(runs["digest"].astype(str)).encode()).hexdigest()


def _write_json(path: Path, content: object) -> None:
    text = json.dumps(content, indent=2, allow_nan=False, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")

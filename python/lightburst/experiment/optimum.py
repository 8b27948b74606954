"""Result of a search for an optimum: answer, trials, figures and files."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from lightburst.experiment.optimum_theory import Said
from lightburst.experiment.study_files import write_study
from lightburst.foundation.files.directory import replace
from lightburst.foundation.formatting import as_given, html_list, html_text
from lightburst.foundation.units import (
    DELAY_PER_LENGTH,
    ENERGY_PER_BIT,
    FREQUENCY,
    LENGTH,
    RATE,
    SIZE,
    TIME,
)
from lightburst.result.labels import words_of
from lightburst.result.metric_text import of_records, readable, records, unit_key
from lightburst.study.design.description import StudyDescription
from lightburst.study.design.points import Place
from lightburst.study.design.written import tables
from lightburst.study.search.evaluated import as_set
from lightburst.study.search.space import Space
from lightburst.study.search.trials import AS_GOOD, BEST, BETTER, DEFAULT, SAME, UNCLEAR, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from matplotlib.figure import Figure as Canvas

    from lightburst.scenario import Scenario
    from lightburst.study.search.wanted import Aim

#: Files of a saved optimum.
OPTIMUM: Final = "optimum.json"
TRIALS: Final = "trials.csv"
CONFIRMED: Final = "confirmed.csv"

_SUFFIXES: Final = frozenset(
    dimension.suffix
    for dimension in (TIME, SIZE, RATE, LENGTH, FREQUENCY, DELAY_PER_LENGTH, ENERGY_PER_BIT)
)
_VERDICTS: Final = {
    BETTER: "better, beyond chance",
    "worse": "worse, beyond chance",
    UNCLEAR: "chance alone may have made the difference",
    SAME: "the same in every run",
    UNKNOWN: "not comparable: runs failed or have no finite value",
}


@dataclass(frozen=True, eq=False, repr=False)
class Optimum:
    """The best values found by a search; returned by `lightburst.optimise`.

    Attributes
    ----------
    study : StudyDescription
        Study with the table ``optimise``.
    space : Space
        Search space, derived from the axes.
    aims : tuple of Aim
        Objectives, in the order of their columns.
    places : tuple of Place
        Best point; for several objectives the Pareto front, ordered by the first one.
    trials : pandas.DataFrame
        One row per trial and objective: ``trial``, the values of the parameters, ``seeds``,
        ``verdict`` (``"best"``; ``"as good"`` if the seeds show no difference from the best;
        ``"worse"``; ``"given up"`` if stopped early as worse; ``"failed"``; ``"unusable"`` if the
        objective is missing or infinite in a run), ``metric``, ``mean`` with its interval, and for
        a single objective the paired ``difference`` from the best. See docs/optimise.md.
    confirmed : pandas.DataFrame
        The default, the best and, for assembly times, the predictions of yu2004, on fresh seeds:
        one row per point and objective, with means, and paired differences from and ratios to the
        default.
    theory : tuple of Said
        Predictions of yu2004 for the best assembly time, if that was a parameter.
    runs : int
        Number of runs of the search and of the confirmation, including those found in the store.
    failed : tuple of dict
        Failed runs, which are in no mean: ``set``, ``seed``, and the error (``path``, ``given``,
        ``allowed``).
    warnings : tuple of str
        Warnings of the runs, one per kind, and reservations about the answer.
    provenance : dict
        Versions and the machine.
    """

    study: StudyDescription
    space: Space
    aims: tuple[Aim, ...]
    places: tuple[Place, ...]
    trials: pd.DataFrame
    confirmed: pd.DataFrame
    theory: tuple[Said, ...]
    runs: int
    failed: tuple[Mapping[str, Any], ...]
    warnings: tuple[str, ...]
    provenance: Mapping[str, Any]

    @classmethod
    def from_dict(cls, about: Mapping[str, Any]) -> Optimum:
        """Restore an optimum from the output of `as_dict`."""
        study = StudyDescription.from_dict(about["study"])
        assert study.optimise is not None
        space = Space.of_study(study)
        return cls(
            study,
            space,
            study.optimise.aims,
            tuple(_place(space, one["variant"], one["set"]) for one in about["answer"]),
            of_records(about["trials"]),
            of_records(about["confirmed"]),
            tuple(
                Said(
                    one["equation"],
                    one["assumes"],
                    one["holds"],
                    one["assembly_time_s"],
                    one["throughput_bps"],
                )
                for one in about["theory"]
            ),
            about["runs"],
            tuple(about["failed"]),
            tuple(about["warnings"]),
            about["provenance"],
        )

    def __repr__(self) -> str:
        return f"<Optimum of {self.asked}: {self.answer}>"

    def _repr_html_(self) -> str:
        table = self.confirmed.to_html(index=False, float_format="{:.4g}".format)
        return f"{html_text(self.words)}{table}{html_list(self.warnings)}"

    @property
    def best(self) -> dict[str, object]:
        """Values of the best point, by path; for several objectives the first of the front."""
        return dict(self.places[0].point)

    @property
    def scenario(self) -> Scenario:
        """Base scenario with the best values; for several objectives the first of the front."""
        found: Scenario = self.study.scenario.with_(self.best)
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the best points in `confirmed`."""
        many = len(self.aims) > 1
        return tuple(f"front {i + 1}" for i in range(len(self.places))) if many else (BEST,)

    @property
    def asked(self) -> str:
        """Objectives and parameters, in one line."""
        wanted = " and ".join(f"{aim.direction} {words_of(aim.metric)}" for aim in self.aims)
        return f"{wanted} over {', '.join(self.space.columns)}"

    @property
    def answer(self) -> str:
        """Best values, in one line."""
        if len(self.aims) > 1:
            return f"a front of {len(self.places)} points"
        rows = records(self.trials[self.trials["verdict"] == BEST])
        return ", ".join(f"{name} = {self.value(name, rows[0])}" for name in self.space.columns
                         if not _missing(rows[0].get(name)))  # fmt: skip

    @property
    def gain(self) -> str:
        """Improvement over the default, in one line; empty for a front."""
        if len(self.aims) > 1:
            return ""
        rows = self.confirmed.set_index("point").to_dict("index")
        best, default, key = rows[BEST], rows[DEFAULT], self.key(self.aims[0].metric)
        said = f"{readable(key, best['mean'])} against {readable(key, default['mean'])}"
        if best["verdict"] == SAME:
            return f"{said} of the default: {_VERDICTS[SAME]}"
        if best["verdict"] == UNKNOWN:
            return f"{said} of the default: {_VERDICTS[UNKNOWN]}"
        if _missing(best["ratio"]):
            ends = (readable(key, best[f"difference{end}"]) for end in ("", "_low", "_high"))
            told = "{}, {} to {}".format(*ends)
        else:
            ends = (f"{100 * (best[f'ratio{end}'] - 1):+.3g}" for end in ("", "_low", "_high"))
            told = "{} %, {} to {} %".format(*ends)
        return f"{said} of the default: {told}; {_VERDICTS[best['verdict']]}"

    @property
    def words(self) -> str:
        """Objectives, answer and gain, line by line."""
        fresh = self.confirmed["n"].max()
        gain = f"on {fresh} fresh seeds {self.gain}" if self.gain else ""
        lines = (self.asked, self.answer, *self.as_good, gain)
        return "\n".join(filter(None, lines))

    @cached_property
    def as_good(self) -> tuple[str, ...]:
        """Range of each parameter within which trials do not differ from the best, as text."""
        if len(self.aims) > 1:
            return ()
        near = self.trials[self.trials["verdict"].isin([BEST, AS_GOOD])]
        return tuple(self._span(name, near) for name in self.space.columns if len(near) > 1)

    def _span(self, name: str, near: pd.DataFrame) -> str:
        rows = near[near[name].notna()]
        known = [column for column in map(str, rows) if _is_number_of(name, rows, column)]
        if not known:
            values = ", ".join(dict.fromkeys(map(str, rows[name])))
            return f"{name} {values}: as good, as far as the seeds tell"
        ordered = records(rows.sort_values(known[0], kind="stable"))
        ends = " to ".join(dict.fromkeys(self.value(name, ordered[place]) for place in (0, -1)))
        return f"{name} {ends}: as good, as far as the seeds tell ({len(rows)} trials)"

    def value(self, name: str, row: Mapping[str, Any]) -> str:
        """Format the value of a parameter in a row; a dash if there is none."""
        held = [key for key in row if _is_beside(name, key) and not _missing(row[key])]
        value = row.get(name)
        if held and not isinstance(value, int | float):
            return readable(held[0], row[held[0]])
        return as_given(value)

    def key(self, metric: str) -> str:
        """Return the key from which `readable` derives the unit of a metric."""
        return key_of(self.study, metric)

    def plot(self) -> Canvas:
        """Draw the trials over each parameter, or the Pareto front; see docs/optimise.md.

        Returns
        -------
        matplotlib.figure.Figure
            Figure to show or to save.
        """
        from lightburst.plots.static import draw
        from lightburst.report.optimum_figure import figures

        canvas: Canvas = draw(figures(self))
        return canvas

    def save(self, directory: str | Path) -> Path:
        """Write the answer, the trials, the figures and the study.

        Parameters
        ----------
        directory : str or Path
            Created if it does not exist; an existing result in it is replaced atomically.

        Returns
        -------
        Path
            Path of the directory. It contains ``optimum.json`` with all results, ``trials.csv``,
            ``confirmed.csv``, ``optimum.png`` and ``.svg`` (for several parameters
            ``optimum-1.png`` and so on), and ``study.toml``, which repeats the search.

        Raises
        ------
        InputError
            If the directory cannot be written, or contains foreign files.
        """
        return replace(directory, self._write)

    def _write(self, directory: Path) -> None:
        from lightburst.plots.static import save
        from lightburst.report.optimum_figure import figures

        self.trials.to_csv(directory / TRIALS, index=False)
        self.confirmed.to_csv(directory / CONFIRMED, index=False)
        for figure in figures(self):
            save(figure, directory)
        write_study(directory, self.study, OPTIMUM, self.as_dict())

    def as_dict(self) -> dict[str, Any]:
        """Return all results as JSON-compatible values: None if missing, ``"inf"`` if infinite."""
        return {
            "study": tables(self.study),
            "objectives": [{"metric": a.metric, "direction": a.direction} for a in self.aims],
            "answer": [
                {"point": name, "variant": place.variant, "set": as_set(place.point)}
                for name, place in zip(self.names, self.places, strict=True)
            ],
            "said": self.words.splitlines(),
            "confirmed": records(self.confirmed.replace(np.inf, "inf")),
            "theory": [
                {
                    "equation": one.name,
                    "assumes": one.assumes,
                    "holds": one.holds,
                    "assembly_time_s": one.time_s,
                    "throughput_bps": one.throughput_bps,
                }
                for one in self.theory
            ],
            "trials": records(self.trials.replace(np.inf, "inf")),
            "runs": self.runs,
            "failed": [dict(one) for one in self.failed],
            "warnings": list(self.warnings),
            "provenance": dict(self.provenance),
        }

    def rows(self) -> Iterator[tuple[str, Mapping[str, Any], list[Mapping[str, Any]]]]:
        """Yield each confirmed point: its name, a row of its values, and a row per objective."""
        for name, rows in self.confirmed.groupby("point", sort=False):
            found = rows.to_dict("records")
            yield str(name), found[0], found  # type: ignore[misc]


def key_of(study: StudyDescription, metric: str) -> str:
    """Return the key of a metric for `readable`: its name, or the unit of an expression, ``_s``."""
    own = {name: str(one) for name, one in study.metrics.items()}
    if metric not in own and " " in metric:
        own[metric] = metric
    return unit_key(metric, own)


def _place(space: Space, variant: str | None, point: Mapping[str, object]) -> Place:
    changes = {} if variant is None else dict(space.variants[variant])
    settings = {path: value for path, value in point.items() if path not in changes}
    return Place(variant, changes, settings)


def _missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and value != value)


def _is_beside(name: str, column: str) -> bool:
    """Tell whether a column repeats a quantity in SI units: its name plus a unit suffix."""
    return column.startswith(f"{name}_") and column.removeprefix(f"{name}_") in _SUFFIXES


def _is_number_of(name: str, rows: pd.DataFrame, column: str) -> bool:
    return (column == name or _is_beside(name, column)) and pd.api.types.is_numeric_dtype(
        rows[column]
    )

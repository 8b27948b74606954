"""Result of a calibration: what is left, what contradicts, and the best settings."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pandas as pd

from lightburst.experiment.calibrated.aims import implausible, met, numbers_of, readings_of
from lightburst.experiment.calibrated.effects import effects_of
from lightburst.foundation.files.directory import replace
from lightburst.foundation.formatting import html_text
from lightburst.papers.open import words_of
from lightburst.report.calibration_figures import figures
from lightburst.study.calibration.implausibility import CUT, ranked
from lightburst.study.calibration.pairs import Pairs
from lightburst.study.calibration.ranges import Left, left_of
from lightburst.study.statistics import number

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from matplotlib.figure import Figure as Canvas

    from lightburst.experiment.calibrate import Plan
    from lightburst.experiment.calibrated.aims import Aim
    from lightburst.experiment.calibrated.alternatives import Alternative
    from lightburst.experiment.calibrated.effects import Effects
    from lightburst.experiment.calibrated.history import Considered, Emulated
    from lightburst.experiment.calibrated.tried import Outcome
    from lightburst.papers.open import Open, Parameter
    from lightburst.papers.paper import Paper
    from lightburst.study.calibration.implausibility import FloatArray

#: Files of a saved calibration.
CALIBRATION: Final = "calibration.json"
SETTINGS: Final = "settings.csv"
STATEMENTS: Final = "statements.csv"
MATRIX: Final = "together.csv"
PAGE: Final = "index.html"


class Wave(NamedTuple):
    """A wave of history matching.

    Attributes
    ----------
    settings : int
        Settings run so far, without the base.
    share : float
        Share of all settings that its emulators leave.
    rank : int
        Which of the largest implausibilities was compared with the cut.
    """

    settings: int
    share: float
    rank: int


@dataclass(frozen=True, eq=False, repr=False)
class Calibration:
    """What a paper's statements say about its open parameters; returned by `calibrate`.

    Attributes
    ----------
    paper : Paper
        The paper.
    parts : tuple of str
        Its parts.
    quick : bool
        Whether there were fewer waves and settings.
    full : bool
        Whether the runs were those of the paper's full plan, and not of its preview.
    opened : Open
        What the paper leaves open.
    plan : Plan
        How much was run.
    aims : tuple of Aim
        The statements with a number and a range.
    rest : dict of str to str
        The others by id, with the reason why they say nothing.
    settings : ndarray of float, shape (settings, parameters)
        Tried settings as fractions of the ranges; the first is the base.
    outcomes : tuple of Outcome
        What the runs of each say; those that were given up have not all claims, or not all seeds.
    waves : tuple of Wave
        The waves.
    considered : Considered
        Settings that the emulators of the last wave considered.
    emulated : Emulated
        These emulators.
    best : tuple of Alternative
        The base and the best settings, on fresh seeds.
    runs : int
        Number of runs, with those found in the store.
    packet_hops : int
        Packets times links of these runs.
    warnings : tuple of str
        Failed runs, impossible settings, and reservations about the answer.
    provenance : dict
        Versions and the machine.
    """

    paper: Paper
    parts: tuple[str, ...]
    quick: bool
    full: bool
    opened: Open
    plan: Plan
    aims: tuple[Aim, ...]
    rest: Mapping[str, str]
    settings: FloatArray
    outcomes: tuple[Outcome, ...]
    waves: tuple[Wave, ...]
    considered: Considered
    emulated: Emulated
    best: tuple[Alternative, ...]
    runs: int
    packet_hops: int
    warnings: tuple[str, ...]
    provenance: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Name that calibrates the same parts."""
        whole = self.parts == self.paper.default
        return self.paper.name if whole else f"{self.paper.name}/{self.parts[0]}"

    @cached_property
    def numbers(self) -> tuple[FloatArray, FloatArray]:
        """Numbers of all readings at the tried settings, and what few seeds add to their variance.

        Both have the shape (settings, readings). The numbers are logarithms for ratios, and NaN
        where there is none.
        """
        return numbers_of(self.aims, self.outcomes)

    @property
    def values(self) -> FloatArray:
        """Numbers of all readings at the tried settings; see `numbers`."""
        return self.numbers[0]

    @property
    def given_up(self) -> int:
        """Number of tried settings that were given up before all their runs."""
        return sum(one.given_up for one in self.outcomes)

    @property
    def headline(self) -> str:
        """The answer in a sentence."""
        kinds = [self.left[one.name].kind.value for one in self.opened.parameters]
        counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
        told = f"{len(kinds)} open parameters: {counts}"
        told += f"; {len(self.nowhere)} of {len(self.aims)} statements met nowhere, "
        told += f"{len(self.apart)} pairs not met together"
        if len(self.best) > 1:
            best = max(self.best[1:], key=lambda one: one.held)
            told += f"; {self.best[0].held} statements hold in the base, {best.held} in {best.name}"
        return told

    def __repr__(self) -> str:
        return f"<Calibration of {self.name}: {self.runs:,} runs; {self.headline}>"

    def _repr_html_(self) -> str:
        tables = (self.parameters, self.alternatives)
        shown = "".join(one.to_html(index=False, float_format="{:.3g}".format) for one in tables)
        return f"{html_text(repr(self))}{shown}"

    @cached_property
    def left(self) -> dict[str, Left]:
        """What is left of the range of each parameter, by its name.

        Settings that the emulators considered count, and those that were run, by their numbers.
        """
        found = self.considered
        ran = np.where(self.emulated.counted, implausible(self.aims, *self.numbers), np.nan)
        kept = np.array([not one.given_up for one in self.outcomes])
        parts = np.concatenate([found.parts, self.settings])
        left = np.concatenate([found.left, kept & (ranked(ran, found.rank) <= CUT)])
        return {
            one.name: left_of(parts[:, place], left, one.number)
            for place, one in enumerate(self.opened.parameters)
        }

    @property
    def parameters(self) -> pd.DataFrame:
        """One row per open parameter.

        ``parameter``; ``base``; ``from`` and ``to``, or ``choices``; ``share`` of its range that is
        left; ``verdict`` on it (`lightburst.study.calibration.ranges.Kind`); ``left``, that part in
        words; ``why`` it is open.
        """
        rows = []
        for one in self.opened.parameters:
            left = self.left[one.name]
            words = ", ".join(_stretch(one, *ends) for ends in left.stretches)
            rows.append(
                {
                    "parameter": one.name,
                    "base": words_of(one.base),
                    "range": _stretch(one, 0.0, 1.0) if one.range else ", ".join(one.choices),
                    "share": left.share,
                    "verdict": left.kind.value,
                    "left": words or "nothing",
                    "why": one.why,
                }
            )
        return pd.DataFrame(rows)

    @cached_property
    def pairs(self) -> Pairs:
        """At how many tried settings each pair of statements is met."""
        return Pairs.of(met(self.aims, *self.numbers), [aim.id for aim in self.aims])

    @property
    def nowhere(self) -> list[str]:
        """Statements that no tried setting meets."""
        return self.pairs.nowhere

    @property
    def apart(self) -> list[tuple[str, str]]:
        """Pairs of statements that no tried setting meets together, though each is met by some."""
        return self.pairs.apart

    @cached_property
    def effects(self) -> Effects:
        """Mean number of each reading along each parameter, by the emulators."""
        return effects_of(self.emulated, self.opened, self.considered.parts)

    @property
    def statements(self) -> pd.DataFrame:
        """One row per reading of a statement.

        ``statement`` and ``reading``, the ids; ``low`` and ``high``, its range; ``base``, its
        number there; ``seed_deviation``, its standard deviation by chance (of the logarithm for a
        ratio, see ``logarithmic``); ``met``, the number of tried settings that meet the statement;
        ``moved_by``, the parameter with the largest effect on it; ``missed``, the share of tried
        settings of which its emulator is more than three deviations off; ``held_out`` of the
        search.
        """
        alone = np.diag(self.pairs.together.to_numpy())
        rows: list[dict[str, Any]] = []
        for aim, count in zip(self.aims, alone, strict=True):
            for one in aim.readings:
                place = len(rows)
                value = self.values[0, place]
                emulator = self.emulated.emulators[place]
                rows.append(
                    {
                        "statement": aim.id,
                        "reading": one.id,
                        "low": one.target.low,
                        "high": one.target.high,
                        "logarithmic": one.target.logarithmic,
                        "base": float(np.exp(value)) if one.target.logarithmic else float(value),
                        "seed_deviation": one.seed_variance**0.5,
                        "met": int(count),
                        "moved_by": self.effects.strongest(place),
                        "missed": np.nan if emulator is None else emulator.missed,
                        "held_out": aim.held_out,
                    }
                )
        return pd.DataFrame(rows)

    @property
    def alternatives(self) -> pd.DataFrame:
        """One row for the base and each of the best settings, on fresh seeds.

        ``setting``; a column per parameter; ``held``, the statements of the paper that hold;
        ``seen``, those of the search among them, and ``held_out``, those that it did not see;
        ``gained`` and ``lost`` against the base.
        """
        return pd.DataFrame(
            [
                {
                    "setting": one.name,
                    **self.written(one),
                    "held": one.held,
                    "seen": one.held_seen,
                    "held_out": one.held_out,
                    "gained": ", ".join(one.gained),
                    "lost": ", ".join(one.lost),
                }
                for one in self.best
            ]
        )

    def written(self, one: Alternative) -> dict[str, object]:
        """Return the values of a setting by parameter, as in a scenario."""
        if one.name == "base":
            return {each.name: words_of(each.base) for each in self.opened.parameters}
        return {
            each.name: each.written(part)
            for each, part in zip(self.opened.parameters, one.parts, strict=True)
        }

    @property
    def tried(self) -> pd.DataFrame:
        """One row per tried setting: its values, and the number of each reading there.

        ``seeds`` is the number of seeds that these are from; at a setting that was ``given_up``,
        some numbers may be missing.
        """
        table = pd.DataFrame(
            [
                {
                    each.name: each.written(part) if row else words_of(each.base)
                    for each, part in zip(self.opened.parameters, parts, strict=True)
                }
                for row, parts in enumerate(self.settings)
            ]
        )
        table["seeds"] = [round(one.share * self.plan.seeds) for one in self.outcomes]
        table["given_up"] = [one.given_up for one in self.outcomes]
        numbers = {
            one.id: np.exp(column) if one.target.logarithmic else column
            for one, column in zip(readings_of(self.aims), self.values.T, strict=True)
        }
        return pd.concat([table, pd.DataFrame(numbers)], axis=1)

    def as_dict(self) -> dict[str, Any]:
        """Return the result in a form for JSON."""
        return {
            "name": self.name,
            "quick": self.quick,
            "full": self.full,
            "plan": {
                key: getattr(self.plan, key)
                for key in ("waves", "points", "seeds", "confirm", "budget", "seed", "whole")
            },
            "settings": len(self.settings),
            "given_up": self.given_up,
            "runs": self.runs,
            "packet_hops": self.packet_hops,
            "waves": [wave._asdict() for wave in self.waves],
            "parameters": _records(self.parameters),
            "statements": _records(self.statements),
            "said_nothing": dict(self.rest),
            "met_nowhere": self.nowhere,
            "not_together": [list(pair) for pair in self.apart],
            "alternatives": [
                {
                    "setting": one.name,
                    "values": {key: str(value) for key, value in self.written(one).items()},
                    "held": one.held,
                    "seen": one.held_seen,
                    "held_out": one.held_out,
                    "gained": list(one.gained),
                    "lost": list(one.lost),
                }
                for one in self.best
            ],
            "warnings": list(self.warnings),
            "provenance": dict(self.provenance),
        }

    def plot(self) -> Canvas:
        """Draw the figures side by side."""
        from lightburst.plots import static

        return static.draw(figures(self))

    def save(self, directory: str | Path) -> Path:
        """Write the tables, the figures (PNG and SVG) and an offline page.

        Parameters
        ----------
        directory : str or Path
            Created if it does not exist; an existing result in it is replaced atomically.

        Returns
        -------
        Path
            Path of the page.

        Raises
        ------
        InputError
            If the directory cannot be written or contains foreign files.
        """
        return replace(directory, self._write) / PAGE

    def _write(self, directory: Path) -> None:
        from lightburst.plots import static
        from lightburst.report.calibration_page import calibration_page

        self.tried.to_csv(directory / SETTINGS, index=False)
        self.statements.to_csv(directory / STATEMENTS, index=False)
        self.pairs.together.to_csv(directory / MATRIX)
        text = json.dumps(self.as_dict(), indent=2, allow_nan=False, ensure_ascii=False)
        (directory / CALIBRATION).write_text(f"{text}\n", encoding="utf-8")
        drawn = figures(self)
        pictures = {figure.id: static.save(figure, directory)[1] for figure in drawn}
        page = calibration_page(self, drawn, pictures)
        (directory / PAGE).write_text(page, encoding="utf-8")


def _stretch(one: Parameter, begin: float, end: float) -> str:
    """Write a stretch of a range with its ends, or a choice."""
    if one.range is None:
        return str(one.written((begin + end) / 2))
    ends = (one.range.at(part) if part in (0, 1) else one.written(part) for part in (begin, end))
    return " to ".join(map(str, ends))


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {
            str(key): number(value) if isinstance(value, float) else value
            for key, value in row.items()
        }
        for row in table.to_dict("records")
    ]

"""Alternatives to a paper's set-up, as data.

A package's ``variants.toml`` has one table per alternative, by its name: ``settings``, values by
path; ``parts``, the parts of the paper whose statements it bears on; ``why`` it is looked at; and
its ``source``.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

from lightburst.foundation.errors import InputError, did_you_mean, show
from lightburst.papers.open import value_at

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lightburst.papers.paper import Paper
    from lightburst.scenario import Scenario


@dataclass(frozen=True)
class Variant:
    """An alternative to the paper's scenario.

    Parameters
    ----------
    name : str
        Name on the command line.
    settings : mapping of str to object
        Values by path of the scenario.
    parts : tuple of str
        Parts of the paper that are run.
    why, source : str
        Why it is looked at, and who proposed it.
    """

    name: str
    settings: Mapping[str, object]
    parts: tuple[str, ...]
    why: str
    source: str

    def at(self, scenario: Scenario, base: Scenario) -> dict[str, object]:
        """Return what the alternative changes at a point of the paper, by path.

        A point that sets a field to another value than the base does so on purpose, and keeps it.
        """
        return {
            path: value
            for path, value in self.settings.items()
            if value_at(scenario, path) == value_at(base, path)
        }


def variants_of(paper: Paper) -> dict[str, Variant]:
    """Read the alternatives of a paper, by name; none for a paper without the file.

    Raises
    ------
    KeyError
        If an alternative lacks a key.
    """
    file = resources.files(paper.package) / "variants.toml" if paper.package else None
    if file is None or not file.is_file():
        return {}
    tables: dict[str, dict[str, Any]] = tomllib.loads(file.read_text(encoding="utf-8"))
    return {
        name: Variant(name, one["settings"], tuple(one["parts"]), one["why"], one["source"])
        for name, one in tables.items()
    }


def variant_of(paper: Paper, name: str) -> Variant:
    """Return an alternative of a paper by name.

    Raises
    ------
    InputError
        If the paper has none of that name.
    """
    known = variants_of(paper)
    if name not in known:
        have = f"one of {', '.join(known)}{did_you_mean(name, known)}" if known else (
            f"no variant: {paper.name} has none"
        )  # fmt: skip
        raise InputError("--variant", show(name), have)
    return known[name]

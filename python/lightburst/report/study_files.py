"""What every directory holds that is written of a study: the study itself, and all as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lightburst.report.files import STUDY
from lightburst.study.written import to_toml

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lightburst.study.description import StudyDescription


def write_study(
    directory: Path, study: StudyDescription, name: str, everything: Mapping[str, Any]
) -> None:
    """Write ``study.toml``, with which the study can be run again, and everything as JSON.

    Parameters
    ----------
    directory : Path
        Where to write; it must exist.
    study : StudyDescription
        What was asked; one that no file can say is left out.
    name : str
        Of the JSON file.
    everything : mapping of str to object
        What it holds.
    """
    if (text := to_toml(study)) is not None:
        (directory / STUDY).write_text(text, encoding="utf-8")
    text = json.dumps(everything, indent=2, allow_nan=False, ensure_ascii=False)
    (directory / name).write_text(text + "\n", encoding="utf-8")

"""Files common to all directories of study results: the study, and the results as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lightburst.result.files import STUDY
from lightburst.study.design.written import to_toml

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lightburst.study.design.description import StudyDescription


def write_study(
    directory: Path, study: StudyDescription, name: str, everything: Mapping[str, Any]
) -> None:
    """Write ``study.toml``, which repeats the study, and the results as JSON.

    Parameters
    ----------
    directory : Path
        Existing directory to write to.
    study : StudyDescription
        Study; ``study.toml`` is omitted if a file cannot express it.
    name : str
        Name of the JSON file.
    everything : mapping of str to object
        Contents of the JSON file.
    """
    if (text := to_toml(study)) is not None:
        (directory / STUDY).write_text(text, encoding="utf-8")
    text = json.dumps(everything, indent=2, allow_nan=False, ensure_ascii=False)
    (directory / name).write_text(text + "\n", encoding="utf-8")

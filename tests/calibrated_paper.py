"""The paper of CONTRIBUTING.md as a user writes it, with open parameters and planted values."""

from __future__ import annotations

import importlib
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lightburst.papers
from lightburst.papers.paper import Paper, Part

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lightburst.experiment.calibrated.calibration import Calibration
    from lightburst.papers.claims import Claim

ROOT = Path(__file__).resolve().parents[1]
NAME = "erlang1917"
EXAMPLE = "## Worked example: a paper of five claims\n"
#: The paper's rate is 10 Gb/s, for which its claims hold; the base has another, 20 Gb/s.
PLANTED = 10e9
OPEN = """
logarithms = ["loss-*"]

[parameters.channel-rate]
path = "topology.fibre_rate"
from = "5 Gb/s"
to = "40 Gb/s"
scale = "log"
base = "20 Gb/s"
why = "planted: 10 Gb/s"

[parameters.call]
path = "transport.segment_size"
from = "62.5 kB"
to = "250 kB"
scale = "log"
base = "125 kB"
why = "the formula does not depend on it"
"""
#: Fewer and shorter runs, wider ranges, another base.
CHANGES = {
    'fibre_rate = "10 Gb/s"': 'fibre_rate = "20 Gb/s"',
    'value = "12.5 GB"': 'value = "1.25 GB"',
    "CHANNELS: Final = (1, 2, 4, 8, 16)": "CHANNELS: Final = (1, 2, 3, 4)",
    "margin = 0.005": "margin = 0.05",
}


def written(root: Path, open_toml: str = OPEN) -> Path:
    """Write the package of the paper below a directory."""
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    section = page.split(EXAMPLE)[1].split("\n## ")[0]
    package = root / NAME
    package.mkdir(parents=True)
    for heading, body in re.findall(
        r"^### \d+\. [^\n]*`(\S+)`\n(.*?)(?=^### |\Z)", section, re.M | re.S
    ):
        if f"papers/{NAME}/" in heading:
            (text,) = re.findall(r"^```\w+\n(.*?)^```$", body, re.M | re.S)
            for old, new in CHANGES.items():
                text = text.replace(old, new)
            (package / Path(heading).name).write_text(text, "utf-8")
    (package / "open.toml").write_text(open_toml, "utf-8")
    return package


def paper(root: Path, open_toml: str = OPEN) -> Paper:
    """Import the paper from below a directory, as a part of the package of papers."""
    written(root, open_toml)
    forgotten()
    lightburst.papers.__path__.insert(0, str(root))
    try:
        module: Any = importlib.import_module(f"lightburst.papers.{NAME}")
    finally:
        lightburst.papers.__path__.remove(str(root))
    found: Paper = module.PAPER
    return found


def forgotten() -> None:
    """Remove the modules of the paper."""
    for name in [name for name in sys.modules if name.startswith(f"lightburst.papers.{NAME}")]:
        del sys.modules[name]


def comparable(found: Calibration) -> dict[str, Any]:
    """Return a calibration in a form for JSON, without the time of the call."""
    about = found.as_dict()
    about["provenance"].pop("created")
    return about


def contradicting(before: Paper) -> Paper:
    """Add a statement that contradicts another: a single channel loses half as many calls."""
    module: Any = sys.modules[f"lightburst.papers.{NAME}.claims"]
    design: Any = sys.modules[f"lightburst.papers.{NAME}.design"]

    def more(runs: Any) -> Iterable[Claim]:
        sheet = module.SHEET.told(channels="1-halved")
        yield sheet.judge("loss", runs.mean(design.Point(1)), published=module.FORMULA[1] / 2)

    parts: Mapping[str, Part] = {**before.parts, "halved": Part("a contradiction", claims=more)}
    return replace(before, parts=parts)

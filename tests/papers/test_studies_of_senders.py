"""The studies of senders run what the reproduction of vlachos2008 runs."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from lightburst.papers.vlachos2008 import design
from lightburst.papers.vlachos2008.points import Point, base
from lightburst.scenario import Scenario

STUDIES = Path(__file__).parents[2] / "studies"


@pytest.mark.parametrize(
    ("file", "variant", "point", "times"),
    [
        (
            "senders-on-nsfnet.toml",
            "SACK, Reno, window of 2 (vlachos2008)",
            Point(),
            {
                "workload.duration": "30 s",
                "measurement.warm_up": "5 s",
                "measurement.until": "20 s",
                "measurement.time_limit": "30 s",
            },
        ),
        (
            "senders-in-step.toml",
            "SACK, Reno (vlachos2008)",
            design.BURSTIFIER,
            {
                "measurement.time_limit": "50 s",
                "measurement.bursts.begin": "15 s",
                "measurement.synchronisation.begin": "15 s",
            },
        ),
    ],
)
def test_the_studies_of_senders_have_the_scenarios_of_the_paper(
    file: str, variant: str, point: Point, times: dict[str, object]
) -> None:
    """But for the times that are measured."""
    study = tomllib.loads((STUDIES / file).read_text("utf-8"))
    sender = {f"transport.{key}": x for key, x in study["variants"][variant]["transport"].items()}
    paper = base().with_({**point.settings(), **times})
    found = Scenario.from_dict(study["scenario"]).with_({"name": paper.name, **sender})
    assert found == paper
    assert study["over"]["switching"]["assembly"]["time"] == ["1 ms", "5 ms", "10 ms"]

"""An alternative stands beside the base: planted values are gained, and the base stays as it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from calibrated_paper import NAME, forgotten, paper
from lightburst.cli import main
from lightburst.experiment.calibrated.beside import FIRST_SEED, Beside, beside
from lightburst.experiment.reproduce import reproduce
from lightburst.foundation.errors import InputError
from lightburst.papers import PAPERS
from lightburst.papers.claims import Verdict
from lightburst.papers.paper import Paper
from lightburst.papers.statements import statements_of
from lightburst.papers.variants import variants_of

VARIANTS = """
[planted]
parts = ["{part}"]
why = "10 Gb/s are the paper's"
source = "this test"
[planted.settings]
"topology.fibre_rate" = "10 Gb/s"

[same]
parts = ["{part}"]
why = "the base again"
source = "this test"
[same.settings]
"topology.fibre_rate" = "20 Gb/s"
"""


@pytest.fixture(scope="module")
def erlang(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Paper]:
    root = tmp_path_factory.mktemp("variants")
    found = paper(root)
    text = VARIANTS.replace("{part}", found.default[0])
    Path(root, NAME, "variants.toml").write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as changed:
        changed.setitem(PAPERS, NAME, found)
        yield found
    forgotten()


def ran(erlang: Paper, variant: str) -> Beside:
    return beside(erlang.name, variant, store=None, workers=2, progress=False)


def test_a_planted_alternative_gains_what_the_base_lacks(erlang: Paper) -> None:
    found = ran(erlang, "planted")
    verdicts = {one.id: one.verdict for one in statements_of(found.base)}
    assert found.gained, "the planted rate is that for which the claims hold"
    assert all(verdicts[id] is not Verdict.HOLDS for id in found.gained)
    assert not found.lost
    after = {one.id: one.verdict for one in statements_of(found.claims)}
    losses = [id for id in after if id.startswith("loss")]
    assert losses and all(after[id] is Verdict.HOLDS for id in losses)


def test_what_one_gains_the_other_loses(erlang: Paper) -> None:
    found = ran(erlang, "planted")
    turned = replace(found, base=found.claims, claims=found.base)
    assert (turned.gained, turned.lost) == (found.lost, found.gained)


def test_an_alternative_with_the_base_s_values_is_the_base(erlang: Paper) -> None:
    found = ran(erlang, "same")
    assert found.base == found.claims
    assert (found.gained, found.lost) == ([], [])


def test_the_seeds_are_fresh(erlang: Paper) -> None:
    seeds = reproduce(NAME, quick=True, store=None, progress=False).runs["seed"]
    assert seeds.max() < FIRST_SEED == min(ran(erlang, "same").seeds)


def test_the_command_shows_what_is_gained(
    erlang: Paper,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["reproduce", NAME, "--variant", "planted"]
    assert main(words) == 0
    told = capsys.readouterr().out
    assert "Variant planted of erlang1917: topology.fibre_rate = 10 Gb/s." in told
    assert "0 statements lost." in told
    assert main([*words, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["gained"] and found["lost"] == []
    assert f"{len(found['gained'])} statements gained: {', '.join(found['gained'])}." in told
    assert [one["id"] for one in found["base"]] == [one["id"] for one in found["claims"]]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["vlachos2008", "--variant", "C"], "one of A, B"),
        (["minakhmetov2018", "--variant", "A"], "minakhmetov2018 has none"),
        (["vlachos2008", "--variant", "A", "--out", "out"], "without --variant"),
    ],
)
def test_a_bad_variant_is_refused(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", *words]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("paper", [one for one in PAPERS.values() if variants_of(one)])
def test_each_alternative_can_be_run(paper: Paper) -> None:
    for one in variants_of(paper).values():
        assert set(one.parts) <= set(paper.parts)
        blocks = paper.blocks(one.parts, True)
        for block in blocks:
            changed = [one.at(scenario, block.study.base) for scenario in block.study.scenarios]
            for scenario, more in zip(block.study.scenarios, changed, strict=True):
                assert set(more) == set(one.settings)
                scenario.with_(more)


def test_a_point_keeps_what_it_sets_on_purpose() -> None:
    variant = variants_of(PAPERS["vlachos2008"])["B"]
    (block, *_) = PAPERS["vlachos2008"].blocks(["segments"], True)
    base = block.study.base
    assert "switching.ingress" in variant.at(base, base)
    assert "topology.access_rate" not in variant.at(
        base.with_({"topology.access_rate": "1 Gb/s"}), base
    )


def test_an_unknown_paper_is_refused() -> None:
    with pytest.raises(InputError, match="vlachos2008"):
        beside("vlachos", "A")

"""The JSON schema of study files: it is published, fits, and names the key that is wrong."""

from __future__ import annotations

import json
import shutil
import subprocess
import sysconfig
import tomllib
from copy import deepcopy
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

import keys
from lightburst.cli import main
from lightburst.foundation.errors import InputError
from lightburst.scenario import schema as of_scenarios
from lightburst.study.design.description import StudyDescription
from lightburst.study.design.json_schema import schema
from lightburst.study.design.written import to_toml

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = schema()
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)
FOLDERS = ("examples/studies", "studies")
EXAMPLES = [file for folder in FOLDERS for file in sorted((ROOT / folder).glob("*.toml"))]
STUDY = tomllib.loads((ROOT / "examples" / "studies" / "recovery.toml").read_text("utf-8"))


def test_it_is_published_and_says_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert keys.STUDY_SCHEMA.read_text("utf-8") == keys.json_schema(schema), "`make keys`"
    VALIDATOR.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert SCHEMA["$id"] == "urn:lightburst:study"
    assert set(SCHEMA["properties"]) == set(StudyDescription.model_fields)
    text = json.dumps(SCHEMA)
    for keyword in ('"oneOf"', '"discriminator"', '"null"', "Attributes\\n"):
        assert keyword not in text
    assert text.count('"anyOf": [true, {') == text.count('"anyOf"') > 5
    assert main(["schema", "study"]) == 0
    assert json.loads(capsys.readouterr().out) == SCHEMA
    assert main(["schema", "stduy"]) == 2
    assert "did you mean 'study'?" in capsys.readouterr().err


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: str(file.stem))
def test_examples_fit(file: Path) -> None:
    values = tomllib.loads(file.read_text("utf-8"))
    VALIDATOR.validate(values)
    # As it is written by `Sweep.save`, with quoted paths and all defaults of the scenario.
    written = to_toml(StudyDescription.from_dict(values, file.parent))
    assert written is not None
    VALIDATOR.validate(tomllib.loads(written))


@pytest.mark.parametrize(
    "more",
    [
        {"scenario": str(ROOT / "examples" / "hybrid.toml")},
        {"over": {"workload.load": {"from": 0.1, "to": 0.4, "number": 3, "scale": "log"}}},
        {"over": {"workload": {"duration": {"from": "1 ms", "to": "3 ms", "step": "1 ms"}}}},
        {"linked": [{"workload.load": [0.1, 0.2], "topology": {"k": [4, 6]}}]},
        {"variants": {"a": {"switching": {"kind": "electronic"}}, "b": {}}, "compare": []},
        {"seeds": [3, 4, 9], "interval": "bca", "keep": ["flows", "groups"]},
        {"seeds": None, "target": {"metric": "slowdown_p99", "precision": "2.5 %"}},
        {"seeds": None, "target": {"metric": "slowdown_p99", "precision": 0.1, "budget": 9}},
        {"sample": {"kind": "sobol", "points": 8}, "metrics": {"x": "count"}},
    ],
    ids=str,
)
def test_what_a_study_can_say_fits(more: dict[str, Any]) -> None:
    values = {key: value for key, value in {**STUDY, **more}.items() if value is not None}
    StudyDescription.from_dict(deepcopy(values))
    VALIDATOR.validate(values)


@pytest.mark.parametrize(
    ("path", "value", "where", "words"),
    [
        (["sedes"], 3, [], "('sedes' was unexpected)"),
        (["over", "swiching"], {"buffer_ports": [1]}, ["over"], "'swiching' does not match"),
        (["over", "workload.load"], 0.3, ["over", "workload.load"], "not of type 'array'"),
        (["over", "workload", "load"], [], ["over", "workload", "load"], "non-empty"),
        (
            ["over", "workload", "load"],
            {"from": 1, "to": 2, "stp": 1},
            ["over", "workload", "load"],
            "('stp' was unexpected)",
        ),
        (["figures", 0, "hew"], "variant", ["figures", 0], "('hew' was unexpected)"),
        (["scenario", "workload", "lod"], 1, ["scenario", "workload"], "('lod' was unexpected)"),
        (["keep"], ["flow"], ["keep", 0], "'flow' is not one of"),
        (["interval"], "student", ["interval"], "is not one of ['t', 'bca']"),
        (["target"], {"metric": "x", "precision": "2"}, ["target", "precision"], "does not match"),
        (["sample"], {"kind": "halton", "points": 4}, ["sample", "kind"], "is not one of"),
        (["seeds"], 0, ["seeds"], "less than the minimum"),
        (["compare"], [["Reno"]], ["compare", 0], "too short"),
        (["variants", "SACK", "recovery"], 1, ["variants", "SACK"], "'recovery' does not match"),
        (["show"], "slowdown_p99", ["show"], "not of type 'array'"),
        (["metrics", "late"], 3, ["metrics", "late"], "not of type 'string'"),
    ],
    ids=str,
)
def test_a_wrong_key_is_named_where_it_stands(
    path: list[Any], value: object, where: list[Any], words: str
) -> None:
    values = deepcopy(STUDY)
    at: Any = values
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    errors = list(VALIDATOR.iter_errors(values))
    assert [(list(e.absolute_path), words in e.message) for e in errors] == [(where, True)], errors
    # lightburst refuses every study that the schema refuses.
    with pytest.raises(InputError):
        assert StudyDescription.from_dict(values).block


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("study", "seeds", "seeds", ""),
        ("study", "seeds", "sedes", "('sedes' was unexpected)"),
        ("scenario", "topology", "topology", ""),
        ("scenario", "arrival_rate", "arival_rate", "('arival_rate' was unexpected)"),
        ("scenario", '"fat-tree"', '"fat-tre"', '"fat-tre" is not one of ["fat-tree",'),
    ],
)
def test_taplo_names_what_is_wrong(
    name: str, old: str, new: str, message: str, tmp_path: Path
) -> None:
    schemas = {"study": schema, "scenario": of_scenarios}
    (tmp_path / "a.schema.json").write_text(json.dumps(schemas[name]()), encoding="utf-8")
    example = {"study": "studies/recovery.toml", "scenario": "hybrid.toml"}[name]
    text = (ROOT / "examples" / example).read_text("utf-8")
    assert old in text
    file = tmp_path / "a.toml"
    file.write_text(f"#:schema ./a.schema.json\n{text.replace(old, new, 1)}", encoding="utf-8")
    taplo = Path(sysconfig.get_path("scripts")) / "taplo"
    done = subprocess.run([taplo, "lint", file], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == bool(message), done.stderr
    assert message in done.stderr
    assert "any of the schemas" not in done.stderr


def test_a_file_for_another_command_says_which(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(EXAMPLES[0], "my study.toml")
    shutil.copy(ROOT / "examples" / "path.toml", "path.toml")
    for command in ("run", "trace", "explain"):
        assert main([command, "my study.toml"]) == 2
        said = capsys.readouterr().err
        assert (
            "my study.toml: given a study; allowed: a scenario; 'lightburst sweep 'my stu" in said
        )
    assert main(["sweep", "path.toml"]) == 2
    said = capsys.readouterr().err
    assert "path.toml: given a scenario; allowed: a study" in said
    assert "'lightburst run path.toml' runs a scenario" in said

"""The JSON schema of scenario files: it is published, fits, and names the key that is wrong."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

import keys
from lightburst.foundation.errors import InputError
from lightburst.scenario import KINDS, Scenario, schema

ROOT = Path(__file__).parents[2]
SCHEMA = schema()
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
Path_ = tuple[str | int, ...]


def read(file: Path) -> dict[str, Any]:
    return tomllib.loads(file.read_text(encoding="utf-8"))


def fits(values: dict[str, Any]) -> bool:
    try:
        Scenario.from_dict(values)
    except InputError:
        return False
    return True


def tables(values: Any, path: Path_ = ()) -> Iterator[tuple[Path_, dict[str, Any]]]:
    """All tables of a file, each with its path."""
    if isinstance(values, dict):
        yield path, values
    inner = values.items() if isinstance(values, dict) else enumerate(values)
    for key, value in inner:
        if isinstance(value, dict | list):
            yield from tables(value, (*path, key))


def at(values: Any, path: Path_) -> Any:
    for key in path:
        values = values[key]
    return values


def changes(file: Path) -> Iterator[tuple[str, dict[str, Any], Path_, str]]:
    """An example with one wrong key, or one value that no key takes: its path, and the key."""
    values = read(file)
    for path, table in tables(values):
        for key in table:
            renamed, worthless = deepcopy(values), deepcopy(values)
            there = at(renamed, path)
            there[f"{key}x"] = there.pop(key)
            yield "key", renamed, path, f"{key}x"
            at(worthless, path)[key] = [{"x": {}}]
            yield "value", worthless, path, key


def test_it_is_published_and_says_what_it_is() -> None:
    assert keys.SCHEMA.read_text("utf-8") == keys.json_schema(), "`make keys` writes it anew"
    VALIDATOR.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert SCHEMA["$id"] == "urn:lightburst:scenario"
    text = json.dumps(SCHEMA)
    for keyword in ('"oneOf"', '"discriminator"', '"null"', "Attributes\\n"):
        assert keyword not in text
    # For editors alone: an alternative that begins with true causes no message.
    assert text.count('"anyOf": [true, {') == text.count('"anyOf"') > 5


def test_each_kind_of_a_table_has_a_branch_and_is_listed_for_editors() -> None:
    for table, topic in (("topology", "topologies"), ("switching", "switches")):
        listed = [branch["then"] for branch in SCHEMA["properties"][table]["allOf"]]
        assert SCHEMA["properties"][table]["anyOf"] == [True, *listed]
        branches = SCHEMA["properties"][table]["allOf"]
        chosen = [branch["if"]["properties"]["kind"]["const"] for branch in branches]
        assert sorted(chosen) == sorted(KINDS[topic])


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: str(file.stem))
def test_examples_fit(file: Path) -> None:
    VALIDATOR.validate(read(file))
    VALIDATOR.validate(tomllib.loads(str(Scenario.from_dict(read(file), file.parent))))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_is_a_scenario_on_a_page_fits(page: Path) -> None:
    for text in re.findall(r"```toml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        values = tomllib.loads(text)
        if {"topology", "switching"} <= values.keys() and fits(values):
            VALIDATOR.validate(values)


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: str(file.stem))
def test_a_wrong_key_is_named_where_it_stands(file: Path) -> None:
    seen = 0
    for what, values, path, key in changes(file):
        errors = list(VALIDATOR.iter_errors(values))
        if not errors:
            # A name of the user's own, such as that of a group.
            assert fits(values) or path[:1] == ("groups",) or path[-1:] == ("layers",), (path, key)
            continue
        seen += 1
        found = {(tuple(error.absolute_path), error.message) for error in errors}
        if what == "key":
            named = {
                (path, f"'{key}' was unexpected"),
                (path, f"'{key[:-1]}' is a required property"),
            }
            assert any((at_, m) for at_, m in found for p, w in named if at_ == p and w in m), found
        else:
            assert any(at_[: len(path) + 1] == (*path, key) for at_, _ in found), found
        # There is no message about tables off the path.
        assert all(at_ == path[: len(at_)] or at_[: len(path)] == path for at_, _ in found), found
        assert not any("any of the given schemas" in message for _, message in found)
    assert seen > 10

"""lightburst refuses every file that the JSON schema refuses."""

import tomllib
from typing import Any

import hostile
import jsonschema  # type: ignore[import-untyped]
import tomli_w
from cases import cases
from hypothesis import given

from lightburst.foundation.errors import InputError
from lightburst.scenario import Scenario, schema
from lightburst.scenario.reading import toml

VALIDATOR = jsonschema.Draft7Validator(schema())


@cases(0.5)
@given(hostile.scenarios())
def test_the_schema_is_never_stricter(values: dict[str, Any]) -> None:
    try:
        text = tomli_w.dumps(values)
        read = tomllib.loads(text)
    except (TypeError, ValueError, AttributeError, RecursionError):  # TOML cannot express it
        return
    if VALIDATOR.is_valid(read):
        return
    try:
        Scenario.from_dict(toml.read(text))
    except InputError:
        return
    errors = [(list(e.absolute_path), e.message) for e in VALIDATOR.iter_errors(read)]
    raise AssertionError(f"lightburst takes {text}, and the schema says {errors}")


def test_there_is_something_that_the_schema_refuses() -> None:
    assert all(VALIDATOR.is_valid(tomllib.loads(tomli_w.dumps(base))) for base in hostile.BASES)
    assert not VALIDATOR.is_valid({**hostile.BASES[0], "topology": {"kind": "tree"}})

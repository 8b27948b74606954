"""JSON schema of scenario files, for editors and linters of TOML.

pydantic's own schema describes a table with a ``kind`` as one of several, so a validator can only
report that none matches. Here ``if`` and ``then`` select the table by its ``kind``, and a wrong key
is reported at its position. The dialect is draft 7, which taplo, and with it the TOML plugins of
editors, supports. To complete keys and show their meaning, taplo reads ``anyOf`` but not ``if``.
Therefore each selection is accompanied by an ``anyOf`` of all choices after ``true``, which accepts
everything and never causes a message.
"""

from collections.abc import Iterable
from typing import Any, Final

from pydantic import BaseModel

from lightburst.scenario.model import Scenario

DIALECT: Final = "http://json-schema.org/draft-07/schema#"
#: Name of the schema, not an address.
ID: Final = "urn:lightburst:scenario"

Node = dict[str, Any]


def schema() -> Node:
    """Return the JSON schema of scenario files.

    Returns
    -------
    dict
        Draft 7. `lightburst.load` also refuses everything that the schema refuses; the schema does
        not include checks across keys, or limits beyond the form of a quantity.
    """
    return draft7(Scenario, ID, "A scenario of lightburst")


def draft7(model: type[BaseModel], name: str, title: str) -> Node:
    """Return the schema of a type of file, in the form that editors support.

    Parameters
    ----------
    model : type of pydantic.BaseModel
        Model of the file.
    name, title : str
        ``$id`` and title of the schema.
    """
    found = model.model_json_schema(ref_template="#/definitions/{model}")
    definitions = {key: _node(table) for key, table in found.pop("$defs", {}).items()}
    head = {"$schema": DIALECT, "$id": name}
    return {**head, **_node(found), "title": title, "definitions": definitions}


def _node(node: Any) -> Any:
    """Rewrite a schema recursively."""
    if isinstance(node, list):
        return [_node(inner) for inner in node]
    if not isinstance(node, dict):
        return node
    kept = {key: value for key, value in node.items() if key not in ("anyOf", "discriminator")}
    if isinstance(kept.get("description"), str):
        # Editors show the description beside the key: one paragraph is enough.
        kept["description"] = " ".join(kept["description"].partition("\n\n")[0].split())
    if kept.get("default", "") is None:
        del kept["default"]  # TOML has no null
    if "discriminator" in node:
        kept.pop("oneOf")
        mapping = node["discriminator"]["mapping"]
        return {**_node(kept), **_by_kind(node["discriminator"]["propertyName"], mapping)}
    if "anyOf" in node:
        return {**_node(kept), **_either(node["anyOf"])}
    # The names of properties are not keywords.
    names = ("properties", "definitions")
    return {
        key: {name: _node(inner) for name, inner in value.items()} if key in names else _node(value)
        for key, value in kept.items()
    }


def _by_kind(key: str, mapping: dict[str, str]) -> Node:
    """Select among tables by their kind."""
    chosen = [
        {"if": {"properties": {key: {"const": name}}, "required": [key]}, "then": {"$ref": table}}
        for name, table in mapping.items()
    ]
    kind = {"enum": list(mapping)}
    of_kind = {"type": "object", "properties": {key: kind}, "required": [key]}
    return {**of_kind, "allOf": chosen, **_listed({"$ref": table} for table in mapping.values())}


def _listed(choices: Iterable[Node]) -> Node:
    """List the choices, for editors, without refusing anything."""
    return {"anyOf": [True, *choices]}


def _either(choices: list[Node]) -> Node:
    """Select by type: words are text, any other type belongs to the other choice."""
    words: list[str] = []
    others: list[Node] = []
    for choice in choices:
        if choice.get("type") == "null":
            continue
        if "const" in choice or "enum" in choice:
            words += [choice["const"]] if "const" in choice else choice["enum"]
        else:
            others.append(_node(choice))
    texts = [other for other in others if other.get("type") == "string"]
    texts += [{"enum": words}] if words else []
    others = [other for other in others if other.get("type") != "string"]
    if len(texts) > 1 or len(others) > 1:
        raise ValueError(f"a choice that the type does not make: {choices}")
    if texts and others:
        choice = {"if": {"type": "string"}, "then": texts[0], "else": others[0]}
        return {**choice, **_listed([*texts, *others])}
    return dict(*texts, *others)

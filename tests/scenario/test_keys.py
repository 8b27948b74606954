"""docs/scenario.md: its tables are those of the fields, and it has every field."""

from __future__ import annotations

import re

import pytest

import keys
import lightburst as lb
from lightburst.scenario.section import Section

PAGE = keys.PAGE.read_text(encoding="utf-8")
SECTIONS = keys.sections()


def test_the_page_is_up_to_date() -> None:
    assert keys.written(PAGE) == PAGE, "`make keys` writes the tables of docs/scenario.md anew"


@pytest.mark.parametrize("section", SECTIONS.values(), ids=SECTIONS)
def test_every_key_stands_in_a_table_and_says_what_it_is(section: type[Section]) -> None:
    for key, field in section.model_fields.items():
        if key == "kind":
            assert f"`{field.default}`" in PAGE
        else:
            assert field.description
            cells = f"`{key}` | {keys.default(field)} | {keys.allowed(field)} | {field.description}"
            assert f"| {cells} |" in PAGE, f"{section.__name__}.{key}"


@pytest.mark.parametrize(
    ("names", "without", "rows"),
    [
        (["Timer"], "_Assembly", ["| `time` | needed | duration, 0 or more, at most 1000 s | "]),
        (
            ["Tahoe", "NewReno"],
            "_Recovery",
            [
                "| `tahoe` | `bug_fix` | `false` | `true`, `false` | ",
                "| `new-reno` | `bug_fix` | `true` | `true`, `false` | ",
                "| `new-reno` | `window_growth_on_exit` | ",
                '| `new-reno` | `partial_acknowledgement` | `"impatient"` | `"impatient"`, ',
                "| `new-reno` | `full_acknowledgement` | ",
            ],
        ),
        (
            ["Tahoe", "RenoRecovery"],
            "_Recovery",
            ["| `tahoe`, `reno` | `bug_fix` | ", "| `reno` | `window_growth_on_exit` | "],
        ),
    ],
)
def test_a_table_has_the_keys_of_its_kinds(names: list[str], without: str, rows: list[str]) -> None:
    _heading, _rule, *found = keys.keys(names, without)
    assert len(found) == len(rows)
    assert all(line.startswith(row) for line, row in zip(found, rows, strict=True))


def test_what_stands_by_hand_stays_and_what_is_old_goes() -> None:
    old = f"Before.\n\n<!-- keys: Timer - _Assembly -->\nold\n{keys.END}\n\nAfter.\n"
    new = keys.written(old)
    assert new.startswith("Before.\n\n<!-- keys: Timer - _Assembly -->\n| Key | ")
    assert new.endswith(f" |\n{keys.END}\n\nAfter.\n")
    assert "old" not in new
    with pytest.raises(ValueError, match="without <!-- end -->"):
        keys.written(old.replace(keys.END, ""))


def test_a_preset_shows_what_it_sets_and_else_the_default() -> None:
    heading, _rule, *rows = keys.presets()
    assert heading == '| Key | `"rfc"` | `"ns-2"` | `"linux"` | `"datacentre"` | `"wide-area"` |'
    assert '| `segment_size` | `"9 kB"` | `"1 kB"` | `"1.5 kB"` | `"1.5 kB"` | `"1.5 kB"` |' in rows
    assert '| `recovery` | `"sack"` | `"sack1"` | `"rack-tlp"` | `"sack"` | `"sack"` |' in rows
    assert "| `recovery.bug_fix` | by kind | `true` | by kind | by kind | by kind |" in rows


def test_the_defaults_on_the_page_can_be_written_in_a_file() -> None:
    """A scenario with every default of `tcp` on the page equals the one without them."""
    tcp = SECTIONS["Tcp"]
    table = "\n".join(keys.keys(["Tcp"], None))
    shown = dict(re.findall(r"^\| `(\w+)` \| `(.+?)` \|", table, re.MULTILINE))
    assert set(shown) == set(tcp.model_fields) - {"kind"}
    plain = {
        "topology": {"kind": "path", "links": 1},
        "switching": {"kind": "electronic"},
        "transport": {"kind": "tcp"},
        "workload": {"kind": "pairs"},
    }
    scenario = lb.Scenario.from_dict(plain)
    written = scenario.with_({f"transport.{key}": value for key, value in shown.items()})
    assert written.to_dict() == scenario.to_dict()

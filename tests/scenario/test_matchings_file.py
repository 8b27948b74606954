"""Matchings of circuit switches from a file."""

from pathlib import Path

import pytest

import lightburst as lb
from lightburst.compile import compile_plan
from lightburst.foundation.errors import InputError

# Switch 0 has both shifts of three racks, switch 1 the shift by two alone.
ROWS: list[tuple[int, ...]] = [
    *((0, slot, rack, (rack + slot + 1) % 3) for slot in range(2) for rack in range(3)),
    *((1, 0, rack, (rack + 2) % 3) for rack in range(3)),
]


def scenario(directory: Path, lines: list[str]) -> lb.Scenario:
    file = directory / "matchings.csv"
    file.write_text("\n".join(lines) + "\n", "utf-8")
    return lb.Scenario.from_dict(
        {
            "topology": {"kind": "racks", "racks": 3, "hosts_per_rack": 1, "uplinks": 2},
            "switching": {"kind": "circuit", "schedule": {"kind": "given", "file": str(file)}},
            "transport": {"kind": "tcp", "preset": "datacentre"},
            "workload": {"kind": "pairs", "size": "90 kB"},
        }
    )


def lines(rows: list[tuple[int, ...]] = ROWS) -> list[str]:
    return ["slot,to,note,rack,switch", *(f"{k},{to},x,{r},{s}" for s, k, r, to in rows)]


def test_a_file_has_the_matchings_of_a_list(tmp_path: Path) -> None:
    backwards = scenario(tmp_path, lines(ROWS[::-1]))
    given = {"kind": "given", "matchings": [[[1, 2, 0], [2, 0, 1]], [[2, 0, 1]]]}
    listed = backwards.with_({"switching.schedule": given})
    plans = [compile_plan(one, 1).settings["switches"] for one in (backwards, listed)]
    assert plans[0] == plans[1]
    assert lb.run(backwards).flows.equals(lb.run(listed).flows)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (ROWS[1:], "given no row of switch 0, slot 0, rack 0; allowed: each rack once in each"),
        ([*ROWS, ROWS[4]], "given row 10, switch 0, slot 1, rack 1 again; allowed: each rack once"),
        ([(0, 0, 0, -1)], "given row 1: to -1; allowed: a whole number from 0 to 4,095"),
        ([(70_000, 0, 0, 1)], "given row 1: switch 70000; allowed: a whole number from 0 to 65,5"),
        ([], "which has no rows; allowed: at least one row"),
        (ROWS[:6], "given 1 list; allowed: 2 lists, one for each circuit switch"),
        (
            [*ROWS[:6], *((1, 0, rack, rack) for rack in range(3))],
            "switching.schedule.file[1][0]: given rack 0 joined with itself; allowed: each of",
        ),
    ],
)
def test_bad_rows(tmp_path: Path, rows: list[tuple[int, ...]], message: str) -> None:
    with pytest.raises(InputError) as error:
        compile_plan(scenario(tmp_path, lines(rows)), 1)
    assert str(error.value).startswith("switching.schedule.file")
    assert message in str(error.value)


@pytest.mark.parametrize(
    "text", ["switch,slot,rack\n0,0,0", "switch,slot,rack,to\n0,0,0,one", "switch,slot,rack,to\n0"]
)
def test_a_file_without_the_columns(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"allowed: a CSV file with whole numbers in the columns"):
        compile_plan(scenario(tmp_path, text.split("\n")), 1)

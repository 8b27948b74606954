"""Bad input for events in networks of bursts; otherwise as `test_bad_input`."""

from pathlib import Path

import pytest
from test_bad_input import read, refusal

from lightburst.compile import compile_plan

GOOD = """
[topology]
kind = "obs-path"
host_pairs = 1
wavelengths = 4
[switching]
kind = "obs"
assembly = { kind = "timer", time = "1 ms" }
[transport]
kind = "tcp"
[workload]
kind = "pairs"
size = { kind = "constant", value = "1 MB" }
[[events]]
at = "1 s"
state = "down"
link = ["3", "4"]
"""


def test_the_good_one_has_a_fibre_down_in_both_directions(tmp_path: Path) -> None:
    plan = compile_plan(read(tmp_path, GOOD), 1)
    rows = plan.settings["outages"]["links"]
    ends = [(int(plan.links["from"][row[0]]), int(plan.links["to"][row[0]])) for row in rows]
    assert sorted(ends) == [(3, 4), (4, 3)]


def test_one_wavelength_of_a_fibre_is_down_without_the_others(tmp_path: Path) -> None:
    more = (
        'wavelength = 3\ndirection = "forward"\n'
        '[[events]]\nat = "2 s"\nstate = "up"\nlink = ["3", "4"]\nwavelength = 3\n'
        'direction = "forward"\n'
    )
    plan = compile_plan(read(tmp_path, GOOD.rstrip() + "\n" + more), 1)
    (row,) = plan.settings["outages"]["channels"]
    link, *times = row
    assert (int(plan.links["from"][link]), int(plan.links["to"][link])) == (3, 4)
    assert times == [3, 10**12, 2 * 10**12]
    assert plan.settings["outages"]["links"] == []


def test_disciplines_go_with_events(tmp_path: Path) -> None:
    text = GOOD.replace('"obs-path"\nhost_pairs = 1\nwavelengths = 4', '"path"\nlinks = 4')
    text = text.replace('"obs"\nassembly = { kind = "timer", time = "1 ms" }', '"electronic"')
    text = text.replace('["3", "4"]', '["2", "3"]')
    queue = '"electronic"\nqueue = { kind = "codel" }'
    plan = compile_plan(read(tmp_path, text.replace('"electronic"', queue)), 1)
    assert plan.settings["switches"][0]["queue"]["kind"] == "codel"
    assert len(plan.settings["outages"]["links"]) == 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'kind = "obs"\n',
            'kind = "obs"\nordering = { kind = "source" }\n',
            "switching.ordering: given 'source'; allowed: 'none' or 'destination' beside events "
            "and failures: routes may change",
        ),
        (
            'link = ["3", "4"]',
            'link = ["3", "4"]\nwavelength = 4',
            "events[0].wavelength: given 4; allowed: a wavelength of the link, from 0 to 3",
        ),
        (
            'state = "down"\nlink = ["3", "4"]',
            'loss = 0.5\nlink = ["3", "4"]\nwavelength = 1',
            "events[0].wavelength: given 1; allowed: all wavelengths, without this key, where "
            "bursts reserve them",
        ),
        (
            'kind = "obs"\n',
            'kind = "burst"\nordering = "source"\n',
            "switching.ordering: given 'source'; allowed: 'none' or 'destination' beside events "
            "and failures: routes may change",
        ),
    ],
)
def test_the_bad_ones(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert str(refusal(tmp_path, GOOD.replace(old, new, 1))) == message

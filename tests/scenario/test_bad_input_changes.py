"""Bad input for changes of rates and losses; the good one compiles to its rows."""

from pathlib import Path

import pytest
from test_bad_input import read, refusal

from lightburst.compile import compile_plan

GOOD = """
[topology]
kind = "path"
links = 4
[switching]
kind = "electronic"
[loss]
probability = 0.125
acknowledgement_probability = 0
[transport]
kind = "tcp"
[workload]
kind = "pairs"
size = { kind = "constant", value = "1 MB" }
[[events]]
at = "1 s"
rate = "1 Gb/s"
until = "3 s"
link = ["2", "3"]
direction = "forward"
[[events]]
at = "3 s"
rate = "2 Gb/s"
link = ["2", "3"]
[[events]]
at = "0 s"
loss = 0.5
until = "4 s"
link = ["2", "3"]
[measurement]
time_limit = "10 s"
"""
S = 10**12


def test_the_good_one_has_the_rates_and_losses_of_both_directions(tmp_path: Path) -> None:
    plan = compile_plan(read(tmp_path, GOOD), 1)
    ends = zip(plan.links["from"].tolist(), plan.links["to"].tolist(), strict=True)
    number = {pair: i for i, pair in enumerate(ends)}
    there, back = number[2, 3], number[3, 2]
    changes = plan.settings["changes"]
    assert changes["rates"] == [
        [there, S, 10**9],
        [there, 3 * S, 2 * 10**9],
        [back, 3 * S, 2 * 10**9],
    ]
    # The link out of a switch with a host is lossy anyway.
    assert plan.links["lossy"][[there, back]].tolist() == [1, 0]
    assert changes["losses"] == [
        [there, 0, 0.5, 0.5],
        [there, 4 * S, 0.125, 0.0],
        [back, 0, 0.5, 0.5],
        [back, 4 * S, 0.0, 0.0],
    ]
    assert "outages" not in plan.settings


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'link = ["2", "3"]',
            'link = ["2", "9"]',
            "events[0].link[1]: given '9'; allowed: the name of a node, such as '2', '3', '4'",
        ),
        (
            'rate = "1 Gb/s"',
            'rate = "0 Gb/s"',
            "events[0].rate: given '0 Gb/s'; allowed: a rate, greater than zero",
        ),
        ("loss = 0.5", "loss = 1.5", "events[2].loss: given 1.5; allowed: "),
        ("loss = 0.5", "loss = -0.5", "events[2].loss: given -0.5; allowed: "),
        ('at = "0 s"', 'at = "-1 s"', "events[2].at: given '-1 s'; allowed: a duration, zero"),
        (
            'at = "3 s"\nrate',
            'at = "11 s"\nrate',
            "events[1].at: given 11 s; allowed: at most measurement.time_limit (10 s)",
        ),
        (
            'until = "4 s"',
            'until = "11 s"',
            "events[2].until: given 11 s; allowed: at most measurement.time_limit (10 s), or none",
        ),
        (
            'until = "3 s"',
            'until = "1 s"',
            "events[0].until: given 1 s; allowed: a time after at (1 s)",
        ),
        (
            'until = "3 s"',
            'until = "5 s"',
            "events[1].at: given 3 s, within the change by events[0]; allowed: 5 s or later, when "
            "that one ends, or an earlier events[0].until",
        ),
        (
            'at = "3 s"',
            'at = "1 s"',
            "events[1].at: given 1 s, when events[0] changes the rate too; allowed: one change of "
            "the rate of a link at a time",
        ),
        (
            'rate = "1 Gb/s"',
            "",
            "events[0]: given none of state, rate and loss; allowed: one of state, rate and loss",
        ),
        (
            'rate = "1 Gb/s"',
            'rate = "1 Gb/s"\nloss = 0.1',
            "events[0]: given rate and loss; allowed: one of state, rate and loss",
        ),
        (
            'rate = "1 Gb/s"',
            'state = "down"',
            "events[0].until: given 3 s; allowed: none beside state: another event ends 'down'",
        ),
        (
            'link = ["2", "3"]\ndirection = "forward"',
            'node = "2"',
            "events[0].node: given 2; allowed: a link, whose rate changes",
        ),
        (
            'kind = "electronic"',
            'kind = "all-optical"',
            "events[0].rate: given a change of rate among switches of kind 'all-optical'; "
            "allowed: 'electronic' switches alone: light keeps its rate through any other",
        ),
        (
            "acknowledgement_probability = 0",
            'stalls = [{ segments = [1, 1], duration = "1 ms" }]',
            "loss.stalls[0]: given a script that delays units; allowed: drops and marks alone "
            "beside events and failures",
        ),
        (
            "[measurement]",
            '[restoration]\ndelay = "1 s"\n[measurement]',
            "restoration: given a table without a failure of a link or node; allowed: events or "
            "failures as well, which the routes follow",
        ),
        (
            "[measurement]",
            '[measurement]\nrecovery = "1 ms"',
            "measurement.recovery: given 1 ms; allowed: nothing without events or failures",
        ),
    ],
)
def test_the_bad_ones(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert GOOD.count(old)
    assert message in str(refusal(tmp_path, GOOD.replace(old, new, 1)))

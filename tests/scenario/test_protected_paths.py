"""Protection of a scenario: its paths, its turns by hand, and bad input."""

from itertools import pairwise
from pathlib import Path

import pytest
from test_bad_input import read, refusal

from lightburst.compile import compile_plan
from lightburst.compile.plan import Plan
from lightburst.topology.outages import NEVER
from lightburst.topology.protection import lasting, without

#: 200 m of fibre are a microsecond: 1 us from switch a to b and 2 us to c, 3 us, 4 us and 5 us by
#: the other way.
LINKS = """source,target,length
h,a,200 m
k,c,200 m
a,b,200 m
b,c,400 m
a,d,600 m
d,e,800 m
e,c,1 km
"""
GOOD = """
[topology]
kind = "graph"
file = "links.csv"
hosts = "leaves"
[switching]
kind = "electronic"
[transport]
kind = "tcp"
[workload]
kind = "pairs"
size = { kind = "constant", value = "1 MB" }
[[events]]
at = "1 ms"
state = "down"
link = ["a", "b"]
direction = "forward"
[[events]]
at = "3 ms"
state = "up"
link = ["a", "b"]
direction = "forward"
[protection]
scheme = "1:1"
detection = "100 us"
switching = "10 us"
wait_to_restore = "500 us"
[measurement]
time_limit = "10 s"
"""
MS, US = 10**9, 10**6


def compiled(directory: Path, text: str, links: str = LINKS) -> Plan:
    (directory / "links.csv").write_text(links, encoding="utf-8")
    return compile_plan(read(directory, text), 1)


def turns(directory: Path, text: str) -> list[list[int]]:
    """Time and label of each turn from a to c."""
    plan = compiled(directory, text)
    a, c = plan.next_to_hosts.tolist()
    found: list[list[int]] = plan.settings["protection"]["turns"]
    assert all(row[:2] == [a, c] for row in found)
    return [row[2:] for row in found]


#: The egress is 2 us behind the link from a to b; the notice takes 12 us by the backup path.
SEEN = 2 * US + 100 * US
LAG = 12 * US + 10 * US


def test_the_shorter_path_of_two_without_a_common_link_is_the_working_one(tmp_path: Path) -> None:
    plan = compiled(tmp_path, GOOD)
    ends = [(int(a), int(b)) for a, b in zip(plan.links["from"], plan.links["to"], strict=True)]
    offsets = plan.nodes["path_offsets"].tolist()
    ways = []
    assert plan.network is not None
    for begin, end in pairwise(offsets):
        hops = [ends[link] for link in plan.nodes["path_links"][begin:end].tolist()]
        ways.append("".join(plan.network.name(hop[0]) for hop in hops))
    assert sorted(ways) == ["ab", "ade", "cb", "ced"]
    assert ways[0] in ("ab", "cb")


def test_the_ingress_turns_after_detection_notice_and_switching(tmp_path: Path) -> None:
    assert turns(tmp_path, GOOD) == [
        [1 * MS + SEEN + LAG, 1],
        [3 * MS + SEEN + 500 * US + LAG, 0],
    ]


def test_what_does_not_outlast_the_detection_is_not_noticed(tmp_path: Path) -> None:
    assert turns(tmp_path, GOOD.replace('"3 ms"', '"1.1 ms"')) == []
    assert turns(tmp_path, GOOD.replace('"3 ms"', '"1.1001 ms"')) != []


def test_without_reversion_the_backup_path_is_kept(tmp_path: Path) -> None:
    text = GOOD.replace('"500 us"', '"never"')
    assert turns(tmp_path, text) == [[1 * MS + SEEN + LAG, 1]]


def test_a_failed_backup_path_is_left(tmp_path: Path) -> None:
    """The link from e to c, next to the egress, is down from 2 ms to 2.5 ms."""
    more = "".join(
        f'[[events]]\nat = "{at}"\nstate = "{state}"\nlink = ["e", "c"]\ndirection = "forward"\n'
        for at, state in (("2 ms", "down"), ("2.5 ms", "up"))
    )
    assert turns(tmp_path, GOOD.replace("[protection]", f"{more}[protection]")) == [
        [1 * MS + SEEN + LAG, 1],
        [2 * MS + 100 * US + LAG, 0],
        [2 * MS + 600 * US + LAG, 1],
        [3 * MS + SEEN + 500 * US + LAG, 0],
    ]


def test_an_egress_with_two_copies_waits_for_no_notice(tmp_path: Path) -> None:
    text = GOOD.replace('"1:1"', '"1+1"')
    assert compiled(tmp_path, text).settings["protection"]["duplicates"]
    assert turns(tmp_path, text) == [
        [1 * MS + SEEN + 10 * US, 1],
        [3 * MS + SEEN + 510 * US, 0],
    ]


def test_spans() -> None:
    assert lasting([(10, 20), (25, 30)], 5) == [(10, 30)]
    assert lasting([(10, 15), (30, 36), (42, NEVER)], 5) == [(30, 36), (42, NEVER)]
    assert lasting([(10, NEVER)], 0) == [(10, NEVER)]
    assert without([(0, 10), (20, 30)], [(2, 4), (8, 22)]) == [(0, 2), (4, 8), (22, 30)]
    assert without([(0, NEVER)], [(0, 5), (7, NEVER)]) == [(5, 7)]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('scheme = "1:1"', 'scheme = "2:1"', "protection.scheme: given '2:1'; allowed: "),
        (
            'detection = "100 us"',
            'detection = "-1 us"',
            "protection.detection: given '-1 us'; allowed: a duration",
        ),
        (
            "[protection]",
            '[restoration]\ndelay = "1 s"\n[protection]',
            "restoration: given a table beside protection; allowed: one of both: paths are "
            "protected, or routes are restored",
        ),
        (
            "[switching]",
            "[routing]\npaths = 2\n[switching]",
            "routing.paths: given paths with labels; allowed: shortest paths beside events and "
            "failures: these are calculated anew",
        ),
    ],
)
def test_the_bad_ones(tmp_path: Path, old: str, new: str, message: str) -> None:
    (tmp_path / "links.csv").write_text(LINKS, encoding="utf-8")
    assert message in str(refusal(tmp_path, GOOD.replace(old, new, 1)))


def test_pairs_without_two_paths_are_refused(tmp_path: Path) -> None:
    links = LINKS.replace("e,c,1 km", "e,b,1 km")
    (tmp_path / "links.csv").write_text(links, encoding="utf-8")
    message = (
        "protection: given a table, but no such paths from a to c; allowed: two paths without a "
        "common link for each pair of switches with traffic"
    )
    assert str(refusal(tmp_path, GOOD)) == message


def test_packets_that_travel_twice_are_not_traced_and_not_in_bursts(tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_text(LINKS, encoding="utf-8")
    twice = GOOD.replace('"1:1"', '"1+1"')
    assert str(refusal(tmp_path, f"{twice}trace = [0]\n")) == (
        "measurement.trace: given [0]; allowed: no flow, and no 'lightburst explain' or 'trace' "
        "of one, with protection.scheme = '1+1', whose packets travel twice"
    )
    obs = '"obs"\nassembly = { kind = "timer", time = "1 ms" }'
    assert str(refusal(tmp_path, twice.replace('"electronic"', obs))) == (
        "switching.kind: given 'obs'; allowed: 'electronic', 'all-optical' or 'hybrid' with "
        "protection.scheme = '1+1'"
    )


def test_protection_alone_refuses_what_events_refuse(tmp_path: Path) -> None:
    begin, _, rest = GOOD.partition("[[events]]")
    alone = begin.replace('"electronic"', '"burst"\nassembly = { kind = "timer", time = "1 ms" }')
    (tmp_path / "links.csv").write_text(LINKS, encoding="utf-8")
    found = str(refusal(tmp_path, alone + "[protection]" + rest.partition("[protection]")[2]))
    assert found.startswith("switching.kind: given 'burst'; allowed: ")
    assert found.endswith("beside protection")


def test_protection_alone_refuses_scripts_that_delay_units(tmp_path: Path) -> None:
    begin, _, rest = GOOD.partition("[[events]]")
    hold = "[[loss.holds]]\nsegments = [3, 3]\nlater = 2\n"
    (tmp_path / "links.csv").write_text(LINKS, encoding="utf-8")
    found = refusal(tmp_path, begin + hold + "[protection]" + rest.partition("[protection]")[2])
    assert str(found) == (
        "loss.holds[0]: given a script that delays units; allowed: drops and marks alone beside "
        "protection"
    )

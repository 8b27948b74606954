"""Bad input about circuits: slots, schedules, links, and what does not go with them."""

from typing import Any

import pytest

import lightburst as lb
from lightburst.cli import main
from lightburst.compile import compile_plan
from lightburst.foundation.errors import InputError

FOUR = {
    "topology": {"kind": "racks", "racks": 4, "hosts_per_rack": 1, "uplinks": 2},
    "switching": {"kind": "circuit"},
    "transport": {"kind": "tcp"},
    "workload": {"kind": "pairs", "size": "100 kB"},
}
PAIRED = [[[1, 0, 3, 2], [3, 2, 1, 0]], [[2, 3, 0, 1]]]


def given(matchings: Any) -> dict[str, Any]:
    return {"switching.schedule": {"kind": "given", "matchings": matchings}}


def graph(*links: tuple[str, str]) -> dict[str, Any]:
    """A graph with two hosts at each of two racks."""
    hosts = [(f"h{i}", f"rack{i % 2}") for i in range(4)]
    table = [{"source": a, "target": b} for a, b in (*hosts, *links)]
    return {"topology": {"kind": "graph", "links": table}}


JOINED = [(f"rack{i}", f"core{j}") for i in range(2) for j in range(2)]

BAD = [
    # Slots.
    (
        {"switching.slot": "17 us"},
        "switching.slot: given 17 us; allowed: at least 17.2 us, the sum of guard (10 us) and the "
        "time of transport.segment_size at 10 Gb/s (7.2 us)",
    ),
    ({"switching.slot": "0 s"}, "switching.slot: given '0 s'; allowed: a duration, greater"),
    (
        {"switching.guard": "100 us"},
        "switching.slot: given 100 us; allowed: at least 107.2 us, the sum of guard (100 us)",
    ),
    ({"switching.queue_size": "8 kB"}, "switching.queue_size: given 8 kB; allowed: at least"),
    # Matchings.
    (
        given([[[1, 0, 3]], [[2, 3, 0, 1]]]),
        "switching.schedule.matchings[0][0]: given 3 racks; allowed: 4 numbers: each of the racks "
        "0 to 3 once, and no rack joined with itself",
    ),
    (given([PAIRED[0], [[2, 2, 0, 1]]]), "matchings[1][0]: given rack 2 more than once"),
    (
        given([PAIRED[0], [[2, 3, 0, 4]]]),
        "matchings[1][0]: given rack 4; allowed: each of",
    ),
    (given([PAIRED[0], [[0, 3, 1, 2]]]), "matchings[1][0]: given rack 0 joined with itself"),
    (given(PAIRED[:1]), "switching.schedule.matchings: given 1 list; allowed: 2 lists, one for"),
    (given([PAIRED[0], []]), "switching.schedule.matchings[1]: given 0 matchings"),
    (
        given([PAIRED[0], PAIRED[0]]),
        "switching.schedule.matchings: given no circuit from rack 0 to rack 2; allowed: matchings "
        "that join each rack with every other one",
    ),
    (
        given(PAIRED[1]),
        "switching.schedule.matchings[0][0]: given 2; allowed: a list for each circuit switch, of "
        "matchings, each a list of the numbers of racks: [[[1, 2, 0], [2, 0, 1]]]",
    ),
    (
        {"switching.schedule": {"kind": "given"}},
        "switching.schedule.matchings: given none of matchings and file; allowed: one of matchings "
        "and file",
    ),
    (given([[[1.5]]]), "switching.schedule.matchings[0][0][0]: given 1.5; allowed: a whole number"),
    (
        {"switching.schedule": "rotors"},
        "switching.schedule: given 'rotors'; allowed: one of",
    ),
    (
        {"switching.schedule": "round-robin", "topology.racks": 5},
        "switching.schedule: given 'round-robin'; allowed: 'rotor', or matchings of your own",
    ),
    (
        {"topology.uplinks": 4},
        "topology.uplinks: given 4; allowed: at most 3, the number of matchings of",
    ),
    (
        graph(*JOINED),
        "topology: given 2 circuit switches; allowed: at most 1, the number of matchings of",
    ),
    ({"switching.forwarding": "vlb"}, "switching.forwarding: given 'vlb'; allowed: one of"),
    # Links.
    (
        graph(("rack0", "rack1"), *JOINED),
        "topology: given a link of two racks, rack0 and rack1; allowed: links between a rack and a "
        "circuit switch alone",
    ),
    (graph(*JOINED, ("core0", "core1")), "topology: given a link of two circuit switches"),
    (
        graph(*JOINED, ("h5", "rack2"), ("rack2", "core0")),
        "topology: given 5 links of racks to circuit switches; allowed: 6: one link of each",
    ),
    (
        {"topology.wavelengths": 2},
        "topology.wavelengths: given 2; allowed: 1: one link of each rack to each circuit switch",
    ),
    (
        graph(("rack0", "rack1")),
        "topology: given 2 switches with hosts of 2 switches",
    ),
    # What does not go with circuits.
    (
        {"switching.nodes": {"core0": {"kind": "electronic"}}},
        "given a table beside one with circuits; allowed: one table for all switches",
    ),
    (
        {"routing.choice": "random"},
        "routing.choice: given 'random'; allowed: no choice with",
    ),
    (
        {"routing.choice": "free"},
        "routing.choice: given 'free'; allowed: no choice with",
    ),
    # Short flows.
    (
        {"switching.short_size": "1 MB"},
        "switching.short_size: given 1 MB; allowed: none: only forwarding = 'opera' has ",
    ),
    (
        {"switching.schedule": "greedy", "switching.staggered": True},
        "switching.staggered: given true; allowed: false with a scheduler",
    ),
    (
        {"switching.schedule": "greedy", "switching.forwarding": "opera"},
        "switching.forwarding: given 'opera'; allowed: 'direct' with a scheduler",
    ),
    # Packet networks.
    ({"switching.packet": {}}, "switching.packet.rate: "),
    (
        {"switching.packet": {"rate": "1 Gb/s", "by": "bytes"}},
        "switching.packet.by: given 'bytes'; allowed: one of 'size', 'age'",
    ),
    (
        {"switching.packet": {"rate": "1 Gb/s", "queue_size": "8 kB"}},
        "switching.packet.queue_size: given 8 kB; allowed: at least transport.segment_size (9 kB), "
        "or 'unlimited'",
    ),
    ({"switching.packet": {"rate": "0 Gb/s"}}, "switching.packet.rate: given '0 Gb/s'"),
    (
        graph(*((a, b.replace("core1", "packet")) for a, b in JOINED))
        | {"switching.packet": {"rate": "1 Gb/s"}, "switching.schedule": "round-robin"},
        "topology: given a node 'packet'; allowed: another name beside switching.packet",
    ),
    # Schedulers.
    (
        {"switching.schedule": "greedy", "switching.forwarding": "valiant"},
        "switching.forwarding: given 'valiant'; allowed: 'direct' with a scheduler",
    ),
    (
        {
            "switching.schedule": {"kind": "greedy", "delay": "0 s"},
            "switching.guard": "0 s",
        },
        "switching.schedule.delay: given 0 s; allowed: more than 50 ns, so that with guard (0 s)",
    ),
    (
        {"switching.schedule": {"kind": "islip", "iterations": 0}},
        "switching.schedule.iterations: given 0; allowed: a whole number from 1 to 4096",
    ),
    (
        {"switching.schedule": {"kind": "hungarian", "frame": 3}},
        "switching.schedule.frame: given an unknown key 'frame'; allowed: one of the keys kind, ",
    ),
    (
        {"routing.paths": 2},
        "routing.paths: given paths with labels; allowed: no paths",
    ),
    (
        {"workload": {"kind": "poisson", "load": 0.1, "load_of": "hottest-link", "size": "9 kB"}},
        "workload.load_of: given 'hottest-link'; allowed: 'senders': the loads of links are not",
    ),
    (
        {"loss.stalls": [{"burst": 1, "duration": "1 us"}]},
        "loss.stalls[0]: given a script that delays units; allowed: drops and marks alone",
    ),
    (
        {"protection": {"scheme": "1:1"}},
        "switching.kind: given 'circuit'; allowed: 'electronic', 'all-optical', 'hybrid' or 'obs' "
        "beside protection",
    ),
    (
        {
            "events": [{"at": "1 ms", "node": "core0", "state": "down"}],
            "switching.schedule": "birkhoff",
        },
        "switching.schedule.kind: given 'birkhoff'; allowed: 'greedy', 'hungarian' or 'islip' "
        "beside events and failures",
    ),
]


@pytest.mark.parametrize(("changes", "message"), BAD, ids=[message[:60] for _, message in BAD])
def test_the_message_says_what_is_wrong(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        compile_plan(lb.Scenario.from_dict(FOUR).with_(changes), 1)
    assert message in str(error.value)


def test_the_command_ends_with_2(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "circuits.toml"
    file.write_text(lb.Scenario.from_dict(FOUR).to_toml(), "utf-8")
    assert main(["run", str(file), "--set", "switching.slot=17us"]) == 2
    said = capsys.readouterr().err
    assert "switching.slot" in said
    assert "Traceback" not in said


@pytest.mark.parametrize("schedule", ["rotor", "round-robin", "random"])
@pytest.mark.parametrize(("racks", "uplinks"), [(4, 1), (4, 3), (6, 2), (16, 4)])
def test_each_pair_of_racks_has_its_circuits(schedule: str, racks: int, uplinks: int) -> None:
    changes = {"switching.schedule": schedule, "topology.racks": racks, "topology.uplinks": uplinks}
    plan = compile_plan(lb.Scenario.from_dict(FOUR).with_(changes), 1)
    (table,) = plan.settings["switches"]
    matchings, turns = table["schedule"]["matchings"], table["schedule"]["turns"]
    assert len(turns) == uplinks
    times = uplinks if schedule == "round-robin" else 1
    circuits = [(rack, to) for turn in turns for i in turn for rack, to in enumerate(matchings[i])]
    pairs = [(rack, to) for rack in range(racks) for to in range(racks) if rack != to]
    assert sorted(circuits) == sorted(pairs * times)
    if schedule != "rotor":
        assert all(one[to] == rack for one in matchings for rack, to in enumerate(one))


def test_a_random_schedule_follows_the_seed() -> None:
    scenario = lb.Scenario.from_dict(FOUR).with_({"switching.schedule": "random"})
    one, again, other = (compile_plan(scenario, seed).settings["switches"] for seed in (1, 1, 2))
    assert one == again
    assert one != other


def test_given_matchings_run() -> None:
    result = lb.run(lb.Scenario.from_dict(FOUR).with_(given(PAIRED)))
    assert (result.flows["status"] == "finished").all()

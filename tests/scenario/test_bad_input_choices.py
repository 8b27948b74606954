"""Bad input about the choice among next hops."""

from typing import Any

import pytest

import lightburst as lb
from lightburst.foundation.errors import InputError

TREE = {
    "topology": {"kind": "fat-tree", "k": 4},
    "switching": {"kind": "electronic"},
    "transport": {"kind": "tcp"},
    "workload": {"kind": "pairs", "size": "100 kB"},
}


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (
            {"kind": "flowlet", "gap": "0 s"},
            "routing.choice.gap: given '0 s'; allowed: a duration, greater than zero",
        ),
        (
            {"kind": "flowlet", "gap": "100"},
            "routing.choice.gap: given '100'; allowed: a duration",
        ),
        (
            {"kind": "flowlet", "timeout": "1 ms"},
            "routing.choice.timeout: given an unknown key 'timeout'; allowed: one of the keys ",
        ),
        (
            {"kind": "least-queue", "samples": 0},
            "routing.choice.samples: given 0; allowed: a whole number from 1 to 1000, or 'all'",
        ),
        (
            {"kind": "least-queue", "memory": 1},
            "routing.choice.memory: given 1; allowed: 0 with samples = 'all'",
        ),
        (
            {"kind": "adaptive", "rounds": 0},
            "routing.choice.rounds: given 0; allowed: a whole number from 1 to 1000000",
        ),
        (
            {"kind": "adaptive", "threshold": 2},
            "routing.choice.threshold: given 2; allowed: a number at least 0 and at most 1",
        ),
        (
            {"kind": "entropy-spray", "entropies": 256},
            "routing.choice.entropies: given 256; allowed: a whole number from 1 to 255",
        ),
        (
            {"kind": "entropy-spray", "mark_penalty": -1},
            "routing.choice.mark_penalty: given -1; allowed: a whole number from 0 to 255",
        ),
        ("reps", "did you mean 'entropy-spray'"),
        ("letflow", "routing.choice: given 'letflow'; allowed: one of 'free', 'random', "),
        ({"gap": "1 ms"}, "routing.choice"),
    ],
)
def test_messages(choice: Any, message: str) -> None:
    with pytest.raises(InputError) as refused:
        lb.Scenario.from_dict(TREE | {"routing": {"choice": choice}})
    assert message in str(refused.value)


@pytest.mark.parametrize("choice", ["flowlet", "least-queue"])
def test_bursts_that_reserve_channels_do_not_queue(choice: str) -> None:
    with pytest.raises(InputError) as refused:
        lb.load("examples/obs-nsfnet.toml").with_(routing__choice=choice)
    assert f"routing.choice: given '{choice}'; allowed: 'free', 'random' or" in str(refused.value)


def test_only_receivers_that_keep_packets_let_them_be_sprayed() -> None:
    tree = TREE | {"routing": {"choice": "entropy-spray"}}
    allowed = "; allowed: 'rdma' with recovery = 'selective-repeat' beside routing.choice = "
    for transport, given in (
        ({"kind": "tcp"}, "transport.kind: given 'tcp'"),
        ({"kind": "rdma"}, "transport.recovery: given 'go-back-n'"),
    ):
        with pytest.raises(InputError) as refused:
            lb.Scenario.from_dict(tree | {"transport": transport})
        assert f"{given}{allowed}'entropy-spray': its receivers keep" in str(refused.value)
    with pytest.raises(InputError, match="a burst has packets of many flows"):
        lb.load("examples/obs-nsfnet.toml").with_(routing__choice="entropy-spray")


def test_a_burst_has_no_sender_that_changes_its_path() -> None:
    for name in ("obs-nsfnet", "source-ordering"):
        with pytest.raises(InputError, match="a burst has packets of many flows") as refused:
            lb.load(f"examples/{name}.toml").with_(routing__choice="adaptive")
        assert refused.value.path == "routing.choice"


def test_names_and_tables_survive_a_round_trip() -> None:
    for choice in (
        "random",
        "flowlet",
        {"kind": "flowlet", "gap": "20 us"},
        "adaptive",
        {"kind": "adaptive", "threshold": 0.05, "rounds": 1},
        {"kind": "least-queue", "samples": 2, "memory": 1},
    ):
        scenario = lb.Scenario.from_dict(TREE | {"routing": {"choice": choice}})
        assert lb.Scenario.from_dict(scenario.to_dict()) == scenario
        kind = choice if isinstance(choice, str) else choice["kind"]
        assert scenario.routing_choice == kind

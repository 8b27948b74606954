"""`max_retransmissions`: when an endpoint gives up, to the picosecond, and the status of its flow.

The RTO is 1 s and doubles, so a packet sent at `t` is repeated at `t` + 1, 3, 7... s.
"""

from typing import Any

import pytest
from compare import check_equal
from plans import SECOND, UNFINISHED, compiled

import lightburst as lb

FINISHED, GAVE_UP = 0, 4
PATH = {
    "topology": {"kind": "path", "links": 3},
    "switching": {"kind": "electronic"},
    "transport": {
        "kind": "tcp",
        "initial_timeout": "1 s",
        "min_timeout": "1 s",
        "max_retransmissions": 3,
    },
    "workload": {"kind": "pairs", "size": {"kind": "constant", "value": "9 kB"}},
    "measurement": {"time_limit": "500 s"},
}


def scenario(loss: dict[str, Any], **transport: Any) -> lb.Scenario:
    table = {**PATH["transport"], **transport}  # type: ignore[dict-item]
    return lb.Scenario.from_dict({**PATH, "loss": loss, "transport": table})


def ended(given: lb.Scenario) -> dict[str, int]:
    """The one flow's row and the end of the run, equal in the twin."""
    plan = compiled(given)
    result = check_equal(plan)
    row = {name: int(column[0]) for name, column in result["flows"].items()}
    return {**row, "end_ps": int(result["totals"]["end_ps"])}


NOTHING = {"probability": 1.0, "acknowledgement_probability": 1.0}


@pytest.mark.parametrize("most", [1, 2, 5])
def test_a_syn_that_nobody_answers(most: int) -> None:
    row = ended(scenario(NOTHING, max_retransmissions=most))
    assert (row["status"], row["timeouts"], row["transmissions"]) == (GAVE_UP, most + 1, 0)
    # Sent at 0, 1, 3, 7... s; after the last the timer runs once more, and the run is over.
    assert row["end_ps"] == (2 ** (most + 1) - 1) * SECOND


@pytest.mark.parametrize("kind", ["saw", "sawl", "tcp"])
def test_data_that_never_arrives(kind: str) -> None:
    given = scenario({"probability": 1.0})
    if kind != "tcp":
        transport = {"kind": kind, "max_retransmissions": 3, "receiver_timers": True}
        given = given.with_({"transport": transport})
    row = ended(given)
    assert (row["status"], row["delivered_bytes"]) == (GAVE_UP, 0)
    assert (row["transmissions"], row["retransmissions"], row["timeouts"]) == (4, 3, 4)


def test_what_is_acknowledged_ends_the_count() -> None:
    # Each of three segments is lost three times, which is as often as it is repeated.
    drops = [{"segments": [n, n], "transmission": time} for n in (1, 2, 3) for time in (1, 2, 3)]
    given = scenario({"drops": drops}, initial_window=1, max_timeout="1 s")
    row = ended(given.with_(workload__size__value="27 kB"))
    # The third segment was lost for the first time beside the second.
    assert (row["status"], row["timeouts"]) == (FINISHED, 8)
    row = ended(given.with_(workload__size__value="27 kB", transport__max_retransmissions=2))
    assert (row["status"], row["timeouts"], row["delivered_bytes"]) == (GAVE_UP, 3, 0)


def test_a_receiver_gives_up_too() -> None:
    # No answer arrives, and only the receiver gives up: the sender has all its retries left.
    given = scenario({"drops": [{"acknowledgements": [1, 1000]}]}, max_timeout="1 s")
    row = ended(given)
    assert (row["status"], row["timeouts"]) == (GAVE_UP, 4)
    # The SYN at 0, 1, 2 and 3 s, each answered by a SYN+ACK that sets the receiver's timer anew;
    # its own repetitions at 4, 5 and 6 s, and the end at 7 s, a one-way delay later.
    assert 7 * SECOND < row["end_ps"] < 7 * SECOND + 10**6


@pytest.mark.parametrize("kind", ["saw", "tcp"])
def test_all_arrived_and_no_acknowledgement_did(kind: str) -> None:
    drops = {"drops": [{"acknowledgements": [2, 1000]}]}
    given = scenario(drops)
    if kind == "saw":
        given = given.with_({"transport": {"kind": "saw", "max_retransmissions": 3}})
    row = ended(given)
    assert (row["status"], row["acknowledged_ps"]) == (FINISHED, UNFINISHED)
    assert row["received_ps"] < SECOND
    # The run ends when the last gives up, and not at the time limit; so do its metrics.
    result = lb.run(given)
    assert result.warnings == ()
    assert result.summary["makespan_s"] == pytest.approx(row["end_ps"] / SECOND)
    assert row["end_ps"] < 100 * SECOND


def test_what_a_run_says_of_it() -> None:
    given = scenario({"probability": 1.0})
    with pytest.warns(lb.RunWarning, match=r"^1 of 1 flows gave up: transport.max_retransmissions"):
        result = lb.run(given)
    assert result.flows["status"].tolist() == ["gave-up"]
    assert result.summary["completion_time_p99_s"] == float("inf")
    assert (result.summary["unfinished"], result.summary["finished"]) == (1, 0)
    assert result.summary["makespan_s"] < 100


def test_without_it_a_plan_is_as_it_was() -> None:
    without = scenario({"probability": 1.0}, max_retransmissions="unlimited")
    assert "max_retransmissions" not in compiled(without).settings["groups"][0]["transport"]
    assert "max_retransmissions" not in without.canonical_json()

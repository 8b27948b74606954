"""GOAL schedules whose receives are matched in the run: from any rank, of any tag, rendezvous."""

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from test_goal import NS, OVERHEAD, Write, scenario, times, way
from test_goal import write as write  # the fixture

import lightburst as lb
from lightburst.foundation.errors import InputError

GATHER = "a: recv 8b from -1 tag -1\nb: recv 9b from -1 tag -1\nc: recv 9b from -1 tag -1"


def sender(after: int, size: int, tag: int) -> str:
    return f"w: calc {after}\ns: send {size}b to 0 tag {tag}\ns requires w"


@pytest.mark.parametrize("order", list(permutations([1000, 2000, 3000])))
def test_a_receive_from_any_takes_what_arrives_first(write: Write, order: tuple[int, ...]) -> None:
    """The receives are of 100, 200 and 300 bytes; they take them as they come."""
    ranks = [sender(time, 100 * (n + 1), n) for n, time in enumerate(order)]
    keys = {"overhead": "700 ns", "overhead_per_byte": "1 ns"}
    result = write.run(GATHER, *ranks, **keys)
    sent = [time * NS + OVERHEAD for time in order]
    there = sorted((time + way(100 * (n + 1), result), n) for n, time in enumerate(sent))
    free = 0
    for arrived, flow in there:
        free = max(free, arrived) + OVERHEAD + (100 * (flow + 1) - 1) * NS
    assert times(result)[0] == free
    taken = np.asarray(result.columns["flows"]["taken_join"]).tolist()
    # Operations 0, 1 and 2 are the receives, in their order.
    assert sorted(range(3), key=taken.__getitem__) == [flow for _, flow in there]
    assert result.ranks["received_bytes"].tolist() == [600, 0, 0, 0]


def test_receives_of_any_tag_and_of_any_rank_take_their_turn_with_others(write: Write) -> None:
    """A message goes to the receive that was posted first, though another one fits it better."""
    first = "a: recv 8b from 1 tag -1\nb: recv 8b from -1 tag 7\nc: recv 8b from 1 tag 7\n"
    result = write.run(
        first + "w: calc 100\nb requires w\nx: calc 100\nx requires w\nc requires x",
        "s: send 8b to 0 tag 5\nw: calc 1000\nt: send 8b to 0 tag 7\nt requires w\n"
        "v: calc 3000\nu: send 8b to 0 tag 7\nu requires v",
    )
    assert np.asarray(result.columns["flows"]["taken_join"]).tolist() == [0, 1, 2]


def test_what_is_there_first_is_taken_first_when_a_receive_is_posted(write: Write) -> None:
    """Rank 1's message comes after rank 2's; the receive is posted when both are there."""
    result = write.run(
        "w: calc 9000\na: recv 8b from -1 tag -1\nb: recv 8b from -1 tag -1\n"
        "a requires w\nb requires a",
        sender(2000, 8, 0),
        sender(1000, 8, 0),
        overhead="1 ns",
    )
    assert np.asarray(result.columns["flows"]["taken_join"]).tolist() == [2, 1]
    assert times(result)[0] == 9002 * NS
    path = result.critical_path()
    assert path["what"].tolist() == ["calc", "recv", "recv"]


def test_irequires_of_a_receive_from_any_waits_for_its_posting(write: Write) -> None:
    """As the traces of LogGOPSim have it: the next is posted when the one before was posted."""
    result = write.run(
        "w: calc 30\na: recv 8b from -1 tag -1\na requires w\nc: send 8b to 1 tag 2\nc irequires a",
        "s: calc 5000\nt: send 8b to 0 tag 1\nt requires s\nu: recv 8b from 0 tag 2",
    )
    assert result.columns["flows"]["started_ps"].tolist() == [30 * NS, 5000 * NS]


def test_a_schedule_whose_messages_were_taken_by_others_tells_so(write: Write) -> None:
    """The receive from any takes the message of tag 7, for which the other one waits."""
    file = write(
        "a: recv 8b from -1 tag -1\nb: recv 8b from 1 tag 7\nc: calc 1\nc requires b",
        "s: send 8b to 0 tag 7\nw: calc 1000\nt: send 8b to 0 tag 8\nt requires w",
    )
    with pytest.warns(lb.RunWarning, match="the schedule did not end") as warned:
        result = lb.run(scenario(file, 2).with_(measurement__time_limit="1 ms"))
    (text,) = [str(one.message) for one in warned if "did not end" in str(one.message)]
    assert "rank 0 at line 4 (recv) waits for a message that fits, of which none" in text
    assert result.ranks["ended"].tolist() == [1, 3]
    assert np.asarray(result.columns["flows"]["taken_join"]).tolist() == [0, 2**32 - 1]


@pytest.mark.parametrize("posted", [10, 50_000])
@pytest.mark.parametrize("above", ["999 B", "1000 B"])
def test_a_send_by_rendezvous_ends_when_its_message_was_taken(
    write: Write, above: str, posted: int
) -> None:
    """What requires the send begins 1 ps after the message is there and its receive posted."""
    result = write.run(
        "s: send 1000b to 1\nc: calc 40\nc requires s",
        f"w: calc {posted}\nr: recv 1000b from 0\nr requires w",
        overhead="700 ns",
        rendezvous_above=above,
    )
    there = OVERHEAD + way(1000, result)
    taken = max(there, posted * NS)
    # LogGOPSim: the message goes by rendezvous if it has more bytes than S.
    over = taken + 1 if above == "999 B" else OVERHEAD
    assert times(result) == [over + 40 * NS, taken + OVERHEAD]
    path = result.critical_path()
    late = posted == 50_000
    assert path["what"].tolist() == (["calc", "recv"] if late else ["send", "message", "recv"])
    # The path of the rank that waits: its calc lasts longer than all else.
    last = write.run(
        "s: send 1000b to 1\nc: calc 90000\nc requires s",
        f"w: calc {posted}\nr: recv 1000b from 0\nr requires w",
        rendezvous_above="0 B",
    ).critical_path()
    expected = ["calc", "recv", "calc"] if late else ["send", "message", "calc"]
    assert last["what"].tolist() == expected
    assert last["waited_for"].tolist()[-1] == ("rendezvous" if late else "message")
    assert last["rank"].tolist()[-1] == 0


def test_the_processor_is_free_while_a_rendezvous_waits(write: Write) -> None:
    """Without a dependency the next operation runs after the work of the send."""
    result = write.run(
        "s: send 1000b to 1\nc: calc 40",
        "w: calc 50000\nr: recv 1000b from 0\nr requires w",
        overhead="700 ns",
        rendezvous_above="10 B",
    )
    assert result.ranks["calc_s"].tolist()[0] == pytest.approx(40e-9)
    # The end of the send is that of its rank.
    assert times(result)[0] == 50_000 * NS + 1


def test_a_rendezvous_without_a_receive_tells_who_waits(write: Write) -> None:
    """Two ranks that send to each other before they receive: they wait without end."""
    other = "s: send 1000b to {}\nr: recv 1000b from {}\nr requires s"
    file = write(other.format(1, 1), other.format(0, 0))
    with pytest.warns(lb.RunWarning) as warned:
        lb.run(scenario(file, 2, rendezvous_above="10 B").with_(measurement__time_limit="1 ms"))
    (text,) = [str(one.message) for one in warned if "schedule did not" in str(one.message)]
    assert "rank 0 at line 3 (send) waits for a receive that takes its message" in text
    assert lb.run(scenario(file, 2)).ranks["ended"].tolist() == [2, 2]


@pytest.mark.parametrize(
    ("ranks", "given"),
    [
        (("recv 8b from -1", "calc 1\nsend 8b to 0\nsend 8b to 0"), "with 1 receives of 2"),
        (("recv 8b from -1 tag 3", "send 8b to 0"), "recv 8b from -1 tag 3) of"),
        (("recv 8b from -1 tag 3", "send 8b to 0\nsend 8b to 0 tag 3"), "send 8b to 0 tag 0) of"),
        (
            ("recv 8b from -1\nrecv 8b from 1\nrecv 8b from 1", "send 8b to 0\n" * 2),
            "with 3 receives of 2 messages",
        ),
        (
            ("recv 8b from -1 tag -1\nrecv 8b from 1\nrecv 7b from 1", "send 8b to 0"),
            "line 5 (rank 0: recv 7b from 1 tag 0)",
        ),
    ],
)
def test_refusals_of_messages_that_find_no_receive(
    write: Write, ranks: tuple[str, ...], given: str
) -> None:
    with pytest.raises(InputError) as refused:
        write.run(*ranks)
    (error,) = refused.value.errors
    assert error.path == "workload.file"
    assert given in error.given


def test_comments_may_have_any_characters(write: Write) -> None:
    file = write("// 10 µs à peu près\nrecv 8b from 1", "send 8b to 0 /* ✓ */")
    assert lb.run(scenario(file, 2)).ranks["ended"].tolist() == [1, 1]
    file = write("recv 8b from 1", "sénd 8b to 0")
    with pytest.raises(InputError, match="line 6"):
        lb.run(scenario(file, 2))


def test_schedules_without_such_receives_have_no_columns_for_them(write: Write) -> None:
    keys: dict[str, Any] = {"rendezvous_above": "8 B"}
    result = write.run("send 8b to 1", "recv 8b from 0", **keys)
    assert not {"receive_join", "sent_join", "tag_of_flow"} & result.plan.flows.keys()
    assert "taken_join" not in result.columns["flows"]
    assert times(result)[1] == way(8, result)

"""The comparison of two results, the number of plans, and the properties of any result."""

from collections import defaultdict

import numpy as np
import recorded_results
from hypothesis import Phase
from hypothesis import settings as profile
from plans import Plan, core, twin
from twin import Columns, Trace, TraceEntry

QUICK = profile(
    max_examples=250,
    derandomize=True,
    # A failure is reported as found: to shrink it takes minutes.
    phases=[Phase.explicit, Phase.generate],
)
BRIEF = profile(QUICK, max_examples=100)
LONG = profile(QUICK, max_examples=10_000, derandomize=False)


def differences(expected: Columns, found: Columns) -> list[str]:
    """Columns and totals that are not equal bit for bit."""
    lines = []
    for group, columns in expected.items():
        for name, value in columns.items():
            other = found[group][name]
            same = (
                value.tobytes() == np.asarray(other).astype(value.dtype, casting="safe").tobytes()
                if isinstance(value, np.ndarray)
                else value == other
            )
            if not same:
                lines.append(f"{group}.{name}: {value} is not {other}")
    return lines


def check_equal(plan: Plan, *, stories: bool = False) -> Columns:
    """The core gives the result of the twin, in every column and total.

    With `stories`, each packet and burst is in one place at a time in the twin. The twin does not
    run if its result is recorded, and is the core's. Returns the result of the core.
    """
    found = ordered(core(plan))
    key = recorded_results.key_of(plan, "stories" if stories else "result")
    if recorded_results.is_known(key, found):
        return found
    trace: Trace = []
    expected = ordered(twin(plan, trace))
    check_same(expected, found)
    if stories:
        check_stories(trace)
    recorded_results.confirm(key, expected)
    return found


def ordered(result: Columns) -> Columns:
    """The same with the packets of the trace in their own order where times are equal.

    A packet that a host's own link loses at once is lost when it is sent.
    """
    rows = result.get("trace_segments")
    if rows is None:
        return result
    assert (np.diff(rows["time_ps"].astype(np.int64)) >= 0).all()
    order = np.lexsort((rows["event"], rows["packet"], rows["time_ps"]))
    return {**result, "trace_segments": {name: column[order] for name, column in rows.items()}}


def check_same(expected: Columns, found: Columns) -> None:
    """Two results are equal bit for bit, and have the same columns."""
    assert set(found) == set(expected)
    different = differences(expected, found)
    assert different == [], "\n".join(different)
    for group in expected:
        assert set(found[group]) == set(expected[group])


def check_conservation(plan: Plan, result: Columns) -> None:
    """No packet is lost without being counted, at any end of the run."""
    totals, switches = result["totals"], result["switches"]
    assert totals["units_created"] == (
        totals["units_delivered"] + totals["units_dropped"] + totals["units_in_flight"]
    )
    assert totals["end_ps"] <= plan.settings["time_limit_ps"]
    assert totals["packet_hops"] == result["links"]["units"].sum()
    assert totals["bursts_created"] == switches["bursts"].sum()
    at_switches = sum(int(column.sum()) for name, column in switches.items() if "dropped" in name)
    # Drops are counted by reason at switches, and by wanted link.
    of_switches = plan.links["from"] >= plan.settings["hosts"]
    assert at_switches == result["links"]["dropped"][of_switches].sum()
    lost = at_switches + int(result["links"]["lost"].sum())
    if {"burst", "obs"} & set(plan.kind_of):
        # Of hosts' links packets are lost, of the others bursts.
        hosts = plan.settings["hosts"]
        of_hosts = (plan.links["from"] < hosts) | (plan.links["to"] < hosts)
        assert totals["bursts_lost"] == lost - int(result["links"]["lost"][of_hosts].sum())
        assert totals["units_dropped"] >= lost
    elif all(g["transport"].get("access_buffer_bytes") is None for g in plan.settings["groups"]):
        assert totals["units_dropped"] == lost
    else:
        assert totals["units_dropped"] >= lost
    assert totals["units_dropped"] == result["flows"]["drops"].sum()


#: The allowed successors of each event of a unit.
STORY = {
    None: {"send", "beside", "drop", "launch", "delay", "deflect", "enter"},
    # Held by a script until later units have overtaken it.
    "beside": {"send"},
    "enter": {"assemble"},
    "launch": {"reserve", "drop", "cut"},
    # A burst that finds no channel; at its ingress before it is launched.
    "delay": {"launch", "reserve"},
    "deflect": {"launch", "reserve"},
    "cut": {"reserve", "cut", "hold", "take"},
    "reserve": {"send"},
    "send": {"arrive", "drop"},
    "arrive": {
        *("send", "reserve", "buffer", "drop", "deliver", "wait", "assemble", "take", "hold"),
        *("delay", "deflect", "cut"),  # a head there, a tail at the egress
        "beside",
        *("trim", "return"),  # its header goes on, or back
    },
    "trim": {"send", "drop", "return"},
    "return": {"send", "drop"},
    "buffer": {"re-emit"},
    "re-emit": {"send", "beside"},
    "wait": {"assemble"},
    "assemble": {"leave"},
    "leave": {"send", "beside", "deliver"},
    "hold": {"take"},
    "take": set(),
    "drop": set(),
    "deliver": set(),
}


def check_stories(trace: Trace) -> None:
    """Each unit is in one place at a time, and links are first in, first out."""
    last: dict[str, TraceEntry] = {}
    on_link: dict[int, list[str]] = defaultdict(list)
    now = 0
    for entry in trace:
        assert entry.time >= now
        now = entry.time
        name, what = entry.unit.name, entry.what.split()[0]
        before = last.get(name)
        assert what in STORY[before.what.split()[0] if before else None]
        assert before is None or what in ("arrive", "leave") or entry.node == before.node
        last[name] = entry
        if what == "send":
            assert entry.link is not None
            on_link[entry.link].append(name)
        elif what == "arrive":
            assert entry.link is not None
            assert on_link[entry.link].pop(0) == name
        elif what == "drop" and entry.link is not None:
            assert on_link[entry.link].pop() == name

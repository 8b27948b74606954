"""Limits of a run that would not end by itself, and refusals of runs that no limit would end."""

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import lightburst as lb
from lightburst.compile import compile_plan, compiler, estimate_memory
from lightburst.foundation import memory
from lightburst.foundation.errors import InputError
from lightburst.foundation.memory import TooMuchMemoryError, held_memory
from lightburst.foundation.units import format_size
from lightburst.simulation import limits
from lightburst.simulation.simulate import simulate
from lightburst.study.execution import progress

EXAMPLES = Path(__file__).parents[2] / "examples"
STORM: dict[str, Any] = {
    "topology": {"kind": "path", "links": 2, "link_rate": "1 Mb/s"},
    "switching": {"kind": "electronic"},
    # The timeout needs millions of expiries to grow to the transmission time of a segment, 72 ms.
    "transport": {"kind": "tcp", "initial_timeout": "1 us", "backoff": 1.000001},
    "workload": {"kind": "pairs", "size": {"kind": "constant", "value": "1 MB"}},
}


@pytest.fixture
def storm() -> lb.Scenario:
    return lb.Scenario.from_dict(STORM)


def test_a_limit_of_events_names_what_grows(storm: lb.Scenario) -> None:
    with pytest.raises(InputError) as caught:
        lb.run(storm.with_(measurement__event_limit=100_000))
    error = caught.value
    assert error.path == "measurement.event_limit"
    assert error.given.startswith(
        "100000, and a run that has not ended after 100,000 events and 0."
    )
    # Two of three events are timers that send a copy, to be sent at 1 Mb/s.
    for words in ("packets and bursts are in the network", "MB wait for the link 0 - 2"):
        assert words in error.given
    assert re.search(r"flow 0 has [\d,]+ retransmissions", error.given)


def test_a_limit_that_is_not_reached_changes_nothing() -> None:
    short = lb.load(EXAMPLES / "hybrid.toml").with_(workload__flows=20)
    limited = short.with_(measurement={"event_limit": 10**9, "memory_limit": "1 TB"})
    assert lb.run(short).digest == lb.run(limited).digest
    assert short.canonical_json() == limited.canonical_json()
    assert limited.to_dict()["measurement"]["event_limit"] == 10**9
    assert short.to_dict()["measurement"]["memory_limit"] == "free"


def test_a_limit_of_memory(storm: lb.Scenario) -> None:
    limit = format_size((held_memory() // 10**6 + 200) * 10**6)
    said = rf"^measurement.memory_limit: given {re.escape(limit)}, and a run that needs more after"
    with pytest.raises(InputError, match=said):
        lb.run(storm.with_(measurement__memory_limit=limit))


@pytest.mark.parametrize(("more", "flows"), [(0, 20), (50, 10**6)])
def test_what_certainly_goes_beyond_a_limit_of_memory_does_not_begin(
    more: int, flows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With too many flows none is made."""
    monkeypatch.setattr(compiler, "make_flows", None)
    given = format_size((held_memory() // 10**6 + more) * 10**6)
    limited = lb.load(EXAMPLES / "hybrid.toml").with_(
        workload__flows=flows, measurement__memory_limit=given
    )
    with pytest.raises(InputError) as caught:
        lb.run(limited)
    assert caught.value.path == "measurement.memory_limit"
    given = re.escape(given)
    said = rf"{given}, and a run that needs about [\d,]+ [MG]B beside the [\d,.]+ [MG]B that this"
    assert re.match(said, caught.value.given)


def test_the_estimate_is_held_against_a_limit_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = lb.load(EXAMPLES / "hybrid.toml").with_(workload__flows=20)
    plan = compile_plan(scenario, 1)
    needed = estimate_memory(plan) - plan.nbytes
    monkeypatch.setattr(memory, "held_memory", lambda: 10**9)
    estimate_memory(plan, limit=10**9 + needed)
    with pytest.raises(TooMuchMemoryError, match=r"^measurement.memory_limit: given 1"):
        estimate_memory(plan, limit=10**9 + needed - 1)
    # And a run passes its own limit on.
    with pytest.raises(TooMuchMemoryError, match=r"^measurement.memory_limit: given 1 GB"):
        lb.run(scenario.with_(measurement__memory_limit="1 GB"))


def test_memory_that_is_gone(storm: lb.Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    def shrinking() -> Iterator[int]:
        yield from (10**9, 500_000_000)
        while True:
            yield 49_000_000

    left = shrinking()
    monkeypatch.setattr(limits, "available_memory", lambda: next(left))
    with pytest.raises(InputError, match=r"^measurement.memory_limit: given 'free', and a run"):
        lb.run(storm)


def test_a_queue_that_outlasts_the_clock() -> None:
    links = [
        {"source": "a", "target": "x"},
        {"source": "x", "target": "y", "rate": "1 b/s"},
        {"source": "y", "target": "b"},
    ]
    given = lb.Scenario.from_dict(
        {
            "topology": {"kind": "graph", "links": links},
            "switching": {"kind": "electronic", "queue_size": "unlimited"},
            "transport": {"kind": "tcp", "initial_timeout": "1 ms", "max_timeout": "1 ms"}
            | {"min_timeout": "0 s", "control_size": "9 kB"},
            "workload": {"kind": "pairs", "size": {"kind": "constant", "value": "9 kB"}},
            # A SYN takes 20 hours; 256 of them are more than the clock counts.
            "measurement": {"time_limit": "0.2 s"},
        }
    )
    with pytest.warns(lb.RunWarning):
        lb.run(given)
    with pytest.raises(
        InputError, match=r"^topology: given a link whose queue outlasts the clock"
    ) as caught:
        lb.run(given.with_(measurement__time_limit="0.4 s"))
    assert "wait for the link x - y" in caught.value.given


@pytest.mark.parametrize(
    ("transport", "least"),
    [
        ({"kind": "saw", "initial_timeout": "4 ps"}, "at least 5 ps, so that alpha (1.1)"),
        (
            {"kind": "tcp", "initial_timeout": "1 ms", "backoff": 1 + 2**-31},
            "at least 1073741824 ps",
        ),
    ],
)
def test_a_timeout_that_backs_off_to_itself(transport: dict[str, Any], least: str) -> None:
    with pytest.raises(InputError) as caught:
        lb.Scenario.from_dict({**STORM, "transport": transport})
    assert caught.value.path == "transport.initial_timeout"
    assert least in caught.value.allowed
    longer = least.removeprefix("at least ").partition(",")[0]
    lb.Scenario.from_dict({**STORM, "transport": {**transport, "initial_timeout": longer}})


@pytest.mark.parametrize("kind", ["saw", "sawl", "tcp"])
def test_a_timeout_shorter_than_a_segment(storm: lb.Scenario, kind: str) -> None:
    timeouts = {"initial_timeout": "1 us", "max_timeout": "71.9 ms"}
    if kind == "tcp":
        timeouts["min_timeout"] = "0 s"
    given = storm.with_(transport={"kind": kind, **timeouts}, measurement__time_limit="1 ms")
    with pytest.raises(InputError, match=r"^transport.max_timeout: given 71.9 ms; allowed: at lea"):
        lb.run(given)
    with pytest.warns(lb.RunWarning):
        lb.run(given.with_(transport__max_timeout="72 ms"))
    # A flow whose only segment is shorter.
    with pytest.warns(lb.RunWarning):
        lb.run(given.with_(workload__size__value="8 kB"))


def test_padding_beyond_the_clock() -> None:
    obs = lb.load(EXAMPLES / "obs.toml")
    with pytest.raises(InputError, match=r"^switching.assembly.min_size: given 1 GB at 1 b/s"):
        lb.run(obs.with_(topology__fibre_rate="1 b/s", switching__assembly__min_size="1 GB"))


def test_delays_whose_sum_is_beyond_the_clock() -> None:
    obs = lb.load(EXAMPLES / "obs.toml")
    far = obs.with_(topology__access_delay="4000000 s", routing__metric="delay")
    with pytest.raises(InputError, match=r"^routing.metric: given 'delay', for links of"):
        lb.run(far)


def test_the_clock_holds_what_is_allowed() -> None:
    """Days of delay, links of a kilobit a second, and a timer that repeats all the while."""
    obs = lb.load(EXAMPLES / "obs.toml")
    slow = obs.with_(
        topology__access_rate="1 kb/s",
        topology__access_delay="100000 s",
        topology__host_pairs=3,
        workload__size__value="1 MB",
        measurement__time_limit="4000000 s",
    )
    with pytest.warns(lb.RunWarning, match="did not finish before the time limit"):
        result = lb.run(slow)
    assert result.columns["totals"]["end_ps"] == 4 * 10**18
    assert (result.columns["links"]["busy_ps"] <= 4 * 10**18).all()


@pytest.mark.parametrize(("terminal", "soon"), [(True, 0.0), (True, 60.0), (False, 0.0)])
def test_a_long_run_shows_its_time(
    storm: lb.Scenario, monkeypatch: pytest.MonkeyPatch, terminal: bool, soon: float
) -> None:
    file = io.StringIO()
    console = Console(file=file, force_terminal=terminal, width=80, force_interactive=terminal)
    monkeypatch.setattr(progress, "_console", lambda: console)
    monkeypatch.setattr(progress, "_SOON_S", soon)
    with progress.run_progress() as show, pytest.raises(InputError):
        simulate(storm.with_(measurement__event_limit=2_000_000), progress=show)
    shown = terminal and soon == 0
    assert ("s simulated" in file.getvalue() and "million events" in file.getvalue()) == shown
    assert bool(file.getvalue()) == shown

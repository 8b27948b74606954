"""Single wavelengths that go down under bursts: exact answers by hand, and the twin."""

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from compare import check_conservation, check_equal
from outage_plans import burst_outage_plan, random_spans
from plans import ENGINES, SECOND, Plan, core
from test_burst_outages import DATA, D, bursts, of, there
from test_outages import HOP, arrived
from twin import Columns

from blocks import in_blocks

Engine = Callable[[Plan], Columns]
engines = pytest.mark.parametrize("engine", ENGINES)


def with_channels(plan: Plan, rows: list[tuple[int, int, int, int, int]], **more: Any) -> Plan:
    """The plan with channels down: rows of source, target, channel, begin and end."""
    source, target = plan.links["from"].tolist(), plan.links["to"].tolist()
    number = {ends: i for i, ends in enumerate(zip(source, target, strict=True))}
    channels = sorted([number[a, b], channel, begin, end] for a, b, channel, begin, end in rows)
    outages = {"links": [], "channels": channels, **more}
    return plan._replace(settings={**plan.settings, "outages": outages})


def two_channels(*starts: int, **changes: Any) -> Plan:
    """Bursts on the way 2, 3, 5, whose links have two channels each; the first is taken first."""
    plan = bursts(*starts, **({"scheduler": "first-fit"} | changes))
    return plan._replace(links={**plan.links, "channels": np.full(12, 2, np.uint16)})


@engines
@pytest.mark.parametrize(
    ("begin", "end", "channel"),
    [
        # The header comes to node 3 at D: the channel is not used if it is down then.
        (0, D, 0),
        (0, D + 1, 1),
        (D, D + 1, 1),
        # Not the header is on it, but the burst.
        (D + 1, DATA[0], 0),
        (D + 1, DATA[0] + 1, None),
        (DATA[1] - 1, DATA[1], None),
        (DATA[1], SECOND, 0),
    ],
)
def test_a_wavelength_is_not_used_while_it_is_down_and_loses_what_is_on_it(
    engine: Engine, begin: int, end: int, channel: int | None
) -> None:
    rows = [(3, 5, 0, HOP + begin, HOP + end)]
    if channel is not None:
        # It would not come over the other one.
        rows.append((3, 5, 1 - channel, HOP + DATA[0], HOP + DATA[1]))
    plan = with_channels(two_channels(0), rows)
    result = engine(plan)
    assert arrived(plan, result) == [None if channel is None else there(2)]
    assert of(plan, result, "lost", 3, 5) == int(channel is None)
    assert result["totals"]["bursts_lost"] == int(channel is None)
    assert result["switches"]["dropped_link_down"].sum() == 0
    check_conservation(plan, result)


@engines
def test_without_conversion_a_burst_finds_no_channel(engine: Engine) -> None:
    plan = two_channels(0, conversion={"kind": "none"})
    result = engine(with_channels(plan, [(3, 5, 0, HOP, HOP + D + 1)]))
    assert result["switches"]["dropped_no_channel"].tolist() == [0, 1, 0, 0]
    assert of(plan, result, "units", 3, 5) == 0


@engines
def test_a_link_without_any_wavelength_is_down(engine: Engine) -> None:
    rows = [(3, 5, channel, HOP, HOP + D + 1) for channel in (0, 1)]
    result = engine(with_channels(two_channels(0), rows))
    assert result["switches"]["dropped_link_down"].tolist() == [0, 1, 0, 0]


@engines
def test_what_is_reserved_on_a_lost_wavelength_stays_reserved(engine: Engine) -> None:
    """Two bursts at once on the second channel, of which one waits at its ingress for the other."""
    plan = two_channels(0, 0, ingress="delay")
    result = engine(with_channels(plan, [(2, 3, 0, 0, SECOND)]))
    times = sorted(time for time in arrived(plan, result) if time is not None)
    alone = sorted(time for time in arrived(plan, engine(plan)) if time is not None)
    assert len(times) == 2
    assert times[1] > alone[1] or times[1] - times[0] >= 7_200_000
    assert of(plan, result, "units", 2, 3) == 2


def channel_outage_plan(seed: int) -> Plan:
    """A random plan of bursts behind headers, with outages of links and of single channels."""
    random = Random(f"channels/{seed}")
    plan = burst_outage_plan(seed)
    channels = plan.links["channels"].tolist()
    source, target = plan.links["from"].tolist(), plan.links["to"].tolist()
    hosts = plan.settings["hosts"]
    end = max(1000, int(core(plan)["totals"]["transmitted_until_ps"]))
    rows = [
        [link, channel, *span]
        for link, number in enumerate(channels)
        if min(source[link], target[link]) >= hosts
        for channel in range(number)
        if random.random() < 0.4
        for span in random_spans(random, end)
    ]
    outages = {**plan.settings["outages"], "channels": rows}
    if random.random() < 0.5:
        outages["links"] = []
    changed = {**plan.settings, "outages": outages}
    if random.random() < 0.5:
        changed["recovery_bin_ps"] = max(1, end // 10)
    return plan._replace(settings=changed)


@in_blocks("seed", range(120))
def test_core_equals_twin(seed: int) -> None:
    check_equal(channel_outage_plan(seed))


@in_blocks("seed", range(120, 160))
def test_conservation(seed: int) -> None:
    plan = channel_outage_plan(seed)
    check_conservation(plan, core(plan))


def test_random_plans_lose_bursts_on_wavelengths() -> None:
    more = 0
    for seed in range(60):
        plan = channel_outage_plan(seed)
        with_all = int(core(plan)["links"]["lost"].sum())
        outages = {**plan.settings["outages"], "channels": []}
        without = core(plan._replace(settings={**plan.settings, "outages": outages}))
        more += with_all > int(without["links"]["lost"].sum())
    assert more > 20

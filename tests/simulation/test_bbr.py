"""BBR, version 1, in networks: one flow alone, and flows that share a bottleneck."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lightburst as lb
from lightburst.scenario.transport import Tcp
from lightburst.scenario.transport.recovery import RackTlp

RATE, ROUND_TRIP = 100e6, 40.04e-3
BDP = RATE / 8 * ROUND_TRIP
PAYLOAD = 1448 / 1500
"""Part of a segment that is data."""


def network(flows: int, queue: str, limit: str, **measurement: Any) -> lb.Scenario:
    """Senders behind one bottleneck of 100 Mb/s, with a round trip of 40 ms."""
    return lb.Scenario.from_dict(
        {
            "topology": {
                "kind": "obs-path",
                "host_pairs": flows,
                "core_nodes": 0,
                "access_rate": "1 Gb/s",
                "access_delay": "10 us",
                "fibre_rate": "100 Mb/s",
                "fibre_delay": "20 ms",
            },
            "switching": {"kind": "electronic", "queue_size": queue},
            "transport": {"kind": "tcp", "preset": "linux", "congestion_control": "bbr1"},
            "workload": {"kind": "pairs", "size": {"kind": "constant", "value": "1000 TB"}},
            "measurement": {"time_limit": limit, **measurement},
        }
    )


def test_one_flow_fills_the_path_and_leaves_the_queue_empty_most_of_the_time() -> None:
    """The pace is 1 % below the bandwidth; of eight phases one fills a quarter of a BDP."""
    result = lb.run(network(1, "1 MB", "9 s", sample="10 ms", trace=[0]))
    links = result.samples.links
    late = links[(links.source == 2) & (links.target == 3) & (links.time_s > 2)]
    assert late.utilisation.mean() == pytest.approx(0.99, abs=0.01)
    # The phase that probes ends with 1/4 BDP and, of the three bunches of a thousandth of a second
    # of pacing (ten segments), two, which are with it; and two segments and one to be even.
    assert late.queue_bytes.max() <= 0.25 * BDP + 23 * 1500 + 0.01 * BDP
    assert late.queue_bytes.mean() < 0.1 * BDP
    windows = result.trace.windows[result.trace.windows.time_s > 2]
    # The least round trip is that of the path, and the transmissions on its links.
    least = windows.rtt_s.min()
    assert ROUND_TRIP < least < ROUND_TRIP + 0.4e-3
    # cwnd_gain 2, with room for bunches and for acknowledgements of every second segment.
    whole = windows.congestion_window_bytes / (2 * BDP * PAYLOAD)
    assert whole.between(0.98, 1.08).all()


def test_a_path_is_measured_again_after_ten_seconds() -> None:
    """PROBE_RTT: four segments in flight for 200 ms, and a round trip before."""
    result = lb.run(network(1, "1 MB", "12 s", trace=[0]))
    windows = result.trace.windows
    small = windows[(windows.time_s > 2) & (windows.congestion_window_bytes <= 4 * 1448)]
    # 10 s after the last round trip that was as short as the least one.
    assert 10 <= small.time_s.min() <= 10.3
    length = small.time_s.max() - small.time_s.min()
    assert 0.2 <= length <= 0.2 + 3 * ROUND_TRIP
    # Then the window is as before.
    after = windows[windows.time_s > small.time_s.max() + 2 * ROUND_TRIP]
    assert after.congestion_window_bytes.min() > 1.9 * BDP * PAYLOAD
    assert result.flows.timeouts.sum() == 0


@pytest.mark.parametrize("queue", ["500 kB", "1 MB"])
def test_two_flows_share_a_bottleneck_in_the_long_run(queue: str) -> None:
    """Buffers of one and of two BDP, without and with losses."""
    scenario = network(2, queue, "60 s")
    shares = []
    for seed in (1, 2, 3):
        flows = lb.run(scenario, seed=seed).flows
        delivered = flows.delivered_bytes.to_numpy(float)
        assert delivered.sum() * 8 / 60 > 0.96 * RATE * PAYLOAD
        shares.append(delivered.min() / delivered.sum())
    assert np.mean(shares) > 0.45
    assert min(shares) > 0.4


def test_the_phases_of_the_flows_are_drawn_from_the_seed() -> None:
    scenario = network(2, "1 MB", "2 s")
    first, again, other = (lb.run(scenario, seed=seed).digest for seed in (1, 1, 2))
    assert first == again
    assert first != other


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"congestion_control": "bbr1"},
            "transport.recovery.kind: given 'sack'; allowed: 'rack-tlp' with 'bbr1', which needs "
            "rates of delivery (preset = 'linux' has it)",
        ),
        (
            {
                "preset": "linux",
                "congestion_control": "bbr1",
                "recovery": {"kind": "rack-tlp", "pacing": False},
            },
            "transport.recovery.pacing: given false; allowed: true with 'bbr1', which sets the "
            "pace",
        ),
    ],
)
def test_a_recovery_without_rates_or_pace_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(lb.InputError) as refused:
        network(1, "1 MB", "1 s").with_(transport={"kind": "tcp", **given})
    assert str(refused.value) == message


def paces(scenario: lb.Scenario) -> bool:
    """Whether the recovery paces."""
    sender = scenario.transport
    assert isinstance(sender, Tcp)
    assert isinstance(sender.recovery, RackTlp)
    return sender.recovery.pacing


def test_the_law_switches_pacing_on() -> None:
    scenario = network(1, "1 MB", "1 s")
    assert paces(scenario)
    assert not paces(scenario.with_(transport__congestion_control="linux-cubic"))

"""Bursts that edges make of packets, some cut by nodes: exact, and against the theory."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from lone_bursts import MEAN_BYTES, interval, poisson, run, star
from test_obs_segmentation import overflow

import lightburst as lb
from lightburst.compile import compile_plan
from lightburst.foundation.errors import InputError
from lightburst.models import segment_loss

# Ten a mean burst: 10 us on a fibre.
TENTH = MEAN_BYTES // 10
DROPS = ("head", "tail")


def two_bursts(path: Path, drop: str, *, later_us: float, **more: Any) -> lb.Result:
    """Send a burst of 100 us, and at that time another one, over one wavelength of C to D."""
    links, ends = star(2)
    bursts = pd.DataFrame(
        {
            "source": [source for source, _ in ends],
            "destination": [destination for _, destination in ends],
            "start_s": [0.0, later_us * 1e-6],
            "size_bytes": [MEAN_BYTES, MEAN_BYTES],
        }
    )
    return run(
        path, bursts, links, 1, 1, contention=[{"kind": "segmentation", "drop": drop}], **more
    )


@pytest.mark.parametrize(
    ("later_us", "packets_us", "cut"),
    [
        # Of the burst of 100 us the second one meets 60 us: six packets of 10 us, whole or in part.
        (40, 10, 6),
        (44, 10, 6),
        (41, 20, 3),
        # Three of 30 us, and a rest of 10 us: 50 us are two of them.
        (50, 30, 2),
    ],
)
def test_of_two_bursts_what_overlaps_is_lost(
    tmp_path: Path, later_us: int, packets_us: int, cut: int
) -> None:
    packet = f"{TENTH * packets_us // 10} B"
    result = two_bursts(tmp_path, "head", later_us=later_us, packet=packet)
    number = -(-100 // packets_us)
    flows = result.flows.set_index("source")
    assert flows["transmissions"].tolist() == [number, number]
    assert flows["drops"].to_dict() == {"s0": 0, "s1": cut}
    assert flows["delivered_bytes"].to_dict() == {
        "s0": MEAN_BYTES,
        "s1": MEAN_BYTES - cut * TENTH * packets_us // 10,
    }
    assert result.summary["loss_end_to_end"] == cut / (2 * number)
    assert (result.summary["bursts"], result.summary["burst_loss"]) == (2, 0)
    at = result.switches.set_index("node").loc["C"]
    assert (at["bursts_cut"], at["packets_cut"]) == (1, cut)
    # It has left C at the end of the other's last bit, or with the packet that begins after it.
    assert flows["status"].to_dict() == {"s0": "finished", "s1": "lost"}


@pytest.mark.parametrize(("later_us", "kept"), [(40, 4), (44, 4), (41, 4), (99, 9)])
def test_of_two_bursts_the_earlier_one_loses_its_tail(
    tmp_path: Path, later_us: int, kept: int
) -> None:
    result = two_bursts(tmp_path, "tail", later_us=later_us, packet=f"{TENTH} B")
    flows = result.flows.set_index("source")
    assert flows["delivered_bytes"].to_dict() == {"s0": kept * TENTH, "s1": MEAN_BYTES}
    assert flows["drops"].to_dict() == {"s0": 10 - kept, "s1": 0}
    assert result.summary["loss_end_to_end"] == (10 - kept) / 20


def test_the_last_packet_has_what_is_left_and_the_first_the_header(tmp_path: Path) -> None:
    made = {
        "topology": {"kind": "obs-path", "core_nodes": 1},
        "switching": {"kind": "obs"},
        "transport": {
            "kind": "bursts",
            "segment_size": "1100 B",
            "header_size": "100 B",
            "packet_size": "300 B",
        },
        "workload": {"kind": "pairs", "size": "1500 B"},
        "measurement": {"trace": [0]},
    }
    result = lb.run(lb.Scenario.from_dict(made), seed=1)
    assert result.trace is not None
    sent = result.trace.segments.query("event == 'sent'")
    # A burst of 1,100 B, and one of 600 B.
    assert sent["payload_bytes"].tolist() == [200, 300, 300, 200, 200, 300]
    assert sent["sequence"].tolist() == [0, 200, 500, 800, 1000, 1200]
    flow = result.flows.iloc[0]
    assert (flow["status"], flow["transmissions"], flow["delivered_bytes"]) == ("finished", 6, 1500)
    assert result.summary["burst_mean_packets"] == 3
    assert result.summary["burst_mean_bytes"] == 850


@pytest.mark.parametrize("drop", DROPS)
@pytest.mark.parametrize(("wavelengths", "load"), [(1, 0.5), (4, 0.8)])
def test_the_loss_of_packets_is_that_of_the_theory(
    tmp_path: Path, drop: str, wavelengths: int, load: float
) -> None:
    """Packets of a hundredth of a burst, Poisson arrivals from four edges, one output."""
    links, ends = star(4)
    shares, lost_bytes = [], []
    for seed in range(1, 6):
        draw = np.random.default_rng([seed, wavelengths])
        made = poisson(draw, ends, [load * wavelengths / 4] * 4, 4_000, "constant")
        result = run(
            tmp_path,
            made,
            links,
            wavelengths,
            seed,
            packet=f"{MEAN_BYTES // 100} B",
            contention=[{"kind": "segmentation", "drop": drop}],
        )
        share = 1 - float(result.flows["delivered_bytes"].sum()) / float(made["size_bytes"].sum())
        lost_bytes.append(share)
        shares.append(float(result.summary["loss_end_to_end"]))
        # The overlap is lost, and less than one packet more of each burst.
        least = overflow(made, wavelengths)
        assert least < share < least + 0.01
    # All packets are of one size.
    assert shares == pytest.approx(lost_bytes, rel=1e-12)
    mean, half = interval(shares)
    expected = float(segment_loss(load * wavelengths, wavelengths))
    assert half < 0.15 * expected
    assert expected - half < mean < expected + half + 0.01


def test_bursts_of_one_packet_are_not_offered_to_segmentation(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"transport\.packet_size: given nothing, .* a burst is on"
    ):
        two_bursts(tmp_path, "head", later_us=40)


@pytest.mark.parametrize("size", ["100 B", "1200 B"])
def test_packets_fit(size: str) -> None:
    made = {
        "topology": {"kind": "obs-path"},
        "switching": {"kind": "obs"},
        "transport": {"kind": "bursts", "segment_size": "1100 B", "header_size": "100 B"},
        "workload": {"kind": "pairs", "size": "1500 B"},
    }
    with pytest.raises(InputError, match=r"transport\.packet_size: given .* more than header_size"):
        lb.Scenario.from_dict(made).with_(transport__packet_size=size)


def test_without_packets_a_scenario_is_what_it_was() -> None:
    made: dict[str, Any] = {
        "topology": {"kind": "obs-path"},
        "switching": {"kind": "obs"},
        "transport": {"kind": "bursts"},
        "workload": {"kind": "pairs", "size": "1500 B"},
    }
    scenario = lb.Scenario.from_dict(made)
    assert "packet" not in str(compile_plan(scenario, 1).settings)
    whole = lb.run(scenario, seed=1)
    cut_up = lb.run(scenario.with_(transport__packet_size="100 B"), seed=1)
    assert whole.flows["completion_time_s"].equals(cut_up.flows["completion_time_s"])

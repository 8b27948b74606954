"""Rules of RFC 6675 and RFC 5681 for rarer acknowledgements, from the outside."""

import lightburst as lb

PATH = {
    "topology": {"kind": "path", "links": 3, "link_length": "1000 km", "link_rate": "1 Gb/s"},
    "switching": {"kind": "electronic", "queue_size": "unlimited"},
    "transport": {
        "kind": "tcp",
        "recovery": "sack",
        "segment_size": "1 kB",
        "initial_window": 4,
        "acknowledge_every": 1,
    },
    "workload": {"kind": "pairs", "size": {"kind": "constant", "value": "12 kB"}},
}


def flow(drops: list[dict[str, object]], **more: object) -> lb.Result:
    scenario = lb.Scenario.from_dict({**PATH, "loss": {"drops": drops}})
    return lb.run(scenario.with_(measurement__trace=[0], **more))


def test_an_acknowledgement_that_advances_and_brings_news_is_a_duplicate_too() -> None:
    """Section 2 of RFC 6675: "regardless of its status as a cumulative acknowledgment".

    Segment 6 is lost, and of the round after it all acknowledgements but the last one, which
    acknowledges 5 and holds 7 to 12: six segments above the hole say that it is lost.
    """
    result = flow([{"segments": [6, 6]}, {"acknowledgements": [6, 11]}])
    row = result.flows.iloc[0]
    assert (row["retransmissions"], row["timeouts"]) == (1, 0)


def test_after_a_lost_answer_to_the_syn_the_window_is_one_segment() -> None:
    """RFC 5681, section 3.1, for any initial window."""
    lost = flow([{"acknowledgements": [1, 1]}]).trace
    kept = flow([]).trace
    assert lost is not None and kept is not None
    assert lost.windows["congestion_window_bytes"].iloc[0] == 1000
    assert kept.windows["congestion_window_bytes"].iloc[0] == 4000

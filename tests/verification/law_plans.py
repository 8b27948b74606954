"""Random plans with large windows, for each window law."""

from random import Random
from typing import Any

from plans import (
    GIGABIT,
    MICROSECOND,
    MILLISECOND,
    SECOND,
    Plan,
    electronic,
    flow_table,
    lossy,
    settings,
    table,
)
from random_transports import (
    WITH_SLOW_START,
    drawn_settings,
    random_answers,
    random_feedback,
    random_slow_start,
    random_tcp,
)

#: The default settings of the laws, instead of those that suit small windows.
USUAL: dict[str, dict[str, Any]] = {
    "cubic": {"c": 4e6},
    "fast": {"alpha": 10, "beta": 10, "mi_threshold_ps": 2 * MICROSECOND},
}
#: Constants with which a conservative slow start begins early, and often in vain.
EAGER = {
    "min_rtt_thresh_ps": 0,
    "max_rtt_thresh_ps": MICROSECOND,
    "min_rtt_divisor": 100,
    "n_rtt_sample": 1,
    "css_rounds": 100,
}


#: Laws that sample rates.
OF_RATES = ("bbr1", "bbr3")
OLDER = ["tahoe", "reno", "new-reno", "sack", "rr-tcp", "sack1"]


def law_plan(seed: int, law: str) -> Plan:
    """Two flows of a law over a slow link with a queue, with marks and a few losses."""
    random = Random(f"{law} {seed}")
    pick = random.choice
    own = drawn_settings(random, law) | USUAL.get(law, {})
    transport = random_tcp(
        random,
        "rack-tlp" if law in OF_RATES else pick(OLDER),
        pacing=law in OF_RATES,
        segment_bytes=1_000,
        header_bytes=0,
        control_bytes=64,
        congestion_control={"kind": law, **own},
        initial_window_bytes=pick([10, 60, 60]) * 1_000,
        advertised_window_bytes=200_000,
        initial_timeout_ps=2 * MILLISECOND,
        min_timeout_ps=pick([100 * MICROSECOND, 2 * MILLISECOND]),
        max_timeout_ps=60 * SECOND,
        access_buffer_bytes=None,
        max_retransmissions=1_000,
    )
    if law in WITH_SLOW_START:
        apart = Random(f"slow start of {law} {seed}")
        if seed % 2:
            transport["congestion_control"] |= random_slow_start(apart)
        if seed % 6 == 5:
            transport["congestion_control"]["slow_start"] |= EAGER
        if law != "dctcp":
            transport["ecn"] = apart.random() < 0.6
        transport["congestion_control"] |= random_answers(apart, law, transport)
        transport |= random_feedback(Random(f"feedback of {law} {seed}"), law, transport)
    links = table(
        [(0, 4), (1, 4), (2, 5), (3, 5), (4, 5)],
        hosts=4,
        rates=[10 * GIGABIT] * 4 + [GIGABIT],
        delays=[50_000] * 4 + [pick([50, 200]) * MICROSECOND],
    )
    loss = {
        "probability": pick([0.0, 0.002, 0.01]),
        "acknowledgement_probability": pick([0.0, 0.0, 0.05]),
        "drops": [],
    }
    switch = electronic(pick([None, 60_000]), pick([None, 0, 5_000, 5_000, 20_000]))
    return Plan(
        settings(4, 6, switch, transport, seed=random.getrandbits(64), loss=loss),
        lossy(links, hosts=4),
        flow_table(
            (0, 2, 0, random.randint(300, 900) * 1_000),
            (1, 3, random.randint(0, MILLISECOND), random.randint(300, 900) * 1_000),
        ),
    )

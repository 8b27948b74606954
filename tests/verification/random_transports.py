"""Random transports: a generator in, the settings of a group out."""

from random import Random
from typing import Any

from plans import MICROSECOND, MILLISECOND, SECOND, datagram, saw, tcp

from lightburst import _core

RECOVERIES = _core.registry()["recoveries"]
#: Recoveries that repair a tail by the timer alone; `rack-tlp` probes, and counts microseconds.
BY_TIMER = [name for name in RECOVERIES if name != "rack-tlp"]
BOTH = [False, True]
#: The settings of the window laws, each with its choices.
LAWS: dict[str, dict[str, list[Any]]] = {
    "bbr1": {
        "cwnd_gain": [2.0, 2.0, 1.5, 2.885],
        "min_rtt_window_ps": [8 * MILLISECOND, 20 * MILLISECOND, 10 * SECOND],
        "probe_rtt_time_ps": [4 * MILLISECOND, 200 * MILLISECOND],
        "policer_detection": [False, True],
        "ack_aggregation": [False, True],
    },
    "bbr3": {
        "cwnd_gain": [2.0, 2.0, 1.5, 2.885],
        "loss_threshold": [0.02, 0.02, 0.005, 0.2],
        "beta": [0.7, 0.7, 0.5, 1.0],
        "headroom": [0.15, 0.15, 0.0, 0.4],
        "min_rtt_window_ps": [8 * MILLISECOND, 20 * MILLISECOND, 10 * SECOND],
        "probe_rtt_interval_ps": [4 * MILLISECOND, 10 * MILLISECOND, 5 * SECOND],
        "probe_rtt_time_ps": [2 * MILLISECOND, 4 * MILLISECOND, 200 * MILLISECOND],
        "ack_aggregation": [False, True],
    },
    "cubic": {
        "c": [0.4, 400.0, 4e6],
        "beta": [0.7, 0.8],
        "fast_convergence": [False, True],
        "reno_friendly": [False, True],
        "reduces": ["flight-size", "window"],
    },
    "dctcp": {"g": [0.0625, 0.5]},
    "fast": {
        "alpha": [2, 10, 100],
        "beta": [2, 10, 100],
        "gamma": [0.5, 1.0],
        "mi_threshold_ps": [0, 2 * MICROSECOND, 750 * MICROSECOND],
    },
    "highspeed": {},
    "linux-cubic": {"hystart": [False, True], "fast_convergence": [False, True]},
    "linux-reno": {},
    "reno": {"halving": ["flight-size", "window"], "byte_counting": [None, None, 1, 2]},
    "scalable": {"increase": [0.01, 0.5], "decrease": [0.125, 0.9], "legacy_window": [0, 2, 16]},
    "stop-and-wait": {},
    "vegas": {"alpha": [0.5, 1, 2], "beta": [2, 3, 4], "gamma": [0.1, 1]},
}
#: Laws of the senders of today, which :func:`random_today` draws; those of rates need `rack-tlp`.
OF_TODAY = ("bbr1", "bbr3", "linux-cubic", "linux-reno")
#: Laws with the slow start of RFC 5681.
WITH_SLOW_START = ("cubic", "dctcp", "highspeed", "reno", "scalable")
#: Switches of `rack-tlp`.
RACK_TLP = (
    "sack",
    "reordering_threshold",
    "static_reordering_window",
    "tail_loss_probe",
    "frto",
    "restart_after_idle",
)


def random_tcp(random: Random, recovery: str | None = None, **changes: Any) -> dict[str, Any]:
    """Any transport `tcp`: segments of 1 to 9,000 bytes, windows of one segment and of many."""
    pick = random.choice
    header = pick([0, 0, 40])
    m = pick([1, 260, 1460, 1460, 1500, 8960])
    maximum = pick([60 * SECOND, 60 * SECOND, 20 * MILLISECOND, MILLISECOND])
    stamps = random.random() < 0.3
    initial_window = pick([1, 2, 3, 4, 10]) * m + pick([0, 0, 0, m // 3])
    drawn: dict[str, Any] = {
        "segment_bytes": m + header,
        "header_bytes": header,
        "control_bytes": pick([64, 64, 20, 200]),
        "advertised_window_bytes": pick([1, 2, 3, 4, 6, 8, 12, 20, 50, 1000]) * m,
        "initial_window_bytes": initial_window,
        "acknowledge_every": pick([1, 2]),
        "acknowledgement_delay_ps": pick(
            [MICROSECOND, 50 * MICROSECOND, 500 * MICROSECOND, 40 * MILLISECOND]
        ),
        "initial_timeout_ps": min(pick([150 * MICROSECOND, 2 * MILLISECOND, SECOND]), maximum),
        "min_timeout_ps": pick([0, 100 * MICROSECOND, MILLISECOND]),
        "max_timeout_ps": maximum,
        "clock_granularity_ps": pick([0, MICROSECOND, 100 * MICROSECOND, MILLISECOND]),
        "backoff": pick([2.0, 2.0, 1.5, 1.001]),
        "rtt_samples": pick(["one-at-a-time", "every-acknowledgement"]),
        "duplicate_threshold": pick([1, 2, 3, 3, 3, 5]),
        "limited_transmit": pick(BOTH),
        "congestion_control": random_law(random),
        "window_growth_on_exit": pick(BOTH),
        "bug_fix": pick(BOTH),
        "partial_acknowledgement": pick(["impatient", "slow-but-steady"]),
        "full_acknowledgement": pick(["flight-size", "ssthresh"]),
        "rescue_retransmission": pick(BOTH),
        "sack_blocks": random.randint(1, 3 if stamps else 4),
        "duplicate_sack": pick(BOTH),
        "avoidance_ratio": pick([0.0, 0.5, 0.9, 1.0]),
        "remembered_events": pick([1, 3, 100]),
        "undo": pick(BOTH),
        "timestamps": stamps,
        "receiver_timers": pick(BOTH),
        "access_buffer_bytes": pick([None] * 4 + [m + header + 200, 5 * (m + header) + 200]),
    }
    kind = recovery or pick(BY_TIMER)
    drawn |= random_patience(random)
    today = random_today(kind, drawn, free=recovery is None)
    kind = today.pop("recovery", kind)
    return tcp(recovery or kind, **drawn | today | random_beginning(drawn) | changes)


def random_beginning(drawn: dict[str, Any]) -> dict[str, bool]:
    """Now and then no handshake: drawn apart, by the other settings."""
    return {"handshake": False} if Random(repr((drawn, "handshake"))).random() < 0.2 else {}


def random_today(recovery: str, drawn: dict[str, Any], *, free: bool) -> dict[str, Any]:
    """Settings of the senders of today, in some of the transports, and of `rack-tlp` in all.

    They are drawn apart, by the other settings: so older plans stay what they were. `free`: they
    may change the recovery.
    """
    random = Random(repr((recovery, drawn)))
    pick = random.choice
    today: dict[str, Any] = {name: pick(BOTH) for name in RACK_TLP}
    today["reduction"] = pick(["linux", "linux", "rfc6937", "rfc9937"])
    if random.random() < 0.15:
        today["recovery"] = "rack-tlp"
    if random.random() < 0.1:
        law = pick(["linux-cubic", "linux-reno"])
        today["congestion_control"] = {"kind": law, **drawn_settings(random, law)}
    if free and Random(repr((recovery, drawn, "bbr"))).random() < 0.03:
        today |= of_rates(random, "bbr1")
    other = Random(repr((recovery, drawn, "bbr3")))
    if free and other.random() < 0.04:
        today |= of_rates(other, "bbr3")
    if random.random() < 0.3:
        today["ecn"] = True
    own = {**drawn["congestion_control"], **today.get("congestion_control", {})}
    today |= random_feedback(Random(repr((recovery, drawn, "feedback"))), own["kind"], today)
    if own["kind"] in WITH_SLOW_START:
        apart = Random(repr((recovery, drawn, "slow start")))
        if apart.random() < 0.2:
            own |= random_slow_start(apart)
        own |= random_answers(apart, own["kind"], today)
        today["congestion_control"] = own
    if random.random() < 0.2:
        today |= {
            "timeout": "linux",
            "timer_tick_ps": pick([MICROSECOND, 50 * MICROSECOND, 4 * MILLISECOND]),
            "min_timeout_ps": pick([MICROSECOND, 100 * MICROSECOND, MILLISECOND]),
        }
    return today


def random_slow_start(random: Random) -> dict[str, Any]:
    """HyStart++ with constants for short round trips."""
    pick = random.choice
    rule: dict[str, Any] = {
        "kind": "hystart++",
        "min_rtt_thresh_ps": pick([0, MICROSECOND, 20 * MICROSECOND, 4 * MILLISECOND]),
        "max_rtt_thresh_ps": pick([20 * MICROSECOND, 16 * MILLISECOND]),
        "min_rtt_divisor": pick([2, 8, 50]),
        "n_rtt_sample": pick([1, 2, 4, 8]),
        "css_growth_divisor": pick([1.0, 3.0, 4.0]),
        "css_rounds": pick([1, 2, 5]),
    }
    limit = pick([None, None, 1, 3])
    return {"slow_start": rule | ({} if limit is None else {"limit": limit})}


def random_answers(random: Random, law: str, transport: dict[str, Any]) -> dict[str, Any]:
    """The bytes that an acknowledgement counts for with `cubic`, and answers to echoes."""
    pick = random.choice
    drawn: dict[str, Any] = {}
    if law == "cubic":
        drawn["byte_counting"] = pick([None, None, 1, 2])
    if law in ("cubic", "reno") and transport.get("ecn", False):
        drawn |= {"abe": pick(BOTH), "beta_ecn": pick([None, None, 0.75, 0.95])}
    return {key: value for key, value in drawn.items() if value is not None}


def random_feedback(random: Random, law: str, transport: dict[str, Any]) -> dict[str, Any]:
    """Counts of marks in the place of echoes, in a part of the transports that have either."""
    echoes = law == "dctcp" or transport.get("ecn", False)
    return {"ecn": "accurate"} if echoes and random.random() < 0.4 else {}


def of_rates(random: Random, law: str) -> dict[str, Any]:
    """Settings of a law that samples rates."""
    own = {"kind": law, **drawn_settings(random, law)}
    return {"congestion_control": own, "recovery": "rack-tlp", "pacing": True}


def random_law(random: Random) -> dict[str, Any]:
    """Any window law, mostly `reno`."""
    kind = random.choice([*8 * ["reno"], *(law for law in LAWS if law not in OF_TODAY)])
    return {"kind": kind, **drawn_settings(random, kind)}


def drawn_settings(random: Random, kind: str) -> dict[str, Any]:
    """The settings of a law; None means that the plan leaves the setting out."""
    drawn = {key: random.choice(values) for key, values in LAWS[kind].items()}
    return {key: value for key, value in drawn.items() if value is not None}


def random_patience(random: Random) -> dict[str, int]:
    """The retransmissions before an endpoint gives up; mostly unlimited."""
    most = random.choice([None, None, None, None, 1, 2, 5])
    return {} if most is None else {"max_retransmissions": most}


def random_other(random: Random) -> dict[str, Any]:
    """Stop-and-wait of either kind, or datagrams."""
    pick = random.choice
    segment, header = pick([300, 1_500, 9_000]), pick([0, 40])
    if random.random() < 0.3:
        return datagram(segment, header)
    drawn = {
        "p": pick([None, 0.0, 1.0]),
        "initial_timeout_ps": pick([MILLISECOND, 20 * MICROSECOND, 3 * MICROSECOND + 1]),
        "segment_bytes": segment,
        "header_bytes": header,
        "receiver_timers": pick(BOTH),
        **random_patience(random),
    }
    return saw(**drawn, **random_beginning(drawn))

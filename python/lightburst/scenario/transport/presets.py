"""Presets of `tcp`: sets of other defaults, overridden by the settings of a scenario.

A preset has the form of a scenario file. Its tables `congestion_control` and `recovery` name a kind
and settings of any kind: a scenario with another kind gets those settings that this kind has.
docs/scenario.md has the source of each value.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal

Preset = Literal["rfc", "ns-2", "linux", "datacentre", "wide-area"]

# Presets with the constants of today's systems; hosts then serve flows in turn by default.
FAIR_PRESETS: Final = frozenset({"linux", "datacentre", "wide-area"})

PRESETS: Final[Mapping[str, Mapping[str, Any]]] = {
    # The defaults.
    "rfc": {},
    # The one-way agents of ns-2.35 as tests/verification/ns2 runs them: tcl/lib/ns-default.tcl, but
    # without limited transmit and without headers on top of the segment, which are its defaults.
    "ns-2": {
        "congestion_control": {"kind": "reno", "halving": "window"},
        "recovery": {
            "kind": "sack1",
            "bug_fix": True,
            "limited_transmit": False,
            "window_growth_on_exit": True,
            "full_acknowledgement": "ssthresh",
            "sack_blocks": 3,
            "duplicate_sack": False,
        },
        "segment_size": "1 kB",
        "control_size": "40 B",
        "advertised_window": 20,
        "initial_window": 2,
        "acknowledge_every": 1,
        "initial_timeout": "3 s",
        "min_timeout": "200 ms",
        "clock_granularity": "10 ms",
    },
    # Linux 6.18 with its defaults (net/ipv4/tcp_input.c, tcp_recovery.c, tcp_cubic.c and others),
    # but without the tuning of buffers.
    "linux": {
        "congestion_control": {"kind": "linux-cubic"},
        "recovery": {"kind": "rack-tlp", "sack_blocks": 3},
        "segment_size": "1.5 kB",
        "header_size": "52 B",
        "advertised_window": 100_000,
        "timeout": "linux",
        "min_timeout": "200 ms",
        "max_timeout": "120 s",
        "rtt_samples": "every-acknowledgement",
        "timestamps": True,
    },
    # Timers for round trips of 100 us: DCTCP (Alizadeh et al. 2010), Vasudevan et al. 2009.
    "datacentre": {
        "segment_size": "1.5 kB",
        "header_size": "40 B",
        "acknowledgement_delay": "1 ms",
        "initial_timeout": "10 ms",
        "min_timeout": "10 ms",
        "clock_granularity": "10 us",
        "rtt_samples": "every-acknowledgement",
    },
    # The constants of Linux (include/net/tcp.h), without its window law and recovery.
    "wide-area": {
        "recovery": {"kind": "sack", "sack_blocks": 3},
        "segment_size": "1.5 kB",
        "header_size": "52 B",
        "advertised_window": 100_000,
        "min_timeout": "200 ms",
        "max_timeout": "120 s",
        "rtt_samples": "every-acknowledgement",
        "timestamps": True,
    },
}

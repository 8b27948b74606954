"""TCP: congestion control, loss recovery, and the options left open by the standards.

Every default is the standard's; docs/scenario.md has the reason for each. Other behaviour is an
option or a preset.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, ModelWrapValidatorHandler, model_validator
from pydantic.fields import FieldInfo

from lightburst.foundation.units import (
    SIZE,
    Duration,
    PositiveDuration,
    Quantity,
    as_python,
    format_duration,
    format_size,
    parse_duration,
)
from lightburst.scenario.fields import Flag, FlagOr, Real, Whole, refuse_at
from lightburst.scenario.reading.messages import kinds
from lightburst.scenario.section import Section, given
from lightburst.scenario.transport.base import Connection
from lightburst.scenario.transport.congestion_control import (
    COUPLED,
    OF_RATES,
    OF_SUBFLOWS,
    CongestionControl,
    Cubic,
    Reno,
)
from lightburst.scenario.transport.presets import PRESETS, Preset
from lightburst.scenario.transport.recovery import (
    MOST_BLOCKS_WITH_TIMESTAMPS,
    RackTlp,
    Recovery,
    Sack,
)


def rfc5681(segment: int) -> int:
    """Return the initial window of RFC 5681, section 3.1, for an SMSS; both in bytes."""
    if segment > 2190:
        return 2 * segment
    return 3 * segment if segment > 1095 else 4 * segment


def rfc3390(segment: int) -> int:
    """Return the initial window of RFC 3390, equation 1, for an MSS; both in bytes."""
    return min(4 * segment, max(2 * segment, 4380))


def rfc6928(segment: int) -> int:
    """Return the initial window of RFC 6928, equation 1, for an MSS; both in bytes."""
    return min(10 * segment, max(2 * segment, 14600))


MICROSECOND = parse_duration("1 us")
# Largest number of subflows of a connection, as in `crates/sim/src/check/subflows.rs`.
MOST_SUBFLOWS = 16

INITIAL_WINDOWS = {"rfc6928": rfc6928, "rfc3390": rfc3390, "rfc5681": rfc5681}


class Tcp(Connection):
    """TCP with a choice of congestion control and loss recovery.

    Attributes
    ----------
    acknowledgement_delay, min_timeout, clock_granularity : int
        Picoseconds.
    access_buffer : int or None
        Bytes; None for unlimited.
    """

    growth: ClassVar[str] = "backoff"
    came_later: ClassVar[frozenset[str]] = Connection.came_later | {
        "timeout",
        "timer_tick",
        "ecn",
        "subflows",
        "reinjection",
        "shared_window",
    }

    kind: Literal["tcp"] = "tcp"
    preset: Preset = Field(
        "rfc", description=("Preset whose values apply to settings that are not given.")
    )
    congestion_control: CongestionControl = Field(Reno(), description="The window law.")
    recovery: Recovery = Field(
        Sack(),
        description=(
            "The detection of losses and the retransmission of data. The standard of today's "
            "receivers is SACK."
        ),
    )
    advertised_window: Annotated[int, Whole(1)] = Field(
        1000,
        description=(
            "The receiver's window W_m, in segments. By default so large that the network limits a "
            "flow, and not its receiver. yu2004 has 50 for figures 5 to 7 and between 20 and 200 "
            "elsewhere; for its tables it states none, and 50 fits best."
        ),
    )
    initial_window: Annotated[int | str, Whole(1, names=tuple(INITIAL_WINDOWS))] = Field(
        "rfc6928",
        description=(
            "Congestion window at the start: that of RFC 6928 (ten segments of the usual 1,460 "
            "payload bytes, two of 9 kB), RFC 3390 or RFC 5681 (two to four), each by the payload "
            "of a segment; or a number of segments. yu2004 has one segment."
        ),
    )
    acknowledge_every: Annotated[int, Whole(1, 2)] = Field(
        2,
        description=(
            "Data segments per acknowledgement, b in the formulas. RFC 5681 requires an "
            "acknowledgement of at least every second one. yu2004 states none; its round trip of "
            "18 s at the low access rate suggests 1."
        ),
    )
    acknowledgement_delay: PositiveDuration = Field(
        parse_duration("40 ms"),
        description=(
            "Longest wait of a delayed acknowledgement. RFC 5681 allows 500 ms, today's systems "
            "have about 40. The last segment of a flow, with the FIN, is acknowledged at once."
        ),
    )
    min_timeout: Duration = Field(
        parse_duration("1 s"),
        description=(
            "Least timeout once a round-trip time is known (RFC 6298, 2.4). The timeouts in figure "
            "8a of yu2004 are shorter than 0.8 s, and 0.2 s fits its tables."
        ),
    )
    clock_granularity: Duration = Field(
        parse_duration("1 ms"),
        description=(
            "G: the least difference of the timeout and the smoothed round-trip time (RFC 6298, "
            "2.3)."
        ),
    )
    backoff: Annotated[float, Real(1, 1e9, inclusive=False)] = Field(
        2.0, description="Factor on the timeout after each expiry (RFC 6298, 5.5)."
    )
    timeout: Literal["rfc6298", "linux"] = Field(
        "rfc6298",
        description=(
            'The rule for the timeout. `"rfc6298"`: the standard. `"linux"`: that of Linux 6.18, '
            "in whole microseconds and ticks; `min_timeout` is then the least margin over the "
            "smoothed round-trip time, and the margin falls once per round trip."
        ),
    )
    timer_tick: PositiveDuration = Field(
        parse_duration("4 ms"),
        description=(
            'Tick on which timers expire with `timeout = "linux"` (HZ = 250), counted from the '
            "end of a connection's handshake. At least a microsecond."
        ),
    )
    rtt_samples: Literal["one-at-a-time", "every-acknowledgement"] = Field(
        "one-at-a-time",
        description=(
            'The round-trip times that enter the timeout. `"one-at-a-time"`: one segment is timed, '
            'then the next (RFC 6298, 3). `"every-acknowledgement"`: each acknowledgement of '
            "segments that were sent only once. With `timestamps` every acknowledgement is a "
            "sample."
        ),
    )
    ecn: Annotated[bool | str, FlagOr("accurate")] = Field(
        False,
        description=(
            "Whether marks of switches, by an `ecn_threshold` or a `queue` with `ecn`, reduce the "
            "window like losses, once per window of data (RFC 3168). `dctcp` answers marks by its "
            'own rule, and needs no `ecn`. `"accurate"`: acknowledgements count the marked '
            "segments (AccECN, RFC 9768); `dctcp` then takes the share of marks from the counts."
        ),
    )
    timestamps: Flag = Field(
        False,
        description=(
            "Whether segments carry timestamps (RFC 7323), which then provide the round-trip times."
        ),
    )
    access_buffer: Annotated[int | None, Quantity(SIZE, positive=True, word="unlimited")] = Field(
        None,
        description=(
            "Size of the queue of each host's interface, beyond which segments are lost. At least "
            "a segment. The access links of yu2004 lose nothing."
        ),
    )

    subflows: Annotated[int, Whole(1, MOST_SUBFLOWS)] = Field(
        1,
        description=(
            "Subflows of each connection (Multipath TCP, RFC 8684), each with a path, a window, a "
            "recovery and a timeout of its own; a subflow with room in its window takes the next "
            "segment of the connection. The law `lia` or `olia` couples their windows; with "
            "another law each subflow is alone. Paths are those of the routing: a hash of its own "
            'for each subflow, or with `routing.label = "subflow"` the numbered path with its '
            "number."
        ),
    )
    reinjection: Flag = Field(
        False,
        description=(
            "Whether other subflows send again what a subflow holds when its retransmission timer "
            "expires (RFC 8684, 3.3.6), so that a path that fails does not keep data back."
        ),
    )
    shared_window: Flag = Field(
        False,
        description=(
            "Whether `advertised_window` bounds the data of the whole connection that the receiver "
            "has not acknowledged (RFC 8684, 3.3.4), and not that of each subflow alone."
        ),
    )

    @property
    def initial_window_bytes(self) -> int:
        """Congestion window at the start, in useful bytes."""
        if isinstance(self.initial_window, str):
            return INITIAL_WINDOWS[self.initial_window](self.payload)
        return self.initial_window * self.payload

    @model_validator(mode="wrap")
    @classmethod
    def _on_preset(cls, values: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Apply the preset to missing settings, without marking them as given."""
        if not isinstance(values, Mapping):
            return handler(values)
        preset = PRESETS.get(str(values.get("preset")), {})
        own = {name: _table(values.get(name)) for name in _TABLES}
        of_rates = _is_of_rates(own["congestion_control"])
        stamps = as_python(values.get("timestamps", preset.get("timestamps"))) is True
        tables = {
            name: _on_table(
                cls.model_fields[name], preset.get(name, {}), own[name], stamps, of_rates
            )
            for name in _TABLES
        }
        transport = handler({**preset, **values, **tables})
        transport.model_fields_set.intersection_update(values)
        for name in _TABLES:
            keys = own[name]
            if isinstance(keys, Mapping):
                getattr(transport, name).model_fields_set.intersection_update(keys)
        return transport

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.min_timeout > self.max_timeout:
            raise refuse_at(
                "min_timeout",
                format_duration(self.min_timeout),
                f"at most max_timeout ({format_duration(self.max_timeout)})",
            )
        if self.ecn is True and self.congestion_control.kind == "dctcp":
            raise refuse_at(
                "ecn",
                "true",
                "false or 'accurate' with 'dctcp', which answers marks by its own rule",
            )
        self._echoes()
        self._rates()
        self._subflows()
        if self.timer_tick < MICROSECOND:
            raise refuse_at("timer_tick", format_duration(self.timer_tick), "at least 1 us")
        if self.timeout == "linux" and self.min_timeout == 0:
            raise refuse_at("min_timeout", format_duration(0), "more than 0 with timeout = 'linux'")
        blocks = getattr(self.recovery, "sack_blocks", 0)
        if self.timestamps and blocks > MOST_BLOCKS_WITH_TIMESTAMPS:
            raise refuse_at(
                "recovery.sack_blocks",
                blocks,
                f"a whole number from 1 to {MOST_BLOCKS_WITH_TIMESTAMPS} with timestamps, "
                "which leave no room for more",
            )
        if self.access_buffer is not None and self.access_buffer < self.segment_size:
            raise refuse_at(
                "access_buffer",
                format_size(self.access_buffer),
                f"at least segment_size ({format_size(self.segment_size)}), or 'unlimited'",
            )
        return self

    def _echoes(self) -> None:
        """Refuse another answer to an echo where there is none."""
        law = self.congestion_control
        if not isinstance(law, Reno | Cubic):
            return
        if law.abe and not self.ecn:
            raise refuse_at(
                "congestion_control.abe", "true", "false without ecn, whose answer it changes"
            )
        if not law.abe and law.beta_ecn != type(law).model_fields["beta_ecn"].default:
            raise refuse_at(
                "congestion_control.beta_ecn", law.beta_ecn, "a value only with abe = true"
            )

    def _rates(self) -> None:
        """Refuse a law of rates without a recovery that gives them, and paces."""
        law = self.congestion_control.kind
        if law not in OF_RATES:
            return
        if not isinstance(self.recovery, RackTlp):
            raise refuse_at(
                "recovery.kind",
                repr(self.recovery.kind),
                f"'rack-tlp' with {law!r}, which needs rates of delivery (preset = 'linux' has it)",
            )
        if not self.recovery.pacing:
            raise refuse_at("recovery.pacing", "false", f"true with {law!r}, which sets the pace")

    def _subflows(self) -> None:
        """Refuse laws and recoveries that several subflows cannot have, and coupling of one."""
        law = self.congestion_control.kind
        for name in ("reinjection", "shared_window"):
            if self.subflows == 1 and getattr(self, name):
                raise refuse_at(name, "true", "false with one subflow; subflows of 2 or more")
        if self.subflows == 1:
            if law in COUPLED:
                allowed = f"2 or more with {law!r}, which couples the windows of subflows"
                raise refuse_at("subflows", 1, allowed)
            return
        if law not in OF_SUBFLOWS:
            known = ", ".join(repr(name) for name in OF_SUBFLOWS)
            raise refuse_at("congestion_control.kind", repr(law), f"one of {known} with subflows")
        if isinstance(self.recovery, RackTlp):
            allowed = "another recovery with subflows, such as 'sack'"
            raise refuse_at("recovery.kind", repr(self.recovery.kind), allowed)


# Settings that are tables with a kind.
_TABLES = ("congestion_control", "recovery")


def _table(value: object) -> object:
    """Convert a bare name, a missing value or a table built in Python to a dictionary."""
    if isinstance(value, str):
        return {"kind": value}
    return given(value) if isinstance(value, Section) else value or {}


def _is_of_rates(law: object) -> bool:
    return isinstance(law, Mapping) and str(law.get("kind")) in OF_RATES


def _on_table(
    field: FieldInfo, preset: Mapping[str, Any], own: object, stamps: bool, of_rates: bool
) -> object:
    """Merge the preset's settings into a table, as far as its kind has them.

    A table without a kind gets the kind of the preset.
    """
    below = {"kind": field.default.kind, **preset}
    if stamps:
        below.setdefault("sack_blocks", MOST_BLOCKS_WITH_TIMESTAMPS)
    if of_rates:
        # In Linux the law switches pacing on.
        below.setdefault("pacing", True)
    if not isinstance(own, Mapping):
        return own
    known = kinds(field).get(str(own.get("kind", below["kind"])))
    if known is None:
        return own["kind"] if len(own) == 1 else own
    return {key: value for key, value in below.items() if key in known.model_fields} | dict(own)

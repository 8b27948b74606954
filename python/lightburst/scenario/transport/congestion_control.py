"""``congestion_control`` of `tcp`: laws of the congestion window; one table per law."""

from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field

from lightburst.foundation.units import Duration, PositiveDuration, parse_duration
from lightburst.scenario.fields import Flag, Named, Real, Whole
from lightburst.scenario.section import Section
from lightburst.scenario.transport.slow_start import SlowStart, Standard


class _WithSlowStart(Section):
    """Fields of the laws with the slow start of RFC 5681."""

    came_later: ClassVar[frozenset[str]] = frozenset({"slow_start"})

    slow_start: SlowStart = Field(
        Standard(),
        description=(
            'The first slow start of a connection. `"standard"`: until ssthresh is reached or a '
            'segment is lost (RFC 5681). `"hystart++"`: RFC 9406, until the round-trip time rises. '
            "A later slow start is the standard one."
        ),
    )


class _WithEcho(_WithSlowStart):
    """Fields of the laws for which ABE is specified."""

    came_later: ClassVar[frozenset[str]] = _WithSlowStart.came_later | {"abe", "beta_ecn"}

    abe: Flag = Field(
        False,
        description=(
            "Whether an echo of a mark reduces the window less than a loss, to `beta_ecn` of it "
            "(RFC 8511). Only with `ecn`."
        ),
    )


_BETA_ECN = (
    "Factor on the window after an echo, with `abe` (RFC 8511, 3.1, which has 0.8 for Reno and "
    "0.85 for CUBIC)."
)


class Reno(_WithEcho):
    """Slow start and congestion avoidance (RFC 5681).

    Attributes
    ----------
    byte_counting : int or None
        L of RFC 3465, in segments; None to count acknowledgements.
    """

    came_later: ClassVar[frozenset[str]] = _WithEcho.came_later | {"byte_counting"}

    kind: Literal["reno"] = "reno"
    halving: Literal["flight-size", "window"] = Field(
        "flight-size",
        description=(
            'The quantity that is halved on a loss. `"flight-size"`: the bytes in flight (RFC '
            '5681, equation 4). `"window"`: the smaller of the congestion window and W_m, as in '
            "ns-2."
        ),
    )
    byte_counting: Annotated[int | None, Whole(1, 2, word="off")] = Field(
        None,
        description=(
            "Whether the window grows with the bytes acknowledged instead of the number of "
            "acknowledgements (RFC 3465): L, the most segments that an acknowledgement counts for "
            "in slow start. Otherwise the window grows half as fast if every second segment is "
            "acknowledged."
        ),
    )
    beta_ecn: Annotated[float, Real(0, 1, inclusive=False)] = Field(0.8, description=_BETA_ECN)


class StopAndWait(Section):
    """A window of one segment."""

    kind: Literal["stop-and-wait"] = "stop-and-wait"


class HighSpeed(_WithSlowStart):
    """HighSpeed TCP (RFC 3649)."""

    kind: Literal["highspeed"] = "highspeed"


class Cubic(_WithEcho):
    """CUBIC (RFC 9438).

    Attributes
    ----------
    byte_counting : int or None
        L of RFC 3465, in segments; None for that of RFC 5681.
    """

    came_later: ClassVar[frozenset[str]] = _WithEcho.came_later | {"byte_counting"}

    kind: Literal["cubic"] = "cubic"
    c: Annotated[float, Real(1e-9, 1e9)] = Field(
        0.4,
        description=(
            "C, in segments per second cubed: growth of the window away from its plateau (RFC "
            "9438, 5)."
        ),
    )
    beta: Annotated[float, Real(0, 1, inclusive=False)] = Field(
        0.7,
        description=(
            "Factor on the window at a loss (RFC 9438, 4.6). The CUBIC of 2008, which ns-2 has, "
            "has 0.8."
        ),
    )
    fast_convergence: Flag = Field(
        True,
        description=(
            "Whether a flow with a loss below its old plateau lowers the plateau, and so leaves "
            "room for new flows (RFC 9438, 4.7)."
        ),
    )
    reno_friendly: Flag = Field(
        True,
        description="Whether the window is at least that of Reno (RFC 9438, 4.3).",
    )
    reduces: Literal["flight-size", "window"] = Field(
        "flight-size",
        description=(
            'The quantity to which `beta` applies. `"flight-size"`: the bytes in flight (RFC 9438, '
            '4.6). `"window"`: the congestion window, as in 2008.'
        ),
    )
    byte_counting: Annotated[int | None, Whole(1, 2, word="off")] = Field(
        None,
        description=(
            "Most segments that an acknowledgement counts for in slow start (L of RFC 3465); "
            "otherwise one (RFC 5681). In congestion avoidance CUBIC counts segments acknowledged "
            "in any case where it is compared with Reno (RFC 9438, 4.3)."
        ),
    )
    beta_ecn: Annotated[float, Real(0, 1, inclusive=False)] = Field(0.85, description=_BETA_ECN)


class Fast(Section):
    """FAST TCP (Wei, Jin, Low and Hegde 2006).

    Attributes
    ----------
    mi_threshold : int
        Picoseconds.
    """

    kind: Literal["fast"] = "fast"
    alpha: Annotated[float, Real(0, 1e9)] = Field(
        100.0,
        description=(
            "Segments that a flow keeps in the queues on its path. komatireddy2009 has 100, also "
            "for `beta`."
        ),
    )
    beta: Annotated[float, Real(0, 1e9)] = Field(
        100.0,
        description=(
            "With at least `alpha` and less than `beta` segments in the queues the window stays "
            "unchanged, as in the module for ns-2; with equal values it never does."
        ),
    )
    gamma: Annotated[float, Real(0, 1)] = Field(
        0.5, description="Step of a new window towards its target: 0 none, 1 the whole difference."
    )
    mi_threshold: Duration = Field(
        parse_duration("0.75 ms"),
        description=(
            "Mean queueing delay below which the window grows as in slow start. The default is "
            "that of the module for ns-2."
        ),
    )


class Vegas(Section):
    """TCP Vegas (Brakmo and Peterson 1995)."""

    kind: Literal["vegas"] = "vegas"
    alpha: Annotated[float, Real(0, 1e9)] = Field(
        1.0, description="Segments in the queues below which the window grows. As in ns-2."
    )
    beta: Annotated[float, Real(0, 1e9)] = Field(
        3.0, description="Segments in the queues above which the window shrinks. As in ns-2."
    )
    gamma: Annotated[float, Real(0, 1e9)] = Field(
        1.0, description="Segments in the queues above which slow start ends. As in ns-2."
    )


class Scalable(_WithSlowStart):
    """Scalable TCP (Kelly 2003)."""

    kind: Literal["scalable"] = "scalable"
    increase: Annotated[float, Real(0, 1e9)] = Field(
        0.01, description="a: increase of the window per acknowledgement, in segments."
    )
    decrease: Annotated[float, Real(0, 1)] = Field(
        0.125, description="b: fraction of the window by which a loss reduces it."
    )
    legacy_window: Annotated[float, Real(0, 1e9)] = Field(
        16.0,
        description=(
            "Window up to which the law is that of standard TCP, in segments; above it Scalable "
            "TCP is faster."
        ),
    )


class Dctcp(_WithSlowStart):
    """Data Center TCP (RFC 8257)."""

    kind: Literal["dctcp"] = "dctcp"
    g: Annotated[float, Real(0, 1)] = Field(
        0.0625,
        description=(
            "Weight of the newest window in the estimate of the fraction of marked bytes (RFC "
            "8257, 4.2)."
        ),
    )


class LinuxReno(Section):
    """Reno as in Linux 6.18: RFC 5681 by whole segments acknowledged, without a limit."""

    kind: Literal["linux-reno"] = "linux-reno"


class LinuxCubic(Section):
    """CUBIC as in Linux 6.18: RFC 9438 in whole segments and ticks of 4 ms, with HyStart."""

    kind: Literal["linux-cubic"] = "linux-cubic"
    hystart: Flag = Field(
        True,
        description=(
            "Whether slow start ends when acknowledgements come in a long train or late (Ha and "
            "Rhee 2011), windows of 16 segments and more. Linux has HyStart, and not HyStart++ "
            "(RFC 9406)."
        ),
    )
    fast_convergence: Flag = Field(
        True,
        description=(
            "Whether a flow with a loss below its old plateau lowers the plateau, and so leaves "
            "room for new flows (RFC 9438, 4.7)."
        ),
    )


class Bbr1(Section):
    """BBR, version 1, as in Linux 6.18: window and pace follow a model of the path.

    Attributes
    ----------
    min_rtt_window, probe_rtt_time : int
        Picoseconds.
    """

    kind: Literal["bbr1"] = "bbr1"
    cwnd_gain: Annotated[float, Real(1, 16)] = Field(
        2.0,
        description=(
            "Window over the product of bandwidth and least round trip, once the pipe is full "
            "(`bbr_cwnd_gain`). In whole 256ths."
        ),
    )
    min_rtt_window: PositiveDuration = Field(
        parse_duration("10 s"),
        description=(
            "Time for which a least round trip counts; then few segments stay in flight until it "
            "is measured again (`bbr_min_rtt_win_sec`). In whole ticks of 4 ms."
        ),
    )
    probe_rtt_time: PositiveDuration = Field(
        parse_duration("200 ms"),
        description=(
            "Least time with four segments in flight, for that measurement "
            "(`bbr_probe_rtt_mode_ms`). In whole ticks of 4 ms."
        ),
    )
    policer_detection: Flag = Field(
        True,
        description=(
            "Whether two long intervals of equal bandwidth with a fifth of losses stand for a "
            "policer, whose rate is then used for 48 round trips (`bbr_lt_bw_sampling`)."
        ),
    )
    ack_aggregation: Flag = Field(
        True,
        description=(
            "Whether the window provides for acknowledgements that come in bunches, by the most "
            "of the last five to ten round trips (`bbr_update_ack_aggregation`)."
        ),
    )


class Bbr3(Section):
    """BBR, version 3, by draft-ietf-ccwg-bbr-06: bounds of rate and window answer losses.

    Attributes
    ----------
    min_rtt_window, probe_rtt_interval, probe_rtt_time : int
        Picoseconds.
    """

    kind: Literal["bbr3"] = "bbr3"
    cwnd_gain: Annotated[float, Real(1, 16)] = Field(
        2.0,
        description=(
            "Window over the product of bandwidth and least round trip, in UP a quarter more "
            "(BBR.DefaultCwndGain). In whole thousandths."
        ),
    )
    loss_threshold: Annotated[float, Real(0.001, 0.999)] = Field(
        0.02,
        description=(
            "Part of a round's segments that a probe may lose (BBR.LossThresh). In whole "
            "thousandths."
        ),
    )
    beta: Annotated[float, Real(0.001, 1)] = Field(
        0.7,
        description=(
            "Least part of a bound that a round with losses leaves (BBR.Beta). In whole "
            "thousandths."
        ),
    )
    headroom: Annotated[float, Real(0, 0.999)] = Field(
        0.15,
        description=(
            "Part of the long-term bound left to others while cruising (BBR.Headroom). In whole "
            "thousandths."
        ),
    )
    min_rtt_window: PositiveDuration = Field(
        parse_duration("10 s"),
        description=(
            "Time for which a least round trip counts (BBR.MinRTTFilterLen). In whole microseconds."
        ),
    )
    probe_rtt_interval: PositiveDuration = Field(
        parse_duration("5 s"),
        description=(
            "Time without a shorter round trip after which the window falls to half of the product "
            "until it is measured again (BBR.ProbeRTTInterval). In whole microseconds."
        ),
    )
    probe_rtt_time: PositiveDuration = Field(
        parse_duration("200 ms"),
        description=(
            "Least time of that measurement (BBR.ProbeRTTDuration). In whole microseconds."
        ),
    )
    ack_aggregation: Flag = Field(
        True,
        description=(
            "Whether the window provides for acknowledgements that come in bunches, by the most "
            "of the last ten round trips (BBR.extra_acked)."
        ),
    )


class _Coupled(Section):
    """Fields of the laws that couple the windows of subflows."""

    halving: Literal["flight-size", "window"] = Field(
        "flight-size",
        description=(
            "The quantity that is halved on a loss of a subflow, as with `reno`, whose slow start "
            "each subflow has, too."
        ),
    )


class Lia(_Coupled):
    """Linked increases of subflows: together one TCP on the best path (RFC 6356)."""

    kind: Literal["lia"] = "lia"


class Olia(_Coupled):
    """Opportunistic linked increases of subflows (Khalili et al. 2013)."""

    kind: Literal["olia"] = "olia"


# Laws that set window and pace from rates of delivery.
OF_RATES: Final = frozenset({"bbr1", "bbr3"})
# Laws that couple the windows of the subflows of a connection.
COUPLED: Final = frozenset({"lia", "olia"})
# Laws of subflows: the coupled ones, and those that know nothing but acknowledgements and losses.
OF_SUBFLOWS: Final = (*sorted(COUPLED), "reno", "cubic", "highspeed", "scalable", "dctcp")

CongestionControl = Annotated[
    Reno
    | StopAndWait
    | HighSpeed
    | Cubic
    | Fast
    | Vegas
    | Scalable
    | Dctcp
    | LinuxReno
    | LinuxCubic
    | Bbr1
    | Bbr3
    | Lia
    | Olia,
    Named(),
    Field(discriminator="kind"),
]

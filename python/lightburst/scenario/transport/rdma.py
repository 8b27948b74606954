"""RDMA: messages over reliable connected queue pairs of RoCEv2."""

from typing import Annotated, ClassVar, Final, Literal, Self

from pydantic import Field, model_validator

from lightburst.foundation.units import (
    SIZE,
    PositiveDuration,
    Quantity,
    Size,
    format_duration,
    format_size,
    parse_duration,
)
from lightburst.scenario.fields import Named, Whole, refuse_at
from lightburst.scenario.section import Section
from lightburst.scenario.transport.base import (
    BaseTransport,
    Retransmissions,
    SegmentSize,
    require_control_fits,
)
from lightburst.scenario.transport.rate_law import Dcqcn, Ndp, RateLaw

# Headers of a data packet of RoCEv2 (InfiniBand Architecture Specification, volume 1, annex A17):
# Ethernet with its check sequence, IPv4, UDP, base transport header, invariant CRC.
HEADER: Final = 14 + 4 + 20 + 8 + 12 + 4
#: An acknowledgement has an ACK extended transport header (AETH) of 4 bytes in addition.
ACKNOWLEDGEMENT: Final = HEADER + 4
#: The MTU of queue pairs that fits into frames of 1,500 bytes.
MTU: Final = 1024


class GoBackN(Section):
    """The receiver keeps no packet out of order; the sender goes back to the missing one."""

    kind: Literal["go-back-n"] = "go-back-n"


class SelectiveRepeat(Section):
    """The receiver keeps packets out of order; the sender repeats the missing ones (IRN)."""

    came_later: ClassVar[frozenset[str]] = frozenset({"reordering"})

    kind: Literal["selective-repeat"] = "selective-repeat"
    reordering: Annotated[int, Whole(0, 10**6)] = Field(
        0,
        description=(
            "Number of packets by which a packet may be overtaken before it is taken for lost. IRN "
            "has 0, and names a threshold for networks that reorder packets (Mittal et al. 2018, "
            "section 7). With as many packets as are in flight, only the timer and the headers of "
            "trimmed packets tell of losses."
        ),
    )


RdmaRecovery = Annotated[GoBackN | SelectiveRepeat, Field(discriminator="kind"), Named()]


class Rdma(BaseTransport):
    """One message for each flow, with a rate law; without set-up and close.

    Attributes
    ----------
    acknowledgement_timeout : int
        Picoseconds.
    control_size : int
        Bytes.
    max_inflight : int or None
        Bytes; None is unlimited.
    max_retransmissions : int or None
        None is unlimited.
    """

    came_later: ClassVar[frozenset[str]] = frozenset({"max_inflight", "max_retransmissions"})

    kind: Literal["rdma"] = "rdma"
    segment_size: SegmentSize = Field(
        MTU + HEADER,
        description=(
            "Largest data packet on the wire, header included; the last one of a message may be "
            "smaller. By default that of an MTU of 1,024 bytes; queue pairs also have 256, 512, "
            "2,048 and 4,096."
        ),
    )
    header_size: Size = Field(
        HEADER,
        description=(
            "Headers of RoCEv2 with IPv4: Ethernet with check sequence 18, IP 20, UDP 8, BTH 12, "
            "ICRC 4 bytes. The 16 bytes of a RETH in the first packet of a message are not counted."
        ),
    )
    control_size: SegmentSize = Field(
        ACKNOWLEDGEMENT,
        description=(
            "Size of acknowledgements, negative ones and congestion notifications; also the least "
            "size of a data packet. By default the headers with an AETH of 4 bytes; the 12 bytes "
            "more of a notification are not counted."
        ),
    )
    congestion_control: RateLaw = Field(Dcqcn(), description="The rate law.")
    recovery: RdmaRecovery = Field(GoBackN(), description="The detection and repair of losses.")
    acknowledge_every: Annotated[int, Whole(1, 10**6)] = Field(
        1,
        description=(
            "Data packets in order per acknowledgement. The last packet of a message is "
            "acknowledged at once, and so are duplicates; there is no timer."
        ),
    )
    acknowledgement_timeout: PositiveDuration = Field(
        parse_duration("67.108864 ms"),
        description=(
            "Time without progress after which all outstanding data is sent again: the local ACK "
            "timeout of the queue pair, 4.096 us times a power of two. The default is that of "
            "`perftest`, 2^14; it stays the same after each expiry."
        ),
    )
    max_inflight: Annotated[int | None, Quantity(SIZE, positive=True, word="unlimited")] = Field(
        None,
        description=(
            "Most useful bytes that are sent and not acknowledged. IRN (Mittal et al. 2018) has "
            "the product of bandwidth and delay of the longest path. At least `acknowledge_every` "
            "packets."
        ),
    )
    max_retransmissions: Retransmissions = Field(
        None,
        description=(
            "Most expiries of the timeout in a row without progress before the sender gives up: "
            "the retry count of the queue pair, which hardware limits to 7. No limit by default: a "
            "flow should not end without a completion time."
        ),
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        require_control_fits(self.control_size, self.segment_size)
        least = self.acknowledge_every * self.payload
        if self.max_inflight is not None and self.max_inflight < least:
            raise refuse_at(
                "max_inflight",
                format_size(self.max_inflight),
                f"at least acknowledge_every packets ({format_size(least)}), or 'unlimited'",
            )
        law = self.congestion_control
        if isinstance(law, Ndp) and self.recovery.kind != "selective-repeat":
            raise refuse_at(
                "recovery",
                f"'{self.recovery.kind}'",
                "'selective-repeat' with congestion_control = 'ndp', which repeats single packets",
            )
        if isinstance(law, Dcqcn) and law.alpha_interval <= law.notification_interval:
            raise refuse_at(
                "congestion_control.alpha_interval",
                format_duration(law.alpha_interval),
                f"more than notification_interval ({format_duration(law.notification_interval)})",
            )
        return self

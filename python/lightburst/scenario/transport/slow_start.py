"""``slow_start`` of a window law: the first slow start of a connection; one table per rule."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from lightburst.foundation.units import Duration, format_duration, parse_duration
from lightburst.scenario.fields import Named, Real, Whole, refuse_at
from lightburst.scenario.section import Section


class Standard(Section):
    """Slow start of RFC 5681."""

    kind: Literal["standard"] = "standard"


class HyStartPlusPlus(Section):
    """HyStart++ (RFC 9406).

    Attributes
    ----------
    min_rtt_thresh, max_rtt_thresh : int
        Picoseconds.
    limit : int or str
        L in segments, or ``"rfc9406"``.
    """

    came_later: ClassVar[frozenset[str]] = frozenset({"limit"})

    kind: Literal["hystart++"] = "hystart++"
    min_rtt_thresh: Duration = Field(
        parse_duration("4 ms"),
        description=(
            "MIN_RTT_THRESH: least rise of the least round-trip time of a round over that of the "
            "round before with which slow start ends."
        ),
    )
    max_rtt_thresh: Duration = Field(
        parse_duration("16 ms"), description="MAX_RTT_THRESH: most rise that is needed."
    )
    min_rtt_divisor: Annotated[int, Whole(1)] = Field(
        8,
        description=(
            "MIN_RTT_DIVISOR: between these limits the rise is the least round-trip time of the "
            "round before over this number."
        ),
    )
    n_rtt_sample: Annotated[int, Whole(1)] = Field(
        8, description="N_RTT_SAMPLE: round-trip times of a round from which on it is judged."
    )
    css_growth_divisor: Annotated[float, Real(1, 1e9)] = Field(
        4.0,
        description=(
            "CSS_GROWTH_DIVISOR: the window grows by so much less in the conservative slow start "
            "(CSS) that follows. If the round-trip time falls again, slow start is resumed."
        ),
    )
    css_rounds: Annotated[int, Whole(1)] = Field(
        5,
        description=(
            "CSS_ROUNDS: rounds of conservative slow start, the one in which it begins included; "
            "then ssthresh is set to the window."
        ),
    )
    limit: Annotated[int | str, Whole(1, names=("rfc9406",))] = Field(
        "rfc9406",
        description=(
            "L: most segments that an acknowledgement counts for. By default 8, and no limit if "
            "the recovery paces."
        ),
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.min_rtt_thresh > self.max_rtt_thresh:
            most = format_duration(self.max_rtt_thresh)
            raise refuse_at(
                "min_rtt_thresh",
                format_duration(self.min_rtt_thresh),
                f"at most max_rtt_thresh ({most})",
            )
        return self


SlowStart = Annotated[Standard | HyStartPlusPlus, Field(discriminator="kind"), Named()]

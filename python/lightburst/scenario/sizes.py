"""``size`` of a workload: how many bytes a flow carries."""

import math
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from lightburst.scenario.fields import Bare, DataFile, Real, Section, refuse_at
from lightburst.units import SIZE, PositiveSize, Quantity, format_size

# Sizes above the maximum are drawn again. Where nearly all of them are, the distribution is not
# the one that the user has in mind, and the drawing would take forever.
SMALLEST_KEPT_FRACTION = 0.01

_Maximum = Annotated[int | None, Quantity(SIZE, positive=True, word="unlimited")]


def _check_kept(maximum: int | None, kept: float) -> None:
    if maximum is not None and kept < SMALLEST_KEPT_FRACTION:
        raise refuse_at(
            "max",
            f"{format_size(maximum)}, which keeps {100 * kept:.2g} % of the sizes drawn",
            f"a size that keeps at least {100 * SMALLEST_KEPT_FRACTION:g} % of them",
        )


class Constant(Section):
    """Every flow has the same size.

    Attributes
    ----------
    value : int
        Bytes.
    """

    kind: Literal["constant"] = "constant"
    value: PositiveSize = Field(description="Size of each flow.")


class Exponential(Section):
    """Exponential sizes.

    Attributes
    ----------
    mean : int
        Bytes, before the maximum is applied.
    max : int or None
        Bytes; None is unlimited.
    """

    kind: Literal["exponential"] = "exponential"
    mean: PositiveSize = Field(description="Mean, before the maximum is applied.")
    max: _Maximum = Field(None, description="Larger sizes are drawn again.")

    @model_validator(mode="after")
    def _keeps_enough(self) -> Self:
        if self.max is not None:
            _check_kept(self.max, -math.expm1(-self.max / self.mean))
        return self


class Lognormal(Section):
    """Log-normal sizes, as measured file sizes are (Agrawal et al. 2007).

    Attributes
    ----------
    mu, sigma : float
        Mean and standard deviation of the natural logarithm of the size in bytes, before the
        maximum is applied.
    max : int or None
        Bytes; None is unlimited.
    """

    kind: Literal["lognormal"] = "lognormal"
    mu: Annotated[float, Real(0, 40)] = Field(
        9.48, description="Mean of the natural logarithm of the size in bytes."
    )
    sigma: Annotated[float, Real(0, 20)] = Field(
        2.45663283, description="Standard deviation of that logarithm."
    )
    max: _Maximum = Field(None, description="Larger sizes are drawn again.")

    @model_validator(mode="after")
    def _keeps_enough(self) -> Self:
        if self.max is not None:
            distance = math.log(self.max) - self.mu
            width = self.sigma * math.sqrt(2)
            kept = 0.5 * math.erfc(-distance / width) if width else float(distance >= 0)
            _check_kept(self.max, kept)
        return self


class Pareto(Section):
    """Pareto sizes: ``P(X > x) = (minimum / x)^shape``.

    Attributes
    ----------
    minimum : int
        Bytes.
    max : int or None
        Bytes; None is unlimited.
    """

    kind: Literal["pareto"] = "pareto"
    shape: Annotated[float, Real(0, inclusive=False)] = Field(
        description=("Tail index. The mean is infinite at 1 and below, unless there is a maximum.")
    )
    minimum: PositiveSize = Field(description="Smallest size.")
    max: _Maximum = Field(None, description="Larger sizes are drawn again.")

    @model_validator(mode="after")
    def _keeps_enough(self) -> Self:
        if self.max is not None:
            ratio = min(self.minimum / self.max, 1.0)
            _check_kept(self.max, -math.expm1(self.shape * math.log(ratio)))
        return self


class BoundedPareto(Section):
    """Pareto sizes between two limits.

    Attributes
    ----------
    minimum, max : int
        Bytes.
    """

    kind: Literal["bounded-pareto"] = "bounded-pareto"
    shape: Annotated[float, Real(0, inclusive=False)] = Field(description="Tail index.")
    minimum: PositiveSize = Field(description="Smallest size.")
    max: PositiveSize = Field(description="Largest size.")

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.max <= self.minimum:
            allowed = f"more than minimum ({format_size(self.minimum)})"
            raise refuse_at("max", format_size(self.max), allowed)
        return self


EmpiricalName = Literal["websearch", "hadoop"]


class Empirical(Section):
    """Sizes from a measured distribution, with straight lines between its points."""

    kind: Literal["empirical"] = "empirical"
    name: EmpiricalName | None = Field(
        None,
        description=(
            'A distribution that comes with lightburst. `"websearch"`: DCTCP (Alizadeh et al., '
            "SIGCOMM 2010), the twelve points used by pFabric and HPCC; mean 1.71 MB. "
            '`"hadoop"`: a Facebook cluster (Roy et al., SIGCOMM 2015), the twenty points used '
            "by HPCC; mean 120 kB."
        ),
    )
    file: DataFile | None = Field(
        None,
        description=(
            "One of your own: lines of `bytes percent` (ending at 100) or `bytes probability` "
            "(ending at 1), separated by spaces or a comma, as the htsim, pFabric and HPCC "
            "tools have them; `#` begins a comment. The same size on two lines is a jump; a "
            "first line above zero is a share of flows of just that size."
        ),
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.name is None) == (self.file is None):
            given = "neither" if self.name is None else "both"
            raise refuse_at("name", f"{given} of name and file", "one of name and file")
        return self


FlowSize = Annotated[
    Constant | Exponential | Lognormal | Pareto | BoundedPareto | Empirical,
    Bare(Quantity(SIZE, positive=True), "constant", "value"),
    Field(discriminator="kind"),
]

# The Impressions fit to Agrawal et al. 2007, cut at 16 MiB; docs/scenario.md says why.
DEFAULT_SIZE = Lognormal(max="16 MiB")

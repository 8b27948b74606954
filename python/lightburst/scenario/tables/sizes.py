"""``size`` of a workload: bytes carried by each flow."""

import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from lightburst.foundation.formatting import exactly
from lightburst.foundation.units import SIZE, PositiveSize, Quantity, format_size
from lightburst.scenario.fields import Bare, DataFile, Real, refuse_at
from lightburst.scenario.section import Section

# Sizes above the maximum are drawn again. If nearly all of them are, the distribution is not the
# one that the user has in mind, and the drawing would take forever.
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
    max: _Maximum = Field(None, description="Larger sizes are redrawn.")

    @model_validator(mode="after")
    def _keeps_enough(self) -> Self:
        if self.max is not None:
            _check_kept(self.max, -math.expm1(-self.max / self.mean))
        return self


class Lognormal(Section):
    """Log-normal sizes, as measured file sizes are (Agrawal et al. 2007).

    Attributes
    ----------
    mu : float or None
        Mean of the natural logarithm of the size in bytes, before the maximum is applied; None if
        the median or the mean is given, see `log_median`.
    median, mean : int or None
        Bytes, before the maximum is applied.
    sigma : float
        Standard deviation of that logarithm.
    max : int or None
        Bytes; None is unlimited.
    """

    alternatives: ClassVar[tuple[tuple[str, ...], ...]] = (("mu", "median", "mean"),)

    kind: Literal["lognormal"] = "lognormal"
    mu: Annotated[float, Real(0, 40)] | None = Field(
        9.48,
        description=(
            "Mean of the natural logarithm of the size in bytes. Only one of `mu`, `median` and "
            "`mean` can be given."
        ),
    )
    median: PositiveSize | None = Field(
        None, description="Median of the size, in place of `mu`, which is its logarithm."
    )
    mean: PositiveSize | None = Field(
        None,
        description=(
            "Mean before the maximum is applied, in place of `mu`, which is ln(mean) - sigma^2 / "
            "2. With a maximum the drawn sizes have a smaller mean, which a warning states."
        ),
    )
    sigma: Annotated[float, Real(0, 20)] = Field(
        2.45663283, description="Standard deviation of that logarithm."
    )
    max: _Maximum = Field(None, description="Larger sizes are redrawn.")

    @model_validator(mode="before")
    @classmethod
    def _no_usual_mu(cls, values: Any) -> Any:
        """Apply the default `mu` only if neither `median` nor `mean` is given."""
        if isinstance(values, Mapping) and {"median", "mean"} & set(values):
            return {"mu": None, **values}
        return values

    @model_validator(mode="after")
    def _keeps_enough(self) -> Self:
        if self.mean is not None and self.log_median < 0:
            mean = f"{format_size(self.mean)} with sigma = {exactly(self.sigma)}"
            least = math.exp(self.sigma**2 / 2)
            allowed = f"at least exp(sigma^2 / 2) bytes, {least:.6g}, or a smaller sigma"
            raise refuse_at("mean", mean, allowed)
        if self.max is not None:
            distance = math.log(self.max) - self.log_median
            width = self.sigma * math.sqrt(2)
            kept = 0.5 * math.erfc(-distance / width) if width else float(distance >= 0)
            _check_kept(self.max, kept)
        return self

    @property
    def log_median(self) -> float:
        """Natural logarithm of the median in bytes: `mu`, or derived from median or mean."""
        if self.mean is not None:
            return math.log(self.mean) - self.sigma**2 / 2
        if self.median is not None:
            return math.log(self.median)
        assert self.mu is not None
        return self.mu


class Pareto(Section):
    """Pareto sizes: ``P(X > x) = (minimum / x)^shape``.

    Attributes
    ----------
    shape : float or None
        Tail index; None if a mean is given, see `tail_index`.
    minimum : int
        Bytes.
    mean, truncated_mean : int or None
        Bytes.
    max : int or None
        Bytes; None is unlimited.
    """

    alternatives: ClassVar[tuple[tuple[str, ...], ...]] = (("shape", "mean", "truncated_mean"),)

    kind: Literal["pareto"] = "pareto"
    shape: Annotated[float, Real(0, inclusive=False)] | None = Field(
        None,
        description=(
            "Tail index. For 1 and below the mean is infinite, unless there is a maximum. Exactly "
            "one of `shape`, `mean` and `truncated_mean` is required."
        ),
    )
    minimum: PositiveSize = Field(description="Smallest size.")
    mean: PositiveSize | None = Field(
        None,
        description=(
            "Mean before the maximum is applied, in place of `shape`, which is mean / (mean - "
            "minimum). With a maximum the drawn sizes have a smaller mean, which a warning states; "
            "without one no finite run has this mean if the shape is 2 or less."
        ),
    )
    truncated_mean: PositiveSize | None = Field(
        None,
        description=(
            "Mean of the drawn sizes, after the maximum is applied, in place of `shape`, which "
            "follows from it."
        ),
    )
    max: _Maximum = Field(None, description="Larger sizes are redrawn.")

    @model_validator(mode="after")
    def _keeps_enough(self) -> Self:
        for name in ("mean", "truncated_mean"):
            mean = getattr(self, name)
            if mean is not None and mean <= self.minimum:
                allowed = f"more than minimum ({format_size(self.minimum)})"
                raise refuse_at(name, format_size(mean), allowed)
        if self.truncated_mean is not None:
            self._check_truncated(self.truncated_mean)
        if self.max is not None:
            ratio = min(self.minimum / self.max, 1.0)
            _check_kept(self.max, -math.expm1(self.tail_index * math.log(ratio)))
        return self

    def _check_truncated(self, mean: int) -> None:
        if self.max is None:
            raise refuse_at("truncated_mean", "no max beside it", "a max, or mean in its place")
        if self.max <= self.minimum:
            allowed = f"more than minimum ({format_size(self.minimum)})"
            raise refuse_at("max", format_size(self.max), allowed)
        most = math.floor(bounded_pareto_mean(_FLATTEST, self.minimum, self.max))
        if mean > most:
            allowed = f"at most {format_size(most)}, or a larger max"
            raise refuse_at("truncated_mean", format_size(mean), allowed)

    @property
    def tail_index(self) -> float:
        """Tail index, given or derived from the mean."""
        if self.shape is not None:
            return self.shape
        if self.mean is not None:
            return self.mean / (self.mean - self.minimum)
        assert self.truncated_mean is not None
        assert self.max is not None
        # The mean falls with the shape, so bisection finds the shape to the last bit.
        low, high = _FLATTEST, _STEEPEST
        while low < (middle := (low + high) / 2) < high:
            if bounded_pareto_mean(middle, self.minimum, self.max) > self.truncated_mean:
                low = middle
            else:
                high = middle
        return high


# Bounds of the search for a shape with a given mean.
_FLATTEST, _STEEPEST = 0.01, 1e6


def bounded_pareto_mean(shape: float, least: int, most: int) -> float:
    """Mean of a Pareto distribution between two limits.

    Parameters
    ----------
    shape : float
        Tail index a, above 0.
    least, most : int
        Limits m and M.

    Returns
    -------
    float
        a m (r^(1 - a) - 1) / ((1 - a) (1 - r^-a)) with r = M / m; a = 1 has m ln(r) / (1 - 1 / r).
    """
    log_ratio = math.log(most / least)
    grown = log_ratio
    if shape != 1:
        grown = math.expm1((1 - shape) * log_ratio) / (1 - shape)
    return shape * least * grown / -math.expm1(-shape * log_ratio)


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

    alternatives: ClassVar[tuple[tuple[str, ...], ...]] = (("name", "file"),)

    kind: Literal["empirical"] = "empirical"
    name: EmpiricalName | None = Field(
        None,
        description=(
            'A distribution included in lightburst. `"websearch"`: DCTCP (Alizadeh et al., SIGCOMM '
            '2010), the twelve points used by pFabric and HPCC; mean 1.71 MB. `"hadoop"`: a '
            "Facebook cluster (Roy et al., SIGCOMM 2015), the twenty points used by HPCC; mean 120 "
            "kB."
        ),
    )
    file: DataFile | None = Field(
        None,
        description=(
            "File with a distribution: lines of `bytes percent` (ending at 100) or `bytes "
            "probability` (ending at 1), separated by spaces or a comma, as for the htsim, pFabric "
            "and HPCC tools; `#` begins a comment. The same size on two lines is a jump; a first "
            "line above zero is the fraction of flows of exactly that size."
        ),
    )


FlowSize = Annotated[
    Constant | Exponential | Lognormal | Pareto | BoundedPareto | Empirical,
    Bare(Quantity(SIZE, positive=True), "constant", "value"),
    Field(discriminator="kind"),
]

# The Impressions fit to Agrawal et al. 2007, cut at 16 MiB; docs/scenario.md says why.
DEFAULT_SIZE = Lognormal(max="16 MiB")

"""The tables ``optimise`` and ``sensitivity`` of a study file."""

from typing import Annotated, Any, ClassVar, Final, NamedTuple

from lightburst.foundation.errors import InputError, show
from lightburst.scenario.fields import Real, Whole
from lightburst.scenario.section import Section
from lightburst.study.design.validated import Only

_METRIC = "the name of a metric or an expression, as 'throughput_bps', or a list of them"


def _some(value: Any) -> bool:
    several = value if isinstance(value, list | tuple) else [value]
    return all(isinstance(one, str) and one.strip() for one in several)


_Metrics = Annotated[Any, Only(_METRIC, _some)]


class Aim(NamedTuple):
    """An objective of an optimisation.

    Attributes
    ----------
    metric : str
        Column of the runs whose mean is the objective, or an expression.
    sign : float
        1 to minimise, -1 to maximise: the search minimises the product of sign and mean.
    where : str
        Key of the study that names the objective, for messages.
    """

    metric: str
    sign: float
    where: str

    @property
    def direction(self) -> str:
        """``"minimise"`` or ``"maximise"``."""
        return "minimise" if self.sign > 0 else "maximise"


class Optimise(Section):
    """Search for the values of the axes at which the mean of a metric is best.

    Attributes
    ----------
    minimise, maximise : str or list of str
        Objectives: names of metrics, or expressions. For several, the Pareto front is searched.
    trials : int
        Largest number of points to try.
    first : int
        Number of seeds of a trial before it may be given up.
    risk : float
        Largest probability of giving up a trial that is no worse than all earlier ones.
    confirm : int
        Number of fresh seeds for the comparison of the result with the default.
    budget : int or None
        Largest number of runs of the search; None for no limit.
    batch : int
        Number of trials proposed at once.
    seed : int
        Seed of the proposals.
    """

    minimise: _Metrics = ()
    maximise: _Metrics = ()
    trials: Annotated[int, Whole(2, 100_000)] = 40
    first: Annotated[int, Whole(2)] = 5
    risk: Annotated[float, Real(0, 1, inclusive=False)] = 0.05
    confirm: Annotated[int, Whole(2, 100_000)] = 20
    budget: Annotated[int, Whole(1)] | None = None
    batch: Annotated[int, Whole(1, 1000)] = 4
    seed: Annotated[int, Whole(0)] = 1

    @property
    def aims(self) -> tuple[Aim, ...]:
        """The objectives; `InputError` if there are none, or an objective occurs twice."""
        found = [
            Aim(metric, sign, f"optimise.{key}")
            for key, sign, given in (
                ("minimise", 1.0, self.minimise),
                ("maximise", -1.0, self.maximise),
            )
            for metric in named(given)
        ]
        if not found:
            allowed = f"optimise.minimise or optimise.maximise, {_METRIC}"
            raise InputError("optimise", "no objective", allowed)
        seen: set[str] = set()
        for aim in found:
            if aim.metric in seen:
                raise InputError(aim.where, f"{show(aim.metric)} twice", "each objective once")
            seen.add(aim.metric)
        return tuple(found)


class Sensitivity(Section):
    """Division of the variance of a metric among the axes.

    Attributes
    ----------
    metric : str or list of str
        Names of metrics, or expressions.
    points : int
        Size of the base sample, a power of two; the number of points run is this times the number
        of axes plus two.
    resamples : int
        Number of bootstrap resamples for the intervals.
    seed : int
        Seed of the sample and the bootstrap.
    """

    least: ClassVar[int] = 16

    metric: _Metrics
    points: Annotated[int, Whole(16, 2**20)] = 128
    resamples: Annotated[int, Whole(100, 100_000)] = 1000
    seed: Annotated[int, Whole(1)] = 1

    @property
    def metrics(self) -> tuple[str, ...]:
        """The different metrics; `InputError` if none, or if `points` is not a power of two."""
        if self.points & (self.points - 1):
            below = 2 ** (self.points.bit_length() - 1)
            allowed = f"a power of two, as {below} or {2 * below}, which Sobol's sequence balances"
            raise InputError("sensitivity.points", str(self.points), allowed)
        if not (found := tuple(dict.fromkeys(named(self.metric)))):
            raise InputError("sensitivity.metric", "none", _METRIC)
        return found


def named(given: Any) -> list[str]:
    """Return one name or several names as a list."""
    return [given] if isinstance(given, str) else list(given)


#: Example of each table in a study file, for error messages.
EXAMPLES: Final = {
    "optimise": "[optimise] with maximise = 'throughput_bps'",
    "sensitivity": "[sensitivity] with metric = 'throughput_bps'",
}

"""What a study asks beyond a table of points: its tables ``optimise`` and ``sensitivity``."""

from typing import Annotated, Any, ClassVar, Final, NamedTuple

from lightburst.errors import InputError, show
from lightburst.scenario.fields import Real, Section, Whole
from lightburst.study.only import Only

_METRIC = "the name of a metric or an expression, as 'throughput_bps', or a list of them"


def _some(value: Any) -> bool:
    several = value if isinstance(value, list | tuple) else [value]
    return all(isinstance(one, str) and one.strip() for one in several)


_Metrics = Annotated[Any, Only(_METRIC, _some)]


class Aim(NamedTuple):
    """One objective.

    Attributes
    ----------
    metric : str
        Column of the runs whose mean it is, or an expression.
    sign : float
        1 where less is better, -1 where more is: what the search minimises is the product.
    where : str
        The key that named it.
    """

    metric: str
    sign: float
    where: str

    @property
    def direction(self) -> str:
        """``"minimise"`` or ``"maximise"``."""
        return "minimise" if self.sign > 0 else "maximise"


class Optimise(Section):
    """For which values of the axes the mean of a metric is best.

    Attributes
    ----------
    minimise, maximise : str or list of str
        The objectives: names of metrics, or expressions. Of several the front is looked for.
    trials : int
        Points that are tried, at the most.
    first : int
        Seeds of a trial before it may be given up.
    risk : float
        Probability, at the most, with which a trial is given up that is no worse than those before.
    confirm : int
        Fresh seeds on which the answer is run again beside the default.
    budget : int or None
        Runs of the search together, at the most.
    batch : int
        Trials that are proposed at once.
    seed : int
        Of the proposals.
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
        """The objectives; `InputError` if there are none, or one twice."""
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
    """How much of the variance of a metric is due to which of the axes.

    Attributes
    ----------
    metric : str or list of str
        Names of metrics, or expressions.
    points : int
        Points of the base sample, a power of two; so many times the number of axes and two are
        run.
    resamples : int
        Of the bootstrap, for the intervals.
    seed : int
        Of the sample and of the bootstrap.
    """

    least: ClassVar[int] = 16

    metric: _Metrics
    points: Annotated[int, Whole(16, 2**20)] = 128
    resamples: Annotated[int, Whole(100, 100_000)] = 1000
    seed: Annotated[int, Whole(1)] = 1

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics, each once; `InputError` if there is none, or the points are no power."""
        if self.points & (self.points - 1):
            below = 2 ** (self.points.bit_length() - 1)
            allowed = f"a power of two, as {below} or {2 * below}, which Sobol's sequence balances"
            raise InputError("sensitivity.points", str(self.points), allowed)
        if not (found := tuple(dict.fromkeys(named(self.metric)))):
            raise InputError("sensitivity.metric", "none", _METRIC)
        return found


def named(given: Any) -> list[str]:
    """Give one name, or several, as a list."""
    return [given] if isinstance(given, str) else list(given)


#: What stands in a study file for each of them, for messages.
EXAMPLES: Final = {
    "optimise": "[optimise] with maximise = 'throughput_bps'",
    "sensitivity": "[sensitivity] with metric = 'throughput_bps'",
}

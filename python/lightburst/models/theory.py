"""Theories by name: each gives for a scenario the value of one metric of its runs.

A theory is called with a scenario and gives a number in the SI base unit, or NaN where the scenario
is not what it is about. `Theory.predict` says more: which of its assumptions do not hold there, or,
as an error, why it does not apply. `beside` puts a theory into a table of simulated points.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lightburst.errors import InputError, did_you_mean, show, some
from lightburst.models import padhye1998
from lightburst.models.burst_network import BurstNetwork
from lightburst.models.yu2004 import ASSUMPTIONS as OF_YU2004
from lightburst.models.yu2004 import broken_assumptions
from lightburst.models.yu2004 import predict as predict_yu2004
from lightburst.models.yu2004.scenarios import read

if TYPE_CHECKING:
    import pandas as pd

    from lightburst.scenario import Scenario


class Predicted(NamedTuple):
    """What a theory says of a scenario.

    Attributes
    ----------
    value : float
        Of the theory's metric, in its SI base unit.
    broken : tuple of str
        Names of the assumptions that do not hold there; `Theory.assumptions` has their words.
    """

    value: float
    broken: tuple[str, ...]


@dataclass(frozen=True)
class Theory:
    """One body of theory, as plots and tables of runs use it.

    Attributes
    ----------
    name : str
        By which it is asked for.
    metric : str
        The figure of a run that it predicts, see `lightburst.Result.summary`.
    words : str
        For a legend.
    assumptions : mapping of str to str
        What can be broken without the theory being silent, by name.
    predict : callable
        Of a scenario: `Predicted`. Raises `InputError` with each field that is outside of what the
        theory is about.
    """

    name: str
    metric: str
    words: str
    assumptions: Mapping[str, str]
    predict: Callable[[Scenario], Predicted]

    def __call__(self, scenario: Scenario) -> float:
        """Give the value, or NaN where the scenario is not what the theory is about."""
        try:
            return self.predict(scenario).value
        except InputError:
            return math.nan


def _yu2004(scenario: Scenario) -> Predicted:
    flow, one = read(scenario)
    flavour = one.flavour
    broken = broken_assumptions(flow, flavour)
    names = tuple(name for name, where in broken.items() if bool(where))
    return Predicted(float(predict_yu2004(flow, flavour).throughput) * one.useful_bits, names)


def _padhye1998(scenario: Scenario) -> Predicted:
    value, broken = padhye1998.predict(scenario)
    return Predicted(value, tuple(name for name, is_so in broken.items() if is_so))


def _erlang(scenario: Scenario) -> Predicted:
    network = BurstNetwork.from_scenario(scenario)
    if network.most_fibres > 1:
        allowed = "bursts that go over one fibre, which Erlang's formula assumes; 'reduced-load' "
        given = f"ways of up to {network.most_fibres} fibres"
        raise InputError("topology", given, f"{allowed}knows more")
    return _network_loss(network, ("equal-offsets",))


def _reduced_load(scenario: Scenario) -> Predicted:
    network = BurstNetwork.from_scenario(scenario)
    return _network_loss(network, ("equal-offsets", "streams-meet", "ways-mixed", "ways-apart"))


def _network_loss(network: BurstNetwork, assumptions: Sequence[str]) -> Predicted:
    found = {
        "equal-offsets": not network.equal_offsets,
        "streams-meet": any(len(ends) < 3 and ends != {None} for ends in network.fed.values()),
        "ways-mixed": network.kept_apart,
        "ways-apart": network.free,
    }
    broken = tuple(name for name in assumptions if found[name])
    return Predicted(network.loss() * network.share, broken)


_EQUAL_OFFSETS: Final = {
    "equal-offsets": "all bursts at a fibre have the same offset: headers take no time on the way"
}

#: The theories that know scenarios, by name.
THEORIES: Final[Mapping[str, Theory]] = MappingProxyType(
    {
        theory.name: theory
        for theory in (
            Theory("yu2004", "throughput_bps", "Yu et al. 2004", OF_YU2004, _yu2004),
            Theory(
                *("padhye1998", "throughput_bps", "Padhye et al. 1998"),
                padhye1998.ASSUMPTIONS,
                _padhye1998,
            ),
            Theory("erlang", "burst_loss", "Erlang B", _EQUAL_OFFSETS, _erlang),
            Theory(
                *("reduced-load", "burst_loss", "reduced load"),
                {
                    **_EQUAL_OFFSETS,
                    "streams-meet": "bursts that come over other links come over three or more",
                    "ways-mixed": (
                        "where two edges have several ways their bursts take all of them alike: "
                        "by a hash all take one, another one in each run"
                    ),
                    "ways-apart": (
                        "links among which a burst takes one that is free are full independently"
                    ),
                },
                _reduced_load,
            ),
        )
    }
)


def named(theory: str | Theory) -> Theory:
    """Find a theory by its name; `InputError` if there is none of that name."""
    if isinstance(theory, Theory):
        return theory
    if not isinstance(theory, str) or theory not in THEORIES:
        allowed = f"one of {some(THEORIES)}{did_you_mean(theory, THEORIES)}"
        raise InputError("theory", show(theory), allowed)
    return THEORIES[theory]


def beside(
    table: pd.DataFrame, scenarios: Sequence[Scenario], theory: str | Theory
) -> pd.DataFrame:
    """Put a theory beside simulated points.

    Parameters
    ----------
    table : pandas.DataFrame
        One row for each point, with its ``mean`` and, if they are there, ``ci_low`` and
        ``ci_high`` of the theory's metric.
    scenarios : sequence of Scenario
        Of each row.
    theory : str or Theory
        Which one; a name of `THEORIES`.

    Returns
    -------
    pandas.DataFrame
        The table, with ``theory`` (NaN where it does not apply), ``residual`` (mean less theory),
        ``ratio`` (mean over theory), ``inside`` (whether the theory lies within the interval of
        the mean) and ``broken``: the names of the assumptions that do not hold, separated by
        commas; ``"outside"`` where the theory does not apply. Where it is empty the theory says of
        itself that it holds.

    Raises
    ------
    InputError
        If there is no such theory, it applies nowhere (with what is outside at the first row), or
        there is not a scenario for each row.
    """
    chosen = named(theory)
    if len(table) != len(scenarios):
        given = f"{len(scenarios)} scenarios for {len(table)} rows"
        raise InputError("scenarios", given, "one for each row")
    values, broken, errors = [], [], []
    for scenario in scenarios:
        try:
            found = chosen.predict(scenario)
        except InputError as error:
            errors.append(error)
            found = Predicted(math.nan, ("outside",))
        values.append(found.value)
        broken.append(", ".join(found.broken))
    if errors and len(errors) == len(scenarios):
        raise errors[0]
    predicted, mean = np.array(values, np.float64), table["mean"].to_numpy(np.float64)
    with np.errstate(all="ignore"):
        more: dict[str, NDArray[Any]] = {
            "theory": predicted,
            "residual": mean - predicted,
            "ratio": mean / predicted,
        }
    if {"ci_low", "ci_high"} <= set(table.columns):
        low, high = (table[name].to_numpy(np.float64) for name in ("ci_low", "ci_high"))
        more["inside"] = (low <= predicted) & (predicted <= high)
    return table.assign(**more, broken=broken)

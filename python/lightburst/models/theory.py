"""Theories by name: each predicts one metric of a scenario's runs.

A theory is called with a scenario and returns a number in the SI base unit, or NaN where it does
not apply. `Theory.predict` also returns the violated assumptions, or raises an error with the
reason why the theory does not apply. `beside` adds a theory to a table of simulated points.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lightburst.foundation.errors import InputError, did_you_mean, show, some
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
    """Prediction of a theory for a scenario.

    Attributes
    ----------
    value : float
        Value of the theory's metric, in its SI base unit.
    broken : tuple of str
        Names of the violated assumptions; `Theory.assumptions` describes them.
    """

    value: float
    broken: tuple[str, ...]


@dataclass(frozen=True)
class Theory:
    """One body of theory, as used by plots and tables of runs.

    Attributes
    ----------
    name : str
        Key in `THEORIES`.
    metric : str
        The predicted metric of a run, see `lightburst.Result.summary`.
    words : str
        Legend entry.
    assumptions : mapping of str to str
        Assumptions by name; a violated one is reported, but does not prevent a prediction.
    predict : callable
        Maps a scenario to a `Predicted`. Raises `InputError` with each field to which the theory
        does not apply.
    """

    name: str
    metric: str
    words: str
    assumptions: Mapping[str, str]
    predict: Callable[[Scenario], Predicted]

    def __call__(self, scenario: Scenario) -> float:
        """Return the predicted value, or NaN where the theory does not apply."""
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

#: Theories that read scenarios, by name.
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
    """Look up a theory by its name; `InputError` if there is none."""
    if isinstance(theory, Theory):
        return theory
    if not isinstance(theory, str) or theory not in THEORIES:
        allowed = f"one of {some(THEORIES)}{did_you_mean(theory, THEORIES)}"
        raise InputError("theory", show(theory), allowed)
    return THEORIES[theory]


def beside(
    table: pd.DataFrame, scenarios: Sequence[Scenario], theory: str | Theory
) -> pd.DataFrame:
    """Compare a theory with simulated points.

    Parameters
    ----------
    table : pandas.DataFrame
        One row per point, with its ``mean`` and, optionally, ``ci_low`` and ``ci_high`` of the
        theory's metric.
    scenarios : sequence of Scenario
        Scenario of each row.
    theory : str or Theory
        The theory, or its name in `THEORIES`.

    Returns
    -------
    pandas.DataFrame
        The table, with ``theory`` (NaN where it does not apply), ``residual`` (mean minus theory),
        ``ratio`` (mean over theory), ``inside`` (whether the theory lies within the interval of the
        mean) and ``broken``: the names of the violated assumptions, separated by commas;
        ``"outside"`` where the theory does not apply. Empty where all assumptions of the theory
        hold.

    Raises
    ------
    InputError
        If there is no such theory, if it applies to no row (the error lists the reasons at the
        first one), or if the number of scenarios differs from that of the rows.
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

"""Fate of a burst, and changes that would have avoided its loss, each verified by a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from lightburst.experiment.network_trace import follow_all
from lightburst.explanation.text import Text
from lightburst.foundation.errors import InputError, warn
from lightburst.foundation.units import whole_number
from lightburst.result.metric_text import aligned, in_rows, readable, records, where
from lightburst.result.saving import of_run
from lightburst.scenario import as_scenario
from lightburst.simulation.simulate import simulate
from lightburst.trace import rescue
from lightburst.trace.network import ARRIVED, LOST, UNDER_WAY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from os import PathLike

    from lightburst.experiment.network_trace import TracedNetwork
    from lightburst.result.result import Result
    from lightburst.scenario import Scenario

_OF_HOP: Final = (
    "link_source", "link_target", "channel", "start_s", "end_s", "made_s", "bytes"
)  # fmt: skip
_OUTCOMES: Final = {
    ARRIVED: "arrived",
    LOST: "was lost",
    UNDER_WAY: "was under way when the run ended",
}


@dataclass(frozen=True, eq=False, repr=False)
class BurstExplanation(Text):
    """Fate of a burst and, if lost, remedies; ``str`` formats it as text.

    Attributes
    ----------
    result : Result
        Run in which the burst was traced.
    burst : int
        Number of the burst.
    about : dict
        ``burst``, ``ingress``, ``of_node`` (number among the bursts of its ingress, from 1),
        ``egress``, ``label``, ``packets``, ``bytes``, ``opened_s`` (arrival of its first packet),
        ``closed_s`` (end of assembly), ``departure_s`` (actual or scheduled departure),
        ``arrival_s`` (arrival of its tail at the egress), ``outcome`` (``arrived``, ``lost``,
        ``under way``); and for a lost burst ``lost_s``, ``reason``, ``node``, ``link_source``,
        ``link_target``, ``start_s`` and ``end_s`` (scheduled transmission on that link) and, for
        the burst that occupied the resource, ``holder_burst``, ``holder_ingress``,
        ``holder_egress``, ``holder_channel``, ``holder_start_s``, ``holder_end_s``.
    hops : pandas.DataFrame
        Links that the burst used: ``link_source``, ``link_target``, ``channel``, ``start_s``,
        ``end_s``, ``made_s`` (time of the reservation) and ``bytes``, its remaining size there.
    remedies : pandas.DataFrame
        Changes tried for a lost burst, each in a run with the same seed: ``means`` and ``remedy``,
        the ``changes`` of the scenario, ``delay_s`` if it is a time; the fate in that run of the
        burst with the same number at the same ingress: ``outcome`` (missing if there is none),
        ``reason``, ``way`` (nodes passed), and ``same``, True if it was assembled at the same time
        with the same bytes; ``lost``, the number of bursts lost in that run; and ``saved``, True if
        it was the same burst and arrived.
    lost : int
        Number of bursts lost in the original run.
    """

    result: Result
    burst: int
    about: dict[str, Any]
    hops: pd.DataFrame
    remedies: pd.DataFrame
    lost: int

    def as_dict(self) -> dict[str, Any]:
        """Return the explanation as JSON-compatible values."""
        found = {
            **self.about,
            "hops": records(self.hops),
            "remedies": records(self.remedies),
            "lost": self.lost,
        }
        return of_run(self.result, found)

    def _lines(self) -> Iterable[str]:
        return _lines(self)


def explain_burst(
    scenario: Scenario | str | PathLike[str], burst: int | np.integer, seed: int | np.integer = 1
) -> BurstExplanation:
    """Explain the fate of a burst of a scenario and, if it was lost, find remedies.

    The scenario is run once, then with all bursts traced; for a lost burst further runs test each
    change that might have avoided the loss.

    Parameters
    ----------
    scenario : Scenario, str or path-like
        Scenario to simulate, or path of its file.
    burst : int
        Number of the burst among all bursts of the run, from 0, in the order of assembly: the same
        as in `lightburst.trace_network` and in traces of flows.
    seed : int
        Seed of all random streams.

    Returns
    -------
    BurstExplanation

    Raises
    ------
    InputError
        If there is no such burst, or the scenario cannot be run or has no bursts.

    Warns
    -----
    RunWarning
        For each of `Result.warnings` of the original run.
    """
    found = tell(as_scenario(scenario), burst, seed, simulate)
    warn(found.result.warnings, stacklevel=2)
    return found


def tell(
    scenario: Scenario,
    burst: int | np.integer,
    seed: int | np.integer,
    simulate: Callable[..., Result],
) -> BurstExplanation:
    """Explain a burst as `explain_burst` does, without issuing warnings.

    `simulate` runs a scenario with a seed and, for a repeated run, the earlier result as
    ``before``.
    """
    found = follow_all(scenario, seed, simulate)
    bursts = found.result.trace.bursts
    most = len(bursts) - 1
    allowed = f"a whole number from 0 to {most}" if len(bursts) else "none: there are no bursts"
    number = whole_number("burst", burst, most, allowed)
    about = _about(found, number)
    tried: list[dict[str, Any]] = []
    lost = about["outcome"] == LOST
    for remedy in rescue.remedies(found.result, found.trace, number) if lost else ():
        if not any(row["saved"] and row["means"] == remedy.means for row in tried):
            again = _again(found, remedy, simulate)
            tried.append({**remedy._asdict(), **_fate(found, number, again)})
    columns = [*rescue.Remedy._fields, *_fate(found, number, None)]
    hops = found.trace.bookings[found.trace.bookings["burst"] == number]
    return BurstExplanation(
        result=found.result,
        burst=number,
        about=about,
        hops=hops[[*_OF_HOP]],
        remedies=pd.DataFrame(tried, columns=columns),
        lost=int(bursts["lost"].sum()),
    )


def _again(
    found: TracedNetwork, remedy: rescue.Remedy, simulate: Callable[..., Result]
) -> TracedNetwork | None:
    """Run the scenario with a change; return None if the change is invalid for it."""
    try:
        changed = found.result.scenario.with_(remedy.changes)
        return follow_all(changed, found.result.seed, simulate)
    except InputError:
        return None


def _about(found: TracedNetwork, number: int) -> dict[str, Any]:
    table = found.result.trace.bursts
    (row,) = records(table[table["number"] == number])
    there = ARRIVED if row["arrival_s"] is not None else UNDER_WAY
    about = {
        "burst": number,
        "ingress": row["node"],
        **{name: row[name] for name in ("of_node", "egress", "label", "packets", "bytes")},
        **{f"{name}_s": row[f"{name}_s"] for name in ("opened", "closed", "departure", "arrival")},
        "outcome": LOST if row["lost"] else there,
    }
    losses = found.trace.losses
    for loss in records(losses[losses["burst"] == number]):
        names = ("lost_s", "reason", "node", "link_source", "link_target", "start_s", "end_s")
        about |= {name: loss[name] for name in names}
        about |= {name: value for name, value in loss.items() if name.startswith("holder_")}
    return about


def _fate(found: TracedNetwork, number: int, again: TracedNetwork | None) -> dict[str, Any]:
    """Return the fate in another run of the burst with the same number at its ingress."""
    bursts = found.result.trace.bursts
    own = bursts[bursts["number"] == number].iloc[0]
    fate: dict[str, Any] = dict.fromkeys(("outcome", "reason", "way"))
    fate |= {"same": False, "lost": None, "saved": False}
    if again is None:
        return fate
    table = again.result.trace.bursts
    fate["lost"] = int(table["lost"].sum())
    there = table[(table["node"] == own["node"]) & (table["of_node"] == own["of_node"])]
    for row in records(there):
        arrived = ARRIVED if row["arrival_s"] is not None else UNDER_WAY
        fate["outcome"] = LOST if row["lost"] else arrived
        fate["reason"] = row["reason"]
        bookings = again.trace.bookings
        passed = bookings[bookings["burst"] == row["number"]]["link_target"]
        fate["way"] = " \u2192 ".join(map(str, [row["node"], *passed]))
        same = (row["closed_s"], row["bytes"]) == (own["closed_s"], own["bytes"])
        fate["same"] = same
        fate["saved"] = same and fate["outcome"] == ARRIVED
    return fate


def _lines(found: BurstExplanation) -> Iterator[str]:
    about = found.about
    yield (
        f"Burst {found.burst}, number {about['of_node']} of {about['ingress']}, from "
        f"{about['ingress']} to {about['egress']} on path {about['label']}, "
        f"{about['packets']} packet{'s' * (about['packets'] != 1)}, "
        f"{readable('size_bytes', about['bytes'])}: "
        f"it {_OUTCOMES[about['outcome']]}."
    )
    yield ""
    yield "What happened"
    rows = [
        (_time(about["opened_s"]), f"its first packet comes to {about['ingress']}"),
        (_time(about["closed_s"]), "it is assembled"),
    ]
    rows += [
        (_time(hop.start_s), f"its head leaves {hop.link_source} for {hop.link_target} on "
         f"channel {hop.channel}, reserved at {_time(hop.made_s)}; its tail at {_time(hop.end_s)}"
         + _left(hop.bytes, about["bytes"]))
        for hop in in_rows(found.hops)
    ]  # fmt: skip
    if about["outcome"] == LOST:
        rows.append((_time(about["lost_s"]), _loss(about)))
    elif about["outcome"] == ARRIVED:
        rows.append((_time(about["arrival_s"]), f"its tail is at {about['egress']}"))
    yield from aligned(rows)
    if about["outcome"] == LOST:
        yield ""
        yield "Remedies: the same run with one change, and the fate of the same burst in it"
        tried = [(row.remedy, _told(row, found.lost)) for row in in_rows(found.remedies)]
        yield from aligned(tried) if tried else ["  none that could be tried"]


def _left(here: int, whole: int) -> str:
    return "" if here == whole else f"; {readable('size_bytes', here)} of it are left"


def _loss(about: dict[str, Any]) -> str:
    place = where(*(about[name] for name in ("node", "link_source", "link_target")))
    text = (
        f"LOST {place}: {about['reason']}, "
        f"from {_time(about['start_s'])} to {_time(about['end_s'])}"
    )
    if about["holder_burst"] is not None:
        text += f"; burst {about['holder_burst']}"
        if about["holder_channel"] is not None:
            text += (
                f" ({about['holder_ingress']} \u2192 {about['holder_egress']}) had channel "
                f"{about['holder_channel']} from {_time(about['holder_start_s'])} "
                f"to {_time(about['holder_end_s'])}"
            )
    return text


def _told(row: Any, before: int) -> str:
    if pd.isna(row.lost):
        return "not tried: the scenario does not allow it"
    whole = f"{int(row.lost):,} bursts lost in all, {before:,} without the change"
    if pd.isna(row.outcome):
        return f"no such burst there, because earlier events changed; {whole}"
    what = "it arrives" if row.outcome == ARRIVED else f"it {_OUTCOMES[row.outcome]}"
    if not pd.isna(row.reason):
        what += f" ({row.reason})"
    same = "" if row.same else ", but with other packets, because earlier events changed"
    return f"{'yes' if row.saved else 'no'}: {what} over {row.way}{same}; {whole}"


def _time(seconds: float) -> str:
    """Format a time to the nanosecond, which separates bursts."""
    return f"{seconds * 1e3:,.6f} ms"

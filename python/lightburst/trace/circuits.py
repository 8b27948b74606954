"""Circuits as a flow meets them: which links lead to them, and when one is open for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lightburst.compile.plan import Plan


class Slot(NamedTuple):
    """A circuit that opens again and again.

    Attributes
    ----------
    first_ps : int
        Begin of one opening, by the clock of the rack: what leaves it then passes.
    every_ps : int
        Time from one opening to the next.
    open_ps : int
        Length of each opening.
    """

    first_ps: int
    every_ps: int
    open_ps: int


def to_circuits(plan: Plan) -> NDArray[np.bool_]:
    """Return a mask of the links from racks to circuit switches, shape (links,)."""
    hosts, switch = plan.settings["hosts"], plan.nodes["switch"]
    turns = np.array([one["kind"] == "circuit" for one in plan.settings["switches"]], np.bool_)
    source, target = plan.links["from"], plan.links["to"]
    if not turns.any():
        return np.zeros(source.size, np.bool_)
    up: NDArray[np.bool_] = np.isin(source, target[:hosts]) & (target >= hosts)
    up[up] = turns[switch[target[up] - hosts]]
    return up


def direct(plan: Plan, flow: int) -> tuple[Slot, ...]:
    """Return the circuits from the rack of a flow to that of its destination, by the schedule.

    Parameters
    ----------
    plan : Plan
        The plan of the run.
    flow : int
        Number of the flow.

    Returns
    -------
    tuple of Slot
        Empty without a schedule of circuits, and for a flow within a rack. Links that go down are
        not considered.
    """
    settings = plan.settings["switches"]
    schedule = settings[0].get("schedule") if settings else None
    if schedule is None or "turns" not in schedule:
        return ()
    home, up = plan.links["to"][: plan.settings["hosts"]], to_circuits(plan)
    racks, cores = np.unique(home), np.unique(plan.links["to"][up])
    node, end = (home[plan.flows[name][flow]] for name in ("source", "destination"))
    rack, peer = (int(np.searchsorted(racks, one)) for one in (node, end))
    joins = [matching[rack] == peer for matching in schedule["matchings"]]
    slot, guard = schedule["slot_ps"], schedule["guard_ps"]
    offsets = schedule.get("offsets_ps", [0] * cores.size)
    found = []
    for core, turn, offset in zip(cores, schedule["turns"], offsets, strict=True):
        (link,) = np.flatnonzero(up & (plan.links["from"] == node) & (plan.links["to"] == core))
        late = guard + offset - int(plan.links["delay_ps"][link])
        found += [
            Slot(place * slot + late, len(turn) * slot, slot - guard)
            for place, number in enumerate(turn)
            if joins[number]
        ]
    return tuple(found)


def openings(slots: tuple[Slot, ...], begin_ps: int, end_ps: int) -> NDArray[np.int64]:
    """Return the times between two at which any circuit is open, shape (openings, 2).

    Parameters
    ----------
    slots : tuple of Slot
        Circuits, from `direct`.
    begin_ps, end_ps : int
        Times in picoseconds.

    Returns
    -------
    ndarray of int64, shape (openings, 2)
        Begin and end of each in picoseconds, in order, without overlaps.
    """
    found = []
    for first, every, length in slots:
        number = np.arange((begin_ps - first - length) // every + 1, -((first - end_ps) // every))
        starts = first + number * every
        found.append(np.stack([starts, starts + length], axis=1))
    if not found:
        return np.empty((0, 2), np.int64)
    spans = np.concatenate(found).clip(max(begin_ps, 0), end_ps)
    spans = spans[np.argsort(spans[:, 0], kind="stable")]
    ends = np.maximum.accumulate(spans[:, 1])
    apart = np.flatnonzero(spans[1:, 0] > ends[:-1]) + 1
    begins = np.concatenate([[0], apart]).astype(np.intp)
    lasts = np.concatenate([apart, [len(spans)]]).astype(np.intp) - 1
    return np.stack([spans[begins, 0], ends[lasts]], axis=1) if len(spans) else spans

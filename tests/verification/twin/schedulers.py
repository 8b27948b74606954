"""Schedulers of circuits, from what they are defined by: docs/model.md, "Circuits by demand"."""

from collections.abc import Callable
from itertools import groupby, product
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

# For each rack the rack to which its circuit leads, or None.
Matching = list[int | None]
Demand = list[list[int]]
# Matchings of a circuit switch, each with its number of slots.
Turn = list[tuple[Matching, int]]


class Slotted:
    """A matching for each switch and slot."""

    #: Whether the circuit of a switch from a rack to another leads nowhere.
    closed: Callable[[int, int, int], bool]

    def __init__(self, own: dict[str, Any], racks: int) -> None:
        self.own = own
        self.racks = range(racks)
        self.pointers = [([0] * racks, [0] * racks) for _ in own["slot_bytes"]]

    def decide(self, demand: Demand) -> list[Turn]:
        """Each switch sees what those before it leave."""
        turns: list[Turn] = []
        for core, carried in enumerate(self.own["slot_bytes"]):
            open_now = [
                [0 if self.closed(core, a, b) else demand[a][b] for b in self.racks]
                for a in self.racks
            ]
            matching = self.matching(core, open_now)
            for rack, peer in enumerate(matching):
                if peer is not None:
                    demand[rack][peer] = max(0, demand[rack][peer] - carried)
            turns.append([(matching, 1)])
        return turns

    def matching(self, core: int, demand: Demand) -> Matching:
        """The matching of one switch."""
        raise NotImplementedError

    def pairs(self, demand: Demand) -> list[tuple[int, int]]:
        """The pairs of racks for which something waits."""
        return [(a, b) for a, b in product(self.racks, self.racks) if demand[a][b]]


class Greedy(Slotted):
    """The heaviest pair that is possible, again and again."""

    def matching(self, core: int, demand: Demand) -> Matching:
        """The matching of one switch."""
        matching: Matching = [None for _ in self.racks]
        while True:
            possible = [
                (-demand[a][b], a, b)
                for a, b in self.pairs(demand)
                if matching[a] is None and b not in matching
            ]
            if not possible:
                return matching
            _, a, b = min(possible)
            matching[a] = b


class Hungarian(Slotted):
    """The first of all heaviest matchings, by SciPy."""

    def matching(self, core: int, demand: Demand) -> Matching:
        """The matching of one switch: each rack has its lowest peer that keeps the weight."""
        weights = np.array(demand, np.int64)
        most = heaviest(weights)
        matching: Matching = []
        for rack in self.racks:
            allowed = [peer for peer in self.racks if weights[rack, peer]]
            for peer in allowed:
                only = weights.copy()
                only[rack] = only[:, peer] = 0
                only[rack, peer] = weights[rack, peer]
                if heaviest(only) == most:
                    matching.append(peer)
                    weights = only
                    break
            else:
                matching.append(None)
                weights[rack] = 0
        return matching


def heaviest(weights: np.ndarray[Any, np.dtype[np.int64]]) -> int:
    """The largest weight of a matching."""
    return int(weights[linear_sum_assignment(weights, maximize=True)].sum())


class Islip(Slotted):
    """Request, grant, accept."""

    def matching(self, core: int, demand: Demand) -> Matching:
        """The matching of one switch."""
        grant, accept = self.pointers[core]
        racks = len(self.racks)
        matching: Matching = [None for _ in self.racks]
        for iteration in range(self.own["iterations"]):
            requests = [
                (a, b) for a, b in self.pairs(demand) if matching[a] is None and b not in matching
            ]
            granted: dict[int, list[int]] = {}
            for b in self.racks:
                asking = [a for a, to in requests if to == b]
                if asking:
                    first = min(asking, key=lambda a: (a - grant[b]) % racks)
                    granted.setdefault(first, []).append(b)
            for a, offers in granted.items():
                b = min(offers, key=lambda to: (to - accept[a]) % racks)
                matching[a] = b
                if iteration == 0:
                    accept[a], grant[b] = (b + 1) % racks, (a + 1) % racks
        return matching


class Birkhoff(Slotted):
    """Stuffed, and sliced by powers of two."""

    def decide(self, demand: Demand) -> list[Turn]:
        """The sequence of matchings of each switch."""
        slowest = min(self.own["slot_bytes"])
        left = np.array([[-(-entry // slowest) for entry in row] for row in demand])
        most = max(*left.sum(0), *left.sum(1))
        for only_used in (True, False):
            for a, b in product(self.racks, self.racks):
                if left[a, b] or not only_used:
                    left[a, b] += min(most - left[a].sum(), most - left[:, b].sum())
        assert (left.sum(0) == most).all() and (left.sum(1) == most).all()
        cores = len(self.own["slot_bytes"])
        each = min(self.own["frame"], -(-int(most) // cores))
        poured: list[Matching] = []
        least = 2 ** (int(left.max()).bit_length() - 1)
        while least:
            peers = perfect(left >= least)
            if peers is None:
                least //= 2
                continue
            left[list(self.racks), peers] -= least
            matching: Matching = [None if a == b else b for a, b in enumerate(peers)]
            if matching != [None] * len(matching):
                poured += [matching] * least
        parts = [poured[each * core : each * (core + 1)] for core in range(cores)]
        return [[(one, len(list(same))) for one, same in groupby(part)] for part in parts]


def perfect(allowed: np.ndarray[Any, np.dtype[np.bool_]]) -> list[int] | None:
    """A perfect matching: row by row with augmenting paths, the lowest columns first."""
    holder: dict[int, int] = {}

    def place(row: int, seen: set[int]) -> bool:
        for column in np.flatnonzero(allowed[row]).tolist():
            if column not in seen:
                seen.add(column)
                if column not in holder or place(holder[column], seen):
                    holder[column] = row
                    return True
        return False

    if not all(place(row, set()) for row in range(len(allowed))):
        return None
    columns = {row: column for column, row in holder.items()}
    return [columns[row] for row in range(len(allowed))]


SCHEDULERS = {"greedy": Greedy, "hungarian": Hungarian, "islip": Islip, "birkhoff": Birkhoff}

"""Traffic between places: the rows of a traffic matrix."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from lightburst.foundation.errors import InputError, combine, did_you_mean, show, some
from lightburst.foundation.units import parse_number
from lightburst.scenario.fields import Name
from lightburst.scenario.reading.files import Stamp, stamp
from lightburst.scenario.reading.rows import cells_of, read_rows
from lightburst.workload.edges import Edges, Indices, choose

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from lightburst.scenario.tables.workload import Poisson

_COLUMNS: Final = ("source", "destination", "weight")
_REQUIRED: Final = _COLUMNS[:2]
_FILE: Final = "workload.demands_file"
# Largest number of errors reported for one table.
_MOST_ERRORS: Final = 20


class _Row(NamedTuple):
    source: str
    destination: str
    weight: float
    where: str


class _Places(NamedTuple):
    """Hosts of each place, shape (places,): `number` hosts from `first` on in `hosts`."""

    first: Indices
    number: Indices
    hosts: Indices

    def draw(self, places: Indices, generator: np.random.Generator) -> Indices:
        """Draw one host of each of the given places."""
        drawn = self.first[places] + generator.integers(0, self.number[places])
        return np.asarray(self.hosts[drawn])

    def spread(self, places: Indices, share: NDArray[np.float64]) -> NDArray[np.float64]:
        """Divide the share of each of the given places among its hosts, shape (hosts,)."""
        of_place = np.bincount(places, share, self.first.size) / self.number
        which = np.repeat(np.arange(self.first.size), self.number)
        # All places lie one after the other in `hosts`.
        return np.bincount(self.hosts, of_place[which]).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Demands:
    """Shares of the flows that go from one place to another.

    A place is a host, or an edge with all its hosts.

    Attributes
    ----------
    source, destination : ndarray of int, shape (demands,)
        Numbers of places: those of hosts come first, then those of edges.
    share : ndarray of float, shape (demands,)
        Probability of each demand; the sum is 1.
    edges : Edges
        Edge of each host.
    """

    source: Indices
    destination: Indices
    share: NDArray[np.float64]
    edges: Edges

    @classmethod
    def of(cls, workload: Poisson, edges: Edges, names: Sequence[str] | None) -> Demands:
        """Return the demands of a workload.

        Parameters
        ----------
        workload : Poisson
            Workload with demands.
        edges : Edges
            Assignment of hosts to edges.
        names : sequence of str, optional
            Names of the hosts; without names, hosts are given by number.

        Raises
        ------
        InputError
            If the file cannot be used, or a demand is there twice, or between places that do not
            exist or have a host in common.
        """
        path, rows = _rows(workload)
        hosts = edges.of_host.size
        own = (str(host) for host in range(hosts)) if names is None else names
        place = {name: number for number, name in enumerate((*own, *edges.names))}
        edge = [edges.names[of] for of in edges.of_host.tolist()]
        errors, seen = list[InputError](), dict[tuple[str, str], str]()
        for row in rows:
            errors += _errors(row, path, place, edge, seen)
            if len(errors) >= _MOST_ERRORS:
                break
        if errors:
            raise combine(errors)
        weight = np.array([row.weight for row in rows])
        if not weight.sum() > 0:
            raise InputError(
                path, "demands that all have the weight 0", "one with a weight above 0"
            )
        ends = ([place[getattr(row, end)] for row in rows] for end in _REQUIRED)
        source, destination = map(np.array, ends)
        # Divided by the largest first, so that no sum overflows.
        weight = weight / weight.max()
        return cls(source, destination, weight / weight.sum(), edges)

    @property
    def _places(self) -> _Places:
        hosts = self.edges.of_host.size
        number = np.bincount(self.edges.of_host, minlength=len(self.edges.names))
        by_edge = np.argsort(self.edges.of_host, kind="stable")
        return _Places(
            np.concatenate([np.arange(hosts), hosts + np.cumsum(number) - number]),
            np.concatenate([np.ones(hosts, np.int64), number]),
            np.concatenate([np.arange(hosts), by_edge]),
        )

    def pairs(self, count: int, generator: np.random.Generator) -> tuple[Indices, Indices]:
        """Draw the hosts of `count` flows; within a place they are uniform."""
        which, places = choose(self.share, generator.random(count)), self._places
        source = places.draw(self.source[which], generator)
        return source, places.draw(self.destination[which], generator)

    @property
    def between_edges(self) -> NDArray[np.float64]:
        """Share of the flows from each edge to each other edge, shape (edges, edges)."""
        edges = len(self.edges.names)
        edge_of = np.concatenate([self.edges.of_host, np.arange(edges)])
        shares = np.zeros((edges, edges))
        np.add.at(shares, (edge_of[self.source], edge_of[self.destination]), self.share)
        np.fill_diagonal(shares, 0)
        return shares

    def of_hosts(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the share of the flows that leave and that reach each host, shape (hosts,)."""
        places = self._places
        return places.spread(self.source, self.share), places.spread(self.destination, self.share)


def _rows(workload: Poisson) -> tuple[str, Sequence[_Row]]:
    """Return the path of the field with the demands, and the demands."""
    if workload.demands_file is not None:
        return _FILE, _read(workload.demands_file, stamp(workload.demands_file, _FILE))
    given = workload.demands or ()
    ends = ((one.source, one.destination, one.weight) for one in given)
    return "workload.demands", [_Row(*row, f"demand {i}") for i, row in enumerate(ends)]


def _errors(
    row: _Row,
    path: str,
    place: dict[str, int],
    edge: Sequence[str],
    seen: dict[tuple[str, str], str],
) -> Iterator[InputError]:
    """Yield the errors of a row; `place` numbers the names, `edge` is that of each host."""
    pair = row.source, row.destination
    given = f"{row.where}: {row.source} to {row.destination}"
    for name in pair:
        if name not in place:
            near = did_you_mean(name, place)
            allowed = f"names of hosts, or of switches with hosts, {some(list(place))}{near}"
            yield InputError(path, f"{row.where}: {show(name)}", allowed)
            return
    own = {edge[place[name]] for name in pair if place[name] < len(edge)}
    if row.source == row.destination:
        yield InputError(path, given, "two different places")
    elif own.intersection(pair):
        yield InputError(
            path, given, "two places without a common host: one is a host of the other"
        )
    if pair in seen:
        yield InputError(path, given, f"each pair once (it is in {seen[pair]} as well)")
    seen[pair] = row.where


@lru_cache(maxsize=4)
def _read(file: Path, _version: Stamp) -> tuple[_Row, ...]:
    rows = read_rows(file, _FILE, _REQUIRED, _COLUMNS[2:])
    found = tuple(_row(where, *cells_of(row, where, _FILE, _COLUMNS)) for where, row in rows)
    if not found:
        raise InputError(_FILE, f"{file}, which has no rows", "at least one demand")
    return found


def _row(where: str, source: str, destination: str, weight: str) -> _Row:
    for name in (source, destination):
        if not Name().fits(name):
            raise InputError(_FILE, f"{where}: {show(name)}", f"as a name, {Name().allowed}")
    number = parse_number(weight) if weight else 1.0
    if number is None or not 0 <= number < np.inf:
        raise InputError(_FILE, f"{where}: weight {show(weight)}", "a number, 0 or more")
    return _Row(source, destination, number, where)

"""When units change between a working and a backup path, from the outages of links."""

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from lightburst.scenario.tables.protection import Protection
from lightburst.topology.network import Network
from lightburst.topology.outages import NEVER, Spans, merged


def protection_settings(
    protection: Protection,
    network: Network,
    paths: Mapping[str, NDArray[Any]],
    outages: Sequence[Sequence[int]],
    limit: int,
) -> dict[str, Any]:
    """Return the settings of protection.

    Parameters
    ----------
    protection : Protection
        The ``[protection]`` table.
    network : Network
        The network.
    paths : dict of str to ndarray
        Columns of the paths: for each pair of switches the working path and the backup path.
    outages : sequence of sequence of int
        Link, begin and end in picoseconds of each outage, by link and time.
    limit : int
        End of the run in picoseconds.

    Returns
    -------
    dict
        ``turns``: ingress, egress, time in picoseconds, and label of the path that is selected from
        then on, by pair and time. ``duplicates``, if packets travel on both.
    """
    down: dict[int, Spans] = {}
    for link, *span in outages:
        down.setdefault(link, []).append((span[0], span[1]))
    noticed = {link: lasting(spans, protection.detection) for link, spans in down.items()}
    offsets, links = paths["path_offsets"].tolist(), paths["path_links"].tolist()
    source, destination = paths["path_source"].tolist(), paths["path_destination"].tolist()
    turns = []
    twice = protection.scheme == "1+1"
    for i in range(0, len(source), 2):
        working, backup = (links[offsets[j] : offsets[j + 1]] for j in (i, i + 1))
        # The egress switches by itself (1+1), or its notice goes back along the backup path (1:1).
        notice = 0 if twice else sum(_delays(network, backup).values())
        lag = protection.switching + notice
        for begin, end in on_backup(protection, network, working, backup, noticed):
            for time, label in ((begin + lag, 1), (end + lag, 0)):
                if time <= limit:
                    turns.append([source[i], destination[i], time, label])
    return {"turns": sorted(turns)} | ({"duplicates": True} if twice else {})


def on_backup(
    protection: Protection,
    network: Network,
    working: Sequence[int],
    backup: Sequence[int],
    noticed: dict[int, Spans],
) -> Spans:
    """Return when an egress wants the backup path: if that alone is whole, for all that it knows.

    Parameters
    ----------
    protection : Protection
        The ``[protection]`` table.
    network : Network
        The network.
    working, backup : sequence of int
        Links of both paths.
    noticed : dict of int to list of tuple of int
        Outages of links that last long enough.

    Returns
    -------
    list of tuple of int
        Begin and end of each time, in picoseconds.
    """
    failed, other = (
        merged(
            [
                (_later(begin, after), _later(end, after))
                for link, rest in _delays_behind(network, path).items()
                for begin, end in noticed.get(link, ())
                for after in (rest + protection.detection,)
            ]
        )
        for path in (working, backup)
    )
    wait = NEVER if protection.wait_to_restore is None else protection.wait_to_restore
    # A failure of the backup path has the higher priority (ITU-T G.808.1).
    return without(merged([(begin, _later(end, wait)) for begin, end in failed]), other)


def lasting(spans: Spans, delay: int) -> Spans:
    """Return intervals without the changes that do not last longer than a delay.

    Parameters
    ----------
    spans : list of tuple of int
        Begin and end of each, in order.
    delay : int
        Time after which a change is noticed, if it still lasts.

    Returns
    -------
    list of tuple of int
    """
    found: Spans = []
    since = None
    for (begin, end), (later, _) in zip(spans, [*spans[1:], (NEVER, NEVER)], strict=True):
        if since is None and end - begin > delay:
            since = begin
        if since is not None and later - end > delay:
            found.append((since, end))
            since = None
    return found if since is None else [*found, (since, NEVER)]


def without(spans: Spans, others: Spans) -> Spans:
    """Return intervals without the times in others; both are in order, and do not overlap.

    Parameters
    ----------
    spans, others : list of tuple of int
        Begin and end of each.

    Returns
    -------
    list of tuple of int
    """
    found: Spans = []
    # The first of the others that ends after the begin of the interval.
    first = 0
    for begin, end in spans:
        while first < len(others) and others[first][1] <= begin:
            first += 1
        for number in range(first, len(others)):
            other_begin, other_end = others[number]
            if other_begin >= end:
                break
            if begin < other_begin:
                found.append((begin, other_begin))
            begin = other_end
        if begin < end:
            found.append((begin, end))
    return found


def _later(time: int, by: int) -> int:
    return min(time + by, NEVER)


def _delays(network: Network, path: Sequence[int]) -> dict[int, int]:
    """Return the delay of each node of a path to the next, without parallel links."""
    sources = network.link_from
    return {int(sources[link]): int(network.link_delay_ps[link]) for link in reversed(path)}


def _delays_behind(network: Network, path: Sequence[int]) -> dict[int, int]:
    """Return the delay from the far end of each link of a path to the egress."""
    delays = _delays(network, path)
    rest = sum(delays.values())
    found = {}
    passed = None
    for link in path:
        node = int(network.link_from[link])
        if node != passed:
            rest -= delays[node]
            passed = node
        found[link] = rest
    return found

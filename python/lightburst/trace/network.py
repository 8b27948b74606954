"""Bursts on traced links: the reservations of each channel, losses and cuts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pandas as pd

from lightburst.measurement.places import Places

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lightburst.result.result import Result

#: Outcomes of a burst.
ARRIVED: Final = "arrived"
LOST: Final = "lost"
UNDER_WAY: Final = "under way"
# Loss reason of a late header: the burst had a channel on the link it came over.
_LATE: Final = "late-header"
# Columns about a burst in the tables of reservations and losses.
_OF_BURST: Final = ("of_node", "label", "packets", "bytes")


class Fibre(NamedTuple):
    """A fibre in one direction.

    Attributes
    ----------
    link : int
        Number of its link, or of its first wavelength's link where every wavelength is a link.
    name : str
        Names of its end nodes, and its own name if it has one.
    channels : int
        Number of its wavelengths.
    """

    link: int
    name: str
    channels: int


@dataclass(frozen=True, eq=False)
class NetworkTrace:
    """Reservations and losses of bursts on the traced links.

    Attributes
    ----------
    fibres : tuple of Fibre
        The traced fibres, sorted by link number.
    begin_ps, end_ps : int
        Traced interval, from ``measurement.network``; if that has no end, up to the last event.
    bursts : pandas.DataFrame
        Bursts that used a traced link in the interval, or were lost on it: the columns of
        `trace_tables.bursts` and ``outcome`` (``arrived``, ``lost`` or ``under way``), indexed
        by number.
    bookings : pandas.DataFrame
        Reservations: the columns of `trace_tables.bookings`, ``start_ps``, ``end_ps``,
        ``fibre`` (index into `fibres`), and ``ingress``, ``egress``, ``of_node``, ``label``,
        ``packets`` and ``outcome`` of the burst.
    losses : pandas.DataFrame
        One row per burst that was lost on a traced link, or because the link had no free channel.
        ``lost_s``; ``burst``, its number; ``ingress``, ``egress``, ``of_node``, ``label``,
        ``packets``, ``bytes``; ``reason``; ``node``; ``link`` with ``link_source`` and
        ``link_target`` (for a late header, the link over which the burst came); ``fibre``;
        ``start_s`` and ``end_s`` (also ``start_ps``, ``end_ps``), the time at which the burst was
        to use the link or, with a late header, to arrive over it. ``holder_burst``: the burst that
        held the resource (missing if none did); if it is known, also ``holder_ingress``,
        ``holder_egress``, ``holder_channel``, ``holder_start_s`` and ``holder_end_s``. ``channel``:
        that of the holder or, for a burst lost on the link itself, its own (missing if there is
        none, as with a late header).
    cuts : pandas.DataFrame
        One row per piece that segmentation cut off a burst on a traced link: the columns of
        `trace_tables.cuts`; ``start_ps``, ``end_ps`` and ``end_s``, the time at which the
        piece was to use the link; and ``fibre``, ``channel``, the burst and its holder as in
        `losses`.
    """

    fibres: tuple[Fibre, ...]
    begin_ps: int
    end_ps: int
    bursts: pd.DataFrame
    bookings: pd.DataFrame
    losses: pd.DataFrame
    cuts: pd.DataFrame

    @classmethod
    def of(cls, result: Result) -> NetworkTrace:
        """Extract the network trace from a result.

        Parameters
        ----------
        result : Result
            Result of a scenario with ``measurement.network``.

        Returns
        -------
        NetworkTrace

        Raises
        ------
        InputError
            If no links were traced.
        """
        bookings = result.trace.bookings.copy()
        asked = result.plan.settings["bookings"]
        places, links = Places.of(result.plan), np.array(asked["links"], np.int64)
        first = _first(places, np.arange(places.link_from.size))
        used = np.unique(first[links])
        wavelengths = np.bincount(first, minlength=first.size)[used] * result.plan.channels[used]
        fibres = tuple(
            Fibre(link, _name(places, link), channels)
            for link, channels in zip(used.tolist(), wavelengths.tolist(), strict=True)
        )
        bursts = _outcomes(result.trace.bursts)
        columns = result.columns["trace_bookings"]
        for name in ("start_ps", "end_ps"):
            bookings[name] = columns[name].astype(np.int64)
        bookings["fibre"] = np.searchsorted(used, first[columns["link"]])
        bookings = bookings.join(_said(bursts).drop(columns="bytes"), on="burst")
        losses = _losses(result, bursts, bookings, links)
        losses["fibre"] = np.searchsorted(used, first[losses["link"].to_numpy(np.int64)])
        begin, end = asked["from_ps"], asked["until_ps"]
        losses = losses[(losses["start_ps"] < end) & (losses["end_ps"] > begin)]
        cuts = _cuts(result, bursts, bookings)
        cuts["fibre"] = np.searchsorted(used, first[result.columns["trace_cuts"]["link"]])
        tables = bookings, losses, cuts
        concerned = np.any([bursts.index.isin(table["burst"]) for table in tables], axis=0)
        ends = (int(table["end_ps"].max()) for table in tables if len(table))
        last = max(ends, default=begin + 1)
        return cls(
            fibres=fibres,
            begin_ps=begin,
            end_ps=min(end, last),
            bursts=bursts[concerned],
            bookings=bookings,
            losses=losses.reset_index(drop=True),
            cuts=cuts,
        )

    def rows(self, table: pd.DataFrame) -> NDArray[np.int64]:
        """Return the row in its fibre's diagram of each entry of `losses` or `cuts`.

        The row is the channel; entries without a channel are in a row below the last channel.
        """
        channels = np.array([fibre.channels for fibre in self.fibres], np.int64)
        below = channels[table["fibre"].to_numpy()]
        channel = table["channel"].astype("Int64")
        return channel.fillna(pd.Series(below, table.index)).to_numpy().astype(np.int64)

    @property
    def without_channel(self) -> frozenset[int]:
        """Indices into `fibres` of those that have losses or cuts without a channel."""
        tables = self.losses, self.cuts
        return frozenset(
            place for table in tables for place in table.loc[table["channel"].isna(), "fibre"]
        )

    @property
    def pairs(self) -> pd.Series:
        """Number of bursts from each ingress to each egress, largest first."""
        return self.bursts.groupby(["node", "egress"], sort=True).size().sort_values(
            ascending=False, kind="stable"
        )  # fmt: skip

    def summary(self) -> dict[str, Any]:
        """Return counts of bursts, reservations, losses and cuts, for JSON."""
        reasons = self.losses["reason"].astype(str).value_counts()
        return {
            "links": [fibre.name for fibre in self.fibres],
            "begin_s": self.begin_ps * 1e-12,
            "end_s": self.end_ps * 1e-12,
            "bursts": len(self.bursts),
            "bookings": len(self.bookings),
            "lost": len(self.losses),
            "losses": {str(name): int(count) for name, count in reasons.items()},
            "cut": len(self.cuts),
        }


def _first(places: Places, links: Any) -> Any:
    """Return, for each link, the link of the first wavelength of the same fibre."""
    return links if places.wavelength is None else links - places.wavelength[links]


def _name(places: Places, link: int) -> str:
    source, target = (places.named(np.array([end[link]]))[0] for end in places[:2])
    own = places.link_names[link] if places.link_names else ""
    return f"{source} \u2192 {target}" + (f" ({own})" if own else "")


def _outcomes(bursts: pd.DataFrame) -> pd.DataFrame:
    """Add the outcome of each burst, and index the bursts by number."""
    there = np.where(bursts["arrival_s"].notna(), ARRIVED, UNDER_WAY)
    return bursts.assign(outcome=np.where(bursts["lost"], LOST, there)).set_index(
        "number", drop=False
    )


def _said(bursts: pd.DataFrame) -> pd.DataFrame:
    """Select the columns about a burst that other tables include."""
    found = bursts[["node", "egress", *_OF_BURST, "outcome"]]
    return found.rename(columns={"node": "ingress"})


def _losses(
    result: Result, bursts: pd.DataFrame, bookings: pd.DataFrame, links: Any
) -> pd.DataFrame:
    """Return the bursts lost on the traced links or for lack of a channel there, sorted by time."""
    columns = result.columns["trace_bursts"]
    rows = np.isin(columns["lost_link"], links)
    lost, link = bursts[rows], columns["lost_link"][rows]
    start = columns["lost_start_ps"][rows].astype(np.int64)
    table = _said(lost).drop(columns="outcome")
    table.insert(0, "lost_s", lost["lost_s"])
    table.insert(1, "burst", lost["number"])
    for name in ("reason", "lost_node", "lost_link", "lost_link_source", "lost_link_target"):
        table[name.removeprefix("lost_")] = lost[name]
    table["holder_burst"] = lost["holder_burst"]
    table = _held(_timed(table, result, start, link), bookings)
    table.loc[table["reason"] == _LATE, "channel"] = pd.NA
    return table.sort_values(["lost_s", "burst"], kind="stable").reset_index(drop=True)


def _cuts(result: Result, bursts: pd.DataFrame, bookings: pd.DataFrame) -> pd.DataFrame:
    """Return the pieces cut off bursts on the traced links, sorted by time."""
    columns = result.columns["trace_cuts"]
    table = result.trace.cuts.copy()
    said = _said(bursts).drop(columns=["packets", "bytes", "outcome"])
    table = table.join(said, on="burst")
    table = _timed(table, result, columns["start_ps"].astype(np.int64), columns["link"])
    return _held(table, bookings)


def _timed(table: pd.DataFrame, result: Result, start: Any, link: Any) -> pd.DataFrame:
    """Add the interval in which the bytes of each row were to use the link."""
    rate = result.plan.links["rate_bps"][link].astype(float)
    end = start + np.ceil(8e12 * table["bytes"].to_numpy() / rate).astype(np.int64)
    times = {"start_ps": start, "end_ps": end, "start_s": start * 1e-12, "end_s": end * 1e-12}
    return table.assign(**times)


def _held(table: pd.DataFrame, bookings: pd.DataFrame) -> pd.DataFrame:
    """Add the channel, and ingress, egress, channel and times of the holding burst, where known."""
    table = table.reset_index(drop=True)
    holder, own = (_use_by(table, name, bookings) for name in ("holder_burst", "burst"))
    held = holder[["ingress", "egress", "channel", "start_s", "end_s"]].add_prefix("holder_")
    channel = holder["channel"].fillna(own["channel"])
    return pd.concat([table, held, channel], axis=1)


def _use_by(table: pd.DataFrame, burst: str, bookings: pd.DataFrame) -> pd.DataFrame:
    """Find each row's reservation of its link by the burst in column `burst`; missing if none.

    A burst deflected in a loop reserves a link several times: the nearest in time is taken.
    """
    keys = table[["link", burst]].astype("UInt64").set_axis(["link", "burst"], axis=1)
    keys = keys.assign(row=keys.index, at_ps=table["start_ps"])
    uses = bookings.astype({"link": "UInt64", "burst": "UInt64", "channel": "UInt16"})
    found = keys.merge(uses, how="left", on=["link", "burst"])
    found["away_ps"] = (found["start_ps"] - found["at_ps"]).abs()
    return found.sort_values(["row", "away_ps"], kind="stable").drop_duplicates("row").set_index(
        "row"
    )  # fmt: skip

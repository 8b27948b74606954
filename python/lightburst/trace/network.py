"""The bursts on chosen links of a network: which used which channel when, and what was lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pandas as pd

from lightburst.measurement.places import Places

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lightburst.result import Result

#: What becomes of a burst, and of one that used a link.
ARRIVED: Final = "arrived"
LOST: Final = "lost"
UNDER_WAY: Final = "under way"
# The reason for which a burst is lost that had its channel: what it has not is the next one.
_LATE: Final = "late-header"
# What is said of a burst in the tables of bookings and losses.
_OF_BURST: Final = ("of_node", "label", "packets", "bytes")


class Fibre(NamedTuple):
    """A fibre in one direction.

    Attributes
    ----------
    link : int
        Its number, or that of its first wavelength where each is a link.
    name : str
        The nodes at its ends, and its own name if it has one.
    channels : int
        How many wavelengths it has.
    """

    link: int
    name: str
    channels: int


@dataclass(frozen=True, eq=False)
class NetworkTrace:
    """What happened on the traced links.

    Attributes
    ----------
    fibres : tuple of Fibre
        Those that are traced, by their numbers.
    begin_ps, end_ps : int
        The time of which this tells: that of ``measurement.network``, without an end up to the last
        of it.
    bursts : pandas.DataFrame
        Those that used a traced link then, or were lost there: as `trace_tables.bursts`, and
        ``outcome`` (``arrived``, ``lost`` or ``under way``), the index is the number.
    bookings : pandas.DataFrame
        As `trace_tables.bookings`, and ``start_ps``, ``end_ps``, ``fibre`` (place in
        `fibres`), ``ingress``, ``egress``, ``of_node``, ``label``, ``packets`` and ``outcome`` of
        the burst.
    losses : pandas.DataFrame
        One row for each burst that was lost on a traced link or for want of it: ``lost_s``;
        ``burst``, its number; ``ingress``, ``egress``, ``of_node``, ``label``, ``packets``,
        ``bytes``; the ``reason``; the ``node``; the ``link`` with ``link_source`` and
        ``link_target`` (that over which it came, of a late header); ``fibre``;
        ``start_s`` and ``end_s``, when it was to use the link, or with a late header to come from
        it (also ``start_ps``, ``end_ps``); ``holder_burst``, which burst had what it wanted
        (missing where none had), and if that one is known ``holder_ingress``, ``holder_egress``,
        ``holder_channel``, ``holder_start_s`` and ``holder_end_s``; ``channel``, that of the
        holder, or of what the link itself has lost its own (missing where there is none, as with a
        late header).
    cuts : pandas.DataFrame
        One row for each piece that segmentation cut off a burst on a traced link: as
        `trace_tables.cuts`, ``start_ps`` and ``end_ps``, from when to when it was to use the
        link, ``end_s``, and ``fibre``, ``channel``, the burst and its holder as in `losses`.
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
        """Take it out of a result.

        Parameters
        ----------
        result : Result
            Of a scenario with ``measurement.network``.

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
        """Give the row of the picture of its fibre for each of some `losses` or `cuts`.

        That is the channel; what has none is below the last.
        """
        channels = np.array([fibre.channels for fibre in self.fibres], np.int64)
        below = channels[table["fibre"].to_numpy()]
        channel = table["channel"].astype("Int64")
        return channel.fillna(pd.Series(below, table.index)).to_numpy().astype(np.int64)

    @property
    def without_channel(self) -> frozenset[int]:
        """The places in `fibres` of those with a row for what has no channel."""
        tables = self.losses, self.cuts
        return frozenset(
            place for table in tables for place in table.loc[table["channel"].isna(), "fibre"]
        )

    @property
    def pairs(self) -> pd.Series:
        """How many of the bursts there are from each ingress to each egress, most first."""
        return self.bursts.groupby(["node", "egress"], sort=True).size().sort_values(
            ascending=False, kind="stable"
        )  # fmt: skip

    def summary(self) -> dict[str, Any]:
        """Count what there is, for JSON."""
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
    """Give the first of the links that are wavelengths of one fibre with each."""
    return links if places.wavelength is None else links - places.wavelength[links]


def _name(places: Places, link: int) -> str:
    source, target = (places.named(np.array([end[link]]))[0] for end in places[:2])
    own = places.link_names[link] if places.link_names else ""
    return f"{source} \u2192 {target}" + (f" ({own})" if own else "")


def _outcomes(bursts: pd.DataFrame) -> pd.DataFrame:
    """Say what became of each burst."""
    there = np.where(bursts["arrival_s"].notna(), ARRIVED, UNDER_WAY)
    return bursts.assign(outcome=np.where(bursts["lost"], LOST, there)).set_index(
        "number", drop=False
    )


def _said(bursts: pd.DataFrame) -> pd.DataFrame:
    """Choose what tables say of a burst."""
    found = bursts[["node", "egress", *_OF_BURST, "outcome"]]
    return found.rename(columns={"node": "ingress"})


def _losses(
    result: Result, bursts: pd.DataFrame, bookings: pd.DataFrame, links: Any
) -> pd.DataFrame:
    """List what was lost on the traced links or for want of them, in time."""
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
    """List what was cut off bursts on the traced links, in time."""
    columns = result.columns["trace_cuts"]
    table = result.trace.cuts.copy()
    said = _said(bursts).drop(columns=["packets", "bytes", "outcome"])
    table = table.join(said, on="burst")
    table = _timed(table, result, columns["start_ps"].astype(np.int64), columns["link"])
    return _held(table, bookings)


def _timed(table: pd.DataFrame, result: Result, start: Any, link: Any) -> pd.DataFrame:
    """Add from when to when bytes were to use a link."""
    rate = result.plan.links["rate_bps"][link].astype(float)
    end = start + np.ceil(8e12 * table["bytes"].to_numpy() / rate).astype(np.int64)
    times = {"start_ps": start, "end_ps": end, "start_s": start * 1e-12, "end_s": end * 1e-12}
    return table.assign(**times)


def _held(table: pd.DataFrame, bookings: pd.DataFrame) -> pd.DataFrame:
    """Say what is known of the bursts that had what was lost, and which channel that was."""
    table = table.reset_index(drop=True)
    holder, own = (_use_by(table, name, bookings) for name in ("holder_burst", "burst"))
    held = holder[["ingress", "egress", "channel", "start_s", "end_s"]].add_prefix("holder_")
    channel = holder["channel"].fillna(own["channel"])
    return pd.concat([table, held, channel], axis=1)


def _use_by(table: pd.DataFrame, burst: str, bookings: pd.DataFrame) -> pd.DataFrame:
    """Find the booking of the link of each row by the burst that it names; missing without one.

    Of several, by a burst that was deflected in a loop, the nearest in time.
    """
    keys = table[["link", burst]].astype("UInt64").set_axis(["link", "burst"], axis=1)
    keys = keys.assign(row=keys.index, at_ps=table["start_ps"])
    uses = bookings.astype({"link": "UInt64", "burst": "UInt64", "channel": "UInt16"})
    found = keys.merge(uses, how="left", on=["link", "burst"])
    found["away_ps"] = (found["start_ps"] - found["at_ps"]).abs()
    return found.sort_values(["row", "away_ps"], kind="stable").drop_duplicates("row").set_index(
        "row"
    )  # fmt: skip

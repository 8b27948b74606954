"""Senders of the studies, and the families that the paper may have used."""

from __future__ import annotations

from typing import Final, NamedTuple


class Sender(NamedTuple):
    """Properties of a sender that the studies vary."""

    recovery: str  # as in the scenario: "reno", "new-reno", "sack", "sack1" or "tahoe"
    halving: str = "window"  # "window" as in ns-2, or "flight-size" as in RFC 5681
    bug_fix: bool = True  # no fast retransmit for data sent before a timeout
    partial: str = "slow-but-steady"  # timer of New-Reno at partial ACKs: this, or "impatient"
    exit_growth: bool = True  # the ACK that ends a recovery also opens the window
    limited: bool = False  # limited transmit (RFC 3042)


# Senders of ns-2 that explain most of the paper's tables: docs/yu2004-search.md.
RENO: Final = Sender("reno")
NEW_RENO: Final = Sender("new-reno")
SACK: Final = Sender("sack1")
# Senders of the standards: RFC 5681, 6582, 6675, 3042; Reno with the `recover` of RFC 6582.
RFC_RENO: Final = Sender("reno", "flight-size", True, "impatient", False, True)
RFC_SACK: Final = RFC_RENO._replace(recovery="sack")

SACK_WORDS: Final = "SACK is Sack1 of ns-2, which halves the window."


class Family(NamedTuple):
    """Set of senders that the paper may have used."""

    senders: tuple[Sender, ...]  # Reno, New-Reno and SACK
    suffix: str  # suffix of the names of its claims and figures
    source: str  # source of its claims: the paper's are those of the first family only
    name: str  # legend entry
    words: str  # text of the family in captions

    @property
    def told(self) -> dict[str, str]:
        """Values for the fields in braces of its claims."""
        sack = self.senders[-1].recovery
        return {"suffix": self.suffix, "source": self.source, "sack": sack}


NS2: Final = Family(
    (RENO, NEW_RENO, SACK),
    "",
    "paper",
    "senders of ns-2",
    "Senders of ns-2: Reno with bug_fix, New-Reno slow but steady, Sack1; they halve the window.",
)
RFC: Final = Family(
    (RFC_RENO, RFC_RENO._replace(recovery="new-reno"), RFC_SACK),
    "-rfc",
    "paper's claims with the senders of the RFCs",
    "senders of the RFCs",
    "Senders of the RFCs (5681, 6582, 6675, 3042): Reno with the recover of RFC 6582, New-Reno "
    "impatient; they halve the data in flight.",
)
FAMILIES: Final = (NS2, RFC)
# For figure 8, which shows Reno only.
NO_BUG_FIX: Final = Family(
    (RENO._replace(bug_fix=False),),
    "-no-bug-fix",
    "paper's claims with Reno without bug_fix",
    "without bug_fix",
    "Sender of ns-2, without bug_fix.",
)
NAMES: Final = {
    sender: name
    for family in FAMILIES
    for sender, name in zip(family.senders, ("Reno", "New-Reno", "SACK"), strict=True)
}

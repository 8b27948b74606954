"""A GOAL schedule as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]
    # Whether something holds for each rank.
    Ranks = NDArray[np.bool_]

#: Path of the field that names the file.
PATH: Final = "workload.file"
#: Kinds of operations, and their words in the file.
CALC, SEND, RECV = range(3)
WORDS: Final = ("calc", "send", "recv")


class Schedule(NamedTuple):
    """Operations and their dependencies.

    Attributes
    ----------
    file : Path
        The file that has them.
    ranks : int
        Number of ranks.
    rank, kind, value, peer, tag, cpu, nic, line : ndarray of int64, shape (operations,)
        Operations in the order of the file: their rank, `CALC`, `SEND` or `RECV`, the nanoseconds
        of a calc or the bytes of a message, the other rank of a message, and the line in the file,
        from 1. A binary file has no lines: there it is the number in the rank, from 0.
    needed, by : ndarray of int64, shape (dependencies,)
        The second operation waits for the first one.
    at_begin : ndarray of bool, shape (dependencies,)
        Whether it waits for its begin (``irequires``), not its end (``requires``).
    place : str
        Word for a line: ``"line"``, or ``"operation"`` for a binary file.
    """

    file: Path
    ranks: int
    rank: Numbers
    kind: Numbers
    value: Numbers
    peer: Numbers
    tag: Numbers
    cpu: Numbers
    nic: Numbers
    line: Numbers
    needed: Numbers
    by: Numbers
    at_begin: NDArray[np.bool_]
    place: str = "line"

    def words(self, operation: int) -> str:
        """Return an operation in words, with its line."""
        kind, value, peer = (
            int(column[operation]) for column in (self.kind, self.value, self.peer)
        )
        what = f"{WORDS[kind]} {value}"
        if kind != CALC:
            what += f"b {'to' if kind == SEND else 'from'} {peer} tag {self.tag[operation]}"
        return f"{self.place} {self.line[operation]} (rank {self.rank[operation]}: {what})"

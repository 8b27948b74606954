"""Reads binary GOAL schedules, as ``txt2bin`` of LogGOPSim and ATLAHS writes them.

The layout is that of ``Graph::serialize_mmap`` (github.com/spcl/LogGOPSim,
src/LogGOPSim/Parser.hpp): little-endian, without padding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from lightburst.foundation.errors import InputError
from lightburst.workload.goal.schedule import CALC, PATH, RECV, SEND, Schedule

if TYPE_CHECKING:
    from pathlib import Path

    from lightburst.workload.goal.schedule import Numbers

#: First eight bytes of a binary schedule: MAGIC_COOKIE.
MAGIC: Final = (4223).to_bytes(8, "little")
#: Estimated memory while reading, in bytes, per byte of the file.
EXPANSION: Final = 10

_HEAD = np.dtype([("magic", "<u8"), ("ranks", "<u4"), ("max_cpu", "u1"), ("max_nic", "u1")])
# Begin and end of the data of a rank, in bytes after the magic number.
_JUMP = np.dtype([("begin", "<u8"), ("end", "<u8")])
_NODE = np.dtype(
    [
        ("dependencies", "<u4"),
        ("type", "i1"),
        ("peer", "<u4"),
        ("size", "<u8"),
        ("tag", "<u4"),
        ("cpu", "u1"),
        ("nic", "u1"),
        # Operations that wait for the end of this one: their number, their place in the appendix.
        ("after_end", "<u4"),
        ("after_end_at", "<u4"),
        # Operations that wait for its begin.
        ("after_begin", "<u4"),
        ("after_begin_at", "<u4"),
    ]
)
# OPTYPE_SEND, OPTYPE_RECV and OPTYPE_CALC, less one.
_KINDS = np.array([SEND, RECV, CALC])
# A rank or tag that stands for any, -1 in the text.
_ANY = 2**32 - 1


def read_binary(file: Path) -> Schedule:
    """Read a binary schedule.

    Parameters
    ----------
    file : Path
        The file, which begins with `MAGIC`.

    Returns
    -------
    Schedule
        Its lines are the numbers of the operations in their rank, from 0.

    Raises
    ------
    InputError
        If the file is damaged.
    """
    data = np.fromfile(file, np.uint8)
    if data.size < _HEAD.itemsize:
        raise _damaged(file, "which ends within its head")
    ranks = int(data[: _HEAD.itemsize].view(_HEAD)["ranks"][0])
    body = data[_HEAD["magic"].itemsize :]
    if data.size < _HEAD.itemsize + ranks * _JUMP.itemsize:
        raise _damaged(file, f"which is too short for {ranks} ranks")
    jumps = data[_HEAD.itemsize :][: ranks * _JUMP.itemsize].view(_JUMP)
    begins, ends = (jumps[name].tolist() for name in ("begin", "end"))
    lengths = [end - begin for begin, end in zip(begins, ends, strict=True)]
    if min(lengths, default=0) < 0 or sum(lengths) > body.size:
        raise _damaged(file, "whose table of ranks does not fit the file")
    pieces = (body[begin:end] for begin, end in zip(begins, ends, strict=True))
    parts = [_Rank(file, rank, piece) for rank, piece in enumerate(pieces)]
    sizes = [part.nodes.size for part in parts]
    first = np.concatenate([[0], np.cumsum(sizes)]).tolist()
    nodes = np.concatenate([part.nodes for part in parts]) if parts else np.zeros(0, _NODE)
    edges = [part.edges(first[rank]) for rank, part in enumerate(parts)]
    needed, by, begin = (
        np.concatenate([one[column] for one in edges]) if edges else np.zeros(0, np.int64)
        for column in range(3)
    )
    peer, tag, cpu, nic = (nodes[name].astype(np.int64) for name in ("peer", "tag", "cpu", "nic"))
    # Sizes of 2**63 bytes or more stay above every limit.
    value = np.minimum(nodes["size"], np.uint64(2**63 - 1)).astype(np.int64)
    return Schedule(
        file,
        ranks,
        np.repeat(np.arange(ranks), sizes),
        _KINDS[nodes["type"] - 1],
        value,
        np.where(peer == _ANY, -1, peer),
        np.where(tag == _ANY, -1, tag),
        cpu,
        nic,
        np.concatenate([np.arange(size) for size in sizes]) if sizes else np.zeros(0, np.int64),
        needed,
        by,
        begin.astype(bool),
        place="operation",
    )


class _Rank:
    """Nodes and appendix of one rank, once their sizes have been checked."""

    def __init__(self, file: Path, rank: int, data: np.ndarray) -> None:
        self._file, self._rank = file, rank
        counts = data[:8].view("<u4") if data.size >= 8 else [0, 2**32]
        number, roots = (int(count) for count in counts)
        begin = 8 + 4 * roots
        end = begin + number * _NODE.itemsize
        if end > data.size or (data.size - end) % 4:
            raise self._damaged(f"{data.size} bytes for its {number} operations")
        self.nodes = data[begin:end].view(_NODE)
        if number and not ((self.nodes["type"] >= 1) & (self.nodes["type"] <= 3)).all():
            raise self._damaged("an operation that is no send, receive or calc")
        self._appendix = data[end:].view("<u4").astype(np.int64)
        waiting = sum(int(self.nodes[name].sum()) for name in ("after_end", "after_begin"))
        if waiting != self._appendix.size:
            raise self._damaged(f"{self._appendix.size} dependencies, not {waiting}")

    def edges(self, first: int) -> tuple[Numbers, Numbers, Numbers]:
        """Return the needed operation, the one that waits, and 1 if it waits for the begin only.

        Operations are numbered from `first`.
        """
        of_ends = self._waiting("after_end")
        of_begins = self._waiting("after_begin")
        needed, by = (np.concatenate(pair) for pair in zip(of_ends, of_begins, strict=True))
        counted = np.bincount(by, minlength=self.nodes.size)
        if not (counted == self.nodes["dependencies"]).all():
            raise self._damaged("dependencies other than it counts")
        begin = np.repeat([0, 1], [of_ends[0].size, of_begins[0].size])
        return needed + first, by + first, begin

    def _waiting(self, kind: str) -> tuple[Numbers, Numbers]:
        """Return pairs of an operation and one that waits for it, from the appendix."""
        counts = self.nodes[kind].astype(np.int64)
        begins = self.nodes[f"{kind}_at"].astype(np.int64)
        if (begins + counts)[counts > 0].max(initial=0) > self._appendix.size:
            raise self._damaged("dependencies beyond its end")
        needed = np.repeat(np.arange(counts.size), counts)
        # Places within the runs of the appendix: 0, 1, ... for each operation.
        within = np.arange(needed.size) - np.repeat(np.cumsum(counts) - counts, counts)
        by = self._appendix[np.repeat(begins, counts) + within]
        if by.max(initial=-1) >= counts.size:
            raise self._damaged("a dependency of an operation that it lacks")
        return needed, by

    def _damaged(self, why: str) -> InputError:
        return _damaged(self._file, f"whose rank {self._rank} has {why}")


def _damaged(file: Path, why: str) -> InputError:
    allowed = "text, or a binary schedule as txt2bin of LogGOPSim writes it"
    return InputError(PATH, f"{file}, {why}", allowed)

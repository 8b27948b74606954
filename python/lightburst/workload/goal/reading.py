"""Reads GOAL schedules, text or binary, and checks their numbers."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from lightburst.foundation.errors import InputError
from lightburst.foundation.memory import check_memory
from lightburst.scenario.reading.files import Stamp, stamp
from lightburst.workload.goal import binary, text
from lightburst.workload.goal.schedule import CALC, PATH, RECV, SEND, Schedule

if TYPE_CHECKING:
    from pathlib import Path

# Largest number in a schedule: bytes of a message, nanoseconds of a calc.
_LARGEST = 10**15
# Most processors and interfaces of a rank (txt2bin: one byte).
_MOST_OF_A_RANK = 256


def read_schedule(file: Path) -> Schedule:
    """Read a schedule.

    Parameters
    ----------
    file : Path
        Text in GOAL, or what ``txt2bin`` of LogGOPSim makes of it.

    Returns
    -------
    Schedule

    Raises
    ------
    InputError
        When the file cannot be used; the message names the line or the operation.
    """
    return _read(file, stamp(file, PATH))


@lru_cache(maxsize=2)
def _read(file: Path, version: Stamp) -> Schedule:
    with file.open("rb") as opened:
        is_binary = opened.read(len(binary.MAGIC)) == binary.MAGIC
    expansion = binary.EXPANSION if is_binary else text.EXPANSION
    name = str(file).replace("{", "{{").replace("}", "}}")
    given = f"{name}, of {version[1]:,} bytes, which need about {{}} of memory"
    allowed = "a schedule that fits into the {} that are free"
    check_memory(version[1] * expansion, PATH, given, allowed)
    schedule = binary.read_binary(file) if is_binary else text.read_text(file)
    _check(schedule)
    return schedule


def _check(schedule: Schedule) -> None:
    """Refuse ranks, tags and numbers that no schedule can have."""
    peer, tag, message = schedule.peer, schedule.tag, schedule.kind != CALC
    receives = "a rank; -1, any rank, is for receives"
    of_any = "a tag of 0 or more, or -1, any tag, for receives"
    send, recv = schedule.kind == SEND, schedule.kind == RECV
    another = f"another rank, from 0 to {schedule.ranks - 1}"
    most = f"at most {_LARGEST}"
    rules = [
        ((send & (peer < 0)) | (peer < -1), "rank {}", peer, receives),
        ((send & (tag < 0)) | (recv & (tag < -1)), "tag {}", tag, of_any),
        (message & (peer >= schedule.ranks), "rank {}", peer, another),
        (message & (peer == schedule.rank), "rank {}", peer, another),
        (schedule.value > _LARGEST, "{}", schedule.value, most),
        (tag > _LARGEST, "{}", tag, most),
    ]
    for column in (schedule.cpu, schedule.nic):
        own = f"a cpu and a nic from 0 to {_MOST_OF_A_RANK - 1}"
        rules.append((column >= _MOST_OF_A_RANK, "{}", column, own))
    for wrong, given, column, allowed in rules:
        if wrong.any():
            at = int(np.argmax(wrong))
            place = f"in {schedule.place} {schedule.line[at]}"
            if schedule.place != "line":
                place += f" of rank {schedule.rank[at]}"
            raise InputError(
                PATH, f"{given.format(column[at])} {place} of {schedule.file}", allowed
            )

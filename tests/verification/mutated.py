"""Invalid plans, passed to the core: it refuses them, or runs them.

Run as a program, ``mutated.py FIRST NUMBER``: it fails at a panic, an abort or a hang, and its last
line is the number of that plan.
"""

import faulthandler
import json
import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import psutil

sys.path.insert(0, str(Path(__file__).parent.parent))
import checked_core  # noqa: F401 - before the package

# isort: split
from plans import Arrays
from random_plans import KINDS, random_plan

from lightburst import _core

#: Errors of a plan that cannot be run; a panic is none of these.
REFUSED = (ValueError, TypeError, KeyError, OverflowError, _core.Stopped)
EVENTS = 50_000
#: Memory limit of this process; endless samples reach it before the time limit.
HELD = 2**30
#: Of addresses, those of NumPy's threads included.
MEMORY = 12 * 2**30
SECONDS = 60

NUMBERS = [0, 1, 2, 3, 255, 256, 65_535, 65_536, 2**31, 2**32 - 1, 2**32, 2**62, 2**63, 2**64 - 1]
ODD: list[Any] = [-1, 0.5, 1e30, -1e30, float("nan"), None, True, "", "free", "tcp", [], {}, [1]]
#: Keys that a table may have although this one does not.
KEYS = ["buffer_ports", "assembly", "label", "sample_ps", "trace", "loss", "group", "p", "alpha"]


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to all values in nested tables, the tables themselves included."""
    if path:
        yield path
    inner: Any = value.items() if isinstance(value, dict) else ()
    if isinstance(value, list):
        inner = enumerate(value)
    for key, below in inner:
        yield from leaves(below, (*path, key))


def mutate_settings(random: Random, settings: dict[str, Any]) -> None:
    """Change one value, remove it, or add one."""
    *where, last = random.choice(list(leaves(settings)))
    table: Any = settings
    for key in where:
        table = table[key]
    kind = random.choice(["number", "number", "near", "odd", "away", "add"])
    if kind == "add" and isinstance(table, dict):
        table[random.choice(KEYS)] = random.choice([*NUMBERS, *ODD])
    elif kind == "away":
        del table[last]
    elif kind == "near" and isinstance(table[last], int):
        table[last] += random.choice([-1, 1])
    else:
        table[last] = random.choice(ODD if kind == "odd" else NUMBERS)


def mutate_table(random: Random, table: Arrays) -> None:
    """Change one column: its values, its order, its length, its type, or its presence."""
    if not table:
        return
    name = random.choice(list(table))
    column = table[name].copy()
    kind = random.choice(["value", "value", "value", "near", "order", "length", "type", "away"])
    if kind == "away":
        del table[name]
        return
    if kind == "length":
        size = random.choice([0, 1, max(0, column.size - 1), column.size + 1, 2 * column.size])
        column = np.resize(column, size).astype(column.dtype)
    elif kind == "type":
        column = column.astype(random.choice(["u8", "u4", "u2", "u1", "f8", "i8"]))
    elif kind == "order":
        column = column[random.sample(range(column.size), column.size)]
    elif column.size:
        most = int(np.iinfo(column.dtype).max)
        at, near = random.randrange(column.size), kind == "near"
        value = int(column[at]) + random.choice([-1, 1]) if near else random.choice(NUMBERS)
        column[at] = min(max(value, 0), most)
    table[name] = column


def mutated(seed: int) -> tuple[str, Arrays, Arrays, Arrays]:
    """A random plan with one to three changes."""
    random = Random(seed)
    plan = random_plan(seed, random.choice(KINDS))
    settings = json.loads(json.dumps(plan.settings))
    if random.random() < 0.2:
        settings["trace"] = [0]
    tables = [dict(table) for table in (plan.nodes, plan.links, plan.flows)]
    for _ in range(random.choice([1, 1, 2, 3])):
        if random.random() < 0.5:
            mutate_settings(random, settings)
        else:
            mutate_table(random, random.choice(tables))
    nodes, links, flows = tables
    return json.dumps(settings), nodes, links, flows


def full(_events: int, _now: int) -> bool:
    """Whether the process holds too much memory to continue its run."""
    return int(psutil.Process().memory_info().rss) > HELD


def outcome(seed: int) -> str:
    """Whether such a plan ``ran``, or the error in which it ended."""
    try:
        _core.simulate(*mutated(seed), None, EVENTS, full)
    except REFUSED as error:
        return type(error).__name__
    return "ran"


def main() -> None:
    """Try plans and print their ends."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    first, number = map(int, sys.argv[1:])
    for seed in range(first, first + number):
        print(seed, end=" ", flush=True)
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        print(outcome(seed))
    faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    main()

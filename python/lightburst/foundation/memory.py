"""How much memory is free, and the refusal of what needs more."""

import sys
from collections.abc import Iterator
from pathlib import Path

from lightburst.foundation.errors import LimitError
from lightburst.foundation.units import format_size

if sys.platform != "win32":
    import resource

# Less than this is not checked: any machine has it, and asking would take longer than compiling.
HARMLESS_BYTES = 128 * 2**20
# Of a control group: the file of its limit, that of its use, and the part of this in memory.stat
# that the system can take back.
_FILES = {
    "cgroup2": ("memory.max", "memory.current", "inactive_file"),
    "cgroup": ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}


class TooMuchMemoryError(LimitError):
    """What is asked for does not fit into the memory that is free now."""


def check_memory(
    needed: int,
    path: str = "scenario",
    given: str = "one that needs about {} of memory",
    allowed: str = "one that fits into the {} that are free",
    limit: int | None = None,
) -> None:
    """Refuse what needs more memory than is free, or than the user allows.

    Parameters
    ----------
    needed : int
        Bytes, beside those that this program holds.
    path, given, allowed : str
        For the message, with a place for what is needed and for what is free.
    limit : int, optional
        Bytes that this program may hold, ``measurement.memory_limit``.

    Raises
    ------
    TooMuchMemoryError
        When it is more.
    """
    if needed > HARMLESS_BYTES and needed > (free := available_memory()):
        needs, has = (f"{size / 2**30:,.1f} GiB" for size in (needed, free))
        raise TooMuchMemoryError(path, given.format(needs), allowed.format(has))
    if limit is not None and (held := held_memory()) + needed > limit:
        needs, has = (f"{size / 1e6:,.0f} MB" for size in (needed, held))
        given = f"{format_size(limit)}, and a run that needs about {needs} beside the {has} that "
        raise TooMuchMemoryError(
            "measurement.memory_limit",
            f"{given}this program holds",
            "more, or a run that needs less",
        )


def held_memory() -> int:
    """How much memory this process holds, in bytes: its resident set."""
    import psutil

    return int(psutil.Process().memory_info().rss)


def available_memory(root: Path = Path("/")) -> int:
    """How much memory this process can still have: of the machine, and of its control groups.

    Parameters
    ----------
    root : Path
        Where the system's files are; elsewhere in tests.

    Returns
    -------
    int
        Bytes: what the machine has, or what is left in the tightest of the control groups (version
        1 or 2, such as those of containers and of batch systems) that this process is in, or what
        ``ulimit -v`` leaves.
    """
    import psutil

    free = int(psutil.virtual_memory().available)
    try:
        lefts = list(_left(root))
    except (OSError, ValueError):
        lefts = []  # no control groups here, or none that can be read
    return max(0, min([free, *lefts, *_addresses()]))


def _addresses() -> Iterator[int]:
    """Yield what is left of the addresses that this process may have (``ulimit -v``)."""
    import psutil

    if sys.platform == "win32":
        return
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most != resource.RLIM_INFINITY:
        yield most - int(psutil.Process().memory_info().vms)


def _left(root: Path) -> Iterator[int]:
    """Yield what is left in each control group, from the process's own to the outermost."""
    groups = _groups(root)
    for line in (root / "proc/self/mountinfo").read_text("utf-8").splitlines():
        # man 5 proc: ... root of the mount, mount point, options... - kind, source, super options.
        before, _, after = (words.split() for words in line.partition(" - "))
        kind, options = after[0], after[2].split(",")
        if kind not in groups or (kind == "cgroup" and "memory" not in options):
            continue
        inside, place = before[3], root / before[4].lstrip("/")
        group = groups[kind]
        within = group[len(inside.rstrip("/")) :] if group.startswith(inside) else ""
        names = [name for name in within.split("/") if name]
        for depth in range(len(names), -1, -1):
            yield from _room(place.joinpath(*names[:depth]), *_FILES[kind])


def _groups(root: Path) -> dict[str, str]:
    """Give the control group of this process that limits memory, by kind of hierarchy."""
    groups = {}
    for line in (root / "proc/self/cgroup").read_text("utf-8").splitlines():
        # man 7 cgroups: number of the hierarchy, its controllers, path; version 2 is 0 with none.
        number, controllers, path = line.split(":", 2)
        if number == "0":
            groups["cgroup2"] = path
        elif "memory" in controllers.split(","):
            groups["cgroup"] = path
    return groups


def _room(group: Path, limit: str, used: str, spare: str) -> Iterator[int]:
    """Yield what is left in one control group; nothing where it has no limit."""
    try:
        most = (group / limit).read_text("ascii").strip()
        if most == "max":
            return
        left = int(most) - int((group / used).read_text("ascii"))
        numbers = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
    except (OSError, ValueError):
        return
    # The cache of files that are not in use can be dropped.
    yield left + int(numbers.get(spare, 0))

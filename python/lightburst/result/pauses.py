"""What pauses of priority flow control did to a run, and could do: warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lightburst.compile.locks import possible_lock

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lightburst.compile import Plan
    from lightburst.foundation.counts import Columns
    from lightburst.scenario import Scenario

# Links of a cycle that a warning names.
_MOST: Final = 8


def caveats(scenario: Scenario, plan: Plan, columns: Columns) -> Iterator[str]:
    """Yield warnings about pauses that never end, or might, and about losses in spite of them."""
    if "locked" not in columns:
        return
    if cycle := locked(columns):
        yield (
            "priority flow control has locked up: the links "
            f"{_named(plan, cycle)} pause and wait for each other in a cycle"
        )
    elif cycle := possible_lock(scenario, plan):
        yield (
            "priority flow control could lock up with more traffic: by the routes in use the links "
            f"{_named(plan, cycle)} can wait for each other in a cycle"
        )
    switches = columns["switches"]
    lost = {
        "no headroom (pfc.headroom)": int(switches["dropped_headroom_full"].sum()),
        "a full queue (queue_size, shared_buffer)": int(switches["dropped_queue_full"].sum()),
    }
    found = [f"{number} packets found {what}" for what, number in lost.items() if number]
    if found:
        yield f"packets were lost in spite of priority flow control: {', '.join(found)}"


def locked(columns: Columns) -> list[int]:
    """Return links whose pauses wait for each other, each for the next one; empty if none do."""
    table = columns["locked"]
    rows = zip(*(table[name].tolist() for name in ("link", "class", "behind")), strict=True)
    # Each of these waits for at least one other, so that going on from one to the next ends in a
    # cycle.
    behind: dict[tuple[int, int], int] = {}
    for link, number, other in rows:
        behind.setdefault((link, number), other)
    if not behind:
        return []
    lane, passed = min(behind), []
    while lane not in passed:
        passed.append(lane)
        lane = (behind[lane], lane[1])
    return [link for link, _ in passed[passed.index(lane) :]]


def _named(plan: Plan, links: Sequence[int]) -> str:
    ends = [(plan.links["from"][link], plan.links["to"][link]) for link in links[:_MOST]]
    names = [" - ".join(_name(plan, int(node)) for node in pair) for pair in ends]
    more = len(links) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


def _name(plan: Plan, node: int) -> str:
    return str(node) if plan.network is None else plan.network.name(node)

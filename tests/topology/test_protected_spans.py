"""Intervals of protection."""

from hypothesis import given
from hypothesis import strategies as st

from lightburst.topology.protection import without

# Lengths of gaps and of intervals, in turn.
LENGTHS = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), max_size=8)


def spans(lengths: list[tuple[int, int]]) -> list[tuple[int, int]]:
    found, time = [], 0
    for gap, length in lengths:
        found.append((time + gap, time + gap + length))
        time += gap + length
    return found


def times(intervals: list[tuple[int, int]]) -> set[int]:
    return {time for begin, end in intervals for time in range(begin, end)}


@given(LENGTHS, LENGTHS)
def test_intervals_without_others(
    lengths: list[tuple[int, int]], less: list[tuple[int, int]]
) -> None:
    found = without(spans(lengths), spans(less))
    assert times(found) == times(spans(lengths)) - times(spans(less))
    assert found == sorted(found)
    assert all(begin < end for begin, end in found)

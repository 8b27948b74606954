"""How far out of order the data of a flow comes: RFC 4737 and RFC 5236, from all its arrivals."""

from collections import Counter
from itertools import takewhile


def densities(order: list[int], threshold: int) -> list[Counter[int]]:
    """Count each metric, in the order of the core's names; packets are numbered from 1."""
    return [
        Counter(min(extent(order, place), threshold + 1) for place in range(len(order))),
        Counter(min(degree(order, place), threshold + 1) for place in range(len(order))),
        displacements(order, threshold),
        occupancies(order, threshold),
    ]


def extent(order: list[int], place: int) -> int:
    """RFC 4737, section 4.2: the distance to the first arrival that was sent later."""
    later = [earlier for earlier in range(place) if order[earlier] > order[place]]
    return place - later[0] if later else 0


def degree(order: list[int], place: int) -> int:
    """RFC 4737, section 5.3: the largest n so that it is n-reordered."""
    return sum(1 for _ in takewhile(lambda one: one > order[place], reversed(order[:place])))


def refill(window: list[int], coming: list[int], least: int, threshold: int) -> None:
    """Read arrivals until the window is full; those before the `least` are too late."""
    while coming and len(window) <= threshold:
        number = coming.pop(0)
        if number >= least:
            window.append(number)


def displacements(order: list[int], threshold: int) -> Counter[int]:
    """RFC 5236, the algorithm for the reorder density, step by step."""
    found = Counter[int]()
    coming = list(order)
    window: list[int] = []
    buffer: set[int] = set()
    index = 1
    while True:
        refill(window, coming, index, threshold)
        if not window:
            return found
        while index not in window and index not in buffer:
            index += 1
        number = window.pop(0)
        if abs(index - number) <= threshold:
            found[index - number] += 1
            buffer.discard(index)
            if number > index:
                buffer.add(number)
            index += 1


def occupancies(order: list[int], threshold: int) -> Counter[int]:
    """RFC 5236, the algorithm for the reorder buffer-occupancy density, step by step."""
    found = Counter[int]()
    coming = list(order)
    window: list[int] = []
    buffer: set[int] = set()
    lost = 0
    while True:
        refill(window, coming, lost + 1, threshold)
        if not window:
            return found
        expected = min(window)
        number = window.pop(0)
        if number == expected:
            buffer = {one for one in buffer if window and one > min(window)}
        else:
            buffer.add(number)
        found[len(buffer)] += 1
        lost = min(window) - 1 if window else lost

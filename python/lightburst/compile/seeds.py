"""Seeds of the random streams of a run."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lightburst.foundation.errors import InputError, number_meant, show
from lightburst.foundation.units import as_python, whole_number

#: Seeds are whole numbers from 0 to this one.
LARGEST_SEED = 2**64 - 1
#: Largest number of seeds. A larger one is a mistake: no mean needs as many runs.
MOST_SEEDS = 1_000_000
_SEED = "a whole number from 0 to 2**64 - 1"
_SEEDS = "different whole numbers, as range(1, 11), or their number: 10 for the seeds 1 to 10"

_FEWER = f"up to {MOST_SEEDS:,} seeds, as range(1, 11), or their number: 10 for the seeds 1 to 10"


def check_seed(seed: Any, path: str = "seed") -> int:
    """Refuse a value that is no seed of the random streams.

    Parameters
    ----------
    seed : int or numpy.integer
        The seed.
    path : str
        Path of the value in an error.

    Returns
    -------
    int
        The same number as Python's `int`.

    Raises
    ------
    InputError
        If `seed` is not a whole number from 0 to 2**64 - 1.
    """
    if isinstance(as_python(seed), list | tuple):
        several = "; lightburst.replicate runs several seeds"
        raise InputError(path, show(seed), _SEED + (several if path == "seed" else ""))
    return whole_number(path, seed, LARGEST_SEED, _SEED)


def _fits(number: float) -> bool:
    return 1 <= number <= MOST_SEEDS and number % 1 == 0


def check_seeds(seeds: Any) -> Sequence[int]:
    """Return the seeds that an argument stands for.

    Parameters
    ----------
    seeds : int or iterable of int
        The seeds; a single number n stands for the seeds 1 to n.

    Returns
    -------
    sequence of int
        At least one, all different, in the order given.

    Raises
    ------
    InputError
        If a value is no seed or occurs twice, or if there are no seeds or more than `MOST_SEEDS`.
    """
    given = as_python(seeds)
    if isinstance(given, int) and not isinstance(given, bool) and given >= 1:
        if given > MOST_SEEDS:
            raise InputError("seeds", show(given), _FEWER)
        return range(1, given + 1)
    if not isinstance(given, Iterable) or isinstance(given, str | bytes | Mapping):
        raise InputError("seeds", show(seeds), _SEEDS + number_meant(given, _fits))
    if isinstance(given, range) and given[MOST_SEEDS:]:
        raise InputError("seeds", show(given), _FEWER)
    # The iterable may be infinite, so its length is not taken first.
    found: dict[int, None] = {}
    for place, seed in enumerate(given):
        if place == MOST_SEEDS:
            raise InputError("seeds", f"more than {MOST_SEEDS:,}", _FEWER)
        checked = check_seed(seed, f"seeds[{place}]")
        if checked in found:
            raise InputError("seeds", f"{checked} twice", _SEEDS)
        found[checked] = None
    if not found:
        raise InputError("seeds", "none", _SEEDS)
    return tuple(found)

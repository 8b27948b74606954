"""Named random streams: what one part draws leaves the draws of the others alone."""

import hashlib

import numpy as np

SEED_LIMIT = 2**64


def stream(seed: int, name: str, group: str | None = None) -> np.random.Generator:
    """Make the random stream of one part of the workload.

    Parameters
    ----------
    seed : int
        Of the run, less than 2**64.
    name : str
        Of the part: "arrivals", "pairs", "sizes", "departures".
    group : str, optional
        Of the group of flows; those of a scenario without groups have none.

    Returns
    -------
    numpy.random.Generator
        PCG64DXSM; independent for different seeds and names.
    """
    name = name if group is None else f"groups/{group}/{name}"
    key = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")
    return np.random.Generator(np.random.PCG64DXSM(np.random.SeedSequence([seed, key])))

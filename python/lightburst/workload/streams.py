"""Named random streams: the draws of one part of the workload do not affect any other part."""

import hashlib

import numpy as np

SEED_LIMIT = 2**64


def stream(seed: int, name: str, group: str | None = None) -> np.random.Generator:
    """Make the random stream of one part of the workload.

    Parameters
    ----------
    seed : int
        Seed of the run, less than 2**64.
    name : str
        Name of the part: "arrivals", "pairs", "sizes", "departures".
    group : str, optional
        Name of the group of flows; None in a scenario without groups.

    Returns
    -------
    numpy.random.Generator
        A PCG64DXSM generator; streams of different seeds, names or groups are independent.
    """
    name = name if group is None else f"groups/{group}/{name}"
    key = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")
    return np.random.Generator(np.random.PCG64DXSM(np.random.SeedSequence([seed, key])))

"""Named random streams: what one part draws leaves the draws of the others alone."""

import hashlib

import numpy as np

SEED_LIMIT = 2**64


def stream(seed: int, name: str) -> np.random.Generator:
    """Make the random stream of one part of the workload.

    Parameters
    ----------
    seed : int
        Of the run, less than 2**64.
    name : str
        Of the part: "arrivals", "pairs", "sizes", "departures".

    Returns
    -------
    numpy.random.Generator
        PCG64DXSM; independent for different seeds and names.
    """
    key = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")
    return np.random.Generator(np.random.PCG64DXSM(np.random.SeedSequence([seed, key])))

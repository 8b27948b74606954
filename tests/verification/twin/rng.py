"""Random streams: SplitMix64, xoshiro256++, FNV-1a and Lemire's bounded draw.

Sources: Blackman and Vigna, "Scrambled linear pseudorandom number generators" (2018), and the
reference code at prng.di.unimi.it; Fowler, Noll and Vo's hash as in draft-eastlake-fnv; Lemire,
"Fast random integer generation in an interval" (2019), algorithm 5.
"""

from twin.real import ln

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


def mix(state: int) -> int:
    """One SplitMix64 step: advance `state` by the golden gamma and scramble it."""
    z = (state + GOLDEN) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def splitmix64(state: int, count: int) -> list[int]:
    """The first `count` outputs of SplitMix64 started at `state`."""
    return [mix((state + i * GOLDEN) & MASK) for i in range(count)]


def fnv1a64(name: str) -> int:
    """64-bit FNV-1a hash of the UTF-8 bytes of `name`."""
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = ((value ^ byte) * 0x100000001B3) & MASK
    return value


def rotate_left(x: int, bits: int) -> int:
    """Rotate the 64-bit word `x`."""
    return ((x << bits) | (x >> (64 - bits))) & MASK


class Xoshiro256PlusPlus:
    """xoshiro256++ 1.0 with the state given."""

    def __init__(self, state: list[int]) -> None:
        self.state = list(state)

    def next(self) -> int:
        """Next 64 random bits."""
        s = self.state
        result = (rotate_left((s[0] + s[3]) & MASK, 23) + s[0]) & MASK
        shifted = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= shifted
        s[3] = rotate_left(s[3], 45)
        return result

    def below(self, n: int) -> int:
        """Uniform draw from `0..n` without bias."""
        threshold = ((1 << 64) - n) % n
        product = self.next() * n
        while product & MASK < threshold:
            product = self.next() * n
        return product >> 64

    def uniform(self) -> float:
        """Uniform draw from 0 to less than 1."""
        return float(self.next() >> 11) / 2**53

    def exponential(self) -> float:
        """Exponentially distributed draw with mean 1."""
        return ln(1.0 / (((self.next() >> 11) + 1) / 2**53))


def stream(seed: int, name: str) -> Xoshiro256PlusPlus:
    """The stream of the component `name` under `seed`."""
    return Xoshiro256PlusPlus(splitmix64(mix(seed) ^ fnv1a64(name), 4))

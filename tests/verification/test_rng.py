"""The twin's random streams against published reference outputs."""

from collections import Counter

import pytest
from twin.rng import MASK, Xoshiro256PlusPlus, fnv1a64, mix, splitmix64, stream


def test_splitmix64_reference() -> None:
    # Outputs of the reference code (prng.di.unimi.it/splitmix64.c) from state 1234567.
    assert splitmix64(1234567, 5) == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def test_splitmix64_from_zero() -> None:
    # The first output from state 0, as published with java.util.SplittableRandom.
    assert mix(0) == 0xE220A8397B1DCDAF


def test_xoshiro256plusplus_reference() -> None:
    # Outputs of the reference code (prng.di.unimi.it/xoshiro256plusplus.c) from {1, 2, 3, 4}.
    generator = Xoshiro256PlusPlus([1, 2, 3, 4])
    assert [generator.next() for _ in range(10)] == [
        41943041,
        58720359,
        3588806011781223,
        3591011842654386,
        9228616714210784205,
        9973669472204895162,
        14011001112246962877,
        12406186145184390807,
        15849039046786891736,
        10450023813501588000,
    ]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        # Test vectors of draft-eastlake-fnv, appendix C.
        ("", 0xCBF29CE484222325),
        ("a", 0xAF63DC4C8601EC8C),
        ("foobar", 0x85944171F73967E8),
    ],
)
def test_fnv1a64_reference(name: str, value: int) -> None:
    assert fnv1a64(name) == value


def test_stream_is_seeded_as_specified() -> None:
    state = splitmix64(mix(7) ^ fnv1a64("switch/3"), 4)
    assert stream(7, "switch/3").state == state
    assert stream(7, "switch/4").state != state
    assert stream(8, "switch/3").state != state


def test_below_takes_the_high_bits() -> None:
    # Rejection is out of reach of a test for small n: a chance of less than n in 2^64.
    for n in (1, 2, 3, 5, 8):
        raw, bounded = stream(1, "a"), stream(1, "a")
        for _ in range(100):
            assert bounded.below(n) == raw.next() * n >> 64


def test_below_rejects_what_would_bias_it() -> None:
    # With n = 2^63 + 1 nearly every second word must be drawn again: those whose product has low
    # bits below 2^64 mod n = 2^63 - 1.
    n = (1 << 63) + 1
    raw, bounded = stream(1, "b"), stream(1, "b")
    taken = [bounded.below(n) for _ in range(50)]
    words = [raw.next() for _ in range(200)]
    kept = [word * n >> 64 for word in words if (word * n) & MASK >= (1 << 63) - 1]
    assert taken == kept[:50]
    assert any((word * n) & MASK < (1 << 63) - 1 for word in words[:50])


def test_below_is_uniform() -> None:
    draws = stream(2, "uniform")
    counts = Counter(draws.below(6) for _ in range(60_000))
    # Chi-square with 5 degrees of freedom: 20.5 is the 99.9th percentile.
    assert sum((counts[i] - 10_000) ** 2 / 10_000 for i in range(6)) < 20.5

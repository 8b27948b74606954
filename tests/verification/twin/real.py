"""Roots and logarithms of docs/model.md, from operations that every machine rounds alike."""

import math


def root(x: float, n: int) -> float:
    """Give the `n`-th root of a positive `x`."""
    value = max(x, 1.0)
    while True:
        power = value
        for _ in range(n - 2):
            power *= value
        lower = (float(n - 1) * value + x / power) / float(n)
        if lower >= value:
            return value
        value = lower


def ln(x: float) -> float:
    """Give the natural logarithm of an `x` of at least 1."""
    mantissa, exponent = math.frexp(x)
    mantissa, exponent = 2 * mantissa, exponent - 1
    s = (mantissa - 1.0) / (mantissa + 1.0)
    series = 0.0
    for k in range(16, -1, -1):
        series = series * (s * s) + 1.0 / float(2 * k + 1)
    return 2.0 * s * series + float(exponent) * math.log(2)

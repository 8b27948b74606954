"""A slow and readable second implementation of `docs/model.md`.

It shares nothing with the Rust core but the page that specifies both, and must agree with it to
the bit. Read it in the order `rng`, `network`, `switches`, `transport`, `simulation`.
"""

from twin.network import Trace, TraceEntry
from twin.simulation import Columns, simulate

__all__ = ["Columns", "Trace", "TraceEntry", "simulate"]

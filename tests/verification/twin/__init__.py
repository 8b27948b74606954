"""A slow and readable second implementation of `docs/model.md`.

It shares only the specifying page with the Rust core, and must agree with it bit for bit. Read it
in the order `rng`, `network`, `loss`, `switches`, `edge`, `contention`, `obs`, `timeout`,
`endpoint`, `datagram`, `stop_and_wait`, `laws`, `tcp`, `recovery`, `sack`, `receiver`, `ideal`,
`bursts`, `traces`, `samples`, `synchronisation`, `window`, `order`, `simulation`.
"""

from twin.simulation import Columns, simulate
from twin.units import Burst, Kept, Reservation, Trace, TraceEntry

__all__ = ["Burst", "Columns", "Kept", "Reservation", "Trace", "TraceEntry", "simulate"]

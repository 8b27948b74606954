"""The core's sender with the preset of Linux, against recordings of the kernel itself."""

from __future__ import annotations

from linux.core import replay
from linux.recorded import cases, differences

from blocks import in_blocks


@in_blocks("name", sorted(cases()), size=37)
def test_each_acknowledgement_releases_in_the_core_what_it_released_in_the_kernel(
    name: str,
) -> None:
    recorded = cases()[name]
    assert differences(recorded, replay(recorded)) == []

"""Warnings that are known before a run: told then, and not again after it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from lightburst.compile import compile_plan
from lightburst.foundation.errors import InputError
from lightburst.result.pauses import foreseen, has_pauses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from lightburst.scenario import Scenario

# Of many runs, the number of scenarios that are looked at in advance.
_MOST: Final = 20


class Foretold:
    """Tells the user what is known before a run, each warning once.

    Parameters
    ----------
    tell : callable
        Tells warnings to the user.
    """

    def __init__(self, tell: Callable[[Sequence[str]], None]) -> None:
        self._tell = tell
        self._told: set[str] = set()

    def before(self, texts: Iterable[str]) -> None:
        """Tell those of the warnings that have not been told."""
        new = [text for text in dict.fromkeys(texts) if text not in self._told]
        self._told.update(new)
        if new:
            self._tell(new)

    def before_all(self, scenarios: Iterable[Scenario], seed: int) -> None:
        """Tell the warnings of the first of some scenarios that has any, if it is among the first.

        One that cannot be run is passed over: its run has the error.
        """
        pausing = [scenario for scenario in scenarios if has_pauses(scenario)]
        for scenario in pausing[:_MOST]:
            with suppress(InputError):
                if texts := tuple(foreseen(scenario, compile_plan(scenario, seed))):
                    self.before(texts)
                    return

    def rest(self, warnings: Iterable[str]) -> list[str]:
        """Return the warnings that have not been told."""
        return [text for text in warnings if text not in self._told]

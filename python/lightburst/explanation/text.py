"""Explanations as text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from lightburst.foundation.formatting import html_text
from lightburst.result.metric_text import on_screen

if TYPE_CHECKING:
    from collections.abc import Iterable


class Text(ABC):
    """An explanation whose text, `str`, fits a screen; notebooks show the same."""

    @abstractmethod
    def _lines(self) -> Iterable[str]:
        """Yield the lines of the text, not yet wrapped."""

    def _repr_html_(self) -> str:
        return html_text(str(self))

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return on_screen("\n".join(self._lines()))

"""A field of a study that a function checks."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from lightburst.scenario.fields import refuse


@dataclass(frozen=True)
class Only:
    """The type of a field that a function checks; stands in an ``Annotated``.

    Attributes
    ----------
    allowed : str
        What can be written, for errors.
    fits : callable
        Tells whether a value can stand there.
    """

    allowed: str
    fits: Callable[[Any], bool]

    def _validate(self, value: object) -> object:
        if not self.fits(value):
            raise refuse(self.allowed)
        return value

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self._validate)

"""A field of a study that a function checks."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
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
    form : dict
        What of that a JSON schema can say.
    """

    allowed: str
    fits: Callable[[Any], bool]
    form: dict[str, Any] = field(default_factory=dict, hash=False)

    def _validate(self, value: object) -> object:
        if not self.fits(value):
            raise refuse(self.allowed)
        return value

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self._validate)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"description": self.allowed[:1].upper() + self.allowed[1:], **self.form}

"""Field type of a study that is validated by a function."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pydantic import GetJsonSchemaHandler
from pydantic_core import CoreSchema

from lightburst.scenario.fields import Validated, refuse


@dataclass(frozen=True)
class Only(Validated):
    """Marker for ``Annotated`` that validates a field with a function.

    Attributes
    ----------
    allowed : str
        Description of the allowed values, for error messages.
    fits : callable
        Returns whether a value is allowed.
    form : dict
        The part of this condition that a JSON schema can express.
    """

    allowed: str
    fits: Callable[[Any], bool]
    form: dict[str, Any] = field(default_factory=dict, hash=False)

    def _validate(self, value: object) -> object:
        if not self.fits(value):
            raise refuse(self.allowed)
        return value

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"description": self.allowed[:1].upper() + self.allowed[1:], **self.form}

"""``[routing]``: which of several shortest paths a unit takes."""

from typing import Literal

from pydantic import Field

from lightburst.scenario.fields import Section

Choice = Literal["free", "random", "flow-hash"]


class Routing(Section):
    """The choice among next hops of equal cost; the paths themselves are the shortest in links."""

    choice: Choice = Field(
        "free",
        description=(
            "'free': uniformly at random among the next hops that are free now (the paper's). "
            "'random': uniformly at random among all. 'flow-hash': always the same for one flow."
        ),
    )

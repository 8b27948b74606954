"""``[workload]`` of kind ``collective``: operations among all ranks of a group, as in training."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from lightburst.foundation.units import Duration, PositiveSize, format_size
from lightburst.scenario.fields import Whole, refuse_at
from lightburst.scenario.tables.any_workload import AnyWorkload

Operation = Literal["all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast"]
Algorithm = Literal["ring", "halving-doubling", "direct", "pairwise", "binomial", "binary"]
Placement = Literal["consecutive", "strided", "random"]

#: Algorithms of each operation, the default first.
ALGORITHMS: dict[str, tuple[str, ...]] = {
    "all-reduce": ("ring", "halving-doubling", "binomial", "binary"),
    "all-gather": ("ring", "halving-doubling"),
    "reduce-scatter": ("ring", "halving-doubling"),
    "all-to-all": ("direct", "pairwise"),
    "broadcast": ("binomial", "binary"),
}
#: Algorithms along trees.
TREES = ("binomial", "binary")


class Collective(AnyWorkload):
    """Collective operations, whose messages wait for others.

    Attributes
    ----------
    size : int
        Bytes of the buffer of each rank.
    ranks : int or None
        Hosts of a group; None for all hosts.
    groups : int or None
        Number of groups; None for as many as there are hosts for.
    computation : int
        Picoseconds.
    """

    kind: Literal["collective"] = "collective"
    operation: Operation = Field(
        description=(
            "The operation. In an all-reduce each rank ends with the sum of all buffers, in a "
            "reduce-scatter with its part of the sum, in an all-gather with the parts of all, "
            "in an all-to-all with its part of each buffer, and in a broadcast with the buffer of "
            "rank 0."
        )
    )
    algorithm: Algorithm | None = Field(
        None,
        description=(
            'The messages. `"ring"`: each rank sends to the next one, in n - 1 rounds (twice as '
            'many for an all-reduce), a part of 1/n of the buffer. `"halving-doubling"`: partners '
            "at distances of powers of two exchange halves of what is left, or double what they "
            'have, in log2 n rounds. `"direct"`: all messages of an all-to-all at once. '
            '`"pairwise"`: one after the other, to the rank at distance 1, 2, and so on. '
            '`"binomial"` and `"binary"`: along a tree, whose root is rank 0, in chunks; an '
            "all-reduce first towards the root, then away from it. "
            'The default is `"ring"`, `"direct"` for an all-to-all, `"binomial"` for a broadcast.'
        ),
    )
    size: PositiveSize = Field(
        description=(
            "Bytes of the buffer of each rank, which for an all-gather has the parts of all ranks, "
            "as in NCCL's tests. Each message has an equal part of it, to a byte."
        )
    )
    chunks: Annotated[int, Whole(1)] = Field(
        1,
        description=(
            "Parts of the buffer that follow one another along a tree: a rank passes each on when "
            "it has it. For `binomial` and `binary` alone."
        ),
    )
    ranks: Annotated[int | None, Whole(2, word="all")] = Field(
        None, description="Number of hosts of a group."
    )
    groups: Annotated[int | None, Whole(1, word="all")] = Field(
        None,
        description=(
            "Number of groups, which run at the same time, each with ranks of its own. By default "
            "as many as there are hosts for."
        ),
    )
    placement: Placement = Field(
        "consecutive",
        description=(
            'Hosts of a group. `"consecutive"`: hosts with successive numbers. `"strided"`: of g '
            'groups, each has every g-th host. `"random"`: drawn with the seed of the run.'
        ),
    )
    steps: Annotated[int, Whole(1)] = Field(
        1, description="Number of times that each group carries out the operation."
    )
    computation: Duration = Field(
        0,
        description=(
            "Time that a rank computes between the end of its part in one step, the arrival of the "
            "last message to it, and its first message of the next step."
        ),
    )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        known = ALGORITHMS[self.operation]
        if self.algorithm is not None and self.algorithm not in known:
            allowed = " or ".join(f"'{name}'" for name in known)
            given = f"'{self.algorithm}' for '{self.operation}'"
            raise refuse_at("algorithm", given, allowed)
        if self.chunks > 1 and not self.is_tree:
            raise refuse_at("chunks", f"{self.chunks} for '{self.messages}'", "1, or a tree")
        if self.operation == "broadcast" and self.steps > 1:
            raise refuse_at("steps", f"{self.steps} for 'broadcast'", "1: its root waits for none")
        if self.ranks is not None and (refusal := self.refusal(self.ranks)):
            raise refuse_at(*refusal)
        return self

    @property
    def messages(self) -> str:
        """The algorithm, with its default."""
        return self.algorithm or ALGORITHMS[self.operation][0]

    @property
    def is_tree(self) -> bool:
        """Whether messages go along a tree."""
        return self.messages in TREES

    def refusal(self, ranks: int) -> tuple[str, str, str] | None:
        """Return key, given and allowed values if so many ranks are not possible; else None."""
        if self.messages == "halving-doubling" and ranks & (ranks - 1):
            return "ranks", f"{ranks} with 'halving-doubling'", "a power of two"
        parts, of = (self.chunks, "chunks") if self.is_tree else (ranks, "ranks")
        if self.size < parts:
            allowed = f"at least {parts} B, a byte for each of {parts} {of}"
            return "size", format_size(self.size), allowed
        return None

    def shape(self, hosts: int) -> tuple[int, int]:
        """Return the number of groups and of ranks in each, among ``hosts`` hosts."""
        ranks = hosts if self.ranks is None else self.ranks
        return (hosts // ranks if self.groups is None else self.groups), ranks

    def rounds(self, ranks: int) -> int:
        """Return the number of rounds of one step."""
        if self.messages == "direct":
            return 1
        one = (ranks - 1).bit_length() if self.messages == "halving-doubling" else ranks - 1
        return 2 * one if self.operation == "all-reduce" else one

    def count(self, hosts: int) -> int:
        """Count the messages among ``hosts`` hosts."""
        groups, ranks = self.shape(hosts)
        if self.is_tree:
            ways = 1 if self.operation == "broadcast" else 2
            return groups * self.steps * ways * self.chunks * (ranks - 1)
        each = ranks - 1 if self.messages == "direct" else 1
        return groups * ranks * self.steps * self.rounds(ranks) * each

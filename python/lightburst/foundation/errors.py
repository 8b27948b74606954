"""The one error that a user can cause, several of them at once, and the warning of a run."""

import math
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice

from lightburst.foundation.spelling import typo_of
from lightburst.foundation.terminology import called_here, plain
from lightburst.foundation.unsupported import nearest_here

_LONGEST_GIVEN = 80
# Most characters of a path and of a part of an error; of more the middle is left out.
_LONGEST_PATH, _LONGEST_PART = 200, 1000
# A message lists at most so many names.
_MOST_NAMES = 20


def show(value: object) -> str:
    """Write a value for the ``given`` part of an error: quoted if text, shortened if long.

    Something of ours, such as a scenario, is named by its type.

    Parameters
    ----------
    value : object
        What the user gave.

    Returns
    -------
    str
        At most about eighty characters.
    """
    if type(value).__module__.startswith("lightburst.") and not isinstance(
        value, str | int | float
    ):
        return f"a {type(value).__name__}"
    try:
        text = repr(value[: _LONGEST_GIVEN + 1]) if isinstance(value, str) else str(value)
    except ValueError:  # Python writes no number of more digits than a few thousand
        return "a whole number of thousands of digits, or what holds one"
    except RecursionError:
        return "what lies too many levels deep to be written"
    return text if len(text) <= _LONGEST_GIVEN else f"{text[: _LONGEST_GIVEN - 3]}..."


def first_of(names: Collection[str]) -> str:
    """Write names for the ``given`` part of an error: the first ones, and how many more."""
    first = (show(one) if len(one) > _LONGEST_GIVEN else one for one in islice(names, _MOST_NAMES))
    more = len(names) - _MOST_NAMES
    return ", ".join(first) + (f" and {more:,} more" if more > 0 else "")


def printable(text: str, longest: int | None = None) -> str:
    r"""Write text so that a terminal shows all of it and obeys none of it.

    Parameters
    ----------
    text : str
        Maybe with control characters, escape sequences, or bytes of a file name that are not UTF-8.
    longest : int, optional
        Characters; of more the middle is left out.

    Returns
    -------
    str
        One line; what cannot be printed stands as Python writes it, such as ``\x1b``.
    """
    if longest is not None and len(text) > longest:
        text = f"{text[: longest // 2]} ... {text[-longest // 2 :]}"
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def some(names: Collection[str]) -> str:
    """Write names in quotes; of many the first, and how many more there are.

    Parameters
    ----------
    names : collection of str
        Of things of which there may be none, which is said.
    """
    if not names:
        return "(there are none)"
    shown = ", ".join(f"'{name}'" for name in islice(names, _MOST_NAMES))
    more = len(names) - _MOST_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


def did_you_mean(given: object, known: Iterable[str]) -> str:
    """Write `` (did you mean 'hybrid'?)`` if some known name is near, else nothing.

    A name that differs in case alone comes first, then the one that a thing has here and another
    elsewhere. Of what is known elsewhere and is not here the nearest is named, and no name that
    only looks like it. What is left may be a slip of the keys.
    """
    folded = {name.casefold(): name for name in known}
    name = str(given).casefold()
    if name in folded:
        return f" (did you mean '{folded[name]}'?)"
    if called := called_here(given, folded.values()):
        here, beside = called
        joined = "" if not beside else f" {beside}" if beside[0] == "=" else f", {beside}"
        return f" (did you mean '{here}'{joined}?)"
    if nearest := nearest_here(plain(given), folded.values()):
        return f" ({printable(str(given))} is not here; what comes nearest: {nearest})"
    near = typo_of(name.strip("[]()'\" "), folded)
    return f" (did you mean '{folded[near]}'?)" if near else ""


def number_meant(given: object, fits: Callable[[float], bool]) -> str:
    """Write `` (did you mean 8?)`` for 8.0 and '8', which are no whole numbers; else nothing.

    Parameters
    ----------
    given : object
        What the user gave where a number should stand.
    fits : callable
        Whether a number is one that can stand there.

    Returns
    -------
    str
        To stand at the end of the ``allowed`` part of an error.
    """
    try:
        number = float(given) if isinstance(given, str | float) else math.nan
    except ValueError:
        return ""
    if not math.isfinite(number) or not fits(number):
        return ""
    return f" (did you mean {int(number) if number.is_integer() else number}?)"


class InputError(ValueError):
    """Something that the user gave cannot be used.

    Parameters
    ----------
    path : str
        Where it is, in the user's words: ``topology.k``, ``--out``, a file name.
    given : str
        What was found there.
    allowed : str
        What can stand there. Of all three what cannot be printed is written as an escape, and what
        is long loses its middle.

    Examples
    --------
    >>> str(InputError("topology.k", "5", "an even whole number from 2 to 128"))
    'topology.k: given 5; allowed: an even whole number from 2 to 128'
    """

    def __init__(self, path: str, given: str, allowed: str) -> None:
        self.path = printable(path, _LONGEST_PATH)
        self.given, self.allowed = (printable(part, _LONGEST_PART) for part in (given, allowed))
        super().__init__(self.path, self.given, self.allowed)

    @property
    def errors(self) -> tuple["InputError", ...]:
        """Every single error in this one."""
        return (self,)

    def __str__(self) -> str:
        return f"{self.path}: given {self.given}; allowed: {self.allowed}"


class LimitError(InputError):
    """A run came to a limit that is no part of its scenario: of events, or of memory.

    With another limit, or elsewhere, it may end.
    """


class InputErrors(InputError):  # noqa: N818 - it is several
    """Several input errors, reported together; ``path`` and the rest are those of the first.

    Parameters
    ----------
    errors : iterable of InputError
        At least one.
    """

    def __init__(self, errors: Iterable[InputError]) -> None:
        self._errors = tuple(single for error in errors for single in error.errors)
        first = self._errors[0]
        super().__init__(first.path, first.given, first.allowed)
        self.args = (self._errors,)

    @property
    def errors(self) -> tuple[InputError, ...]:
        """Every single error, in the order of the file."""
        return self._errors

    def __str__(self) -> str:
        return "\n".join(str(error) for error in self._errors)


class WorkersLostError(InputError):
    """Nobody is there any more who could compute the rest of a study; what has ended is kept."""


class RunWarning(UserWarning):
    """Something that a scenario asks for did not happen, or its results need a word of caution."""


class StoreWarning(UserWarning):
    """What was damaged or old in a store of runs, and what has become of it."""


class WorkerWarning(UserWarning):
    """What happened to those who compute the runs of a study, on a cluster."""


def warn(texts: Iterable[str], stacklevel: int, kind: type[Warning] = RunWarning) -> None:
    """Issue warnings.

    Parameters
    ----------
    texts : iterable of str
        Each is said once.
    stacklevel : int
        Which caller is to blame: 1 is the function that calls this one.
    kind : type
        Of which kind they are.
    """
    for text in dict.fromkeys(texts):
        warnings.warn(text, kind, stacklevel=stacklevel + 1)


def refuse_changes(function: str, allowed: str, changes: Iterable[str]) -> None:
    """Say how a scenario is changed, if someone tries it in the call of a function.

    Parameters
    ----------
    function, allowed : str
        Its name, and what it takes.
    changes : iterable of str
        Names of arguments that it does not have.

    Raises
    ------
    InputError
        If there are any.
    """
    for name in changes:
        how = f"to change a scenario, write scenario.with_({name}=...)" if "__" in name else ""
        words = "; ".join(filter(None, (allowed, how)))
        raise InputError(function, f"{name}=...", words)


def combine(errors: Iterable[InputError]) -> InputError:
    """Make one error of all: itself if it is alone, an `InputErrors` otherwise."""
    collected = InputErrors(errors)
    return collected.errors[0] if len(collected.errors) == 1 else collected


@contextmanager
def inside(prefix: str) -> Iterator[None]:
    """Put a prefix before the path of each error that is raised inside.

    Parameters
    ----------
    prefix : str
        Such as ``"groups.query."``; may be empty.
    """
    try:
        yield
    except InputError as error:
        again = (InputError(prefix + one.path, one.given, one.allowed) for one in error.errors)
        raise combine(again) from None

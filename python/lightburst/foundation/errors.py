"""The error of invalid input, several such errors at once, and the warnings of runs."""

import math
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice

from lightburst.foundation.spelling import typo_of
from lightburst.foundation.terminology import called_here, plain, without_class
from lightburst.foundation.unsupported import nearest_here

_LONGEST_GIVEN = 80
# Most characters of a path and of a part of an error; longer ones lose their middle.
_LONGEST_PATH, _LONGEST_PART = 200, 1000
# Most names in one message.
_MOST_NAMES = 20


def show(value: object) -> str:
    """Format a value for the ``given`` part of an error: quoted if text, shortened if long.

    An object of lightburst, such as a scenario, is named by its type.

    Parameters
    ----------
    value : object
        The value from the user.

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
    except ValueError:  # Python does not convert integers of many thousand digits to text
        return "a whole number of thousands of digits, or a value that contains one"
    except RecursionError:
        return "a value nested too deeply to be shown"
    return text if len(text) <= _LONGEST_GIVEN else f"{text[: _LONGEST_GIVEN - 3]}..."


def first_of(names: Collection[str]) -> str:
    """Format names for the ``given`` part of an error: the first ones, and the number of others."""
    first = (show(one) if len(one) > _LONGEST_GIVEN else one for one in islice(names, _MOST_NAMES))
    more = len(names) - _MOST_NAMES
    return ", ".join(first) + (f" and {more:,} more" if more > 0 else "")


def printable(text: str, longest: int | None = None) -> str:
    r"""Escape text, so that a terminal shows all of it and executes none of it.

    Parameters
    ----------
    text : str
        Any text, possibly with control characters, escape sequences, or bytes of a file name that
        are not UTF-8.
    longest : int, optional
        Most characters; a longer text loses its middle.

    Returns
    -------
    str
        One line; unprintable characters are escaped as in Python, such as ``\x1b``.
    """
    if longest is not None and len(text) > longest:
        text = f"{text[: longest // 2]} ... {text[-longest // 2 :]}"
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def some(names: Collection[str]) -> str:
    """Format names in quotes: the first ones, and the number of others.

    Parameters
    ----------
    names : collection of str
        The names; without any the text says so.
    """
    if not names:
        return "(there are none)"
    shown = ", ".join(f"'{name}'" for name in islice(names, _MOST_NAMES))
    more = len(names) - _MOST_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


def did_you_mean(given: object, known: Iterable[str]) -> str:
    """Return `` (did you mean 'hybrid'?)`` if a known name is near, else an empty text.

    Candidates in this order: a name that differs only in case; lightburst's name for a term of
    other tools; for a feature of other tools that lightburst lacks, its nearest substitute, and no
    name that only looks similar; a name that differs by typing errors.
    """
    folded = {name.casefold(): name for name in known}
    name = str(given).casefold()
    if name in folded:
        return f" (did you mean '{folded[name]}'?)"
    plainly = without_class(given)
    meant = {plain(known): known for known in folded.values()}.get(plainly)
    if meant and plainly != plain(given):
        return f" (did you mean '{meant}'?)"
    if called := called_here(given, folded.values()) or called_here(plainly, folded.values()):
        here, beside = called
        joined = "" if not beside else f" {beside}" if beside[0] == "=" else f", {beside}"
        return f" (did you mean '{here}'{joined}?)"
    if nearest := nearest_here(plain(given), folded.values()) or nearest_here(
        plainly, folded.values()
    ):
        return f" ({printable(str(given))} is not supported; the nearest substitute: {nearest})"
    near = typo_of(name.strip("[]()'\" "), folded)
    return f" (did you mean '{folded[near]}'?)" if near else ""


def number_meant(given: object, fits: Callable[[float], bool]) -> str:
    """Return `` (did you mean 8?)`` for 8.0 and '8', which are no integers; else an empty text.

    Parameters
    ----------
    given : object
        The value from the user, in place of a number.
    fits : callable
        Whether a number is allowed.

    Returns
    -------
    str
        Text for the end of the ``allowed`` part of an error.
    """
    try:
        number = float(given) if isinstance(given, str | float) else math.nan
    except ValueError:
        return ""
    if not math.isfinite(number) or not fits(number):
        return ""
    return f" (did you mean {int(number) if number.is_integer() else number}?)"


class InputError(ValueError):
    """Invalid input from the user.

    In all three texts unprintable characters are escaped, and long texts lose their middle.

    Parameters
    ----------
    path : str
        Place of the input, in the user's terms: ``topology.k``, ``--out``, a file name.
    given : str
        The value found there.
    allowed : str
        The values allowed there.

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
        """All single errors that this one consists of."""
        return (self,)

    def __str__(self) -> str:
        return f"{self.path}: given {self.given}; allowed: {self.allowed}"


class LimitError(InputError):
    """A run reached a limit of events or memory, which are no part of the model.

    With another limit, or on another machine, the same run may end normally.
    """


class InputErrors(InputError):  # noqa: N818 - it is several
    """Several input errors, reported together; the attributes are those of the first.

    Parameters
    ----------
    errors : iterable of InputError
        At least one error.
    """

    def __init__(self, errors: Iterable[InputError]) -> None:
        self._errors = tuple(single for error in errors for single in error.errors)
        first = self._errors[0]
        super().__init__(first.path, first.given, first.allowed)
        self.args = (self._errors,)

    @property
    def errors(self) -> tuple[InputError, ...]:
        """All single errors, in the order of the file."""
        return self._errors

    def __str__(self) -> str:
        return "\n".join(str(error) for error in self._errors)


class WorkersLostError(InputError):
    """No workers are left to compute the rest of a study; completed runs are kept."""


class RunWarning(UserWarning):
    """A run did not meet a request of its scenario, or its metrics need caution."""


class StoreWarning(UserWarning):
    """A store of runs had damaged or outdated files; the text says how they were handled."""


class WorkerWarning(UserWarning):
    """An event of the workers that compute the runs of a study on a cluster."""


def warn(texts: Iterable[str], stacklevel: int, kind: type[Warning] = RunWarning) -> None:
    """Issue warnings.

    Parameters
    ----------
    texts : iterable of str
        Texts of the warnings; equal texts are issued once.
    stacklevel : int
        Caller to which the warnings are attributed: 1 is the function that calls this one.
    kind : type
        Class of the warnings.
    """
    for text in dict.fromkeys(texts):
        warnings.warn(text, kind, stacklevel=stacklevel + 1)


def refuse_changes(function: str, allowed: str, changes: Iterable[str]) -> None:
    """Refuse changes of a scenario as arguments of a function, and explain the right call.

    Parameters
    ----------
    function, allowed : str
        Name of the function, and its arguments.
    changes : iterable of str
        Names of unknown arguments.

    Raises
    ------
    InputError
        If there are unknown arguments.
    """
    for name in changes:
        how = f"to change a scenario, write scenario.with_({name}=...)" if "__" in name else ""
        words = "; ".join(filter(None, (allowed, how)))
        raise InputError(function, f"{name}=...", words)


def combine(errors: Iterable[InputError]) -> InputError:
    """Return one error for all: a single error unchanged, several as `InputErrors`."""
    collected = InputErrors(errors)
    return collected.errors[0] if len(collected.errors) == 1 else collected


@contextmanager
def inside(prefix: str) -> Iterator[None]:
    """Put a prefix before the path of each error raised in the block.

    Parameters
    ----------
    prefix : str
        Prefix such as ``"groups.query."``; may be empty.
    """
    try:
        yield
    except InputError as error:
        again = (InputError(prefix + one.path, one.given, one.allowed) for one in error.errors)
        raise combine(again) from None

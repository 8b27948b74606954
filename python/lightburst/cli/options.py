"""Options, read as strictly as the fields of a scenario."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Final

from lightburst.compile import check_seed
from lightburst.errors import InputError, did_you_mean, show

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# More digits than any limit has.
_WHOLE: Final = re.compile(r"[0-9]{1,40}")


def whole(path: str, text: str, least: int, word: str | None = None) -> int:
    """Read a whole number.

    Parameters
    ----------
    path : str
        The option, for the message.
    text : str
        What was given.
    least : int
        The smallest that is allowed.
    word : str, optional
        What the caller reads in place of a number, for the message.

    Returns
    -------
    int
        The number.

    Raises
    ------
    InputError
        If it is not one, or too small.
    """
    if not _WHOLE.fullmatch(text) or int(text) < least:
        other = f"'{word}', or " if word else ""
        raise InputError(path, show(text), f"{other}a whole number from {least}")
    return int(text)


def seed_of(text: str) -> int:
    """Read the seed of a run; `InputError` at ``--seed`` if it is none."""
    return check_seed(whole("--seed", text, 0), "--seed")


def choice(path: str, text: str, known: Sequence[str]) -> str:
    """Read one of several words; `InputError` at ``path`` if it is none of them."""
    if text not in known:
        raise InputError(path, show(text), f"one of {', '.join(known)}{did_you_mean(text, known)}")
    return text


def only_with(what: str, when: str, given: Mapping[str, str | None]) -> None:
    """Refuse options about something that is not asked about.

    Parameters
    ----------
    what, when : str
        What they are about, and when it can be asked about, for the message.
    given : mapping of str to str or None
        The options, None where they are not given.

    Raises
    ------
    InputError
        At the first that is given.
    """
    for path, text in given.items():
        if text is not None:
            raise InputError(path, show(text), f"an option about {what}, {when}")


def agreed(path: str, number: int, most: int, what: str) -> None:
    """Ask whoever sits at the terminal whether so many are meant.

    Parameters
    ----------
    path : str
        The option, for the message.
    number, most : int
        What was given, and what is done without a question.
    what : str
        What is counted.

    Raises
    ------
    InputError
        If the answer is not yes, or nobody can be asked.
    """
    if sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty():
        print(f"lightburst: {number:,} {what}. Go on? [y/N] ", end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip().lower() in ("y", "yes"):
            return
    raise InputError(path, f"{number:,} {what}", f"up to {most:,}, or any number with --yes")

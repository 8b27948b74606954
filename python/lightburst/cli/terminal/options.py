"""Parsing of options, as strict as that of scenario fields."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Final

from lightburst.compile import check_seed
from lightburst.foundation.errors import InputError, did_you_mean, show

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Up to 40 digits, more than any limit has.
_WHOLE: Final = re.compile(r"[0-9]{1,40}")


def whole(path: str, text: str, least: int, word: str | None = None) -> int:
    """Parse a non-negative integer.

    Parameters
    ----------
    path : str
        Name of the option, for the message.
    text : str
        Text to parse.
    least : int
        Smallest allowed value.
    word : str, optional
        Word that the caller accepts instead of a number, for the message.

    Returns
    -------
    int
        Parsed number.

    Raises
    ------
    InputError
        If the text is not an integer, or too small.
    """
    if not _WHOLE.fullmatch(text) or int(text) < least:
        other = f"'{word}', or " if word else ""
        raise InputError(path, show(text), f"{other}a whole number from {least}")
    return int(text)


def seed_of(text: str) -> int:
    """Parse the seed of a run; `InputError` at ``--seed`` if it is invalid."""
    return check_seed(whole("--seed", text, 0), "--seed")


def choice(path: str, text: str, known: Sequence[str]) -> str:
    """Check that a word is one of `known`; `InputError` at ``path`` if not."""
    if text not in known:
        raise InputError(path, show(text), f"one of {', '.join(known)}{did_you_mean(text, known)}")
    return text


def only_with(what: str, when: str, given: Mapping[str, str | None]) -> None:
    """Refuse options that do not apply to the requested mode.

    Parameters
    ----------
    what, when : str
        Subject of the options, and the condition under which they apply, for the message.
    given : mapping of str to str or None
        Values of the options; None if not given.

    Raises
    ------
    InputError
        For the first option that is given.
    """
    for path, text in given.items():
        if text is not None:
            raise InputError(path, show(text), f"an option about {what}, {when}")


def agreed(path: str, number: int, most: int, what: str) -> None:
    """Ask the user at the terminal to confirm a large number.

    Parameters
    ----------
    path : str
        Name of the option, for the message.
    number, most : int
        Given number, and the largest one that needs no confirmation.
    what : str
        Plural noun for the counted items.

    Raises
    ------
    InputError
        If the answer is not yes, or there is no terminal to ask at.
    """
    if sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty():
        print(f"lightburst: {number:,} {what}. Go on? [y/N] ", end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip().lower() in ("y", "yes"):
            return
    raise InputError(path, f"{number:,} {what}", f"up to {most:,}, or any number with --yes")

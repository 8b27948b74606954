"""Numbers among the options, read as strictly as those of a scenario."""

from __future__ import annotations

from lightburst.errors import InputError, show


def whole(path: str, text: str, least: int) -> int:
    """Read a whole number.

    Parameters
    ----------
    path : str
        The option, for the message.
    text : str
        What was given.
    least : int
        The smallest that is allowed.

    Returns
    -------
    int
        The number.

    Raises
    ------
    InputError
        If it is not one, or too small.
    """
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least:
        raise InputError(path, show(text), f"a whole number from {least}")
    return number

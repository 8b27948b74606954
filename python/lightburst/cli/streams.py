"""Standard output and error as they may be, closed, full, or in ASCII; and words for them."""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys
from typing import TYPE_CHECKING, Any, Final

from lightburst.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Exit code when standard output cannot be written, as other tools have it.
FAILED_OUTPUT: Final = 1

# What our own words have beside ASCII, as one writes it without.
_IN_ASCII: Final = {
    "–": "-", "µ": "u", "…": "...", "·": "*", "×": "x", "±": "+/-", "≤": "<=", "≥": ">=",
    "λ": "lambda", "²": "^2", "³": "^3", "\u00a0": " ",
}  # fmt: skip
_ERRORS: Final = "lightburst"


class OutputError(Exception):
    """Standard output took no more; the message is the system's."""


class _Output(io.TextIOWrapper):
    """Standard output, which says in its own words that it cannot be written."""

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except OSError as error:
            raise _failure(error) from None

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            raise _failure(error) from None


class _Words(io.TextIOWrapper):
    """Standard error: where it cannot be written, nobody can be told."""

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except OSError:
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError:
            discard(self)


def _failure(error: OSError) -> Exception:
    # Whoever does not want to read more, as `| head`, is no failure.
    return error if error.errno == errno.EPIPE else OutputError(error.strerror)


def prepare() -> None:
    """Make both streams of this process such that whatever is written to them can be."""
    codecs.register_error(_ERRORS, _without)
    # A file that is opened later must not get the number of a closed stream, and its words.
    while (number := os.open(os.devnull, os.O_RDWR)) in range(3):
        pass
    os.close(number)
    sys.stdout, sys.stderr = _wrapped(_Output, sys.stdout), _wrapped(_Words, sys.stderr)


def _wrapped(kind: type[io.TextIOWrapper], stream: Any) -> Any:
    """Wrap a stream of Python's, None if it was closed: that refuses every word."""
    if stream is None:
        return kind(os.fdopen(os.open(os.devnull, os.O_RDONLY), "wb"), "utf-8", _ERRORS)
    return kind(stream.detach(), stream.encoding, _ERRORS, line_buffering=stream.line_buffering)


def discard(stream: Any) -> None:
    """Send what a stream still holds to nowhere: Python would complain again when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _without(error: UnicodeError) -> tuple[str, int]:
    """Write in ASCII what an alphabet does not have."""
    assert isinstance(error, UnicodeEncodeError)
    text = error.object[error.start : error.end]
    escaped = (c.encode("ascii", "backslashreplace").decode("ascii") for c in text)
    written = (_IN_ASCII.get(c, escape) for c, escape in zip(text, escaped, strict=True))
    return "".join(written), error.end


def say(*what: Any) -> None:
    """Print lines, such as names of files, to standard output."""
    for line in what:
        print(printable(str(line)))


def tell(words: str, program: str = "lightburst") -> None:
    """Print a line about the program, or a warning, to standard error."""
    print(f"{program}: {printable(words)}", file=sys.stderr)


def warn(warnings: Iterable[str]) -> None:
    """Print the warnings of a run to standard error."""
    for warning in warnings:
        tell(warning, "warning")

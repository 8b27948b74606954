"""Writing to standard output and error, which may be closed, full, or limited to ASCII."""

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

# The characters beyond ASCII in our own messages, and what stands for them in ASCII.
_IN_ASCII: Final = {
    "–": "-", "µ": "u", "…": "...", "·": "*", "×": "x", "±": "+/-", "≤": "<=", "≥": ">=",
    "λ": "lambda", "²": "^2", "³": "^3", "\u00a0": " ",
}  # fmt: skip
_ERRORS: Final = "lightburst"


class OutputError(Exception):
    """Standard output cannot be written; the message is that of the system."""


class ReaderGoneError(Exception):
    """Nobody reads standard output any more, as behind ``| head``; that is no failure.

    It is no `BrokenPipeError`, because rich and typer end the process with 1 on that.
    """


class _Output(io.TextIOWrapper):
    """Standard output; where it cannot be written it raises `OutputError` or `ReaderGoneError`."""

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
    """Standard error; where it cannot be written nothing is raised, since nobody could be told."""

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
    return ReaderGoneError() if error.errno == errno.EPIPE else OutputError(error.strerror)


def prepare() -> None:
    """Set up both streams of this process so that any text can be written to them."""
    codecs.register_error(_ERRORS, _without)
    # A file that is opened later must not get the number of a closed stream, and with it its text.
    while (number := os.open(os.devnull, os.O_RDWR)) in range(3):
        pass
    os.close(number)
    sys.stdout, sys.stderr = _wrapped(_Output, sys.stdout), _wrapped(_Words, sys.stderr)


def _wrapped(kind: type[io.TextIOWrapper], stream: Any) -> Any:
    """Wrap a stream of Python's; None stands for a closed one, which refuses all text."""
    if stream is None:
        return kind(os.fdopen(os.open(os.devnull, os.O_RDONLY), "wb"), "utf-8", _ERRORS)
    return kind(stream.detach(), stream.encoding, _ERRORS, line_buffering=stream.line_buffering)


def discard(stream: Any) -> None:
    """Throw away what a stream still holds; Python would fail to write it again at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _without(error: UnicodeError) -> tuple[str, int]:
    """Write in ASCII the characters that an encoding does not have."""
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

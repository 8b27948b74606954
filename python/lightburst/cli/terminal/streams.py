"""Writing to standard output and error, which may be closed, full or limited to ASCII."""

from __future__ import annotations

import codecs
import errno
import io
import os
import sys
from typing import TYPE_CHECKING, Any, Final

from lightburst.foundation.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Exit code if standard output cannot be written, as for other tools.
FAILED_OUTPUT: Final = 1

# ASCII replacements of the other characters in the program's own messages.
_IN_ASCII: Final = {
    "–": "-", "µ": "u", "…": "...", "·": "*", "×": "x", "±": "+/-", "≤": "<=", "≥": ">=",
    "λ": "lambda", "²": "^2", "³": "^3", "\u00a0": " ",
}  # fmt: skip
_ERRORS: Final = "lightburst"


class OutputError(Exception):
    """Standard output cannot be written; the message is the operating system's."""


class ReaderGoneError(Exception):
    """The reader of standard output has gone, as in ``| head``; this is not a failure.

    Not a `BrokenPipeError`, since rich and typer end the process with exit code 1 on that.
    """


class _Output(io.TextIOWrapper):
    """Standard output that raises `OutputError` or `ReaderGoneError` if it cannot be written."""

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
    """Standard error that ignores failed writes: there is no other channel to report them on."""

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
    """Replace standard output and error of the process by streams that accept any text."""
    codecs.register_error(_ERRORS, _without)
    # Occupies closed descriptors 0 to 2: a file opened later would otherwise receive the streams'
    # text.
    while (number := os.open(os.devnull, os.O_RDWR)) in range(3):
        pass
    os.close(number)
    sys.stdout, sys.stderr = _wrapped(_Output, sys.stdout), _wrapped(_Words, sys.stderr)


def _wrapped(kind: type[io.TextIOWrapper], stream: Any) -> Any:
    """Wrap one of Python's standard streams; None is a closed one and becomes unwritable."""
    if stream is None:
        return kind(os.fdopen(os.open(os.devnull, os.O_RDONLY), "wb"), "utf-8", _ERRORS)
    return kind(stream.detach(), stream.encoding, _ERRORS, line_buffering=stream.line_buffering)


def discard(stream: Any) -> None:
    """Discard the buffered text of a stream, which Python would try to write again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _without(error: UnicodeError) -> tuple[str, int]:
    """Replace characters that the encoding cannot represent by ASCII."""
    assert isinstance(error, UnicodeEncodeError)
    text = error.object[error.start : error.end]
    escaped = (c.encode("ascii", "backslashreplace").decode("ascii") for c in text)
    written = (_IN_ASCII.get(c, escape) for c, escape in zip(text, escaped, strict=True))
    return "".join(written), error.end


def say(*what: Any) -> None:
    """Print lines to standard output, for example names of files."""
    for line in what:
        print(printable(str(line)))


def tell(words: str, program: str = "lightburst") -> None:
    """Print a message of the program or a warning to standard error."""
    print(f"{program}: {printable(words)}", file=sys.stderr)


def warn(warnings: Iterable[str]) -> None:
    """Print the warnings of a run to standard error."""
    for warning in warnings:
        tell(warning, "warning")

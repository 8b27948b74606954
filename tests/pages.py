"""The pages as programs: their blocks of code run in order, in a separate folder for each page.

A block is read by its language. `bash`: each command of lightburst runs. `python`, and the cells of
a notebook: they share their names over the page. `toml`: a scenario, written to a file and run.
`text`: the output of a command. A mark before a block, which readers of the page do not see,
changes its treatment::

    <!-- block: file: crowd.toml -->       the scenario's file, for commands that follow
    <!-- block: part: examples/obs.toml --> tables that take the place of those of that scenario
    <!-- block: part: examples/obs.toml switching -->  keys of one of its tables
    <!-- block: printed -->                lines of what the block before printed, as they stand
    <!-- block: printed: COMMAND -->       the same of a command that the text names
    <!-- block: slow printed -->           the same of a block that is slow
    <!-- block: usage -->                  what can be written: options must be there
    <!-- block: slow -->                   runs among the slow tests alone
    <!-- block: slow: BEGIN -->            so do those of its lines that begin so
    <!-- block: needs PROGRAM -->          runs where that is installed
    <!-- block: ours alone: REASON -->     only commands of lightburst run, for this reason
    <!-- block: not run: REASON -->        nothing of it runs, for this reason
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib

import lightburst as lb
from lightburst.cli import main

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
#: Its blocks are steps that tests/project/test_contributing.py applies to a copy of the repository.
ELSEWHERE = {"CONTRIBUTING.md"}

_BLOCK = re.compile(
    r"^(?:<!-- block: (?P<mark>.*?) -->\n\n?)?"
    r"(?P<fence>```+)(?P<info>[^\n]*)\n(?P<text>.*?)^(?P=fence)$",
    re.M | re.S,
)
_MARKS = re.compile(
    r"(file|part|printed|slow|ours alone|not run): \S.*|printed|usage|slow|slow printed|needs \w+"
)
#: Mark of blocks that run only among the slow tests.
_SLOW = ("slow", "slow printed")
#: The wall-clock time of a run is never the same.
_CLOCK = re.compile(r"(wall clock time\W+)[\d.]+ \w+( *)")


@dataclass(frozen=True)
class Block:
    """A block of code: its line, and its mark."""

    page: str
    line: int
    language: str
    text: str
    mark: str = ""

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    def says(self, key: str) -> str | None:
        """Return the text after a key in the mark, or None for another mark."""
        word, _, rest = self.mark.partition(": ")
        return rest if word == key else None


def scenario_of(page: str, file: str) -> str:
    """Return the scenario that a page says to save as a file."""
    (block,) = (block for block in blocks(page) if block.says("file") == file)
    return block.text


def name_of(page: Path) -> str:
    """Name a page by its path in the repository."""
    return page.relative_to(ROOT).as_posix()


def blocks(page: str) -> list[Block]:
    """Return the blocks of a page; those that are Sphinx's (```` ```{toctree} ````) left out."""
    text = (ROOT / page).read_text("utf-8")
    found = []
    for match in _BLOCK.finditer(text):
        language, code = match["info"].strip(), match["text"]
        line = text.count("\n", 0, match.start("text")) + 1
        if language == "{code-cell} python":
            code = re.sub(r"\A(:[^\n]*\n)+", lambda options: "\n" * options[0].count("\n"), code)
            language = "" if code.strip().startswith("%") else "cell"  # for IPython alone
        elif language.startswith("{"):
            language = ""
        if language or not match["info"]:
            found.append(Block(page, line, language, code, match["mark"] or ""))
    return found


def mark_is_known(block: Block) -> bool:
    """Return whether a mark is one of those above."""
    return not block.mark or _MARKS.fullmatch(block.mark) is not None


def commands(block: Block) -> list[str]:
    """Return the commands of a shell block, continued lines joined."""
    lines = block.text.replace("\\\n", " ").splitlines()
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


def not_run(page: str) -> list[tuple[str, str]]:
    """Return the blocks of a page that run in no test, with the reason."""
    left = []
    for block in blocks(page):
        if (reason := block.says("not run")) is not None:
            left.append((block.text, reason))
        elif (reason := block.says("ours alone")) is not None:
            others = (c for c in commands(block) if not c.startswith("lightburst "))
            left += [(line, reason) for line in others]
    return left


def options(line: str) -> list[str]:
    """Return the options of a command that its help does not know."""
    words = re.match(r"lightburst(?: (?:model|store|list)\b)?(?: [a-z][a-z0-9-]*)?", line)
    assert words is not None, line
    said = _help(words[0])
    # Settings are values of options: text in quotes is no option.
    asked = re.findall(r"(?<![\w-])--[a-z][\w-]*", re.sub(r"'[^']*'|\"[^\"]*\"", "", line))
    return [option for option in asked if not re.search(rf"{option}(?![\w-])", said)]


@cache
def _help(command: str) -> str:
    return printed([*command.split()[1:], "--help"])


def printed(words: list[str], allowed: tuple[int, ...] = (0,)) -> str:
    """Run a command of lightburst, and return its output."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = main(words)
    assert code in allowed, f"lightburst {shlex.join(words)}: exit code {code}\n{out.getvalue()}"
    return out.getvalue()


def shown(text: str) -> str:
    """Remove text that differs between any two runs, and spaces at the ends of lines."""
    lines = (line.rstrip() for line in _CLOCK.sub(r"\1TIME", text).splitlines())
    return "\n".join(lines).strip("\n")


@dataclass
class Play:
    """A page that runs: the names of its programs, and the last output."""

    page: str
    slow: bool = False
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})
    last: str = ""
    count: int = 0

    def run(self) -> Play:
        """Run the blocks of the page, in the working directory."""
        matplotlib.use("Agg")
        shutil.copytree(ROOT / "examples", "examples", dirs_exist_ok=True)
        for block in blocks(self.page):
            if block.says("not run") is None and (self.slow or block.mark not in _SLOW):
                with _named(block):
                    getattr(self, block.language or "text")(block)
                    self.count += 1
        return self

    def python(self, block: Block) -> None:
        """Run a program; the line numbers of an error are those of the page."""
        code = compile("\n" * (block.line - 1) + block.text, block.page, "exec", dont_inherit=True)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(code, self.names)
        self.last = out.getvalue()

    cell = python

    def bash(self, block: Block) -> None:
        """Run the commands of a block."""
        self.last = ""
        for line in commands(block):
            words = shlex.split(line, comments=True)
            if words[0] == "lightburst":
                late = block.says("slow")
                if self.slow or late is None or not line.startswith(late):
                    self.last += printed(words[1:])
            elif block.mark == f"needs {words[0]}":
                if shutil.which(words[0]):
                    self.last += subprocess.check_output(words, text=True)
            else:
                assert block.says("ours alone") is not None, f"{line}: mark what does not run"

    def toml(self, block: Block) -> None:
        """Write a scenario, whole or with the rest of another one, and run it."""
        values, base = tomllib.loads(block.text), block.says("part")
        if base is None:
            file = Path(block.says("file") or "scenario.toml")
            file.write_text(block.text, encoding="utf-8")
            self.last = printed(["run", str(file)])
            return
        name, *table = base.split()
        whole = tomllib.loads(Path(name).read_text("utf-8"))
        if "groups" in values:  # they replace a workload
            whole.pop("workload", None)
        (whole[table[0]] if table else whole).update(values)
        with contextlib.chdir(Path(name).parent):  # files are named from there
            lb.run(lb.Scenario.from_dict(whole), seed=1)

    def text(self, block: Block) -> None:
        """Write a table, or compare the output on a page with the real one, usage with options."""
        if name := block.says("file"):
            Path(name).write_text(block.text, encoding="utf-8")
            return
        if block.mark == "usage":
            for line in commands(block):
                assert options(line) == [], line
                self._as_it_may_be_written(line)
            return
        command = block.says("printed")
        assert command is not None or block.mark.endswith("printed"), "mark what this is"
        if command:
            self.last = printed(shlex.split(command)[1:], allowed=(0, 2))
        assert shown(block.text) in shown(self.last), f"{shown(self.last)}\n\nis not\n{block.text}"

    def _as_it_may_be_written(self, line: str) -> None:
        """Also run the parts in brackets, with the first of alternatives, if all are values."""
        plain = re.sub(r"\|[^\s\]|]+", "", line).replace("[", "").replace("]", "")
        if not re.search(r"[ =]([A-Z]{2,}\b|[A-Z]( |$))|  +[a-z]| (scenario|study)\.toml\b", plain):
            printed(shlex.split(plain)[1:])


@contextlib.contextmanager
def _named(block: Block) -> Iterator[None]:
    """Name the block that failed."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"in the block at {block}")
        raise

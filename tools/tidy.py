"""Structure check: the rules of this project that no compiler or linter enforces.

``python tools/tidy.py [ROOT]`` prints one line per finding and exits 1 if there is any. Each rule
is a function from the root of a tree to its findings; ``RULES`` lists them.
``docs/architecture.md`` gives the reasons. Rules that clippy and ruff can check are in their
settings: ``Cargo.toml`` and ``clippy.toml``, including the length of Rust functions, and
``pyproject.toml``. Neither has a rule for the lines of a file, and ruff has none for the lines of a
function.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from deferred import deferred_imports

MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 70
#: Source files in one folder of the package or of a crate.
MAX_SIBLINGS = 16

#: Folders with limits on length, and the suffix of the files concerned.
SOURCES = {
    "crates": ".rs",
    "python": ".py",
    "tests": ".py",
    "benches": ".py",
    "studies": ".py",
    "tools": ".py",
}

#: Crates of the workspace that a crate may depend on.
CRATES: dict[str, set[str]] = {
    "des": set(),
    "net": {"des"},
    "tcp": {"des", "net"},
    "optical": {"des", "net"},
    "sim": {"des", "net", "tcp", "optical"},
    "py": {"des", "net", "tcp", "optical", "sim"},
}

#: External crates that a crate may depend on; tests of every crate may use DEV_CRATES.
EXTERNAL_CRATES: dict[str, set[str]] = {
    "des": set(),
    "net": set(),
    "tcp": set(),
    "optical": {"serde", "serde_json"},
    "sim": {"serde", "serde_json"},
    "py": {"libc", "numpy", "pyo3", "serde_json"},
}
DEV_CRATES = {"proptest", "serde_json"}

#: Crates in which a module uses only modules above it in the list of ``lib.rs``.
ORDERED_CRATES = ("sim",)

#: Layers of the Python package, from the lowest; a module imports from its own layer and below.
LAYERS: tuple[frozenset[str], ...] = (
    frozenset({"foundation", "_core"}),
    frozenset({"scenario", "measurement"}),
    frozenset({"topology", "workload"}),
    frozenset({"compile"}),
    frozenset({"simulation", "result", "expressions"}),
    frozenset({"trace", "models", "packetdrill"}),
    frozenset({"study"}),
    frozenset({"papers"}),
    frozenset({"plot", "plots", "report", "experiment", "explanation"}),
    frozenset({"cli", "__main__"}),
)

#: Folders with one policy per file; the module of the folder registers them.
POLICIES = (
    "crates/tcp/src/cc",
    "crates/tcp/src/transport/rate",
    "crates/optical/src/assembly",
    "crates/optical/src/switch",
    "crates/optical/src/circuit/forwarding",
    "crates/optical/src/circuit/scheduler",
    "crates/optical/src/queue",
    "crates/optical/src/obs/contention",
    "crates/optical/src/obs/scheduler",
    "crates/optical/src/obs/signalling",
    "crates/sim/src/measurement",
)

#: Path that exists on one machine only: a home, a scratch or a working directory.
MACHINE_PATH = re.compile(r"(?<![\w.~$}>)])/(?:work|tmp|home|root|farm|Users)/\w")

#: Generated files, in which such paths are ignored.
GENERATED = {"uv.lock", "Cargo.lock"}

#: Folders outside the repository, for trees without git; hidden files are skipped too.
NOT_OURS = {"target", "dist", "out", "__pycache__"}


class Finding(NamedTuple):
    """Violation of a rule.

    Attributes
    ----------
    path : str
        File, relative to the root.
    line : int
        Line, from 1; 0 for the whole file.
    message : str
        Description of the violation, and of the allowed state.
    """

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        """Return ``path:line: message``, a format that editors link."""
        return (
            f"{self.path}:{self.line}: {self.message}"
            if self.line
            else f"{self.path}: {self.message}"
        )


Rule = Callable[[Path], Iterator[Finding]]


def source_files(root: Path, folder: str) -> list[Path]:
    """Return the source files in a folder of `SOURCES`, sorted."""
    return sorted(p for p in (root / folder).rglob(f"*{SOURCES[folder]}") if p.is_file())


def relative(root: Path, path: Path) -> str:
    """Return `path` relative to `root`."""
    return path.relative_to(root).as_posix()


def file_length(root: Path) -> Iterator[Finding]:
    """Limit source files, including tests, to `MAX_FILE_LINES` lines."""
    for folder in SOURCES:
        for path in source_files(root, folder):
            lines = len(path.read_text(encoding="utf-8").splitlines())
            if lines > MAX_FILE_LINES:
                message = f"{lines} lines; allowed: {MAX_FILE_LINES}"
                yield Finding(relative(root, path), 0, message)


def siblings(root: Path) -> Iterator[Finding]:
    """Limit the source files in one folder of the package or of a crate to `MAX_SIBLINGS`."""
    for folder in ("crates", "python"):
        counts = Counter(path.parent for path in source_files(root, folder))
        for place, count in sorted(counts.items()):
            if count > MAX_SIBLINGS:
                message = f"{count} source files; allowed: {MAX_SIBLINGS}"
                yield Finding(relative(root, place), 0, message)


def function_length(root: Path) -> Iterator[Finding]:
    """Limit Python functions, including tests and docstrings, to `MAX_FUNCTION_LINES` lines."""
    for folder in (folder for folder, suffix in SOURCES.items() if suffix == ".py"):
        for path in source_files(root, folder):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    continue
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > MAX_FUNCTION_LINES:
                    words = f"function {node.name} has {lines} lines"
                    message = f"{words}; allowed: {MAX_FUNCTION_LINES}"
                    yield Finding(relative(root, path), node.lineno, message)


def _dependencies(manifest: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """Yield the dependencies of a manifest: package name, and whether only tests use it."""
    for table in (manifest, *manifest.get("target", {}).values()):
        for kind in ("dependencies", "build-dependencies", "dev-dependencies"):
            for key, value in table.get(kind, {}).items():
                name = value.get("package", key) if isinstance(value, dict) else key
                yield name, kind == "dev-dependencies"


def crate_dependencies(root: Path) -> Iterator[Finding]:
    """Limit the dependencies of a crate to `CRATES` and `EXTERNAL_CRATES`."""
    for path in sorted((root / "crates").glob("*/Cargo.toml")):
        crate = path.parent.name
        where = relative(root, path)
        if crate not in CRATES:
            yield Finding(where, 0, f"unknown crate {crate}; known: {', '.join(CRATES)}")
            continue
        for name, for_tests in _dependencies(tomllib.loads(path.read_text(encoding="utf-8"))):
            inside = name.removeprefix("lightburst-")
            if inside != name:
                fine, allowed = inside in CRATES[crate], CRATES[crate]
            else:
                allowed = EXTERNAL_CRATES[crate] | (DEV_CRATES if for_tests else set())
                fine = name in allowed
            if not fine:
                listed = ", ".join(sorted(allowed)) or "nothing"
                yield Finding(where, 0, f"{crate} depends on {name}; allowed: {listed}")


def _layer(module: str) -> int | None:
    """Return the number of the layer of a module; None for an unknown module."""
    return next((n for n, names in enumerate(LAYERS) if module in names), None)


def _imported(node: ast.AST, package: Sequence[str], modules: set[str]) -> Iterator[str]:
    """Yield the modules of the package that an import statement names.

    The root of the package, including the names of its ``__init__``, counts as ``""``.
    """
    if isinstance(node, ast.Import):
        names = (alias.name.split(".") for alias in node.names)
        yield from ((*name, "")[1] for name in names if name[0] == "lightburst")
    elif isinstance(node, ast.ImportFrom):
        base = list(package[: len(package) - node.level + 1]) if node.level else []
        base += node.module.split(".") if node.module else []
        if base == ["lightburst"]:
            yield from (alias.name if alias.name in modules else "" for alias in node.names)
        elif base[0] == "lightburst":
            yield base[1]


def python_layers(root: Path) -> Iterator[Finding]:
    """Limit the imports of a Python module to its own layer of `LAYERS` and those below."""
    home = root / "python" / "lightburst"
    modules = {p.stem for p in home.iterdir()} | {"_core"} if home.is_dir() else set()
    for path in source_files(root, "python"):
        inside = path.relative_to(home).with_suffix("").parts
        where = relative(root, path)
        if inside == ("__init__",):
            continue  # the public interface may import everything
        mine = _layer(inside[0])
        if mine is None:
            yield Finding(where, 0, f"{inside[0]} stands in no layer; add it to LAYERS")
            continue
        package = ("lightburst", *inside[:-1])
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for other in _imported(node, package, modules):
                theirs = _layer(other) if other else len(LAYERS) - 1
                if theirs is None or theirs > mine:
                    what = f"lightburst.{other}" if other else "the root of the package"
                    message = f"{inside[0]} imports {what}, which stands above it"
                    yield Finding(where, getattr(node, "lineno", 0), message)


def imports_in_functions(root: Path) -> Iterator[Finding]:
    """Refuse imports inside functions of the package that start-up does not need."""
    for path, line, message in deferred_imports(root / "python" / "lightburst"):
        yield Finding(relative(root, path), line, message)


def _parent_module(path: Path) -> Path:
    """Return the file whose ``mod`` line adds `path` to its crate."""
    folder = path.parent
    if folder.name == "src":
        return folder / "lib.rs"
    beside = folder.with_suffix(".rs")
    return beside if beside.exists() else folder / "mod.rs"


def compiled_files(root: Path) -> Iterator[Finding]:
    """Require a ``mod`` line for each Rust file; without one it would silently not be compiled."""
    for path in sorted((root / "crates").glob("*/src/**/*.rs")):
        parent = _parent_module(path)
        if path.name in {"lib.rs", "mod.rs"}:
            continue
        text = parent.read_text(encoding="utf-8") if parent.exists() else ""
        if not re.search(rf"^\s*(?:pub(?:\(\w+\))? )?mod {path.stem};", text, re.MULTILINE):
            message = f"{relative(root, parent)} has no line 'mod {path.stem};'"
            yield Finding(relative(root, path), 0, message)


# References of a line to its own crate: one module, or several in braces.
_OF_CRATE = re.compile(r"\bcrate::(\w+|\{.*?\})")


def module_order(root: Path) -> Iterator[Finding]:
    """Limit the modules of `ORDERED_CRATES` to uses of modules above them in ``lib.rs``."""
    for crate in ORDERED_CRATES:
        source = root / "crates" / crate / "src"
        files = [path for path in sorted(source.rglob("*.rs")) if path.name != "lib.rs"]
        listed = (source / "lib.rs").read_text(encoding="utf-8") if files else ""
        order = re.findall(r"^(?:pub )?mod (\w+);", listed, re.MULTILINE)
        for path in files:
            mine = path.relative_to(source).with_suffix("").parts[0]
            allowed = order[: order.index(mine) + 1] if mine in order else order
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
                used = "" if line.lstrip().startswith("//") else line
                for name in re.findall(r"\w+", " ".join(_OF_CRATE.findall(used))):
                    if name in order and name not in allowed:
                        message = f"{mine} uses {name}, which stands below it in lib.rs"
                        yield Finding(relative(root, path), number, message)


# The registry of policies, up to its closing line.
_REGISTRY = re.compile(r"^pub const REGISTRY\b.*?;$", re.MULTILINE | re.DOTALL)


def registered_policies(root: Path) -> Iterator[Finding]:
    """Require each policy file of `POLICIES` in its registry, by module, type or name."""
    for folder in POLICIES:
        for path in sorted((root / folder).glob("*.rs")):
            stem = path.stem
            if stem in {"mod", "tests"} or stem.endswith("_tests"):
                continue
            parent = _parent_module(path)
            text = parent.read_text(encoding="utf-8") if parent.exists() else ""
            lists = " ".join(_REGISTRY.findall(text))
            camel = "".join(word.capitalize() for word in stem.split("_"))
            marks = (f"{stem}::", f"{camel}::", f'"{stem.replace("_", "-")}"')
            if not any(mark in lists for mark in marks):
                message = f"{relative(root, parent)} does not register {stem}"
                yield Finding(relative(root, path), 0, message)


def text_files(root: Path) -> Iterator[Path]:
    """Yield the files of the repository: those that git does not ignore."""
    command = ["git", "-C", str(root), "ls-files", "-z", "-co", "--exclude-standard"]
    listing = subprocess.run(command, capture_output=True, check=False)
    if listing.returncode == 0:
        names = sorted(filter(None, listing.stdout.decode().split("\0")))
        paths = [root / name for name in names]
    else:
        every = sorted(path.relative_to(root) for path in root.rglob("*"))
        paths = [root / p for p in every if not any(q in NOT_OURS or q[0] == "." for q in p.parts)]
    yield from (p for p in paths if p.is_file() and p.name not in GENERATED)


def machine_paths(root: Path) -> Iterator[Finding]:
    """Refuse paths that exist on one machine only."""
    for path in text_files(root):
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            continue  # a picture or an archive
        for number, line in enumerate(lines, start=1):
            found = MACHINE_PATH.search(line)
            if found:
                message = f"a path of one machine: {line[found.start() :][:40].strip()}"
                yield Finding(relative(root, path), number, message)


RULES: tuple[Rule, ...] = (
    file_length,
    siblings,
    function_length,
    crate_dependencies,
    python_layers,
    imports_in_functions,
    compiled_files,
    module_order,
    registered_policies,
    machine_paths,
)


def check(root: Path) -> list[Finding]:
    """Return the violations of all rules in the tree at `root`."""
    return [finding for rule in RULES for finding in rule(root)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the findings; return 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__)
    here = Path(__file__).resolve().parent.parent
    parser.add_argument("root", nargs="?", type=Path, default=here)
    findings = check(parser.parse_args(arguments).root.resolve())
    for finding in findings:
        print(finding)
    print(f"tidy: {len(findings)} findings" if findings else "tidy: all rules hold")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

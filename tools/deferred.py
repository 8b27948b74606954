"""Imports inside functions of the package: allowed only where they keep start-up short.

Start-up is most of what a small run takes, so a function may import what loads a package of `SLOW`,
directly or through modules of the package, that its own module does not load. Anything else is
imported at the top of the file. A ring of imports is no excuse: what both modules need moves to a
module below them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

#: Packages and modules that take longer to import than the rest of a command, or that not every
#: installation has. ``tests/cli/test_startup.py`` says which commands load none of the largest.
SLOW: Final = frozenset(
    [
        "IPython", "SALib", "altair", "asyncio", "dask", "dask_jobqueue", "distributed",
        "importlib.metadata", "jinja2", "lightburst._core", "matplotlib", "networkx", "numpy",
        "optuna", "pandas", "psutil", "pyarrow", "pydantic", "rich", "rich.progress", "scipy",
        "scipy.special", "scipy.stats", "sqlite3", "tomli_w", "topohub", "typer", "vl_convert",
        "xarray",
    ]
)  # fmt: skip

#: Modules whose source text runs alone in a process that may have another lightburst, or none.
SENT: Final = frozenset(["lightburst.study.workers.arrival"])

_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


class Package:
    """Modules of the package, and the imports at the top of each.

    Parameters
    ----------
    home : Path
        Folder of the package.
    """

    def __init__(self, home: Path) -> None:
        self.files = {_name(home, path): path for path in sorted(home.rglob("*.py"))}
        texts = {name: path.read_text(encoding="utf-8") for name, path in self.files.items()}
        self.trees = {name: ast.parse(text) for name, text in texts.items()}
        self._imported = {
            name: {other for node in _at_top(tree) for other in self.targets(name, node)}
            for name, tree in self.trees.items()
        }

    def targets(self, module: str, node: ast.AST) -> Iterator[str]:
        """Yield the modules that an import statement of a module names, with names of members."""
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = module.split(".")
            if self.files[module].name != "__init__.py":
                package.pop()
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                inside = base.split(".")[0] == "lightburst" and inner not in SLOW
                yield base if inside and inner not in self.files else inner

    def reached(self, modules: Iterable[str], *, parents: bool = True) -> set[str]:
        """Return all names that the top-level imports of some modules reach, these included.

        With `parents` the packages that hold a module count as imported by it, as Python does.
        """
        found: set[str] = set()
        left = list(modules)
        while left:
            name = left.pop()
            if name in found:
                continue
            found.add(name)
            left += self._imported.get(name, ())
            if parents and "." in name:
                left.append(name.rpartition(".")[0])
        return found


def deferred_imports(home: Path) -> Iterator[tuple[Path, int, str]]:
    """Yield file, line and message of each import inside a function that start-up does not need."""
    package = Package(home)
    for module, tree in package.trees.items():
        nodes = [] if module in SENT else list(_in_functions(tree))
        loaded = _slow(package.reached([module])) if nodes else set()
        for node in nodes:
            targets = list(package.targets(module, node))
            if _slow(package.reached(targets)) - loaded:
                continue
            what = ", ".join(dict.fromkeys(targets))
            message = f"{what} is imported inside a function, but loads nothing slow; import it "
            if module in package.reached(targets, parents=False):
                message += "at the top, and move what both modules need to one below them"
            else:
                message += "at the top"
            yield package.files[module], node.lineno, message


def _name(home: Path, path: Path) -> str:
    parts = ("lightburst", *path.relative_to(home).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _slow(names: Iterable[str]) -> set[str]:
    """Return the packages of `SLOW` that some names are, or are a part of."""
    parts = (name.split(".") for name in names)
    return {".".join(part[:end]) for part in parts for end in range(1, len(part) + 1)} & SLOW


def _at_top(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that run when a module is imported."""
    left = list(ast.iter_child_nodes(tree))
    while left:
        node = left.pop()
        if isinstance(node, _FUNCTIONS):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            left += node.orelse
            continue
        yield node
        left += ast.iter_child_nodes(node)


def _in_functions(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the import statements inside functions, each once, in the order of their lines."""
    found = (inner for node in _outer_functions(tree) for inner in ast.walk(node))
    statements = [node for node in found if isinstance(node, ast.Import | ast.ImportFrom)]
    yield from sorted(statements, key=lambda node: node.lineno)


def _outer_functions(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the functions that no other function holds."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, _FUNCTIONS):
            yield node
        else:
            yield from _outer_functions(node)

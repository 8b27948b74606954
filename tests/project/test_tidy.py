"""The structure check must fail on each violation, and on nothing else."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import tidy

GOOD = {
    "crates/des/Cargo.toml": '[package]\nname = "lightburst-des"\n',
    "crates/net/Cargo.toml": "[dependencies]\nlightburst-des.workspace = true\n",
    "crates/tcp/Cargo.toml": '[dependencies]\nlightburst-net = { path = "../net" }\n'
    '[dev-dependencies]\nproptest = "1"\n',
    "crates/optical/Cargo.toml": "[dependencies]\nlightburst-net.workspace = true\n",
    "crates/sim/Cargo.toml": '[dependencies]\nlightburst-tcp.workspace = true\nserde_json = "1"\n',
    "crates/py/Cargo.toml": '[dependencies]\nlightburst-sim.workspace = true\npyo3 = "0.25"\n',
    "crates/des/src/lib.rs": "pub mod queue;\n",
    "crates/des/src/queue.rs": "",
    "crates/tcp/src/lib.rs": "pub mod cc;\n",
    "crates/tcp/src/cc/mod.rs": "mod saw;\n\npub const REGISTRY: &[Entry] = &[\n"
    '    Entry { name: "waiting", build: || saw::build() },\n];\n',
    "crates/tcp/src/cc/saw.rs": "pub fn window() -> u64 {\n    1\n}\n",
    "crates/optical/src/lib.rs": "pub(crate) mod switch;\n",
    "crates/optical/src/switch.rs": "mod all_optical;\n#[cfg(test)]\nmod tests;\n\n"
    "pub const REGISTRY: &[SwitchKind] = &[\n    all_optical::KIND,\n];\n",
    "crates/optical/src/switch/all_optical.rs": "//! Cut-through.\n",
    "crates/optical/src/switch/tests.rs": "//! Not a policy.\n",
    "crates/sim/src/lib.rs": "pub mod plan;\n\nmod check;\n\npub mod run;\n",
    "crates/sim/src/plan.rs": "//! See [`crate::check`].\n",
    "crates/sim/src/check.rs": "use crate::plan::Plan;\n",
    "crates/sim/src/run.rs": "use crate::{check, plan};\n",
    "python/lightburst/__init__.py": "from lightburst.simulation import run\n",
    "python/lightburst/foundation.py": "from decimal import Decimal\n",
    "python/lightburst/scenario/__init__.py": "from ..foundation import rate\n",
    "python/lightburst/simulation.py": "from lightburst import foundation\nfrom . import compile\n",
    "python/lightburst/compile.py": "import lightburst.foundation\n",
    "python/lightburst/study/sweep.py": "from ..simulation import run\nfrom .store import Store\n",
    "python/lightburst/study/store.py": "from pathlib import Path\nimport pandas as pd\n",
    "python/lightburst/study/workers/arrival.py": "def sent():\n    import json\n",
    "python/lightburst/report.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n"
    "    import pandas as pd\n\ndef first():\n    import pandas as pd\n\n"
    "def second():\n    from .study import store\n",
    "README.md": "https://example.org/home/page, ~/" + "work/out, out/" + "tmp/x, /usr/bin/env\n",
}


def tree(root: Path, changes: dict[str, str]) -> Path:
    for name, text in {**GOOD, **changes}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def test_the_good_tree_has_no_finding(tmp_path: Path) -> None:
    assert tidy.check(tree(tmp_path, {})) == []


def test_a_folder_with_too_many_files_is_one_finding(tmp_path: Path) -> None:
    files = {f"python/lightburst/study/m{n}.py": "" for n in range(tidy.MAX_SIBLINGS - 2)}
    assert tidy.check(tree(tmp_path, files)) == []
    (finding,) = tidy.check(tree(tmp_path, {"python/lightburst/study/last.py": ""}))
    assert str(finding) == "python/lightburst/study: 17 source files; allowed: 16"


def python_function(lines: int) -> str:
    return "def long() -> None:\n" + "    pass\n" * (lines - 1)


# A change of the good tree, and the one finding that it must cause: file, line, words.
BROKEN = {
    "long Rust file": ("crates/net/src/lib.rs", "//\n" * 501, 0, "501 lines; allowed: 500"),
    "long Python file": ("python/lightburst/foundation.py", "#\n" * 501, 0, "501 lines"),
    "long test file": ("tests/test_long.py", "#\n" * 501, 0, "501 lines"),
    "long study": ("studies/search.py", "#\n" * 501, 0, "501 lines"),
    "long Python function": (
        "python/lightburst/foundation.py",
        "\n" + python_function(71),
        2,
        "function long has 71 lines; allowed: 70",
    ),
    "the engine knows a network": (
        "crates/des/Cargo.toml",
        "[dependencies]\nlightburst-net.workspace = true\n",
        0,
        "des depends on lightburst-net; allowed: nothing",
    ),
    "the engine needs a stranger": (
        "crates/des/Cargo.toml",
        '[dependencies]\nrand = "0.9"\n',
        0,
        "des depends on rand; allowed: nothing",
    ),
    "TCP knows optics": (
        "crates/tcp/Cargo.toml",
        "[dependencies]\nlightburst-optical.workspace = true\n",
        0,
        "tcp depends on lightburst-optical; allowed: des, net",
    ),
    "optics know TCP in their tests": (
        "crates/optical/Cargo.toml",
        "[dev-dependencies]\nlightburst-tcp.workspace = true\n",
        0,
        "optical depends on lightburst-tcp",
    ),
    "TCP under another name": (
        "crates/optical/Cargo.toml",
        '[dependencies]\nother = { package = "lightburst-tcp", path = "../tcp" }\n',
        0,
        "optical depends on lightburst-tcp",
    ),
    "only on one platform": (
        "crates/net/Cargo.toml",
        '[target."cfg(unix)".dependencies]\nlibc = "0.2"\n',
        0,
        "net depends on libc",
    ),
    "Python in the simulator": (
        "crates/sim/Cargo.toml",
        '[dependencies]\npyo3 = "0.25"\n',
        0,
        "sim depends on pyo3; allowed: serde, serde_json",
    ),
    "a crate without a rule": ("crates/gui/Cargo.toml", "", 0, "unknown crate gui"),
    "upward import": (
        "python/lightburst/foundation.py",
        "import math\nfrom lightburst.scenario import load\n",
        2,
        "foundation imports lightburst.scenario, which stands above it",
    ),
    "upward import, relative": (
        "python/lightburst/compile.py",
        "from .simulation import run\n",
        1,
        "compile imports lightburst.simulation, which stands above it",
    ),
    "upward import, from a folder, inside a function": (
        "python/lightburst/simulation.py",
        "def f():\n    import lightburst.study.store\n",
        2,
        "simulation imports lightburst.study, which stands above it",
    ),
    "the front door from inside": (
        "python/lightburst/compile.py",
        "import lightburst as lb\n",
        1,
        "compile imports the root of the package",
    ),
    "a module without a layer": ("python/lightburst/misc.py", "", 0, "stands in no layer"),
    "an import in a function of what loads nothing slow": (
        "python/lightburst/compile.py",
        "def f():\n    from .foundation import rate\n",
        2,
        "lightburst.foundation is imported inside a function, but loads nothing slow",
    ),
    "the standard library in a method": (
        "python/lightburst/compile.py",
        "class A:\n    def f(self):\n        if self:\n            import json\n",
        4,
        "json is imported inside a function",
    ),
    "an import in a function of what the file loads anyway": (
        "python/lightburst/report.py",
        "from lightburst.study import store\n\ndef f():\n    import pandas\n",
        4,
        "pandas is imported inside a function",
    ),
    "an import in a function that hides a ring": (
        "python/lightburst/study/store.py",
        "import pandas\n\ndef f():\n    from lightburst.study.sweep import run\n",
        4,
        "import it at the top, and move what both modules need to one below them",
    ),
    "a file that is not compiled": (
        "crates/tcp/src/sender.rs",
        "",
        0,
        "crates/tcp/src/lib.rs has no line 'mod sender;'",
    ),
    "a module that uses one below it": (
        "crates/sim/src/check.rs",
        "use crate::plan::Plan;\nuse crate::{plan, run};\n",
        2,
        "check uses run, which stands below it in lib.rs",
    ),
    "a policy that is compiled, and used outside the list only": (
        "crates/optical/src/switch.rs",
        "mod all_optical;\nmod tests;\nuse all_optical::AllOptical;\npub const REGISTRY: A = [];\n",
        0,
        "crates/optical/src/switch.rs does not register all_optical",
    ),
    "a policy of which only the name is left in a comment": (
        "crates/optical/src/switch.rs",
        "//! AllOptical\nmod all_optical;\nmod tests;\npub const REGISTRY: () = &[\n];\n",
        0,
        "crates/optical/src/switch.rs does not register all_optical",
    ),
    "a path of one machine": ("docs/a.md", "\nsee /" + "home/me/x\n", 2, "a path of one machine"),
    "a scratch path": ("benches/a.py", 'OUT = "/' + 'tmp/x"\n', 1, "a path of one machine"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_each_rule_fails_on_a_broken_example(case: str, tmp_path: Path) -> None:
    name, text, line, words = BROKEN[case]
    findings = tidy.check(tree(tmp_path, {name: text}))
    assert len(findings) == 1, findings
    assert words in findings[0].message
    assert findings[0].line == line
    # The error is in the registry, which does not list the policy, but the finding names the
    # policy's file.
    assert findings[0].path == name or findings[0].path.startswith(name.removesuffix(".rs"))


@pytest.mark.parametrize("git", [False, True])
def test_what_is_not_in_the_repository_is_left_alone(git: bool, tmp_path: Path) -> None:
    text = "/" + "home/me/x\n"
    tree(tmp_path, {".venv/bin/activate": text, "target/a.d": text, "docs/mine.md": text})
    if git:
        subprocess.run(["git", "init", "-q", tmp_path], check=True)
        (tmp_path / ".gitignore").write_text("/target/\n/.venv/\n", encoding="utf-8")
    assert [finding.path for finding in tidy.check(tmp_path)] == ["docs/mine.md"]


def test_the_limits_themselves_are_allowed(tmp_path: Path) -> None:
    changes = {
        "crates/net/src/lib.rs": "//\n" * 500,
        "python/lightburst/foundation.py": "#\n" * 430 + python_function(70),
    }
    assert tidy.check(tree(tmp_path, changes)) == []


def test_main_reports_and_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree(tmp_path, {"python/lightburst/foundation.py": python_function(71)})
    assert tidy.main([str(tmp_path)]) == 1
    assert "python/lightburst/foundation.py:1: function long" in capsys.readouterr().out
    assert tidy.main([str(tree(tmp_path, {}))]) == 0
    assert "all rules hold" in capsys.readouterr().out

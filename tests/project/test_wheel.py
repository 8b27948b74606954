"""The wheel alone, on a machine without a compiler: install it, draw the first figure."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = Path(sys.executable).parent

pytestmark = pytest.mark.wheel


def tool(*command: str | Path, cwd: Path = ROOT) -> str:
    """Run a tool of the development environment and return its output."""
    environment = {**os.environ, "PATH": f"{TOOLS}{os.pathsep}{os.environ['PATH']}"}
    run = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    tool(TOOLS / "maturin", "build", "--release", "--locked", "--out", folder)
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the programs of a new virtual environment with the wheel and its dependencies."""
    folder = tmp_path_factory.mktemp("bare")
    locked = folder / "requirements.txt"
    tool(TOOLS / "uv", "export", "--locked", "--no-dev", "--no-emit-project", "-q", "-o", locked)
    tool(TOOLS / "uv", "venv", "-q", "--python", sys.executable, folder / "venv")
    programs = folder / "venv" / TOOLS.name
    install = (TOOLS / "uv", "pip", "install", "-q", "--python", programs / "python")
    # Fails if a dependency has no wheel, or is missing in the lock file.
    tool(*install, "--only-binary", ":all:", "-r", locked)
    tool(*install, "--no-index", "--only-binary", ":all:", wheel)
    return programs


def test_there_is_one_wheel_for_all_pythons(wheel: Path) -> None:
    assert "-cp311-abi3-" in wheel.name
    names = zipfile.ZipFile(wheel).namelist()
    assert "lightburst/_core.abi3.so" in names or "lightburst/_core.pyd" in names
    assert "lightburst/py.typed" in names
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    assert not [name for name in names if name.endswith((".rs", ".toml.orig"))]
    data = {p.name for p in (ROOT / "python/lightburst").rglob("*.csv")}
    assert data <= {Path(name).name for name in names}


def test_the_first_figure_without_a_compiler(bare: Path, tmp_path: Path) -> None:
    environment = {"PATH": str(bare), "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    assert shutil.which("cargo", path=environment["PATH"]) is None
    out = tmp_path / "out"
    name = "minakhmetov2018/fig2a"
    run = subprocess.run(
        [bare / "lightburst", "reproduce", name, "--quick", "--format", "json", "--out", out],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    claims = json.loads(run.stdout)
    assert {claim["verdict"] for claim in claims} <= {"holds", "differs", "not comparable"}
    assert {claim["figure"] for claim in claims} == {"fig2a"}
    made = {path.suffix for path in out.rglob("*") if path.is_file()}
    assert {".png", ".svg", ".html"} <= made

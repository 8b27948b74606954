"""A command imports only the packages that it needs: start-up is most of the time of a small run.

The tests measure no time: they count the large packages of a process at its end.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Each takes longer to import than a small run to simulate.
HEAVY = frozenset(
    [
        "IPython",
        "SALib",
        "altair",
        "asyncio",
        "dask",
        "distributed",
        "jinja2",
        "matplotlib",
        "networkx",
        "numpy.f2py",
        "optuna",
        "pandas",
        "pyarrow",
        "rich.progress",
        "scipy",
        "sqlite3",
        "tomli_w",
        "topohub",
        "vl_convert",
    ]
)
# A run needs them; the help of the program does not.
OF_RUNS = frozenset(("numpy", "lightburst._core", "lightburst.scenario"))
PROGRAM = """
import json, sys
from lightburst.cli import main
code = main(sys.argv[2:])
with open(sys.argv[1], "w") as file:
    json.dump([code, sorted(sys.modules)], file)
"""


def imported(tmp_path: Path, *arguments: str) -> set[str]:
    """The packages that a command has imported when it ends."""
    file = tmp_path / "modules.json"
    command = [sys.executable, "-c", PROGRAM, str(file), *arguments]
    subprocess.run(command, check=True, capture_output=True, timeout=120, cwd=ROOT)
    code, modules = json.loads(file.read_text())
    assert code == 0
    return set(modules)


@pytest.mark.parametrize("example", ["hybrid", "groups", "obs", "path"])
@pytest.mark.parametrize("format", ["table", "json"])
def test_a_small_run_imports_nothing_large(tmp_path: Path, example: str, format: str) -> None:
    modules = imported(tmp_path, "run", f"examples/{example}.toml", "--format", format)
    assert modules >= OF_RUNS
    # The links on all shortest paths of a graph are found with SciPy's graph algorithms; in a
    # fat-tree they are known. SciPy imports numpy.f2py.
    graphs = {"scipy", "numpy.f2py"} if example in ("obs", "path") else set()
    assert modules & HEAVY == graphs
    if graphs:
        assert modules & {"scipy.stats", "scipy.optimize", "scipy.special"} == set()
    # Tables on a terminal are rich's.
    assert ("rich.table" in modules) == (format == "table")


def test_to_save_a_small_run_needs_no_pandas(tmp_path: Path) -> None:
    out = tmp_path / "out"
    modules = imported(tmp_path, "run", "examples/hybrid.toml", "--out", str(out))
    assert modules & HEAVY == {"pyarrow"}
    assert {file.suffix for file in out.iterdir()} == {".parquet", ".json", ""}


@pytest.mark.parametrize("words", [["schema"], ["list", "switches"]])
def test_what_is_said_of_scenarios_needs_nothing_large(tmp_path: Path, words: list[str]) -> None:
    assert imported(tmp_path, *words) & HEAVY == set()


def test_a_script_of_packetdrill_needs_nothing_large(tmp_path: Path) -> None:
    assert imported(tmp_path, "packetdrill", "tests/data/packetdrill/f-rto.pkt") & HEAVY == set()


@pytest.mark.parametrize(
    "words", [["--help"], ["--version"], ["run", "--help"], ["optimise", "--help"]]
)
def test_help_needs_no_simulator(tmp_path: Path, words: list[str]) -> None:
    modules = imported(tmp_path, *words)
    assert modules & (HEAVY | OF_RUNS) == set()


def test_a_first_result_in_python_needs_no_pandas(tmp_path: Path) -> None:
    program = (
        "import sys, lightburst as lb\n"
        "result = lb.run(sys.argv[1], seed=1)\n"
        "print(result, dict(result.metrics))\n"
        "assert 'pandas' not in sys.modules and 'scipy' not in sys.modules\n"
        "result.flows\n"
        "assert 'pandas' in sys.modules\n"
    )
    example = ROOT / "examples" / "hybrid.toml"
    subprocess.run([sys.executable, "-c", program, example], check=True, timeout=120)


def test_the_package_is_a_program_with_exit_codes() -> None:
    command = [sys.executable, "-m", "lightburst", "run", "no-such.toml"]
    ended = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)
    assert "no-such.toml" in ended.stderr

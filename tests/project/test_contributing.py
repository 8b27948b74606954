"""The worked examples of CONTRIBUTING.md, applied as written."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import lightburst as lb

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
FENCE = re.compile(r"^(```+).*?^\1$", re.MULTILINE | re.DOTALL)
EXAMPLES = re.findall(r"^## Worked example: (.*)$", PAGE, re.MULTILINE)
SCENARIOS = ["obs.toml", "electronic.toml", "hybrid.toml"]


class Step(NamedTuple):
    """A block of code, and the file in the heading above it."""

    path: str
    language: str
    text: str


def steps(example: str) -> list[Step]:
    """The blocks of a worked example that belong to a file, in their order."""
    # A page within a block has its own headings.
    page = FENCE.sub(lambda fence: fence[0].replace("\n#", "\n\0#"), PAGE)
    section = page.split(f"## Worked example: {example}\n")[1].split("\n## ")[0]
    found = []
    for part in section.split("\n### ")[1:]:
        heading, _, body = part.partition("\n")
        path = re.search(r": `(.+)`$", heading)
        assert path is not None, heading
        blocks = re.findall(r"^(```+)(\w+)\n(.*?)^\1$", body, re.MULTILINE | re.DOTALL)
        found += [Step(path[1], name, text.replace("\0", "")) for _fence, name, text in blocks]
    return found


def apply(step: Step, root: Path) -> None:
    """Apply a block to its file: a change in it, or lines at its end."""
    file = root / step.path
    before = file.read_text("utf-8") if file.exists() else ""
    if step.language != "diff":
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(before + step.text, "utf-8")
        return
    lines = step.text.splitlines(keepends=True)
    old = "\n" + "".join(line[1:] or "\n" for line in lines if line[0] != "+")
    new = "\n" + "".join(line[1:] or "\n" for line in lines if line[0] != "-")
    assert ("\n" + before).count(old) == 1, f"{step.path} has not once:{old}"
    file.write_text(("\n" + before).replace(old, new)[1:], "utf-8")


@pytest.mark.parametrize("example", EXAMPLES)
def test_each_change_fits_its_file(example: str, tmp_path: Path) -> None:
    for step in steps(example):
        copy = tmp_path / step.path
        copy.parent.mkdir(parents=True, exist_ok=True)
        if not copy.exists() and (ROOT / step.path).exists():
            shutil.copy(ROOT / step.path, copy)
        apply(step, tmp_path)


def built(example: str, root: Path) -> dict[str, str]:
    """Make a copy of the repository with the example in it and a core; returns its environment."""
    listing = subprocess.check_output(
        ["git", "-C", str(ROOT), "ls-files", "-z", "-co", "--exclude-standard"], text=True
    )
    for name in filter(None, listing.split("\0")):
        if (ROOT / name).is_file():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, root / name)
    for step in steps(example):
        apply(step, root)
    # Examples may be built at one time.
    target = ROOT / "target/contributing" / example.replace(" ", "-")
    environment = os.environ | {
        "PYTHONPATH": str(root / "python"),
        "PYO3_PYTHON": sys.executable,
        "CARGO_TARGET_DIR": str(target),
        "CARGO_PROFILE_RELEASE_LTO": "off",
        "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "16",
    }
    environment.pop("LIGHTBURST_CHECKED_CORE", None)
    run(["cargo", "build", "-q", "--locked", "--release", "-p", "lightburst-py"], root, environment)
    shutil.copy(target / "release/lib_core.so", root / "python/lightburst/_core.abi3.so")
    run([sys.executable, "tools/keys.py"], root, environment)
    return environment


def run(command: list[str], root: Path, environment: dict[str, str]) -> str:
    """Run a command in the copy; returns its output."""
    done = subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


#: Prints the digests of runs.
DIGESTS = """
import json, sys
import lightburst as lb
print(json.dumps([lb.run(lb.load(f"examples/{name}")).digest for name in sys.argv[1:]]))
"""

#: Prints the largest window of flows with the new law, and the advertised one, in bytes.
WINDOWS = """
import json
import lightburst as lb
scenario = lb.load("examples/obs.toml").with_(
    {"transport.congestion_control": "aimd", "measurement.trace": [0], "loss.probability": 0.001}
)
result = lb.run(scenario)
transport = scenario.transport
most = transport.advertised_window * transport.payload
print(json.dumps([float(result.trace.windows["congestion_window_bytes"].max()), most]))
"""


def unit_test(name: str) -> str:
    """Return the path of a test of the package, relative to the repository."""
    (path,) = (p for p in ROOT.glob(f"tests/**/test_{name}.py") if p.parent.name != "verification")
    return str(path.relative_to(ROOT))


#: Tests of the package that run over every kind or every registered name.
TESTS = [
    *("settings_of_kinds", "ranges", "scenario", "keys", "docs", "presets", "compile"),
    *("compile_bursts", "bad_input", "bad_input_bursts", "cli", "simulate", "explain", "tidy"),
    *("handbook", "kept"),
]
#: Tests that compare the core with the twin.
TWIN = ["tcp_vs_core", "scripted"]
#: Further tests of verification, by example.
OF_EXAMPLE = {
    "a scheduler": ["reservations"],
    "a loss recovery": ["reports"],
    "a queue discipline": ["disciplines"],
}
#: Tests of the package that run over every paper.
PAPER_TESTS = ["papers", "handbook", "docs"]


def own_tests(example: str) -> set[str]:
    """Return the paths of the tests that the example adds."""
    return {step.path for step in steps(example) if re.match(r"tests/(\w+/)*test_", step.path)}


@pytest.mark.slow
@pytest.mark.parametrize("example", [name for name in EXAMPLES if "paper" not in name])
def test_an_example_works_and_leaves_the_rest_alone(example: str, tmp_path: Path) -> None:
    environment = built(example, tmp_path)
    run(["cargo", "fmt", "--all", "--check"], tmp_path, environment)
    crates = ["-p", "lightburst-tcp", "-p", "lightburst-optical", "-p", "lightburst-sim"]
    run(["cargo", "test", "-q", "--locked", *crates], tmp_path, environment)
    run([sys.executable, "tools/tidy.py"], tmp_path, environment)
    files = [*own_tests(example), "tests/measurement/test_base.py", *map(unit_test, TESTS)]
    twin = TWIN + OF_EXAMPLE.get(example, [])
    files += [f"tests/verification/test_{name}.py" for name in twin]
    run([sys.executable, "-m", "pytest", "-m", "not slow", *files], tmp_path, environment)
    # Runs that do not use it have the same digests as before.
    command = [sys.executable, "-c", DIGESTS, *SCENARIOS]
    found = json.loads(run(command, tmp_path, environment))
    assert found == [lb.run(lb.load(ROOT / "examples" / name)).digest for name in SCENARIOS]
    if "congestion control" in example:
        command = [sys.executable, "-c", WINDOWS]
        largest, advertised = json.loads(run(command, tmp_path, environment))
        # The window has grown to its limit, and no farther.
        assert largest == advertised


@pytest.mark.slow
@pytest.mark.parametrize("example", [name for name in EXAMPLES if "paper" in name])
def test_a_paper_is_reproduced_and_its_claims_hold(example: str, tmp_path: Path) -> None:
    environment = built(example, tmp_path)
    run([sys.executable, "tools/tidy.py"], tmp_path, environment)
    # Runs the paper and writes its lines in README and docs/reproduced.md.
    run([sys.executable, "tools/readme.py", "erlang1917"], tmp_path, environment)
    files = [*own_tests(example), *map(unit_test, PAPER_TESTS)]
    run([sys.executable, "-m", "pytest", "-m", "not slow", *files], tmp_path, environment)
    assert "5 holds, 0 differs" in (tmp_path / "README.md").read_text("utf-8")

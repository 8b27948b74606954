"""When memory ends despite the estimate there is a message, and no process is killed."""

from __future__ import annotations

import errno
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import lightburst as lb
from lightburst.cli import main
from lightburst.simulation import simulate

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="addresses are limited on Linux")

EXAMPLE = Path(__file__).parents[2] / "examples" / "hybrid.toml"
# Leaves this many MiB of addresses, and disables the checks of free memory.
BEGIN = dedent(
    """
    import json, resource, sys
    import lightburst as lb
    from lightburst.foundation import memory as free
    from lightburst.simulation import limits as watch
    from lightburst.cli import main
    import pandas, pyarrow, scipy.sparse.csgraph, rich.progress

    for module in (free, watch):
        module.available_memory = lambda: 2**50
    lines = open("/proc/self/status").read().splitlines()
    held = next(int(line.split()[1]) for line in lines if line.startswith("VmSize")) * 1024
    resource.setrlimit(resource.RLIMIT_AS, (held + int(sys.argv[1]) * 2**20,) * 2)
    """
)
PATH: dict[str, Any] = {
    "topology": {"kind": "path", "links": 2, "link_rate": "1 Gb/s"},
    "switching": {"kind": "electronic", "queue_size": "unlimited"},
    "workload": {"kind": "pairs", "size": {"kind": "constant", "value": "1 GB"}},
    "transport": {"kind": "tcp"},
}
# Copies that are sent faster than the link carries them wait in its queue: a gigabyte.
STORM = {
    **PATH,
    "topology": {"kind": "path", "links": 2, "link_rate": "1 Mb/s"},
    "transport": {"kind": "tcp", "initial_timeout": "1 us", "backoff": 1.000001},
}
TRACE = {
    **PATH,
    "workload": {"kind": "pairs", "size": {"kind": "constant", "value": "4 GB"}},
    "measurement": {"trace": [0]},
}
FLOWS = {
    **PATH,
    "workload": {
        "kind": "poisson",
        "size": {"kind": "constant", "value": "1 kB"},
        "arrival_rate": "1e6 /s",
        "flows": 2_000_000,
    },
}
KINDS = {"a queue": STORM, "a trace": TRACE, "a plan": FLOWS}


def leaving(megabytes: int, program: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a process with limited memory."""
    command = [sys.executable, "-c", BEGIN + dedent(program), str(megabytes), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "megabytes", [0, 200, *(pytest.param(some, marks=pytest.mark.slow) for some in (16, 140, 500))]
)
def test_a_command_says_it_and_ends(kind: str, megabytes: int, tmp_path: Path) -> None:
    file = tmp_path / "scenario.toml"
    file.write_text(lb.Scenario.from_dict(KINDS[kind]).to_toml(), "utf-8")
    done = leaving(megabytes, "sys.exit(main(sys.argv[2:]))", "run", str(file))
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr.startswith("lightburst: memory is exhausted"), done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_notebook_goes_on_and_finished_runs_are_kept(tmp_path: Path) -> None:
    """Three small runs, one that takes all the memory, and a small one again."""
    program = f"""
        import warnings
        from lightburst.study.store.store import Store

        warnings.simplefilter("ignore")
        small = lb.Scenario.from_dict({STORM!r}).with_(transport__initial_timeout="1 s")
        grows = {{"transport.initial_timeout": ["1 us"]}}
        store = Store(sys.argv[2])
        kept = lb.execute(lb.Study(small, {{}}, 3), store, workers=2, progress=False)
        try:
            lb.execute(lb.Study(small, grows, [1]), store, workers=2, progress=False)
        except MemoryError as error:
            print(error)
        again = lb.execute(lb.Study(small, {{}}, 4), store, workers=2, progress=False)
        print(len(store), kept.equals(again[:3]))
        """
    done = leaving(600, program, str(tmp_path / "runs"))
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"there is no room for \d+ MiB of a run\n4 True\n", done.stdout)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), ""),
        (MemoryError("Unable to allocate 59.6 GiB"), ": Unable to allocate 59.6 GiB"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), ": [Errno 12] Cannot allocate memory"),
        (RuntimeError("can't start new thread"), ": can't start new thread"),
        (ImportError("x.so: failed to map segment"), ": x.so: failed to map segment"),
        (
            SystemError("error return without exception set"),
            ": error return without exception set",
        ),
    ],
)
def test_all_say_it_in_their_own_words(
    error: Exception,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def ends(*arguments: object, **options: object) -> None:
        raise error

    monkeypatch.setattr(simulate, "compile_plan", ends)
    assert main(["run", str(EXAMPLE)]) == 2
    words = (
        f"lightburst: memory is exhausted{said}; allowed: a smaller scenario, fewer runs at once"
    )
    said = capsys.readouterr().err
    assert said.startswith(words)
    assert said.count("\n") == 1


def test_another_error_is_none_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*arguments: object, **options: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(simulate, "compile_plan", wrong)
    with pytest.raises(RuntimeError, match="a bug"):
        main(["run", str(EXAMPLE)])

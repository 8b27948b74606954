"""``lightburst report`` on directories that are damaged or of another kind than stated."""

from __future__ import annotations

import json
import resource
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest

from lightburst.cli import main
from lightburst.foundation.errors import InputError
from lightburst.foundation.files import checksums
from lightburst.report import run_page
from lightburst.report.saved import write_page
from lightburst.simulation.simulate import run
from results import KINDS, everything, saved_in
from stores import scenario
from traced_paper import TRACED


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with saved_in(tmp_path_factory.mktemp("saved")) as place:
        yield place


@pytest.fixture
def copies(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(saved, tmp_path, dirs_exist_ok=True)
    return tmp_path


def forge(directory: Path, name: str, change: Callable[[dict[str, object]], object]) -> None:
    """Change a JSON file, and the checksums with it, as an attacker could."""
    about = json.loads((directory / name).read_text())
    about = change(about) or about
    (directory / name).write_text(json.dumps(about))
    reseal(directory)


def reseal(directory: Path) -> None:
    (directory / checksums.SUMS).unlink()
    checksums.seal(directory)


@pytest.mark.parametrize("name", ["index.html", "dots.svg", "dots.png", "means.csv", "claims.json"])
def test_what_follows_from_the_rest_is_made_again(copies: Path, name: str) -> None:
    page = (copies / "reproduction" / "index.html").read_bytes()
    (copies / "reproduction" / name).write_bytes(b"damaged")
    assert main(["report", "reproduction"]) == 0
    assert (copies / "reproduction" / "index.html").read_bytes() == page
    assert (copies / "reproduction" / name).read_bytes() != b"damaged"
    checksums.verify(copies / "reproduction", checksums.listed(copies / "reproduction"))


@pytest.mark.parametrize("name", ["/victim", "../victim", "../../victim", "runs/../../victim"])
@pytest.mark.parametrize("sealed", [True, False])
def test_no_report_touches_a_file_elsewhere(
    copies: Path, capsys: pytest.CaptureFixture[str], name: str, sealed: bool
) -> None:
    victim = copies / "victim.parquet"
    TRACED.traced.record(("all",))["trace_dots"].to_parquet(victim)  # type: ignore[union-attr]
    name = str(copies / "victim") if name == "/victim" else name
    forge(copies / "reproduction", "reproduction.json", lambda about: about.update(traces=[name]))
    if sealed:
        with (copies / "reproduction" / checksums.SUMS).open("a") as listing:
            listing.write(f"{'0' * 64}  {name}.parquet\n")
    before = everything(copies)
    assert main(["report", "reproduction"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert everything(copies) == before


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["index.html", checksums.SUMS, ".index.html.new"])
def test_no_report_writes_through_a_link(copies: Path, kind: str, name: str) -> None:
    victim, page = copies / "victim", copies / kind / name
    content = page.read_bytes() if page.exists() else b"precious"
    victim.write_bytes(content)
    page.unlink(missing_ok=True)
    page.symlink_to(victim)
    write_page(copies / kind)
    assert victim.read_bytes() == content
    assert {path.name for path in copies.iterdir()} == {*KINDS, "victim", ".lightburst"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_full_disk_leaves_the_directory_as_it_was(copies: Path, kind: str) -> None:
    before = everything(copies)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, limits[1]))
    try:
        with pytest.raises(InputError, match="File too large"):
            write_page(copies / kind)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert everything(copies) == before
    assert all(path.name in {*KINDS, ".lightburst"} for path in copies.iterdir())


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "text",
    ["[]", "{}", "7", "null", "", nested(100_000), '{"summary": 1, "provenance": 2}', "\ud800",
     '{"name": "minakhmetov2018", "quick": 1, "provenance": {}}', '{"name": {}, "traces": 5}'],
)  # fmt: skip
def test_checksums_that_fit_make_nothing_right(
    copies: Path, capsys: pytest.CaptureFixture[str], kind: str, text: str
) -> None:
    name = "run.json" if kind == "run" else f"{kind}.json"
    (copies / kind / name).write_bytes(text.encode(errors="surrogatepass"))
    reseal(copies / kind)
    assert main(["report", kind]) == 2
    said = capsys.readouterr().err
    assert said.startswith("lightburst: ")
    assert said.count("\n") == 1


@pytest.mark.parametrize(("kind", "name"), [("run", "flows"), ("reproduction", "runs")])
@pytest.mark.parametrize("columns", [{}, {"slowdown": ["a"], "size_bytes": [None]}, {"seed": [1j]}])
def test_other_tables_neither(
    copies: Path, kind: str, name: str, columns: dict[str, list[object]]
) -> None:
    frame = pd.DataFrame({key: pd.Series(values, dtype=object) for key, values in columns.items()})
    frame.astype(str).to_parquet(copies / kind / f"{name}.parquet")
    reseal(copies / kind)
    with pytest.raises(InputError, match=r"^DIR: given"):
        write_page(copies / kind)


def test_a_directory_without_checksums_is_refused(copies: Path) -> None:
    (copies / "run" / checksums.SUMS).unlink()
    with pytest.raises(InputError, match=f"without {checksums.SUMS}"):
        run_page.run_page(copies / "run")
    with pytest.raises(InputError, match="holds an earlier result"):
        run(scenario(0), 1).save("run")

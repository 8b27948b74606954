"""A store or a saved result with any damage: data read from it is right, or it is refused."""

import shutil
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import damage
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cases import cases, in_words, limited
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DataObject, data

from lightburst.experiment.sweep import load_sweep
from lightburst.experiment.sweep_result import Sweep
from lightburst.foundation.errors import InputError, StoreWarning
from lightburst.foundation.files import checksums
from lightburst.foundation.files.directory import check
from lightburst.report.saved import write_page
from lightburst.result.files import CLAIMS, PAGE, REPLICATIONS, REPRODUCTION, RUN, SWEEP
from lightburst.study import Store
from lightburst.study.store.upkeep import clean, examined, listed
from results import KINDS, everything, saved_in
from stores import INDEX, digests, fill, planned, truth

T = TypeVar("T")

TRUTH = truth()
# A page of a store holds at most two of its rows, or one and its index entry.
LOST = 3
LOG = "-wal"


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two stores with the same runs: one closed, and one as a kill leaves it, with its log."""
    place = tmp_path_factory.mktemp("stores")
    fill(place / "rest")
    with Store(place / "open") as store:
        for run in planned():
            store.put(run, TRUTH[run.key])
        (place / "killed").mkdir()
        for ending in ("", LOG):
            shutil.copyfile(
                f"{place / 'open' / INDEX}{ending}", f"{place / 'killed' / INDEX}{ending}"
            )
    return place


def unless_refused(where: str, work: Callable[[], T]) -> T | InputError:
    """Call a function within the limits, or return the words of its refusal."""
    try:
        with limited():
            return work()
    except InputError as error:
        in_words(error)
        assert error.path == where
        return error


def read(path: Path) -> int:
    """Read all runs, which must be right; return their number."""
    with Store(path) as store:
        found = store.find(digests())
        for key, row in found.items():
            assert TRUTH[key] == row
        return len(found)


def taken_up(path: Path) -> int:
    """Use a store as a study does."""
    read(path)
    with Store(path) as store:
        for run in planned():
            store.put(run, TRUTH[run.key])
    return read(path)


def mended(path: Path) -> int:
    examined(path)
    clean(path)
    assert examined(path).sound
    return read(path)


@cases(0.15)
@given(data())
def test_stores(tmp_path_factory: pytest.TempPathFactory, stores: Path, drawn: DataObject) -> None:
    which, ending = drawn.draw(
        st.sampled_from([*[("rest", "")] * 3, *[("killed", LOG)] * 2, ("killed", "")])
    )
    store = tmp_path_factory.mktemp("store") / "runs"
    shutil.copytree(stores / which, store)
    flips = 0
    if drawn.draw(st.integers(0, 4)) < 4:
        file = store / f"{INDEX}{ending}"
        wanted = drawn.draw(damage.changes(file.stat().st_size))
        damage.damage(file, wanted)
        if which == "rest" and all(kind == "flip" for kind, *_ in wanted):
            flips = len(wanted)
    else:
        damage.tell(
            store / INDEX, drawn.draw(st.lists(damage.statements(), min_size=1, max_size=3))
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StoreWarning)
        unless_refused("store", lambda: taken_up(store))
        unless_refused("store", lambda: listed(store))
        left = unless_refused("store", lambda: mended(store))
    if flips and not isinstance(left, InputError):
        assert left >= len(TRUTH) - LOST * flips
    shutil.rmtree(store.parent)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with saved_in(tmp_path_factory.mktemp("saved")) as place:
        yield place


def change(drawn: DataObject, file: Path, original: Path) -> None:
    """Change one file of a result."""
    match drawn.draw(st.sampled_from(["bytes", "bytes", "content", "content", "other", "kind"])):
        case "content" if file.suffix == ".json":
            file.write_bytes(drawn.draw(damage.values(file.read_bytes())))
        case "content" if file.suffix == ".parquet":
            table = drawn.draw(damage.columns(file))
            with suppress(pa.ArrowException, UnicodeEncodeError):  # Parquet cannot hold it
                pq.write_table(table, file)
        case "other":
            shutil.copyfile(drawn.draw(st.sampled_from(sorted(original.iterdir()))), file)
        case "kind":
            damage.become(file, drawn.draw(st.sampled_from(damage.KINDS_OF_FILE)))
        case _:
            damage.damage(file, drawn.draw(damage.changes(file.stat().st_size)))


def looked_at(found: Sweep) -> None:
    """Call the methods of a sweep that a user calls."""
    found.table()
    found.comparisons()
    for name in found.study.keep:
        found.kept(name)


@cases(0.1)
@given(data())
def test_result_directories(
    tmp_path_factory: pytest.TempPathFactory, saved: Path, drawn: DataObject
) -> None:
    original = saved / drawn.draw(st.sampled_from(KINDS))
    directory = tmp_path_factory.mktemp("copy") / original.name
    shutil.copytree(original, directory)
    # Files that are made again from the rest are seldom worth a change.
    made = (".html", ".png", ".svg", ".csv", CLAIMS)
    names = sorted(file.name for file in original.iterdir() if not file.name.endswith(made))
    changed = drawn.draw(
        st.lists(st.sampled_from([*names, PAGE]), min_size=1, max_size=2, unique=True)
    )
    for name in changed:
        change(drawn, directory / name, original)
    # With matching checksums, as an attacker could write them; the result may then have any
    # displayable content.
    forged = drawn.draw(st.booleans()) and all(file.is_file() for file in directory.iterdir())
    if forged:
        (directory / checksums.SUMS).unlink(missing_ok=True)
        checksums.seal(directory)
    before = everything(directory)
    page = unless_refused("DIR", lambda: write_page(directory))
    if isinstance(page, InputError):
        assert everything(directory) == before
        # Without its first file the kind of the directory is unknown; a page is not read but
        # written.
        unnamed = {RUN, REPLICATIONS, REPRODUCTION, SWEEP, PAGE} & set(changed)
        assert forged or unnamed or any(name in page.given for name in (*changed, checksums.SUMS))
    elif not forged:
        assert page.read_bytes() == (original / page.name).read_bytes()
    if original.name == "sweep":
        unless_refused("DIR", lambda: looked_at(load_sweep(directory)))
    unless_refused("--out", lambda: check(directory))
    assert [entry.name for entry in directory.parent.iterdir()] == [directory.name]
    shutil.rmtree(directory.parent)

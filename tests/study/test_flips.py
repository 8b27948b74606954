"""Single flipped bits in saved files: each is detected, or the loaded result is the saved one."""

from __future__ import annotations

import random
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import lightburst as lb
from lightburst.experiment.optimise import load_optimum
from lightburst.experiment.sensitivity import load_sensitivities
from lightburst.experiment.sweep import load_sweep
from lightburst.foundation.errors import InputError
from lightburst.foundation.files.checksums import SUMS
from lightburst.study import Store
from lightburst.study.store.upkeep import examined
from stores import INDEX, digests, fill

SMALL = {
    "topology": {"kind": "fat-tree", "k": 4},
    "switching": {"kind": "electronic"},
    "transport": {"kind": "tcp"},
    "workload": {"kind": "poisson", "load": 0.1, "flows": 10, "size": "9 kB"},
}
RANGE = {"workload.load": {"from": 0.1, "to": 0.4, "number": 4}}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep with kept tables, an optimum and a sensitivity analysis."""
    place = tmp_path_factory.mktemp("saved")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        scenario, quiet = lb.Scenario.from_dict(SMALL), dict[str, Any](progress=False)
        variants = {"two": {}, "four": {"transport.initial_window": 4}}
        lb.sweep(scenario, {"workload.load": [0.1, 0.2]}, variants=variants, seeds=2,
                 keep=["flows"], **quiet).save("sweep")  # fmt: skip
        asked: dict[str, Any] = {"trials": 2, "first": 2, "confirm": 2, "seeds": 2}
        lb.optimise(scenario, RANGE, minimise="makespan_s", **asked, **quiet).save("optimum")
        lb.sensitivity(scenario, RANGE | {"transport.initial_window": {"from": 2, "to": 10,
                       "number": 9}}, metric="makespan_s", points=16, seeds=1,
                       resamples=100, **quiet).save("sensitivity")  # fmt: skip
    return place


LOADERS: dict[str, Callable[[Path], Any]] = {
    "sweep": load_sweep,
    "optimum": load_optimum,
    "sensitivity": load_sensitivities,
}


def same(one: Any, other: Any) -> bool:
    """Whether two results are equal."""
    if hasattr(one, "runs") and isinstance(one.runs, pd.DataFrame):
        tables = one.runs.equals(other.runs) and one.kept("flows").equals(other.kept("flows"))
    else:
        tables = True
    return bool(tables and one.as_dict() == other.as_dict())


def flipped(content: bytes, bit: int) -> bytes:
    held = bytearray(content)
    held[bit // 8] ^= 1 << bit % 8
    return bytes(held)


@pytest.mark.parametrize("kind", LOADERS)
@pytest.mark.parametrize("times", [60, pytest.param(1000, marks=pytest.mark.slow)])
def test_a_bit_in_a_saved_study(saved: Path, tmp_path: Path, kind: str, times: int) -> None:
    chance, copy = random.Random(kind), tmp_path / kind
    shutil.copytree(saved / kind, copy)
    files = sorted(file.name for file in copy.iterdir())
    original, passed = LOADERS[kind](copy), []
    for n in range(times):
        # Each file in turn, so that none is left out for being small.
        file = copy / files[n % len(files)]
        content = file.read_bytes()
        bit = chance.randrange(8 * len(content))
        file.write_bytes(flipped(content, bit))
        try:
            found = LOADERS[kind](copy)
        except InputError as error:
            assert error.path == "DIR"
        else:
            assert same(found, original)
            passed.append((file.name, bit))
        file.write_bytes(content)
    # A line end of the list can become another one; every other flip is detected.
    assert {name for name, _ in passed} <= {SUMS}
    assert len(passed) <= times // 20


@pytest.mark.parametrize("kind", LOADERS)
def test_a_file_that_is_not_read_but_missing(saved: Path, tmp_path: Path, kind: str) -> None:
    shutil.copytree(saved / kind, tmp_path / kind)
    (tmp_path / kind / "study.toml").unlink()
    with pytest.raises(InputError, match=r"study\.toml \(missing; SHA256SUMS names it\)"):
        LOADERS[kind](tmp_path / kind)


@pytest.mark.parametrize("times", [60, pytest.param(1000, marks=pytest.mark.slow)])
def test_a_bit_in_the_index_of_a_store(tmp_path: Path, times: int) -> None:
    """A flip without a message has hit unused data: free room, or internal numbers of SQLite.

    Every run is found with every metric as written, and none is missing.
    """
    chance, place, copy = random.Random(29), tmp_path / "runs", tmp_path / "copy"
    truth = fill(place)
    content = (place / INDEX).read_bytes()
    silent = 0
    for _ in range(times):
        shutil.copytree(place, copy)
        damaged = flipped(content, chance.randrange(8 * len(content)))
        (copy / INDEX).write_bytes(damaged)
        try:
            found_sound = examined(copy).sound
        except InputError:
            found_sound = False
        (copy / INDEX).write_bytes(damaged)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", lb.StoreWarning)
            try:
                with Store(copy) as store:
                    found = store.find(digests())
            except InputError:
                found = {}
                said = [*said, None]  # type: ignore[list-item]
        if not said:
            silent += 1
            assert found == truth
        elif found_sound:
            pytest.fail("store check says that a store is sound, of which a study warns")
        assert all(truth[key] == row for key, row in found.items())
        shutil.rmtree(copy)
    assert 0 < silent < times

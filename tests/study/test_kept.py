"""Tables of runs: files written without pandas, and kept tables of a sweep."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from pyarrow import parquet

import lightburst as lb
from lightburst.foundation.files.dataframes import Words, frame, write_parquet
from lightburst.result.saving import TABLES, needed

ROOT = Path(__file__).resolve().parents[2]
BASE = lb.Scenario.from_dict(
    {
        "topology": {"kind": "fat-tree", "k": 4},
        "switching": {"kind": "hybrid", "buffer_ports": 1},
        "transport": {"kind": "tcp", "preset": "datacentre"},
        "groups": {
            "mice": {
                "workload": {
                    "kind": "poisson",
                    "arrival_rate": "1e6 /s",
                    "flows": 40,
                    "size": "20 kB",
                }
            },
            "mates": {
                "workload": {
                    "kind": "poisson",
                    "arrival_rate": "1e6 /s",
                    "flows": 9,
                    "size": "90 kB",
                }
            },
        },
        "measurement": {
            "sample": "50 us",
            "time_limit": "1 s",
            "trace": [0],
            "reordering": {},
            "size_classes": ["50 kB"],
            "synchronisation": {"bin": "1 ms", "series": True},
        },
    }
)


def same(file: Path, table: pd.DataFrame, other: Path) -> None:
    """Every reader sees the file that pandas would have written."""
    table.to_parquet(other, index=False)
    mine, theirs = parquet.read_table(file), parquet.read_table(other)
    assert mine.schema.equals(theirs.schema)
    assert mine.equals(theirs)
    pd.testing.assert_frame_equal(pd.read_parquet(file), pd.read_parquet(other))


@pytest.mark.parametrize("rows", [0, 1, 9, 1000])
def test_a_table_is_written_as_pandas_would(tmp_path: Path, rows: int) -> None:
    draw = np.random.default_rng(rows)
    number = draw.normal(size=rows)
    number[draw.random(rows) < 0.3] = np.nan
    number[draw.random(rows) < 0.1] = np.inf
    words = np.array(["Zürich", "a", "", "日本"], object)
    some = words[draw.integers(0, 4, rows)]
    some[draw.random(rows) < 0.2] = None
    table: dict[str, NDArray[Any] | Words] = {
        "number": number,
        "count": draw.integers(0, 2**63, rows).astype(np.uint64),
        "small": draw.integers(0, 2**16, rows).astype(np.uint16),
        "every_other": np.arange(2 * rows)[::2],
        "said": words[draw.integers(0, 4, rows)],
        "some": some,
        "yes": draw.random(rows) < 0.5,
        "kind": Words(draw.integers(-1, 3, rows).astype(np.int8), ("x", "ÿ", "never", "z")),
        "all": Words(draw.integers(0, 2, rows).astype(np.uint8), ("x", "y")),
    }
    if not rows:  # pandas cannot know the type of an empty column of text
        table = {name: column for name, column in table.items() if name not in ("said", "some")}
    write_parquet(table, tmp_path / "mine")
    same(tmp_path / "mine", frame(table), tmp_path / "theirs")


@pytest.mark.parametrize("example", ["hybrid", "nsfnet", "obs", "groups"])
def test_the_tables_of_a_run_are_written_as_pandas_would(tmp_path: Path, example: str) -> None:
    result = lb.run(ROOT / f"examples/{example}.toml", seed=1)
    result.save(tmp_path / "out")
    for name in ("flows", "links", "switches"):
        same(tmp_path / f"out/{name}.parquet", getattr(result, name), tmp_path / "theirs")


def test_every_table_of_a_result_can_be_kept(tmp_path: Path) -> None:
    there = [name for name in TABLES if needed(name, BASE) is None]
    found = lb.sweep(BASE, seeds=2, keep=there, store=tmp_path / "runs", progress=False)
    alone = lb.run(BASE, seed=2)
    for name, own in {
        "groups": alone.groups.reset_index(),
        "size_classes": alone.size_classes.reset_index(),
        "samples_links": alone.samples.links,
        "reordering": alone.reordering,
        "trace_windows": alone.trace.windows,
        "synchronisation": alone.synchronisation,
    }.items():
        kept = found.kept(name).query("seed == 2").drop(columns="seed").reset_index(drop=True)
        pd.testing.assert_frame_equal(kept, own, check_dtype=False, check_categorical=False)
    found.save(tmp_path / "out")
    again = lb.load_sweep(tmp_path / "out")
    rows = {name: len(again.kept(name)) for name in there}
    assert rows == {name: len(found.kept(name)) for name in there}
    none = ["trace_bursts", "trace_path_switches"]
    assert [name for name, number in rows.items() if not number] == none


def test_a_variant_without_a_table_has_no_rows_in_it(tmp_path: Path) -> None:
    variants = {"long": {}, "short": {"measurement.sample": None, "switching.buffer_ports": 2}}
    found = lb.sweep(BASE, variants=variants, seeds=1, keep=["samples_flows"], progress=False)
    assert set(found.kept("samples_flows")["variant"]) == {"long"}
    found.save(tmp_path / "out")
    assert set(lb.load_sweep(tmp_path / "out").kept("samples_flows")["variant"]) == {"long"}


def test_what_is_looked_at_is_no_run_but_its_tables(tmp_path: Path) -> None:
    store, short = tmp_path / "runs", {"measurement.sample": "25 us"}

    def sweep(base: lb.Scenario, over: Mapping[str, list[str]] | None = None) -> lb.Sweep:
        keep = ["flows", "samples_flows"]
        return lb.sweep(base, over, seeds=1, store=store, progress=False, keep=keep)

    few = len(sweep(BASE).kept("samples_flows"))
    assert len(sweep(BASE.with_(short)).kept("samples_flows")) > 1.5 * few
    assert len(sweep(BASE).kept("samples_flows")) == few
    assert len(list(tmp_path.glob("runs/tables/*-flows.parquet"))) == 1
    with pytest.raises(lb.InputError, match="keep: 'samples_flows': given points that differ"):
        sweep(BASE, over={"measurement.sample": ["25 us", "50 us"]})


@pytest.mark.parametrize(
    ("name", "key"), [("bursts", "measurement.bursts"), ("trace_cuts", "measurement.network")]
)
def test_a_table_that_no_point_has_is_refused_before_it_runs(name: str, key: str) -> None:
    with pytest.raises(lb.InputError) as caught:
        lb.sweep(BASE, seeds=2, keep=["flows", name], progress=False)
    assert str(caught.value) == f"keep: '{name}': given no {key}; allowed: a scenario with {key}"

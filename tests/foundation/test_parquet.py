"""Parquet files whose content is far larger than the file: refused before they are unpacked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lightburst as lb
from lightburst.foundation import memory
from lightburst.foundation.errors import InputError
from lightburst.foundation.files.checksums import seal
from lightburst.foundation.files.parquet import read_frame
from lightburst.workload.table import read_table

LONG = "x" * 2_000_000
# In 256 MiB of addresses beyond those that a process begins with; the peak is in MiB.
LIMITED = """
import json, resource, sys
from pathlib import Path
import psutil
import lightburst as lb
from lightburst.foundation.files.parquet import read_frame
from lightburst.workload.table import read_table
import pandas

held = psutil.Process().memory_info()
resource.setrlimit(resource.RLIMIT_AS, (held.vms + 2**28, resource.RLIM_INFINITY))
try:
    print(json.dumps({"value": repr(eval(sys.argv[1]))}))
except ValueError as error:
    print(json.dumps({"error": str(error)}))
status = open("/proc/self/status").read().split("VmHWM:")[1].split()[0]
print(int(status) / 1024 - held.rss / 2**20)
"""


def in_little_memory(what: str, folder: Path) -> tuple[dict[str, str], float]:
    """Return the value of an expression, and its peak of memory, in MiB."""
    words = [sys.executable, "-c", LIMITED, what]
    # The usual pool takes a gibibyte of addresses at once.
    pool = {**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system"}
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder, env=pool)
    assert done.returncode == 0, done.stderr
    said, peak = done.stdout.splitlines()
    return json.loads(said), float(peak)


def flows_with(source: pa.Array) -> pa.Table:
    rows = len(source)
    others = {"destination": ["b"] * rows, "start_s": np.zeros(rows), "size_bytes": [1000] * rows}
    return pa.table({"source": source, **others})


def write_bomb(file: Path, kind: str) -> None:
    """Write a file of 1 to 56 kB, with 0.3 to 6 GB of text, which takes seconds."""
    options: dict[str, Any] = {
        "use_dictionary": False,
        "compression": "brotli",
        "compression_level": 1,
    }
    match kind:
        case "dictionary":
            source = pa.DictionaryArray.from_arrays(np.zeros(3000, np.int32), [LONG])
            options = {"compression": "zstd"}
        case "page":
            source = pa.array([LONG * 30] * 5)
        case "beginnings":
            source = pa.array([LONG] * 150)
            options["column_encoding"] = {"source": "DELTA_BYTE_ARRAY"}
    pq.write_table(flows_with(source), file, **options)
    assert file.stat().st_size < 60_000


BOMBS = {
    "dictionary": "source of 2,000,004 bytes a row; allowed: up to 1,000 bytes",
    "page": "source of 60,000,005 bytes a row; allowed: up to 1,000 bytes",
    "beginnings": "(source is encoded as DELTA_BYTE_ARRAY); allowed: a CSV or Parquet file",
}


@pytest.fixture(scope="module", params=BOMBS)
def bomb(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder named by the kind of its `flows.parquet`, for both tests."""
    folder = tmp_path_factory.mktemp("bombs") / str(request.param)
    folder.mkdir()
    write_bomb(folder / "flows.parquet", folder.name)
    return folder


@pytest.mark.skipif(sys.platform != "linux", reason="the system says it on Linux alone")
def test_a_table_of_flows_of_a_few_kilobytes_takes_a_few_megabytes(bomb: Path) -> None:
    said, peak = in_little_memory("read_table(Path('flows.parquet'), 2, ('a', 'b'))", bomb)
    assert BOMBS[bomb.name] in said["error"]
    assert peak < 40


@pytest.mark.skipif(sys.platform != "linux", reason="the system says it on Linux alone")
def test_a_saved_table_of_a_few_kilobytes_is_refused(bomb: Path) -> None:
    said, peak = in_little_memory("read_frame(Path('flows.parquet'))", bomb)
    if bomb.name == "beginnings":
        assert "DELTA_BYTE_ARRAY" in said["error"]
    else:
        assert "GiB of memory; allowed: a table that fits into the" in said["error"]
    # The page of the dictionary is read, to count its texts.
    assert peak < 60


def test_rows_that_no_run_has_room_for_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twenty million equal rows, of 349 kB, took 3.2 GB before their run was refused."""
    rows = 500_000
    same = {"destination": np.ones(rows, np.int64), "start_s": np.zeros(rows)}
    table = pa.table({"source": np.zeros(rows, np.int64), **same, "size_bytes": [9] * rows})
    pq.write_table(table, tmp_path / "flows.parquet", compression="zstd")
    # The memory suffices to read them (200 bytes each), but not to run them.
    monkeypatch.setattr(memory, "available_memory", lambda: 220 * 2**20)
    with pytest.raises(InputError, match=r"flows\.parquet, of 500,000 rows, which need about 0\.2"):
        read_table(tmp_path / "flows.parquet", 2)
    monkeypatch.setattr(memory, "available_memory", lambda: 230 * 2**20)
    assert len(read_table(tmp_path / "flows.parquet", 2)) == rows


def test_the_memory_of_texts_is_counted_to_the_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten of 20 MB each and a hundred of one byte, by one entry of a dictionary each."""
    places = np.repeat(np.array([0, 1], np.int32), [10, 100])
    texts = pa.DictionaryArray.from_arrays(places, [LONG * 10, "y"])
    pq.write_table(pa.table({"text": texts}), tmp_path / "t.parquet")
    asked: list[int] = []
    name = "lightburst.foundation.files.parquet.check_memory"
    monkeypatch.setattr(name, lambda needed, *_: asked.append(needed))
    assert len(read_frame(tmp_path / "t.parquet")) == 110
    pages, all_of_it = asked
    assert all_of_it - pages == 200_000_000 + 100


def test_every_kind_of_page_is_understood(tmp_path: Path) -> None:
    """The count is that of the footer, less the headers of the pages."""
    chance = np.random.default_rng(1)
    table = pa.table(
        {
            "number": chance.integers(0, 2**60, 30_000),
            "few": chance.integers(0, 3, 30_000),
            "real": chance.random(30_000),
            "text": [f"text {n}" for n in range(30_000)],
            "word": pa.array(["a", "b", None] * 10_000),
            "flag": [True, False, None] * 10_000,
        }
    )
    from lightburst.foundation.files.parquet import columns_of

    for options in (
        {},
        {"data_page_version": "2.0"},
        {"compression": "zstd", "row_group_size": 7000, "data_page_size": 4096},
        {"compression": "gzip", "data_page_version": "2.0", "data_page_size": 1000},
        {"use_dictionary": False, "write_page_index": True, "write_page_checksum": True},
    ):
        file = tmp_path / "t.parquet"
        pq.write_table(table, file, **options)
        metadata = pq.read_metadata(file)
        with file.open("rb") as held:
            found = {c.name: c.page_bytes for c in columns_of(metadata, held, table.column_names)}
        for place, name in enumerate(table.column_names):
            groups = [metadata.row_group(i).column(place) for i in range(metadata.num_row_groups)]
            whole = sum(group.total_uncompressed_size for group in groups)
            assert 0.85 * whole < found[name] < whole
        pd.testing.assert_frame_equal(read_frame(file), pd.read_parquet(file))


def test_a_page_that_is_larger_than_the_footer_says(tmp_path: Path) -> None:
    """The footer of a small file before the page of a large one."""
    file = tmp_path / "flows.parquet"
    write_bomb(file, "page")
    honest = file.read_bytes()
    size = pq.read_metadata(file).row_group(0).column(0).total_uncompressed_size

    def varint(number: int) -> bytes:
        """A whole number as thrift writes it."""
        zigzag, found = number << 1, []
        while zigzag > 127:
            found.append(zigzag & 127 | 128)
            zigzag >>= 7
        return bytes([*found, zigzag])

    said = varint(size)
    assert honest.count(said) >= 1
    at = honest.rindex(said)
    lie = varint(1000)
    # The length is unchanged: a number may have leading zeros.
    lie = bytes([lie[0], lie[1] | 128, *[128] * (len(said) - 3), 0])
    file.write_bytes(honest[:at] + lie + honest[at + len(said) :])
    assert pq.read_metadata(file).row_group(0).column(0).total_uncompressed_size == 1000
    with pytest.raises(InputError, match=r"source of 60,000,005 bytes a row"):
        read_table(file, 2, ("a", "b"))


SMALL = {
    "topology": {"kind": "fat-tree", "k": 4},
    "switching": {"kind": "electronic"},
    "transport": {"kind": "tcp"},
    "workload": {"kind": "pairs", "size": {"kind": "constant", "value": "9 kB"}},
}


def test_saved_results_and_kept_tables_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each file has an additional column that would be 400 MB."""
    from lightburst.cli import main

    monkeypatch.chdir(tmp_path)
    scenario = lb.Scenario.from_dict(SMALL)
    lb.run(scenario, 1).save("run")
    sweep = lb.sweep(scenario, variants={"a": {}, "b": {"transport.initial_window": 2}}, seeds=2,
                     keep=["flows"], store="store")  # fmt: skip
    sweep.save("sweep")
    kept = next(Path("store", "tables").iterdir())
    monkeypatch.setattr(memory, "available_memory", lambda: 2**28)
    for file in (Path("run/flows.parquet"), Path("sweep/runs.parquet"), kept):
        table = pq.read_table(file)
        places = np.zeros(len(table), np.int32)
        bomb = pa.DictionaryArray.from_arrays(places, ["x" * (400_000_000 // len(table))])
        pq.write_table(table.append_column("bomb", bomb), file, compression="zstd")
        assert file.stat().st_size < 100_000
        if file != kept:
            (file.parent / "SHA256SUMS").unlink()
            seal(file.parent)
    refused = r"which needs about .* GiB of memory; allowed: a table that fits into the 0\.2 GiB"
    with pytest.raises(InputError, match=refused):
        lb.load_sweep("sweep")
    again = lb.sweep(scenario, variants={"a": {}, "b": {"transport.initial_window": 2}}, seeds=2,
                     keep=["flows"], store="store")  # fmt: skip
    with pytest.raises(InputError, match=refused):
        again.kept("flows")
    assert main(["report", "run"]) == 2
    assert main(["compare", "sweep", "sweep"]) == 2
    said = capsys.readouterr().err
    assert said.count("of memory; allowed: a table that fits into the 0.2 GiB") == 2

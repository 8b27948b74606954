"""The size of a table of flows is checked before it is read."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import lightburst as lb
from lightburst.foundation import memory
from lightburst.foundation.errors import InputError
from lightburst.workload.table import read_table


def test_a_small_file_of_many_rows_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = 5_000_000
    column = pa.array(np.zeros(rows, np.int64))
    names = ["source", "destination", "start_ps", "size_bytes"]
    file = tmp_path / "{}.parquet"
    pa.parquet.write_table(pa.table(dict.fromkeys(names, column)), file)
    assert file.stat().st_size < 100_000
    monkeypatch.setattr(memory, "available_memory", lambda: 2**29)
    monkeypatch.setattr(pa.parquet.ParquetFile, "read", None)
    with pytest.raises(InputError) as caught:
        read_table(file, 10)
    assert caught.value.given == f"{file}, of 5,000,000 rows, which need about 2.2 GiB of memory"
    assert caught.value.allowed == "a table that fits into the 0.5 GiB that are free"


def test_a_long_text_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "flows.csv"
    file.write_text("source,destination,start_ps,size_bytes\n" + 3_000_000 * "0,1,0,1000\n")
    monkeypatch.setattr(memory, "available_memory", lambda: 2**27)
    with pytest.raises(InputError, match=r"of 33,000,039 bytes, which need about 0\.2 GiB"):
        read_table(file, 10)


@pytest.mark.parametrize("width", [7, 1])
def test_a_csv_file_of_far_too_many_columns_is_refused_by_its_heading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    file = tmp_path / "wide.csv"
    names = [f"{n:0{width}}"[-width:] for n in range(20_000)]
    file.write_text(f"{','.join(names)}\n{','.join(names)}\n", encoding="utf-8")
    monkeypatch.setattr(pyarrow.csv, "read_csv", lambda *_: pytest.fail("rows were read"))
    with pytest.raises(InputError, match="columns in all") as raised:
        read_table(file, 4)
    assert len(str(raised.value)) < 600


def test_a_link_file_of_many_columns_is_refused_in_few_words(tmp_path: Path) -> None:
    file = tmp_path / "wide.csv"
    file.write_text(",".join(f"c{n}" for n in range(20_000)) + "\n", encoding="utf-8")
    topology = {"kind": "graph", "file": str(file)}
    rest = {"switching": {"kind": "electronic"}, "transport": {"kind": "tcp"}}
    work = {"workload": {"kind": "poisson", "flows": 1, "arrival_rate": "1 /s"}}
    scenario = lb.Scenario.from_dict({"topology": topology, **rest, **work})
    with pytest.raises(InputError, match=r"c0, c1, .* and 19,980 more") as raised:
        lb.run(scenario)
    assert len(raised.value.given) < 300

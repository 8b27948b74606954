"""CSV files, read by Arrow."""

from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pyarrow.csv


def read_csv(
    source: Path | BytesIO, options: "pyarrow.csv.ConvertOptions | None" = None
) -> pa.Table:
    """Read a CSV file in one thread.

    Arrow's threads may still run at the end of a short process, which then aborts.

    Parameters
    ----------
    source : Path or BytesIO
        The file.
    options : pyarrow.csv.ConvertOptions, optional
        Columns to read, and their types.

    Returns
    -------
    pyarrow.Table
        The columns.

    Raises
    ------
    OSError
        If the file cannot be read.
    pyarrow.ArrowException
        If the file is no CSV file, or a column lacks its type.
    """
    alone = pyarrow.csv.ReadOptions(use_threads=False)
    return pyarrow.csv.read_csv(source, read_options=alone, convert_options=options)

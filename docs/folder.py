"""Give a notebook a folder of its own with the examples in it, as if one began in an empty one."""

import os
import shutil
import tempfile
from pathlib import Path

from matplotlib_inline.backend_inline import set_matplotlib_formats

_examples = Path(__file__).resolve().parent.parent / "examples"
_folder = tempfile.TemporaryDirectory()  # it goes when the notebook ends
shutil.copytree(_examples, Path(_folder.name) / "examples")
os.chdir(_folder.name)
set_matplotlib_formats("svg")

"""How Sphinx builds the site: ``make docs``."""

import logging
import os
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

project = "lightburst"
author = "the lightburst authors"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
release = version = PROJECT["version"]
language = "en_GB"

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "handbook.docstrings",
    "handbook.examples",
    "handbook.links",
    "handbook.mathml",
    "handbook.mechanisms",
    "handbook.papers",
]
exclude_patterns = ["_build", "data"]
suppress_warnings = ["config.cache", "ref.python"]

# Pages are read in the repository, too: plain Markdown, links by the names of headings as there.
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

# Notebooks run in each build, so that what a page shows is what the code does now.
nb_execution_mode = "force"
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True
nb_mime_priority_overrides = [("html", "image/svg+xml", 0)]

# Kernels have settings of their own, and not those of whoever builds the site.
_settings = tempfile.TemporaryDirectory()
os.environ["IPYTHONDIR"] = _settings.name
_profile = Path(_settings.name) / "profile_default"
_profile.mkdir()
(_profile / "ipython_kernel_config.py").write_text(
    'c = get_config()\nc.IPKernelApp.log_level = "ERROR"\nc.HistoryManager.enabled = False\n'
)
logging.getLogger("traitlets").setLevel(logging.WARNING)

autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = f"lightburst {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_show_sourcelink = False

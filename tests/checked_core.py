"""The core with checked arithmetic, if it was built: import this before the package.

``make test-all`` builds it, with overflow checks and debug assertions, and names its file in the
environment; it then replaces the installed core.
"""

import importlib.util
import os
import sys
from importlib.machinery import ExtensionFileLoader

FILE = os.environ.get("LIGHTBURST_CHECKED_CORE")

if FILE and "lightburst._core" not in sys.modules:
    loader = ExtensionFileLoader("lightburst._core", FILE)
    spec = importlib.util.spec_from_file_location("lightburst._core", FILE, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["lightburst._core"] = module
    loader.exec_module(module)

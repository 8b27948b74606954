"""``python -m lightburst.cli``: the command line without the installed script."""

import sys

from lightburst.cli import main

sys.exit(main())

"""``python -m lightburst``: the command line where its program is not on the path."""

import sys

from lightburst.cli import main

if __name__ == "__main__":
    sys.exit(main())

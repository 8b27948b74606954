"""The program: ``lightburst``, and ``python -m lightburst`` where that is not on the path."""

import sys

try:
    from lightburst.cli import main
except KeyboardInterrupt:
    # Before `main` can hear of it. Exit code and line are those of any other Ctrl-C.
    sys.stderr.write("lightburst: interrupted\n")
    sys.exit(130)

if __name__ == "__main__":
    sys.exit(main())

"""Write the tables anew: ``cd tests/verification; python -m scripted.freeze``.

Only after the facts in ``test_scripted.py`` hold, and after reading what changed.
"""

from scripted.cases import EVERY, FLAVOURS, ROUNDS
from scripted.table import GOLDEN, path, table

#: All that have a table.
WANTED = (*EVERY, *((ROUNDS, flavour) for flavour in FLAVOURS))


def main() -> None:
    """Write all of them, and remove what no case has."""
    GOLDEN.mkdir(exist_ok=True)
    for file in GOLDEN.iterdir():
        file.unlink()
    for case, flavour in WANTED:
        path(case, flavour).write_text(table(case, flavour))


if __name__ == "__main__":
    main()

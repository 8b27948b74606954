"""Write the tables anew: ``cd tests/verification; python -m scripted.freeze``.

Only after the facts in ``test_scripted.py`` hold, and after reading the changes.
"""

from itertools import product

from scripted.cases import CASES, FLAVOURS, ROUNDS, Case
from scripted.table import GOLDEN, table

#: All cases with a table.
WANTED = tuple(product((*CASES, ROUNDS), FLAVOURS))


def files_of(case: Case) -> dict[str, str]:
    """Return the files of a case: one for all flavours with equal tables, named after them."""
    flavours: dict[str, list[str]] = {}
    for flavour in FLAVOURS:
        flavours.setdefault(table(case, flavour), []).append(flavour)
    return {f"{case.name}.{'+'.join(same)}.csv": text for text, same in flavours.items()}


def main() -> None:
    """Write all of them, and remove files without a case."""
    GOLDEN.mkdir(exist_ok=True)
    for file in GOLDEN.iterdir():
        file.unlink()
    for case in (*CASES, ROUNDS):
        for name, text in files_of(case).items():
            (GOLDEN / name).write_text(text)


if __name__ == "__main__":
    main()

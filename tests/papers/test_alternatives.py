"""Named alternatives in docs/reproduced.md: statements gained and lost."""

from pathlib import Path

import pandas as pd

import alternatives

FILE = Path(__file__).resolve().parents[2] / "docs" / "data" / "alternatives.csv"


def rows(**verdicts: tuple[str, str]) -> pd.DataFrame:
    """One claim for each statement, with its verdicts in the base and in A."""
    return pd.DataFrame(
        [
            {"paper": "vlachos2008", "variant": "A", "seeds": 10, "statement": id, "words": id}
            | {"reading": "", "published": 10.7, "base": base, "there": there}
            | {f"{where}_claim": "holds" for where in ("base", "there")}
            | {f"base_{what}": value for what, value in (("value", 6.3), ("low", 6.0), ("high", 7))}
            | {f"there_{what}": 10.0 for what in ("value", "low", "high")}
            for id, (base, there) in verdicts.items()
        ]
    )


def test_gains_and_losses_are_of_statements() -> None:
    table = rows(
        a=("differs", "holds"),
        b=("not comparable", "holds"),
        c=("holds", "differs"),
        d=("holds", "holds"),
    )
    # A second reading of a statement is not a second gain.
    table = pd.concat([table, table[table["statement"] == "a"]])
    assert alternatives.changed(table) == (["a", "b"], ["c"])
    assert alternatives.best_of("vlachos2008", table) == "2 more, 1 fewer (A)"
    assert alternatives.best_of("yu2004", table) == "–"
    lines = alternatives.sections("vlachos2008", table)
    assert "### Alternative A: 2 statements gained, 1 lost" in lines
    assert "| a | 10.7 | 6.3 (6 to 7), holds | 10 (10 to 10), holds | gained |" in lines
    assert not any(line.startswith("| d") for line in lines)


def test_the_best_alternative_is_the_one_with_the_largest_net_gain() -> None:
    first = rows(a=("differs", "holds"), c=("holds", "differs"))
    second = rows(a=("differs", "holds"), c=("holds", "holds")).assign(variant="B")
    assert alternatives.best_of("vlachos2008", pd.concat([first, second])) == "1 more, 0 fewer (B)"


def test_the_record_has_every_alternative_of_the_papers() -> None:
    found = alternatives.recorded(FILE)
    assert set(map(tuple, found[["paper", "variant"]].to_numpy())) == {
        ("vlachos2008", "A"),
        ("vlachos2008", "B"),
    }
    assert (found["seeds"] == 10).all()

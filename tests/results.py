"""Saved results for tests: one directory of each kind that ``lightburst report`` reads."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from lightburst.experiment.replicate import Replications
from lightburst.experiment.reproduce import reproduce
from lightburst.experiment.sweep import sweep
from lightburst.papers import PAPERS
from lightburst.report.saved import write_page
from lightburst.simulation.simulate import run
from lightburst.study import replicate
from lightburst.study.design.description import FigureWanted
from stores import scenario
from traced_paper import TRACED

FIGURE = FigureWanted(x="transport.p", y="throughput_bps", hue="variant")
KINDS = ("run", "replications", "reproduction", "sweep")


@contextmanager
def saved_in(place: Path) -> Iterator[Path]:
    """Write one directory of each kind, each with its page; the paper of one is registered for that
    time.
    """
    before = Path.cwd()
    PAPERS[TRACED.name] = TRACED
    os.chdir(place)
    sampled = scenario(0).with_(
        {"measurement": {"sample": "1 us", "trace": [0], "time_limit": "1 ms"}}
    )
    run(sampled, 1).save("run")
    seeds = range(1, 4)
    Replications(scenario(0), seeds, replicate(scenario(0), seeds)).save("replications")
    reproduce(TRACED.name, progress=False).save("reproduction")
    over, variants = {"transport.p": [0, 4]}, {"two": {}, "three": {"switching.buffer_ports": 3}}
    swept = sweep(scenario(0), over, variants=variants, seeds=2, keep=["links"], progress=False)
    study = swept.study.model_copy(update={"compare": (("two", "three"),), "figures": (FIGURE,)})
    replace(swept, study=study).save("sweep")
    for kind in KINDS:
        write_page(kind)
    yield place
    os.chdir(before)
    del PAPERS[TRACED.name]


def everything(place: Path) -> dict[str, bytes]:
    """The content of all files in a directory and below; of links where they lead."""
    return {
        str(path.relative_to(place)): bytes(path.readlink())
        if path.is_symlink()
        else path.read_bytes()
        for path in place.rglob("*")
        if path.is_symlink() or path.is_file()
    }

"""Registry of the papers that can be reproduced, with their scenarios, figures and claims."""

from __future__ import annotations

from typing import Final

from lightburst.foundation.errors import InputError, did_you_mean, show
from lightburst.papers import komatireddy2009, minakhmetov2018, vlachos2008, yu2004
from lightburst.papers.paper import Paper

PAPERS: Final = {
    module.PAPER.name: module.PAPER
    for module in (minakhmetov2018, yu2004, komatireddy2009, vlachos2008)
}


def find(name: str) -> tuple[Paper, tuple[str, ...]]:
    """Look up a paper, or one part of it, by name.

    Parameters
    ----------
    name : str
        ``"minakhmetov2018"`` or ``"minakhmetov2018/fig2a"``.

    Returns
    -------
    tuple of Paper and tuple of str
        The paper, and the names of the requested parts.

    Raises
    ------
    InputError
        If there is no such paper or part; the message lists the known names.
    """
    head, slash, part = str(name).partition("/")
    paper = PAPERS.get(head)
    if paper is not None and not slash:
        return paper, paper.default
    if paper is not None and part in paper.parts:
        return paper, (part,)
    known = [
        word
        for each in PAPERS.values()
        for word in (each.name, *(f"{each.name}/{part}" for part in each.parts))
    ]
    raise InputError("name", show(name), f"one of {', '.join(known)}{did_you_mean(name, known)}")

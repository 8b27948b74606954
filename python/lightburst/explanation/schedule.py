"""Explanation of the time of a GOAL schedule: its critical path, by what took the time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lightburst.result.metric_text import aligned, in_rows, readable

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from lightburst.result.result import Result

# Rows of a path that the text lists.
_MOST_ROWS: Final = 12


def about(result: Result, path: pd.DataFrame) -> dict[str, Any]:
    """Return what `StepExplanation.about` has for a schedule.

    Parameters
    ----------
    result : Result
        The run.
    path : pandas.DataFrame
        Its critical path.

    Returns
    -------
    dict
        ``ranks``; ``time_s`` of the schedule (None if it did not end); and the parts of the path,
        each from the begin of a row to that of the next one: ``calc_s``, ``overhead_s`` (of sends
        and receives, with the wait for the interface) and ``message_s``, of which ``excess_s`` is
        beyond the ideal.
    """
    time = result.metrics["schedule_time_s"]
    assert isinstance(time, float)
    begins = path["start_s"].to_numpy()
    lasted = np.diff(np.append(begins, path["end_s"].iloc[-1:].to_numpy()))
    what = path["what"].to_numpy()

    def total(*kinds: str) -> float:
        return float(lasted[np.isin(what, kinds)].sum())

    return {
        "ranks": len(result.ranks),
        "time_s": time if np.isfinite(time) else None,
        "calc_s": total("calc"),
        "overhead_s": total("send", "recv"),
        "message_s": total("message"),
        "excess_s": float(path["excess_s"].sum()),
    }


def lines(about: dict[str, Any], path: pd.DataFrame) -> Iterator[str]:
    """Yield the text, without the message that lost most time.

    Parameters
    ----------
    about : dict
        As `about` returns it.
    path : pandas.DataFrame
        The critical path.
    """
    which, time = f"Schedule of {about['ranks']} ranks", about["time_s"]
    if time is None:
        yield f"{which}: not ended."
        yield f"The last operation that ended is the end of a path of {len(path)} rows."
        return
    yield f"{which}: {readable('time_s', time)} on its critical path."
    parts = {
        "calculations": about["calc_s"],
        "sends and receives": about["overhead_s"],
        "messages": about["message_s"],
    }
    said = [
        f"{words} take {readable('time_s', part)} ({part / time:.1%})"
        for words, part in parts.items()
        if time
    ]
    excess = readable("time_s", about["excess_s"])
    yield (
        f"The path has {len(path)} operations and messages, each of which waited for the one "
        f"before: {', '.join(said)}, {excess} of it beyond the ideal of an idle network."
    )
    yield ""
    yield "Longest operations and messages on the path, in the order of time"
    lasted = path["end_s"] - path["start_s"]
    longest = path.loc[lasted.nlargest(_MOST_ROWS).index.sort_values()]
    heading = ("start", "what", "rank", "host", "line", "time", "waited for", "beyond the ideal")
    yield from aligned([heading, *(_row(row) for row in in_rows(longest))])


def _row(row: Any) -> tuple[str, ...]:
    return (
        readable("start_s", row.start_s),
        row.what,
        str(row.rank),
        str(row.host),
        str(row.line),
        readable("time_s", row.end_s - row.start_s),
        row.waited_for,
        readable("time_s", row.excess_s) if row.what == "message" else "",
    )

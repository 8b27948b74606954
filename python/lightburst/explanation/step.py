"""Explanation of the time of a collective operation or a schedule: its critical path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lightburst.compile import check_seed
from lightburst.explanation import flow_text, schedule
from lightburst.explanation.flow import Explanation, follow
from lightburst.explanation.text import Text
from lightburst.foundation.units import as_python
from lightburst.result.metric_text import aligned, in_rows, readable, records
from lightburst.result.saving import of_run
from lightburst.scenario import as_scenario
from lightburst.simulation.completed import SLOWEST
from lightburst.simulation.simulate import run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from os import PathLike

    import pandas as pd

    from lightburst.result.result import Result
    from lightburst.scenario import Scenario

# Messages of a path that the text lists.
_MOST_ROWS: Final = 12


@dataclass(frozen=True, eq=False, repr=False)
class StepExplanation(Text):
    """Explanation of the time of a collective operation or a schedule; ``str`` formats it as text.

    Attributes
    ----------
    result : Result
        The run.
    about : dict
        ``operation``, ``step`` and ``group``, from 0; ``ranks``; ``time_s``, from the first message
        of the path to the arrival of its last one (None if it did not arrive); ``ideal_s``, the sum
        of the ideal times of the messages; ``excess_s``, the difference; ``late_s``, from the first
        message of the operation to that of the path; ``time_mean_s``, the mean time of the
        operations that finished (None without one). Of a schedule ``ranks``, ``time_s``, and the
        parts of its critical path: ``calc_s``, ``overhead_s``, ``message_s`` and ``excess_s``.
    path : pandas.DataFrame
        The critical path, see `lightburst.Result.critical_path`.
    worst : Explanation or None
        The message on the path with the largest time beyond its ideal; None if the path is empty.
    """

    result: Result
    about: dict[str, Any]
    path: pd.DataFrame
    worst: Explanation | None

    def as_dict(self) -> dict[str, Any]:
        """Return the explanation as JSON-compatible values."""
        found: dict[str, Any] = self.about | {"path": records(self.path)}
        if self.worst is not None:
            found["worst"] = self.worst.as_dict()
        return of_run(self.result, found)

    def _lines(self) -> Iterable[str]:
        return _lines(self)


def explain_step(
    scenario: Scenario | str | PathLike[str],
    step: str | int | np.integer = SLOWEST,
    seed: int | np.integer = 1,
    *,
    simulate: Callable[..., Result] = run,
) -> StepExplanation:
    """Explain the time of a collective operation, or of the schedule, of a scenario.

    The scenario is run twice: once to find the critical path, and once to trace the message on it
    that lost most time. The second run is bit-identical.

    Parameters
    ----------
    scenario : Scenario, str or path-like
        Scenario with a workload of kind ``collective`` or ``goal``, or path of its file.
    step : int or "slowest"
        Number of the step, from 0, of which the group that took longest is explained; or
        ``"slowest"``, the operation that took longest of all. A schedule has one path.
    seed : int
        Seed of all random streams.
    simulate : callable, optional
        As for `lightburst.explain`.

    Returns
    -------
    StepExplanation

    Raises
    ------
    InputError
        If the workload is of another kind, there is no such step, or the scenario cannot be run.
    """
    scenario, seed = as_scenario(scenario), check_seed(seed)
    plain = simulate(scenario.with_({"measurement.trace": []}), seed)
    path = plain.critical_path(as_python(step))
    is_schedule = scenario.collective is None
    about = schedule.about(plain, path) if is_schedule else _about(scenario, plain, path)
    worst = None
    result = plain
    messages = path[path["what"] == "message"] if is_schedule else path
    if len(messages):
        number = int(messages["flow"].iloc[int(np.argmax(messages["excess_s"]))])
        worst = follow(scenario, [number], seed, plain, simulate)[0]
        result = worst.result
    return StepExplanation(result=result, about=about, path=path, worst=worst)


def _about(scenario: Scenario, plain: Result, path: pd.DataFrame) -> dict[str, Any]:
    time = float(path["received_s"].iloc[-1] - path["start_s"].iloc[0]) if len(path) else np.nan
    ideal = float(path["ideal_s"].sum())
    times = plain.collectives["time_max_s"]
    finished = times[np.isfinite(times)]
    first = plain.collectives["start_s"].iloc[path.attrs["operation"]]
    workload = scenario.collective
    assert workload is not None
    return {
        "operation": workload.operation,
        "step": path.attrs["step"],
        "group": path.attrs["group"],
        "ranks": workload.shape(plain.plan.settings["hosts"])[1],
        "time_s": None if np.isnan(time) else time,
        "ideal_s": ideal,
        "excess_s": None if np.isnan(time) else time - ideal,
        "late_s": float(path["start_s"].iloc[0] - first) if len(path) else None,
        "time_mean_s": float(finished.mean()) if len(finished) else None,
    }


def _lines(found: StepExplanation) -> Iterator[str]:
    about, path = found.about, found.path
    if "calc_s" in about:
        yield from schedule.lines(about, path)
        if found.worst is not None:
            yield from _of_worst(found.worst)
        return
    which = f"Step {about['step']} of group {about['group']}, {about['operation']} among "
    number = len(path)
    if about["time_s"] is None:
        yield f"{which}{about['ranks']} ranks: not finished."
        yield f"The last message that started is the end of a path of {number} messages."
    else:
        mean = readable("time_s", about["time_mean_s"])
        yield (
            f"{which}{about['ranks']} ranks: {readable('time_s', about['time_s'])} on its critical "
            f"path; the last ranks of all operations took {mean} in the mean."
        )
        share = about["excess_s"] / about["time_s"]
        words = "one message. Alone on an idle network it takes"
        if number > 1:
            words = f"{number} messages, each of which waited for the one before. " + (
                "Alone on an idle network they take"
            )
        yield (
            f"The path has {words} {readable('ideal_s', about['ideal_s'])}; "
            f"{readable('excess_s', about['excess_s'])} more ({share:.1%}) were lost on the way."
        )
    if not number:
        return
    if about["late_s"]:
        yield (
            f"The path begins {readable('late_s', about['late_s'])} after the first message of the "
            f"step: {path['source'].iloc[0]} ended the step before so late."
        )
    yield ""
    yield "Messages with the largest time beyond the ideal, in the order of time"
    most = path["excess_s"].fillna(np.inf).nlargest(_MOST_ROWS).index.sort_values()
    heading = ("start", "flow", "from", "to", "size", "time", "beyond the ideal")
    yield from aligned([heading, *(_row(row) for row in in_rows(path.loc[most]))])
    assert found.worst is not None
    yield from _of_worst(found.worst)


def _of_worst(worst: Explanation) -> Iterator[str]:
    yield ""
    yield "The message that lost most time:"
    yield from flow_text.lines(worst)


def _row(row: Any) -> tuple[str, ...]:
    return (
        readable("start_s", row.start_s),
        str(row.flow),
        str(row.source),
        str(row.destination),
        readable("size_bytes", row.size_bytes),
        readable("time_s", row.completion_time_s),
        readable("time_s", row.excess_s),
    )

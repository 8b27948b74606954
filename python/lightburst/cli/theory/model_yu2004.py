"""``lightburst model yu2004``: TCP over optical burst switching in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
import pandas as pd

from lightburst.cli.terminal.options import choice
from lightburst.cli.theory.grids import grid, names, probability, seconds
from lightburst.cli.theory.model_output import (
    FORMATS,
    SenderOptions,
    check_figure,
    outside,
    print_records,
    save_figure,
)
from lightburst.foundation.units import parse_rate
from lightburst.models import yu2004
from lightburst.papers.figure import COLUMNS, Figure
from lightburst.result.metric_text import readable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lightburst.models.yu2004 import Flavour, Flow, Variant

_HEADINGS: Final = {
    "flavour": "flavour",
    "loss": "loss",
    "assembly_time_s": "T_b (s)",
    "round_trip_s": "RTT (s)",
    "burst_segments": "S",
    "window_segments": "E[W_X]",
    "throughput_segments_per_s": "segments/s",
    "throughput_bps": "b/s",
    "equation": "eq.",
    "broken_assumptions": "outside",
}
_NAMES: Final = {"sack": "SACK", "new-reno": "New-Reno", "reno": "Reno"}
_MEGA: Final = 1e6


@dataclass(frozen=True)
class Options(SenderOptions):
    """Parameters of the flow and its path, as given on the command line."""

    access_rate: str

    def flow(self, losses: Sequence[float], times: Sequence[float]) -> Flow:
        """Return flows of shape (losses, times); `InputError` if an option is invalid."""
        access = parse_rate(self.access_rate, "--access-rate") / self.segment_bits()
        round_trip, timeout, window, b = self.numbers()
        return yu2004.Flow(
            loss=np.array(losses)[:, np.newaxis],
            assembly_time_s=np.array(times),
            access_rate=access,
            round_trip_s=round_trip,
            timeout_s=timeout,
            window_limit=window,
            rounds_per_increase=b,
        )


def print_model(
    loss: str,
    assembly_time: str,
    flavour: str,
    variant: str,
    path: Options,
    format: str,
    figure: str | None,
) -> None:
    """Compute the throughput of flows and print it, with the assumptions that are broken.

    Parameters
    ----------
    loss, assembly_time, flavour : str
        Lists, as given on the command line.
    variant : {"derived", "printed"}
        Form of the equations.
    path : Options
        Other parameters of the flow.
    format : {"table", "json", "csv"}
        Output format.
    figure : str or None
        File to draw to.

    Raises
    ------
    InputError
        If an argument is invalid; nothing has been printed or written then.
    """
    choice("--format", format, FORMATS)
    choice("--variant", variant, yu2004.VARIANTS)
    losses, times = (
        grid("--loss", loss, probability),
        grid("--assembly-time", assembly_time, seconds),
    )
    flavours = cast("list[Flavour]", names("--flavour", flavour, yu2004.FLAVOURS))
    form = cast("Variant", variant)
    flow, bits = path.flow(losses, times), path.segment_bits()
    along_time = len(times) > 1 and len(times) >= len(losses)
    few, many = (losses, times) if along_time else (times, losses)
    file = check_figure(figure, len(many), len(few))
    records = [row for each in flavours for row in _rows(flow, each, form, bits)]
    optima = [row for each in flavours for row in _optima(flow, each, form, bits)]
    ranges = [row for each in flavours for row in _ranges(flow, each, form)]
    if file is not None:
        drawn, doubtful = _figure(records, along_time, path, variant)
        save_figure(drawn, doubtful, file)
    more = {
        "model": "yu2004",
        "variant": variant,
        "optima": optima,
        "range_tolerance": yu2004.ABOUT,
        "ranges": ranges,
        "assumptions": yu2004.ASSUMPTIONS,
    }
    title = f"yu2004, {variant}: access {path.access_rate}, RTT_0 {path.round_trip}, {path}"
    notes = [*_said(records), *_best(optima), *_within(ranges)]
    print_records(title, records, _HEADINGS, format, more, notes)


def _rows(flow: Flow, flavour: Flavour, variant: Variant, bits: int) -> Iterator[dict[str, Any]]:
    found = yu2004.predict(flow, flavour, variant)
    broken = yu2004.broken_assumptions(flow, flavour, variant)
    columns = [flow.loss, flow.assembly_time_s, flow.full_round_trip_s, flow.burst_segments]
    wide = np.broadcast_arrays(*columns, found.window, found.throughput, found.equation)
    for place in np.ndindex(flow.shape):
        p, time, rtt, burst, window, rate, equation = (column[place] for column in wide)
        yield {
            "flavour": flavour,
            "loss": float(p),
            "assembly_time_s": float(time),
            "round_trip_s": float(rtt),
            "burst_segments": float(burst),
            "window_segments": float(window),
            "throughput_segments_per_s": float(rate),
            "throughput_bps": float(rate * bits),
            "equation": int(equation),
            "broken_assumptions": [name for name, where in broken.items() if where[place]],
        }


def _optima(flow: Flow, flavour: Flavour, variant: Variant, bits: int) -> Iterator[dict[str, Any]]:
    """Yield the assembly time of largest throughput per loss, by search and by equation."""
    one = flow.changed(loss=flow.loss[:, 0], assembly_time_s=0.0)
    best = yu2004.numerical_optimum(one, flavour, variant)
    below = np.broadcast_to(yu2004.optimum.best_time_below_limit(one), one.shape)
    limited = yu2004.optimum.best_time_at_limit(one, variant)
    for i, p in enumerate(one.loss):
        yield {
            "flavour": flavour,
            "loss": float(p),
            "assembly_time_s": float(best.assembly_time_s[i]),
            "throughput_bps": float(best.throughput[i] * bits),
            "equation_30_s": float(below[i]),
            "equation_32_s": float(limited[i]),
        }


def _ranges(flow: Flow, flavour: Flavour, variant: Variant) -> Iterator[dict[str, Any]]:
    """Yield ATO and ATI per loss, and LRI per assembly time, if the other has several values.

    Reno has no LRI: its equations have no window limit, and so no throughput without loss.
    """
    losses, times = flow.loss[:, 0], flow.assembly_time_s
    packets = flow.changed(loss=losses, assembly_time_s=0.0)
    found = yu2004.surface_ranges(
        losses,
        times,
        yu2004.predict(flow, flavour, variant).throughput,
        unassembled=yu2004.predict(packets, flavour, variant).throughput,
        lossless=yu2004.throughput.window_throughput(flow),
    )
    if times.size > 1:
        for p, optimal, same in zip(losses, found.optimal, found.insensitive, strict=True):
            yield {"flavour": flavour, "loss": float(p), "ato_s": optimal, "ati_s": same}
    if losses.size > 1 and flavour != "reno":
        for time, same in zip(times, found.loss_insensitive, strict=True):
            yield {"flavour": flavour, "assembly_time_s": float(time), "lri": same}


def _said(records: Sequence[dict[str, Any]]) -> list[str]:
    """Explain the assumptions named in the last column."""
    meant = outside(records, yu2004.ASSUMPTIONS)
    head = "A row that names an assumption breaks it; hold it against a simulation:"
    return [head, *meant] if meant else []


def _best(optima: Sequence[dict[str, Any]]) -> list[str]:
    found = (
        f"  {_NAMES[row['flavour']]}, loss {row['loss']:.4g}: {_time_word(row['assembly_time_s'])} "
        f"gives {readable('throughput_bps', row['throughput_bps'])}; "
        f"(30) says {readable('equation_30_s', row['equation_30_s'])}, "
        f"(32) {readable('equation_32_s', row['equation_32_s'])}"
        for row in optima
    )
    return ["Largest throughput over the assembly time, the other options as they are:", *found]


def _time_word(seconds: float) -> str:
    return f"T_b = {readable('assembly_time_s', seconds)}"


def _figure(
    records: Sequence[dict[str, Any]], along_time: bool, path: Options, variant: str
) -> tuple[Figure, pd.Series[bool]]:
    rows = pd.DataFrame(records)
    x, other = ("assembly_time_s", "loss") if along_time else ("loss", "assembly_time_s")
    word = "p = {:.3g}".format if along_time else _time_word
    megabits = rows["throughput_bps"] / _MEGA
    data = pd.DataFrame(
        {
            "colour": rows[other].map(word),
            "dash": rows["flavour"].map(_NAMES),
            "x": rows[x],
            "y": megabits,
            "low": megabits,
            "high": megabits,
            "runs": 0,
        },
        columns=list(COLUMNS),
    )
    doubtful = rows["broken_assumptions"].map(bool)
    caption = (
        f"Equations of yu2004, {variant}. Access rate {path.access_rate}, round trip without "
        f"assembly {path.round_trip}, {path.told()}"
    )
    if doubtful.any():
        caption += " Hollow points break an assumption of the equations."
    figure = Figure(
        id="yu2004",
        title="TCP over burst switching, closed forms",
        caption=caption,
        x_label="Burst assembly time (s)" if along_time else "Burst loss probability",
        y_label="Throughput (Mb/s)",
        colours=tuple(dict.fromkeys(data["colour"])),
        dashes=tuple(dict.fromkeys(data["dash"])),
        data=data,
        x_log=bool((data["x"] > 0).all()),
        y_log=True,
        legends=("Curve", "Sender"),
    )
    return figure, doubtful


def _within(ranges: Sequence[dict[str, Any]]) -> list[str]:
    if not ranges:
        return []

    def time(seconds: float) -> str:
        return readable("assembly_time_s", seconds)

    found = []
    for row in ranges:
        if "loss" in row:
            said = f"loss {row['loss']:.4g}: ATO {yu2004.written(row['ato_s'], time)}; "
            said += f"ATI {yu2004.written(row['ati_s'], time)}"
        else:
            said = f"T_b = {time(row['assembly_time_s'])}: LRI {yu2004.written(row['lri'])}"
        found.append(f"  {_NAMES[row['flavour']]}, {said}")
    about = yu2004.ABOUT
    return [
        f"Ranges on this grid, outside the assumptions too. ATO: T_b with more than {1 + about:g} "
        f"times the throughput without assembly; ATI: within {about:.0%} of it; LRI: loss within "
        f"{about:.0%} of W_m / RTT:",
        *found,
    ]

"""``lightburst model padhye1998``: TCP Reno under packet loss in closed form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from lightburst.cli.terminal.options import choice
from lightburst.cli.theory.grids import grid, probability
from lightburst.cli.theory.model_output import (
    FORMATS,
    SenderOptions,
    check_figure,
    outside,
    print_records,
    save_figure,
)
from lightburst.models import padhye1998
from lightburst.papers.figure import COLUMNS, Figure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

_FORMS: Final = {"full": "full", "approximate": "approximate", "square_root": "square root"}
_HEADINGS: Final = {
    "loss": "loss",
    "full_segments_per_s": "full (segments/s)",
    "approximate_segments_per_s": "approximate",
    "square_root_segments_per_s": "square root",
    "full_bps": "full (b/s)",
    "broken_assumptions": "outside",
}
_ASSUMPTIONS: Final = {
    "no-timeouts": "without timeouts the square root law is within a tenth of the full model",
    "no-window-limit": "the square root law, which has no limit, is at most W_m / RTT",
}
_MEGA: Final = 1e6


def print_model(loss: str, sender: SenderOptions, format: str, figure: str | None) -> None:
    """Compute the throughput by three equations and print it.

    Parameters
    ----------
    loss : str
        List of loss probabilities, as given on the command line.
    sender : SenderOptions
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
    losses = grid("--loss", loss, probability)
    rtt, rto, limit, b = sender.numbers()
    segment = sender.segment_bits()
    file = check_figure(figure, len(losses), len(_FORMS))
    found = {
        "full": padhye1998.full_throughput(losses, rtt, rto, limit, b),
        "approximate": padhye1998.approximate_throughput(losses, rtt, rto, limit, b),
        "square_root": padhye1998.square_root_throughput(losses, rtt, b),
    }
    over = found["square_root"] > limit / rtt
    far = np.abs(found["square_root"] / found["full"] - 1) > 0.1
    records: list[dict[str, Any]] = [
        {
            "loss": p,
            **{f"{form}_segments_per_s": float(rates[i]) for form, rates in found.items()},
            "full_bps": float(found["full"][i] * segment),
            "broken_assumptions": ["no-window-limit"] * bool(over[i])
            + ["no-timeouts"] * bool(far[i] and not over[i]),
        }
        for i, p in enumerate(losses)
    ]
    if file is not None:
        said = f"Round trip {sender.round_trip}, {sender.told()}"
        bits = {form: rates * segment for form, rates in found.items()}
        save_figure(*_figure(losses, bits, over | far, said), file)
    title = f"padhye1998: RTT {sender.round_trip}, {sender}"
    more = {"model": "padhye1998", "assumptions": _ASSUMPTIONS}
    print_records(title, records, _HEADINGS, format, more, outside(records, _ASSUMPTIONS))


def _figure(
    losses: Sequence[float],
    rates_bps: Mapping[str, NDArray[np.float64]],
    doubted: NDArray[np.bool_],
    said: str,
) -> tuple[Figure, pd.Series[bool]]:
    rows = [
        (_FORMS[form], "Reno", p, rate / _MEGA, rate / _MEGA, rate / _MEGA, 0)
        for form, rates in rates_bps.items()
        for p, rate in zip(losses, rates.tolist(), strict=True)
    ]
    data = pd.DataFrame(rows, columns=list(COLUMNS))
    doubtful = (data["colour"] == _FORMS["square_root"]) & np.tile(doubted, len(_FORMS))
    hollow = " Hollow points break an assumption of the square root law." * bool(doubted.any())
    figure = Figure(
        id="padhye1998",
        title="TCP Reno under packet loss, closed forms",
        caption=f"Padhye et al. 1998; square root law: Mathis et al. 1997. {said}{hollow}",
        x_label="Packet loss probability",
        y_label="Throughput (Mb/s)",
        colours=tuple(_FORMS.values()),
        dashes=("Reno",),
        data=data,
        y_log=True,
        legends=("Equation", "Sender"),
    )
    return figure, doubtful

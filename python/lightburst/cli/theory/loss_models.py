"""The loss models of ``lightburst model``: options, rows and texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

import numpy as np

from lightburst import models
from lightburst.cli.terminal.options import choice, whole
from lightburst.cli.theory.grids import number_above_zero, parts, wholes
from lightburst.cli.theory.model_loss import LossModel, Point, Row
from lightburst.foundation.errors import InputError, show
from lightburst.models.jet_classes import LENGTHS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lightburst.models.jet_classes import Lengths

_MOST_SOURCES: Final = 10_000
_MOST_DELAYS: Final = 1000
_MOST_LINES: Final = 10**6
_OFFERED: Final = {"offered_erlangs": "A (erlangs)"}


def _point(wavelengths: int, load: float) -> Row:
    return {"wavelengths": wavelengths, "load": load, "offered_erlangs": wavelengths * load}


def _erlang(points: Sequence[Point]) -> Iterator[Row]:
    for w, rho in points:
        yield _point(w, rho) | {
            "loss": float(models.erlang_b(w * rho, w)),
            "loss_without_conversion": float(models.bufferless_output_loss(rho)),
        }


def _engset(points: Sequence[Point], sources: str) -> Iterator[Row]:
    numbers = wholes("--sources", sources, 1, _MOST_SOURCES)
    heaviest = max(w * rho for w, rho in points)
    if numbers[0] <= heaviest:
        allowed = f"more sources than the {heaviest:g} erlangs that they offer"
        raise InputError("--sources", str(numbers[0]), allowed)
    for n in numbers:
        for w, rho in points:
            a = float(models.idle_source_load(w * rho / n))
            yield _point(w, rho) | {
                "sources": n,
                "idle_source_erlangs": a,
                "loss": float(models.engset_call_congestion(a, n, w)),
                "dumping_loss": float(models.engset_dumping_loss(a, n, w)),
                "time_congestion": float(models.engset_time_congestion(a, n, w)),
                "traffic_congestion": float(models.engset_traffic_congestion(a, n, w)),
                "erlang_loss": float(models.erlang_b(w * rho, w)),
            }


def _jet_classes(
    points: Sequence[Point], shares: str, extra_offset: str | None, lengths: str
) -> Iterator[Row]:
    share = parts("--shares", shares)
    law = cast("Lengths", choice("--lengths", lengths, LENGTHS))
    degree = None
    if extra_offset is not None:
        if len(share) != 2:
            raise InputError("--extra-offset", f"{len(share)} classes", "two classes (--shares)")
        degree = float(models.isolation(number_above_zero("--extra-offset", extra_offset), law))
    for w, rho in points:
        offered = w * rho * np.array(share)
        isolated = models.jet_class_loss(offered, w)
        partly = None
        if degree is not None:
            partly = models.jet_two_class_loss(offered[0], offered[1], w, degree)
        for i, part in enumerate(share):
            row = _point(w, rho) | {
                "class": i + 1,
                "share": part,
                "offered_erlangs": float(offered[i]),
                "loss": float(isolated[i]),
                "all_classes_loss": float(models.erlang_b(w * rho, w)),
                "broken_assumptions": ["conservation"] if i else [],
            }
            if partly is not None:
                row |= {"isolation": degree, "partly_isolated_loss": float(partly[i])}
            yield row


def _segmentation(points: Sequence[Point]) -> Iterator[Row]:
    for w, rho in points:
        yield _point(w, rho) | {
            "loss": float(models.segment_loss(w * rho, w)),
            "contention": float(models.contention_probability(w * rho, w)),
            "whole_burst_loss": float(models.erlang_b(w * rho, w)),
        }


def _delay_lines(
    points: Sequence[Point], granularity: str, delays: str, lines: str
) -> Iterator[Row]:
    coarse = number_above_zero("--granularity", granularity)
    number = wholes("--delays", delays, 0, _MOST_DELAYS)
    room = None if lines == "all" else whole("--lines", lines, 0, "all")
    if room is not None and room > _MOST_LINES:
        raise InputError("--lines", show(lines), f"'all', or up to {_MOST_LINES:,}")
    for k in number:
        for w, rho in points:
            low, high = models.delay_line_loss_bounds(w * rho, w, k * coarse, room)
            exact = models.delay_line_loss_one_channel(rho, coarse, k)
            yield _point(w, rho) | {
                "delays": k,
                "longest_delay": k * coarse,
                "least_loss": float(low),
                "most_loss": float(high),
                "one_wavelength_loss": float(exact) if w == 1 and room is None else None,
            }


def _reduced_load(points: Sequence[Point], routes: str) -> Iterator[Row]:
    names = [route.strip() for route in routes.split(",")]
    ways = [name.split("-") for name in names]
    for name, way in zip(names, ways, strict=True):
        if not all(way) or names.count(name) > 1:
            allowed = "different routes, each of nodes joined by '-', such as A-B-C,A-B"
            raise InputError("--routes", show(name), allowed)
    try:
        for w, rho in points:
            offered = np.full(len(ways), w * rho)
            fixed = models.reduced_load(ways, offered, w)
            true = models.reduced_load(ways, offered, w, streamline=True)
            for row in (
                *zip(names, offered, fixed.route_loss, true.route_loss, strict=True),
                ("network", offered.sum(), fixed.network_loss, true.network_loss),
            ):
                name, erlangs, loss, streamlined = row
                yield _point(w, rho) | {
                    "route": name,
                    "offered_erlangs": float(erlangs),
                    "loss": float(loss),
                    "streamline_loss": float(streamlined),
                    "broken_assumptions": ["streams-meet"]
                    * (not np.isclose(loss, streamlined, atol=0.0)),
                }
    except InputError as error:
        raise InputError(f"--{error.path}", error.given, error.allowed) from None


ERLANG: Final = LossModel(
    name="erlang",
    title="a fibre without a buffer, bursts from ever so many sources",
    source="Erlang 1917; Poisson arrivals, any law of lengths",
    headings=_OFFERED | {"loss": "full conversion", "loss_without_conversion": "no conversion"},
    curves={"loss": "full conversion", "loss_without_conversion": "no conversion"},
    rows=_erlang,
)

ENGSET: Final = LossModel(
    name="engset",
    title="a fibre without a buffer, bursts from few sources",
    source="Engset 1918; a source that dumps a lost burst: Cohen 1957, exponential lengths",
    headings={
        "sources": "sources",
        "idle_source_erlangs": "a (erlangs)",
        "loss": "bursts lost",
        "dumping_loss": "with dumping",
        "time_congestion": "time congestion",
        "traffic_congestion": "traffic congestion",
        "erlang_loss": "Erlang B",
    },
    curves={"loss": "Engset", "dumping_loss": "Engset, dumping", "erlang_loss": "Erlang B"},
    rows=_engset,
    groups={"sources": "N = {}"},
)

JET_CLASSES: Final = LossModel(
    name="jet-classes",
    title="classes told apart by an extra offset",
    source=(
        "Yoo, Qiao and Dixit 2000: isolated classes, and what all lose together is kept; "
        "isolation in part: Dolzer et al. 2001"
    ),
    headings={
        "class": "class",
        "share": "share",
        "offered_erlangs": "A (erlangs)",
        "loss": "isolated",
        "isolation": "isolation",
        "partly_isolated_loss": "isolated in part",
        "all_classes_loss": "all classes",
        "broken_assumptions": "outside",
    },
    curves={"loss": "isolated", "partly_isolated_loss": "isolated in part"},
    rows=_jet_classes,
    groups={"class": "class {}"},
    assumptions={
        "conservation": (
            "that offsets leave the loss of all classes together as it is holds only about: in "
            "simulations it is 0.92 times (exponential lengths, heavy load) to 1.28 times as much "
            "(constant lengths), which falls on the classes below the first"
        )
    },
)

SEGMENTATION: Final = LossModel(
    name="segmentation",
    title="bursts that collide lose a part of themselves",
    source="Detti, Eramo and Listanti 2002; Poisson arrivals, any law of lengths",
    headings=_OFFERED
    | {"loss": "segments lost", "contention": "bursts that meet", "whole_burst_loss": "Erlang B"},
    curves={"loss": "segmentation", "whole_burst_loss": "whole bursts (Erlang B)"},
    rows=_segmentation,
)

DELAY_LINES: Final = LossModel(
    name="delay-lines",
    title="bounds where bursts can wait in delay lines",
    source=(
        "Below: any delay up to the longest (Barrer 1957), M/M/W/(W+F) (Yoo, Qiao and Dixit 2000); "
        "above: Erlang B; one wavelength: exact. Exponential lengths"
    ),
    headings=_OFFERED
    | {
        "delays": "delays",
        "longest_delay": "longest (lengths)",
        "least_loss": "at least",
        "most_loss": "at most",
        "one_wavelength_loss": "one wavelength",
    },
    curves={
        "least_loss": "lower bound",
        "most_loss": "upper bound (Erlang B)",
        "one_wavelength_loss": "exact (one wavelength)",
    },
    rows=_delay_lines,
    groups={"delays": "K = {}"},
)

REDUCED_LOAD: Final = LossModel(
    name="reduced-load",
    title="the fixed point of reduced loads in a network",
    source="Rosberg, Vu, Zukerman and White 2003; streamline effect: Phung et al. 2005",
    headings={
        "route": "route",
        "offered_erlangs": "A (erlangs)",
        "loss": "fixed point",
        "streamline_loss": "streamlined",
        "broken_assumptions": "outside",
    },
    curves={"loss": "fixed point", "streamline_loss": "streamlined"},
    rows=_reduced_load,
    groups={"route": "{}"},
    assumptions={
        "streams-meet": (
            "links get their bursts from several links; where all come over one, they cannot meet "
            "again, and the fixed point counts losses that do not happen"
        )
    },
)

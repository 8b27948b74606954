"""``lightburst model``: closed-form models as a table or a figure."""

from __future__ import annotations

from typing import Annotated

import typer

from lightburst.cli.terminal.guard import guarded

model_app = typer.Typer(
    help="Compute closed forms: a table, or a figure.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


_LIST = "Values separated by commas; FROM:TO:N is a range on a logarithmic scale."
LossOption = Annotated[
    str, typer.Option("--loss", metavar="LIST", help=f"Loss probability. {_LIST}")
]
TimeoutOption = Annotated[
    str, typer.Option("--timeout", metavar="DURATION", help="First retransmission timeout, RTO.")
]
WindowOption = Annotated[
    str, typer.Option("--window", metavar="SEGMENTS", help="Largest window, W_m.")
]
AckOption = Annotated[
    str,
    typer.Option("--ack-every", metavar="N", help="Segments acknowledged by one ACK, b."),
]
SegmentOption = Annotated[
    str, typer.Option("--segment-size", metavar="SIZE", help="Size of a segment.")
]
FormatOption = Annotated[
    str, typer.Option("--format", metavar="table|json|csv", help="What to print.")
]
FigureOption = Annotated[
    str | None,
    typer.Option("--figure", metavar="FILE", help="Draw a figure to this file, .png or .svg."),
]


@model_app.command("yu2004")
@guarded
def yu2004_command(
    loss: LossOption,
    assembly_time: Annotated[
        str,
        typer.Option("--assembly-time", metavar="LIST", help=f"Burst assembly time, T_b. {_LIST}"),
    ],
    access_rate: Annotated[
        str, typer.Option("--access-rate", metavar="RATE", help="Rate of the access link, lambda.")
    ] = "1 Gb/s",
    flavour: Annotated[
        str,
        typer.Option("--flavour", metavar="LIST", help="sack, new-reno, reno; several by commas."),
    ] = "sack",
    variant: Annotated[
        str,
        typer.Option(
            "--variant",
            metavar="derived|printed",
            help="The equations as re-derived, or as the paper prints them.",
        ),
    ] = "derived",
    round_trip: Annotated[
        str, typer.Option("--round-trip", metavar="DURATION", help="Without assembly, RTT_0.")
    ] = "135 ms",
    timeout: TimeoutOption = "200 ms",
    window: WindowOption = "50",
    ack_every: AckOption = "1",
    segment_size: SegmentOption = "1 kB",
    format: FormatOption = "table",
    figure: FigureOption = None,
) -> None:
    """TCP over optical burst switching: equations (26) to (34), (52) and (53) of yu2004."""
    from lightburst.cli.theory.model_yu2004 import Options, print_model

    path = Options(round_trip, timeout, window, ack_every, segment_size, access_rate)
    print_model(loss, assembly_time, flavour, variant, path, format, figure)


@model_app.command("padhye1998")
@guarded
def padhye1998_command(
    loss: LossOption,
    round_trip: Annotated[
        str, typer.Option("--round-trip", metavar="DURATION", help="Round trip time, RTT.")
    ] = "100 ms",
    timeout: TimeoutOption = "200 ms",
    window: WindowOption = "50",
    ack_every: AckOption = "1",
    segment_size: SegmentOption = "1 kB",
    format: FormatOption = "table",
    figure: FigureOption = None,
) -> None:
    """TCP Reno in a packet network: the full and the approximate model, and the square root law."""
    from lightburst.cli.theory.model_output import SenderOptions
    from lightburst.cli.theory.model_padhye1998 import print_model

    sender = SenderOptions(round_trip, timeout, window, ack_every, segment_size)
    print_model(loss, sender, format, figure)


LoadOption = Annotated[
    str,
    typer.Option("--load", metavar="LIST", help=f"Load of each wavelength, in erlangs. {_LIST}"),
]
WavelengthsOption = Annotated[
    str, typer.Option("--wavelengths", metavar="LIST", help="Channels of a fibre, W.")
]


@model_app.command("erlang")
@guarded
def erlang_command(
    load: LoadOption,
    wavelengths: WavelengthsOption = "8",
    format: FormatOption = "table",
    figure: FigureOption = None,
) -> None:
    """Loss at a fibre with full and without conversion: Erlang B, rho/(1 + rho)."""
    from lightburst.cli.theory.loss_models import ERLANG
    from lightburst.cli.theory.model_loss import print_model

    print_model(ERLANG, load, wavelengths, format, figure)


@model_app.command("engset")
@guarded
def engset_command(
    load: LoadOption,
    sources: Annotated[
        str, typer.Option("--sources", metavar="LIST", help="Sources of bursts, N, all together.")
    ],
    wavelengths: WavelengthsOption = "8",
    format: FormatOption = "table",
    figure: FigureOption = None,
) -> None:
    """Loss at a fibre with a finite number of sources; the load is the offered one without loss."""
    from lightburst.cli.theory.loss_models import ENGSET
    from lightburst.cli.theory.model_loss import print_model

    print_model(ENGSET, load, wavelengths, format, figure, sources=sources)


@model_app.command("jet-classes")
@guarded
def jet_classes_command(
    load: LoadOption,
    wavelengths: WavelengthsOption = "8",
    shares: Annotated[
        str,
        typer.Option(
            "--shares", metavar="LIST", help="Shares of the classes in the load, highest first."
        ),
    ] = "0.5,0.5",
    extra_offset: Annotated[
        str | None,
        typer.Option(
            "--extra-offset",
            metavar="LENGTHS",
            help="Extra offset of the higher of two classes, in mean lengths of a burst.",
        ),
    ] = None,
    lengths: Annotated[
        str,
        typer.Option(
            "--lengths",
            metavar="exponential|constant",
            help="Distribution of the lengths, for the isolation by --extra-offset.",
        ),
    ] = "exponential",
    format: FormatOption = "table",
    figure: FigureOption = None,
) -> None:
    """Loss of classes with extra offsets under JET: isolation and the conservation law."""
    from lightburst.cli.theory.loss_models import JET_CLASSES
    from lightburst.cli.theory.model_loss import print_model

    own = {"shares": shares, "extra_offset": extra_offset, "lengths": lengths}
    print_model(JET_CLASSES, load, wavelengths, format, figure, **own)


@model_app.command("segmentation")
@guarded
def segmentation_command(
    load: LoadOption,
    wavelengths: WavelengthsOption = "8",
    format: FormatOption = "table",
    figure: FigureOption = None,
) -> None:
    """Loss at a fibre with burst segmentation: only the overlap of two colliding bursts is lost."""
    from lightburst.cli.theory.loss_models import SEGMENTATION
    from lightburst.cli.theory.model_loss import print_model

    print_model(SEGMENTATION, load, wavelengths, format, figure)


@model_app.command("delay-lines")
@guarded
def delay_lines_command(
    load: LoadOption,
    granularity: Annotated[
        str,
        typer.Option(
            "--granularity", metavar="LENGTHS", help="Step of the delays, in mean burst lengths."
        ),
    ],
    delays: Annotated[str, typer.Option("--delays", metavar="LIST", help="Number of steps.")],
    wavelengths: WavelengthsOption = "8",
    lines: Annotated[
        str,
        typer.Option("--lines", metavar="N|all", help="Number of bursts that can wait at a time."),
    ] = "all",
    format: FormatOption = "table",
    figure: FigureOption = None,
) -> None:
    """Bounds of the loss with delay lines, and the exact loss for a single wavelength."""
    from lightburst.cli.theory.loss_models import DELAY_LINES
    from lightburst.cli.theory.model_loss import print_model

    own = {"granularity": granularity, "delays": delays, "lines": lines}
    print_model(DELAY_LINES, load, wavelengths, format, figure, **own)


@model_app.command("reduced-load")
@guarded
def reduced_load_command(
    load: LoadOption,
    routes: Annotated[
        str,
        typer.Option(
            "--routes",
            metavar="LIST",
            help="Routes, such as A-B-C,A-B; each offers the load of --load.",
        ),
    ],
    wavelengths: WavelengthsOption = "8",
    format: FormatOption = "table",
    figure: FigureOption = None,
) -> None:
    """Loss in a network: the fixed point of reduced loads, and the streamline effect."""
    from lightburst.cli.theory.loss_models import REDUCED_LOAD
    from lightburst.cli.theory.model_loss import print_model

    print_model(REDUCED_LOAD, load, wavelengths, format, figure, routes=routes)


@model_app.command("scenario")
@guarded
def scenario_command(
    scenario: Annotated[str, typer.Argument(help="A TOML file.", show_default=False)],
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Change a field; may be repeated."),
    ] = None,
    format: FormatOption = "table",
) -> None:
    """Print the prediction of each theory for a scenario, or the assumption that is not met."""
    from lightburst.cli.theory.model_scenario import print_model

    print_model(scenario, settings or [], format)

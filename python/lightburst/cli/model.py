"""``lightburst model``: the theory alone, as a table or a figure."""

from __future__ import annotations

from typing import Annotated

import typer

from lightburst.cli.guard import guarded

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
    from lightburst.cli.model_yu2004 import Options, print_model

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
    from lightburst.cli.model_output import SenderOptions
    from lightburst.cli.model_padhye1998 import print_model

    sender = SenderOptions(round_trip, timeout, window, ack_every, segment_size)
    print_model(loss, sender, format, figure)

"""Commands and options; each command imports its implementation only when called."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from lightburst.cli.commands.store import store_app
from lightburst.cli.terminal.guard import guarded
from lightburst.cli.theory.model import model_app

app = typer.Typer(
    name="lightburst",
    help="A laboratory for transport protocols over optical packet, burst and hybrid networks.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(model_app, name="model")
app.add_typer(store_app, name="store")


OutOption = Annotated[
    str | None, typer.Option("--out", metavar="DIR", help="Write the result to this directory.")
]
TableOption = Annotated[str, typer.Option("--format", metavar="table|json", help="Output format.")]
WorkersOption = Annotated[
    str | None, typer.Option("--workers", metavar="N", help="Threads; all cores by default.")
]
StudyArgument = Annotated[
    str, typer.Argument(metavar="STUDY", help="A TOML file.", show_default=False)
]
StudySettings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="PATH=VALUES", help="Change an axis or a field; may be repeated."
    ),
]
StudyFormat = Annotated[
    str, typer.Option("--format", metavar="table|json|csv", help="Output format.")
]
YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask before very many runs.")]

DaskOption = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS|local:N",
        help="Compute on a Dask cluster, its scheduler's address or file; or in N processes here.",
    ),
]
SlurmOption = Annotated[
    bool, typer.Option("--slurm", help="Compute in jobs of Slurm, which are submitted from here.")
]
PbsOption = Annotated[bool, typer.Option("--pbs", help="Compute in jobs of PBS.")]
JobsOption = Annotated[
    str | None,
    typer.Option("--jobs", metavar="N", help="With --slurm or --pbs: jobs; 1 by default."),
]
JobOption = Annotated[
    list[str] | None,
    typer.Option(
        "--job",
        metavar="KEY=VALUE",
        help="With --slurm or --pbs: 'cores=16', 'memory=64 GB', 'walltime=02:00:00', "
        "'queue=short'; may be repeated.",
    ),
]


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"lightburst {version('lightburst')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Define the options of the program itself."""


@app.command("run")
@guarded
def run_command(
    scenario: Annotated[str, typer.Argument(help="A TOML file.", show_default=False)],
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Change a field; may be repeated."),
    ] = None,
    seed: Annotated[str, typer.Option("--seed", metavar="N", help="Seed of the first run.")] = "1",
    replications: Annotated[
        str, typer.Option("--replications", metavar="N", help="Runs, with consecutive seeds.")
    ] = "1",
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="NAME=EXPRESSION",
            help="Add a metric: 'mice=p99 of slowdown where bytes < 100 kB'; may be repeated.",
        ),
    ] = None,
    threads: Annotated[
        str,
        typer.Option("--threads", metavar="N", help="Threads of one run, at most; same results."),
    ] = "1",
    format: Annotated[
        str, typer.Option("--format", metavar="table|json|csv", help="Output format.")
    ] = "table",
    out: OutOption = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before very many runs.")] = False,
) -> None:
    """Simulate a scenario."""
    from lightburst.cli.commands.run import run

    run(scenario, settings or [], seed, replications, format, out, yes, metrics or [], threads)


@app.command("sweep")
@guarded
def sweep_command(
    study: StudyArgument,
    settings: StudySettings = None,
    workers: WorkersOption = None,
    dask: DaskOption = None,
    slurm: SlurmOption = False,
    pbs: PbsOption = False,
    jobs: JobsOption = None,
    job: JobOption = None,
    format: StudyFormat = "table",
    out: OutOption = None,
    yes: YesOption = False,
) -> None:
    """Run a study: a scenario over axes, variants and seeds, with intervals and comparisons."""
    from lightburst.cli.commands.sweep import sweep
    from lightburst.cli.terminal.computing import computing

    where = computing(workers, dask, slurm, pbs, jobs, job or [])
    sweep(study, settings or [], where, format, out, yes)


@app.command("optimise")
@guarded
def optimise_command(
    study: StudyArgument,
    settings: StudySettings = None,
    workers: WorkersOption = None,
    dask: DaskOption = None,
    slurm: SlurmOption = False,
    pbs: PbsOption = False,
    jobs: JobsOption = None,
    job: JobOption = None,
    format: StudyFormat = "table",
    out: OutOption = None,
    yes: YesOption = False,
) -> None:
    """Find the values of a study's axes that optimise a metric; needs Optuna."""
    from lightburst.cli.commands.optimise import optimise
    from lightburst.cli.terminal.computing import computing

    where = computing(workers, dask, slurm, pbs, jobs, job or [])
    optimise(study, settings or [], where, format, out, yes)


@app.command("sensitivity")
@guarded
def sensitivity_command(
    study: StudyArgument,
    settings: StudySettings = None,
    workers: WorkersOption = None,
    dask: DaskOption = None,
    slurm: SlurmOption = False,
    pbs: PbsOption = False,
    jobs: JobsOption = None,
    job: JobOption = None,
    format: StudyFormat = "table",
    out: OutOption = None,
    yes: YesOption = False,
) -> None:
    """Attribute the variance of a metric to the axes of a study; needs SALib."""
    from lightburst.cli.commands.sensitivity import sensitivity
    from lightburst.cli.terminal.computing import computing

    where = computing(workers, dask, slurm, pbs, jobs, job or [])
    sensitivity(study, settings or [], where, format, out, yes)


@app.command("trace")
@guarded
def trace_command(
    scenario: Annotated[str, typer.Argument(help="A TOML file.", show_default=False)],
    flow: Annotated[
        str | None, typer.Option("--flow", metavar="N", help="Number of the flow; 0 by default.")
    ] = None,
    subflow: Annotated[
        str | None,
        typer.Option("--subflow", metavar="N", help="Number of its subflow; 0 by default."),
    ] = None,
    network: Annotated[
        bool, typer.Option("--network", help="Trace bursts on links instead of a flow.")
    ] = False,
    links: Annotated[
        str | None, typer.Option("--links", metavar="A:B,...", help="Links; all by default.")
    ] = None,
    begin: Annotated[
        str | None, typer.Option("--from", metavar="TIME", help="Begin, with --network.")
    ] = None,
    end: Annotated[
        str | None, typer.Option("--to", metavar="TIME", help="End, with --network.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Change a field; may be repeated."),
    ] = None,
    seed: Annotated[str, typer.Option("--seed", metavar="N", help="Seed of the run.")] = "1",
    hops: Annotated[
        str | None,
        typer.Option("--hops", metavar="all|N", help="Print the hops of its packets, or of one."),
    ] = None,
    bins: Annotated[
        str | None,
        typer.Option("--bins", metavar="TIME", help="Print its window and throughput in bins."),
    ] = None,
    format: TableOption = "table",
    out: OutOption = None,
) -> None:
    """Trace one flow: a capture for Wireshark, tables, and figures of its windows.

    With --network trace the bursts on links: tables, a space-time diagram, and a page.
    """
    from lightburst.cli.terminal.options import only_with

    if network:
        from lightburst.cli.commands.trace_network import trace_links

        of_flow = {"--flow": flow, "--subflow": subflow, "--hops": hops, "--bins": bins}
        only_with("a flow", "without --network", of_flow)
        trace_links(scenario, settings or [], links, begin, end, seed, format, out)
    else:
        from lightburst.cli.commands.trace import trace

        given = {"--links": links, "--from": begin, "--to": end}
        only_with("links", "with --network", given)
        trace(scenario, settings or [], flow or "0", subflow, seed, hops, bins, format, out)


@app.command("explain")
@guarded
def explain_command(
    scenario: Annotated[
        str,
        typer.Argument(
            metavar="SCENARIO|DIR", help="A TOML file, or a saved result.", show_default=False
        ),
    ],
    flow: Annotated[
        str | None,
        typer.Option("--flow", metavar="worst|N", help="Number of the flow; worst by default."),
    ] = None,
    worst: Annotated[bool, typer.Option("--worst", help="The same as --flow worst.")] = False,
    burst: Annotated[
        str | None, typer.Option("--burst", metavar="N", help="Explain a burst, not a flow.")
    ] = None,
    bursts: Annotated[
        bool, typer.Option("--bursts", help="List the bursts that were lost.")
    ] = False,
    step: Annotated[
        str | None,
        typer.Option(
            "--step",
            metavar="slowest|N",
            help="Explain a step of collective operations, or a schedule, by its critical path.",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Change a field; may be repeated."),
    ] = None,
    seed: Annotated[
        str | None,
        typer.Option("--seed", metavar="N", help="Seed; 1, or that of the saved result."),
    ] = None,
    format: TableOption = "table",
) -> None:
    """Explain why a flow or a step was slow, or why a burst was lost and how to avoid the loss.

    For a flow: its losses by link, and the components of its completion time. For a step of
    collective operations, or a schedule: the messages of which each waited for the one before.
    """
    from lightburst.cli.commands.explain import explain_one

    asked = flow or ("worst" if worst else None)
    explain_one(scenario, settings or [], asked, burst, bursts, step, seed, format)


@app.command("compare")
@guarded
def compare_command(
    first: Annotated[str, typer.Argument(metavar="A", help="A saved result.", show_default=False)],
    second: Annotated[
        str, typer.Argument(metavar="B", help="Another saved result.", show_default=False)
    ],
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metric", metavar="NAME", help="Compare this one; may be repeated. All by default."
        ),
    ] = None,
    format: Annotated[
        str, typer.Option("--format", metavar="table|json|csv", help="Output format.")
    ] = "table",
) -> None:
    """Report which metrics of two saved results differ, by how much and how certainly."""
    from lightburst.cli.commands.compare import print_comparison

    print_comparison(first, second, metrics or [], format)


@app.command("reproduce")
@guarded
def reproduce_command(
    name: Annotated[str, typer.Argument(help="A paper, or PAPER/PART.", show_default=False)],
    quick: Annotated[bool, typer.Option("--quick", help="Fewer seeds and points.")] = False,
    variant: Annotated[
        str | None,
        typer.Option("--variant", metavar="NAME", help="An alternative beside the base, as A."),
    ] = None,
    format: TableOption = "table",
    out: OutOption = None,
    workers: WorkersOption = None,
    dask: DaskOption = None,
    slurm: SlurmOption = False,
    pbs: PbsOption = False,
    jobs: JobsOption = None,
    job: JobOption = None,
) -> None:
    """Reproduce the figures of a paper and judge its claims."""
    from lightburst.cli.commands.reproduce import reproduce
    from lightburst.cli.terminal.computing import computing

    where = computing(workers, dask, slurm, pbs, jobs, job or [])
    reproduce(name, quick, format, out, where, variant)


@app.command("calibrate")
@guarded
def calibrate_command(
    name: Annotated[str, typer.Argument(help="A paper, or PAPER/PART.", show_default=False)],
    quick: Annotated[bool, typer.Option("--quick", help="Fewer waves and settings.")] = False,
    full: Annotated[
        bool, typer.Option("--full", help="All points and lengths, not those of a preview.")
    ] = False,
    open: Annotated[
        str | None, typer.Option("--open", metavar="FILE", help="Open parameters; the paper's own.")
    ] = None,
    waves: Annotated[
        str | None, typer.Option("--waves", metavar="N", help="Waves of settings; 3 by default.")
    ] = None,
    points: Annotated[
        str | None,
        typer.Option("--points", metavar="N", help="Settings per parameter and wave; 10."),
    ] = None,
    seeds: Annotated[
        str | None, typer.Option("--seeds", metavar="N", help="Runs at each point; 2 by default.")
    ] = None,
    confirm: Annotated[
        str | None, typer.Option("--confirm", metavar="N", help="Fresh seeds for the best; 10.")
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option("--budget", metavar="N", help="Most runs; leaves out dear statements."),
    ] = None,
    seed: Annotated[
        str | None, typer.Option("--seed", metavar="N", help="Seed of the settings; 1 by default.")
    ] = None,
    whole: Annotated[
        bool, typer.Option("--whole", help="Also run settings to the end that fail early.")
    ] = False,
    workers: WorkersOption = None,
    dask: DaskOption = None,
    slurm: SlurmOption = False,
    pbs: PbsOption = False,
    jobs: JobsOption = None,
    job: JobOption = None,
    format: TableOption = "table",
    out: OutOption = None,
) -> None:
    """Find what a paper leaves open: settings under which its statements hold; needs scikit-learn.

    Reports which settings its statements rule out, and which of them contradict each other.
    """
    from lightburst.cli.commands.calibrate import calibrate
    from lightburst.cli.terminal.computing import computing

    where = computing(workers, dask, slurm, pbs, jobs, job or [])
    given = {
        "waves": waves, "points": points, "seeds": seeds, "confirm": confirm, "budget": budget,
        "seed": seed,
    }  # fmt: skip
    calibrate(name, quick, full, open, whole, given, where, format, out)


@app.command("packetdrill")
@guarded
def packetdrill_command(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="Scripts.", show_default=False)
    ],
    tolerance: Annotated[
        str | None,
        typer.Option(
            "--tolerance_usecs",
            metavar="N",
            help="Tolerance of times in microseconds; that of each script by default, or 4000.",
            show_default=False,
        ),
    ] = None,
    format: TableOption = "table",
) -> None:
    """Carry out scripts of packetdrill against the sender of `preset = "linux"`."""
    from lightburst.cli.commands.packetdrill import run_scripts

    run_scripts(files, tolerance, format)


@app.command("list")
@guarded
def list_command(
    topic: Annotated[
        str | None, typer.Argument(help="A topic; all by default.", show_default=False)
    ] = None,
) -> None:
    """List the names for scenarios: topologies, switches, transports, papers and others."""
    from lightburst.cli.commands.listing import print_list

    print_list(topic)


@app.command("schema")
@guarded
def schema_command(
    of: Annotated[str, typer.Argument(metavar="[scenario|study]", help="Kind.")] = "scenario",
) -> None:
    """Print the JSON schema of scenario files or of study files."""
    from lightburst.cli.terminal.options import choice

    choice("schema", of, ("scenario", "study"))
    if of == "study":
        from lightburst.study.design.json_schema import schema
    else:
        from lightburst.scenario import schema
    print(json.dumps(schema(), indent=2))


@app.command("report")
@guarded
def report_command(
    directory: Annotated[
        str, typer.Argument(metavar="DIR", help="A saved result.", show_default=False)
    ],
    explain: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="Repeat a saved run and explain its N worst flows on the page, 0 to 50; by "
            "default 3, if the run had at most 20 million events.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write an offline HTML page of a saved result."""
    from lightburst.cli.commands.report import write_report

    write_report(directory, explain)

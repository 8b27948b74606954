"""``lightburst store``: contents, verification and clean-up of the store of finished runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from lightburst.cli.terminal.guard import guarded
from lightburst.cli.terminal.streams import say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lightburst.study.store.upkeep import Condition, Kept

store_app = typer.Typer(
    help="Manage the stored runs of studies: list them, verify them, remove damaged ones.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

# Exit code of `lightburst store check` if something is damaged.
DAMAGED: Final = 1

FolderArgument = Annotated[
    Path,
    typer.Argument(metavar="FOLDER", help="The store; studies of this directory use the default."),
]
# Equal to `lightburst.result.files.STORE`, whose import would slow down every command.
_STORE: Final = Path(".lightburst", "runs")


@store_app.command("list")
@guarded
def list_command(
    folder: FolderArgument = _STORE,
    format: Annotated[
        str, typer.Option("--format", metavar="table|json", help="What to print.")
    ] = "table",
) -> None:
    """List the runs in the store by paper or study: number, size, model version and time."""
    from lightburst.cli.terminal.options import choice
    from lightburst.result.metric_text import aligned
    from lightburst.study.store.upkeep import failed_runs, listed, on_disk

    choice("--format", format, ("table", "json"))
    found, sizes = listed(folder), on_disk(folder)
    if format == "json":
        total = {"store_bytes": sum(sizes.values())}
        print(json.dumps([kept._asdict() | total for kept in found], indent=2))
    else:
        say(*aligned(list(_rows(found))), *_told(len(failed_runs(folder))), _sizes(sizes))


@store_app.command("check")
@guarded
def check_command(folder: FolderArgument = _STORE) -> None:
    """Verify every row and the structure; exit with code 1 if something is damaged."""
    from lightburst.study.store.upkeep import examined

    found = examined(folder)
    say(*_said(found))
    if not found.sound:
        raise typer.Exit(DAMAGED)


@store_app.command("failed")
@guarded
def failed_command(
    folder: FolderArgument = _STORE,
    format: Annotated[
        str, typer.Option("--format", metavar="table|json", help="What to print.")
    ] = "table",
) -> None:
    """List the failed runs with their errors; means do not include them."""
    from lightburst.cli.terminal.options import choice
    from lightburst.study.store.upkeep import failed_runs

    choice("--format", format, ("table", "json"))
    found = failed_runs(folder)
    if format == "json":
        print(json.dumps(found, indent=2))
        return
    for run in found:
        where = f"{run['name'] or 'unnamed'} {run['scenario'][:12]}, seed {run['seed']}"
        say(f"{where}: {run['path']}: given {run['given']}; allowed: {run['allowed']}")
    print(f"{len(found):,} runs failed")


@store_app.command("retry")
@guarded
def retry_command(folder: FolderArgument = _STORE) -> None:
    """Delete the records of failed runs, so that the next call of their study repeats them."""
    from lightburst.study.store.upkeep import retried

    print(f"failed runs that are forgotten, and run again by the next call: {retried(folder):,}")


@store_app.command("clean")
@guarded
def clean_command(
    folder: FolderArgument = _STORE,
    yes: Annotated[
        bool, typer.Option("--yes", help="Remove them; otherwise only list them.")
    ] = False,
) -> None:
    """Remove damaged rows, and runs of other model versions.

    If the store is unreadable, its intact rows are copied to a new index, and the damaged index is
    kept beside it. No other command may use the store meanwhile.
    """
    from lightburst.study.store.upkeep import clean, examined

    found = examined(folder)
    say(*_said(found))
    print(f"to be removed: {_removed(found)}")
    if not yes:
        print("Nothing is removed yet: add --yes.")
        return
    copy = clean(folder)
    say(f"{folder} is clean" if copy is None else f"{folder} is new; the damaged index is {copy}")


def _rows(found: list[Kept]) -> Iterator[tuple[str, ...]]:
    from lightburst.result.metric_text import readable

    yield "study", "model", "scenarios", "runs", "rows", "finished (UTC)"
    for kept in found:
        first, last = (when[:16].replace("T", " ") for when in (kept.first, kept.last))
        yield (
            kept.name or "unnamed",
            kept.model_version or "unknown",
            f"{kept.scenarios:,}",
            f"{kept.runs:,}",
            readable("size_bytes", kept.bytes),
            f"{first} to {last}" if first else "by an earlier version",
        )


def _sizes(sizes: dict[str, int]) -> str:
    from lightburst.result.metric_text import readable

    parts = ", ".join(f"{kind} {readable('size_bytes', size)}" for kind, size in sizes.items())
    return f"on the disk: {readable('size_bytes', sum(sizes.values()))} ({parts})"


def _said(found: Condition) -> Iterator[str]:
    yield f"{found.runs:,} runs are sound"
    if found.damaged:
        yield f"{found.damaged:,} rows are damaged"
    if found.structure:
        yield f"the structure of the index is damaged: {found.structure}"
    yield from _told(found.failed)
    if found.aside:
        yield f"{found.aside:,} damaged rows were set aside before"


def _told(failed: int) -> Iterator[str]:
    if failed:
        yield f"{failed:,} runs failed: 'lightburst store failed' lists them"


def _removed(found: Condition) -> str:
    parts = {
        "damaged rows": found.damaged + found.aside,
        "runs of other versions of the model": found.others,
    }
    words = [f"{number:,} {what}" for what, number in parts.items() if number]
    if found.structure:
        words.append(
            "whatever of the damaged index cannot be read, and other versions of the model"
        )
    return ", ".join(words) or "nothing"

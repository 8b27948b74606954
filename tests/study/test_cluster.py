"""Studies on a Dask cluster on this machine: the same table for any failures of workers."""

from __future__ import annotations

import inspect
import itertools
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from dask import config
from distributed import Future
from test_study import outcome, scenario, slow_study

import lightburst as lb
from clusters import local, old_worker, process
from lightburst.foundation.errors import InputError, WorkersLostError, WorkerWarning
from lightburst.study import Store, Study, execute
from lightburst.study.execution.executor import run_all
from lightburst.study.runs import PlannedRun
from lightburst.study.store.failures import FailedRun
from lightburst.study.workers import arrival, dask, remote, where
from lightburst.study.workers.identity import Identity, mine
from lightburst.study.workers.interface import Order

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes that are killed")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two worker processes with a thread each."""
    with local(2) as connected:
        yield connected


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """The table of a study in threads."""
    return outcome(execute(slow_study(), progress=False))


class Acting(Store):
    """A store that calls a function before it keeps runs, once at each given number of runs."""

    def __init__(self, path: Path, act: Callable[[], Any], *numbers: int) -> None:
        super().__init__(path)
        self.act, self.numbers = act, list(numbers)

    def put_all(self, ended: Any) -> Any:
        if self.numbers and len(self) >= self.numbers[0]:
            self.numbers.pop(0)
            self.act()
        return super().put_all(ended)


def test_the_table_is_that_of_threads(client: Any, table: pd.DataFrame) -> None:
    found = execute(slow_study(), workers=client, progress=False)
    pd.testing.assert_frame_equal(outcome(found), table)


def test_and_of_a_cluster_of_another_size(table: pd.DataFrame) -> None:
    """One worker with three threads, in this process."""
    with local(1, processes=False, threads_per_worker=3) as other:
        found = execute(slow_study(), workers=other.cluster, progress=False)
        assert other.status == "running"
    pd.testing.assert_frame_equal(outcome(found), table)


def test_lost_workers_runs_are_done_again(client: Any, table: pd.DataFrame, tmp_path: Path) -> None:
    """Both are killed, and then the one that takes the place of the first."""
    nannies = itertools.cycle(client.cluster.workers.values())
    killed: set[int] = set()

    def kill() -> None:
        nanny = next(nannies)
        deadline = time.monotonic() + 60
        while (pid := nanny.pid) is None or pid in killed:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        killed.add(pid)
        os.kill(pid, signal.SIGKILL)

    with Acting(tmp_path / "runs", kill, 9, 20, 31) as store:
        found = execute(slow_study(), store, workers=client, progress=False)
    assert len(killed) == 3
    pd.testing.assert_frame_equal(outcome(found), table, check_exact=True)


def test_what_the_cluster_forgets_is_handed_in_again(
    client: Any, table: pd.DataFrame, tmp_path: Path
) -> None:
    forgotten: list[str] = []

    def forget() -> None:
        under_way = [Future(key, client) for key in client.futures]
        forgotten.extend(future.key for future in under_way if not future.done())
        client.cancel(under_way)

    with Acting(tmp_path / "runs", forget, 9, 20) as store:
        found = execute(slow_study(), store, workers=client, progress=False)
    assert forgotten
    pd.testing.assert_frame_equal(outcome(found), table, check_exact=True)


# Ports and seed of the first two runs of `slow_study`, and of a later one.
DEADLY = {(0, 1), (1, 1), (2, 13)}
_DYING = f"""
import os
from lightburst.simulation.simulate import simulate
from lightburst.study.workers import one

DEADLY = {DEADLY!r}

def deadly(scenario, seed, **options):
    if (scenario.switching.buffer_ports, seed) in DEADLY:
        os._exit(1)
    return simulate(scenario, seed, **options)

one.simulate = deadly
"""


@pytest.mark.filterwarnings("ignore:.*has no workers; the study waits for them")
def test_runs_that_their_workers_die_of_fail_and_no_others(
    table: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The runs that waited behind them, or were in one batch with them, are computed."""
    # The first ones leave a new worker no time to be seen.
    monkeypatch.setattr(dask, "_NOBODY_S", 60.0)
    (tmp_path / "deadly.py").write_text(_DYING)
    failed: list[FailedRun] = []
    # A local cluster drops a worker for good that is down at one moment, this long after any of its
    # deaths: longer than a test may take on any machine.
    often = {
        "distributed.scheduler.allowed-failures": 1,
        "distributed.deploy.lost-worker-timeout": "1 day",
    }
    with config.set(often), local(1, preload=[str(tmp_path / "deadly.py")]) as other:
        rows = run_all(slow_study(), workers=other, progress=False, failed=failed)
    # The three points have 0 to 2 ports.
    assert sorted((run.place, run.seed) for run in failed) == sorted(DEADLY)
    assert all("several workers died of it" in str(run.failure) for run in failed)
    runs = zip(table["switching.buffer_ports"], table["seed"], strict=True)
    others = table[[run not in DEADLY for run in runs]].reset_index(drop=True)
    pd.testing.assert_frame_equal(outcome(rows), others, check_exact=True)


def test_metrics_and_tables_come_back(client: Any, tmp_path: Path) -> None:
    def swept(workers: Any) -> lb.Sweep:
        return lb.sweep(
            scenario(),
            {"switching.buffer_ports": [0, 2]},
            seeds=3,
            metrics={"mice": "p99 of slowdown where bytes < 100 kB"},
            keep=["flows", "links"],
            workers=workers,
            progress=False,
        )

    there, here = swept(client), swept(2)
    assert "mice" in there.runs
    pd.testing.assert_frame_equal(outcome(there.runs), outcome(here.runs))
    for name in ("flows", "links"):
        pd.testing.assert_frame_equal(there.kept(name), here.kept(name))


def test_a_run_that_fails_there_fails_as_here(client: Any) -> None:
    base = scenario().with_(measurement__event_limit=3000)
    study = Study(base, {"workload.flows": [2, 2000]}, 2)
    failed: dict[Any, list[FailedRun]] = {}
    for who in (client, 2):
        rows = run_all(study, workers=who, progress=False, failed=failed.setdefault(who, []))
        assert list(rows["workload.flows"]) == [2, 2]
    assert failed[client] == failed[2]
    assert [run.seed for run in failed[2]] == [1, 2]


def test_files_must_be_the_same_there(client: Any) -> None:
    """The digest of a run covers the contents of its files."""
    run = PlannedRun({}, scenario(), 1, "of other contents")
    task = remote.Batch([run], Order(), "made up")
    (answer,) = client.submit(remote.compute, task, pure=False).result()
    assert answer.metrics is None
    assert "files that are not the same on worker tcp://127.0.0.1:" in str(answer.error)


def test_a_worker_with_another_version_is_refused_with_both_named(
    client: Any, table: pd.DataFrame, tmp_path: Path
) -> None:
    """It gets no run, though it would answer at once."""
    with (
        old_worker(client, tmp_path) as address,
        pytest.warns(WorkerWarning) as told,
    ):
        found = execute(slow_study(), workers=client, progress=False)
    pd.testing.assert_frame_equal(outcome(found), table)
    (words,) = [str(warning.message) for warning in told]
    assert words.endswith(f", this process has {mine()}")
    theirs = r" is refused: it has lightburst 0\.0\.9 \(model 7, build [0-9a-f]{12}, NumPy"
    assert re.match(f"worker {re.escape(address)}{theirs}", words)


def test_also_one_that_joins_meanwhile(client: Any, table: pd.DataFrame, tmp_path: Path) -> None:
    """Beside a busy worker, so that it gets the runs that wait there."""
    with ExitStack() as stack:

        def join() -> None:
            addresses.append(stack.enter_context(old_worker(client, tmp_path)))

        addresses: list[str] = []
        with Acting(tmp_path / "runs", join, 9) as store, pytest.warns(WorkerWarning) as told:
            found = execute(slow_study(), store, workers=client, progress=False)
        assert client.nthreads().keys() >= set(addresses)  # it has not died of its runs
    pd.testing.assert_frame_equal(outcome(found), table)
    (words,) = [str(warning.message) for warning in told]
    assert words.startswith(f"worker {addresses[0]} is refused: it has lightburst 0.0.9 (model 7")


def test_batches_for_a_worker_that_has_gone_wait_for_the_next(
    table: pd.DataFrame, tmp_path: Path
) -> None:
    """The runs are for this worker alone, because another has refused some; that one stays."""
    with local(1) as client, old_worker(client, tmp_path):
        (nanny,) = client.cluster.workers.values()

        def kill() -> None:
            os.kill(nanny.pid, signal.SIGKILL)

        with Acting(tmp_path / "runs", kill, 9) as store, pytest.warns(WorkerWarning) as told:
            found = execute(slow_study(), store, workers=client, progress=False)
    pd.testing.assert_frame_equal(outcome(found), table)
    assert len([one for one in told if "is refused" in str(one.message)]) == 1


def test_where_all_have_another_version_nothing_is_run(tmp_path: Path) -> None:
    """The only worker, and it remains available: one study does not end it."""
    with local(0) as nobody, old_worker(nobody, tmp_path) as address:
        for _ in range(2):
            with pytest.raises(
                InputError,
                match=r"^workers: given tcp://.*, whose workers have lightburst 0\.0\.9 ",
            ) as raised:
                execute(slow_study(), workers=nobody, progress=False)
            assert raised.value.allowed == f"workers with {mine()}, as here"
        assert list(nobody.nthreads()) == [address]


def test_a_batch_is_not_read_where_an_identity_has_other_fields(client: Any) -> None:
    driver = {"version": "9.9.9", "compiler": "that another version looks at"}
    names = {"text": inspect.getsource(arrival), "driver": driver, "batch": b"of another version"}
    worker, fields = client.submit(eval, arrival.CALL, names, pure=False).result()
    assert worker in client.nthreads()
    assert Identity(**fields) == mine()


def test_where_there_is_no_lightburst_at_all() -> None:
    """In a Python that finds only the standard library."""
    program = inspect.getsource(arrival) + "print(fields())"
    command = [sys.executable, "-I", "-S", "-"]
    asked = subprocess.run(command, input=program, capture_output=True, text=True, check=True)
    assert asked.stdout == "{}\n"
    assert str(Identity()) == "no lightburst"


def test_a_core_for_another_machine_is_another_file_of_the_same_version() -> None:
    one = Identity("1.0", 8, "a", "2.0", "Linux x86_64")
    assert one.fits(Identity("1.0", 8, "b", "2.0", "Linux aarch64"))
    assert not one.fits(Identity("1.0", 8, "b", "2.0", "Linux x86_64"))
    assert not one.fits(Identity("1.0", 7, "b", "2.0", "Linux aarch64"))
    assert not one.fits(Identity("1.0", 8, "a", "2.1", "Linux x86_64"))


def test_an_interrupt_ends_what_is_under_way_there(client: Any, tmp_path: Path) -> None:
    """Runs of minutes; the first one is short."""
    grid = [{}, *({"workload.size.value": f"{n} TB"} for n in range(1, 7))]
    study = Study(scenario(), grid, 1)

    def interrupt() -> None:
        deadline = time.monotonic() + 30
        while not sum(map(len, client.processing().values())):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        raise KeyboardInterrupt

    with Acting(tmp_path / "runs", interrupt, 0) as store:
        with pytest.raises(KeyboardInterrupt):
            execute(study, store, workers=client, progress=False)
        deadline = time.monotonic() + 60
        while any(client.run(lambda dask_worker: dask_worker.state.executing_count).values()):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        # The run that had come back then.
        assert len(store) == 1


def test_an_interrupt_does_not_wait_for_a_lost_machine(tmp_path: Path) -> None:
    """Its worker is still on the scheduler's list, and was to get a message."""
    with local(2) as client:
        stopped = next(iter(client.run(os.getpid).values()))

        def interrupt() -> None:
            os.kill(stopped, signal.SIGSTOP)
            raise KeyboardInterrupt

        try:
            with Acting(tmp_path / "runs", interrupt, 9) as store:
                with pytest.raises(KeyboardInterrupt):
                    execute(slow_study(), store, workers=client, progress=False)
                # The loss has not been detected.
                assert len(client.sync(client.scheduler.ncores)) == 2
                assert len(store) >= 9
        finally:
            os.kill(stopped, signal.SIGCONT)


@pytest.mark.filterwarnings("ignore::lightburst.WorkerWarning")  # a worker that takes its time
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_scheduler_that_dies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: signal.Signals
) -> None:
    """Finished runs are kept; also if the death is not reported, as of a lost machine."""
    monkeypatch.setattr(dask, "PATIENCE_S", 1.0)
    file, about = tmp_path / "runs", tmp_path / "scheduler.json"
    here = ["--no-dashboard", "--host", "127.0.0.1"]
    with (
        process("scheduler", *here, "--port", "0", "--scheduler-file", str(about)) as scheduler,
        process("worker", *here, "--no-nanny", "--nthreads", "1", "--scheduler-file", str(about)),
    ):
        deadline = time.monotonic() + 60
        while not about.is_file():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        monkeypatch.setattr(dask, "PATIENCE_S", 20.0)
        with (
            Acting(file, partial(scheduler.send_signal, how), 9) as store,
            pytest.raises(
                WorkersLostError, match=r"^workers: given tcp://127.0.0.1:.* of .*json, "
            ) as raised,
            where.workers_of(str(about)) as workers,
        ):
            monkeypatch.setattr(dask, "PATIENCE_S", 1.0)
            execute(slow_study(), store, workers=workers, progress=False)
    assert re.search(r"has not answered for [0-9]+ s$", raised.value.given)
    with Store(file) as store:
        assert 9 <= len(store) < 60


def test_an_address_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask, "PATIENCE_S", 0.5)
    given = r"given tcp://127.0.0.1:9, where no Dask scheduler has answered for [0-9]+ s; allowed: "
    with pytest.raises(InputError, match=f"^workers: {given}the address of one that runs"):
        execute(slow_study(), workers="tcp://127.0.0.1:9", progress=False)


@pytest.mark.parametrize("words", ["local:0", "local:", "local:-1", "somewhere", "", "tcp://"])
def test_words_that_name_no_cluster(words: str) -> None:
    with pytest.raises(InputError, match=r"^workers: given .*allowed: local:N for N"):
        execute(slow_study(), workers=words, progress=False)


@pytest.mark.parametrize("wrong", [0, -1, True, 1.5, [2]])
def test_what_is_neither_a_number_nor_a_cluster(wrong: Any) -> None:
    with pytest.raises(InputError, match=r"^workers: given .*allowed: a whole number from 1, of"):
        execute(slow_study(), workers=wrong, progress=False)


def test_without_the_extra_one_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(where, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'lightburst\[cluster\]'$"):
        execute(slow_study(), workers="tcp://127.0.0.1:9", progress=False)

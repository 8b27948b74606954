"""Studies on a Dask cluster on this machine: whatever happens to workers, the same table."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import lightburst as lb
from clusters import local, old_worker, process
from lightburst.errors import InputError, WorkersLostError, WorkerWarning
from lightburst.study import Store, Study, execute
from lightburst.study.executor import run_all
from lightburst.study.failures import FailedRun
from lightburst.study.sweep import PlannedRun
from lightburst.study.workers import dask, remote, where
from lightburst.study.workers.identity import Identity, mine
from lightburst.study.workers.interface import Order
from test_study import outcome, scenario, slow_study

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes that are killed")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two worker processes with a thread each."""
    with local(2) as connected:
        yield connected


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """What threads give."""
    return outcome(execute(slow_study(), progress=False))


class Acting(Store):
    """A store that does something before it keeps runs, once, when it has so many."""

    def __init__(self, path: Path, number: int, act: Any) -> None:
        super().__init__(path)
        self.number, self.act = number, act

    def put_all(self, ended: Any) -> Any:
        if self.act is not None and len(self) >= self.number:
            act, self.act = self.act, None
            act()
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


def test_a_lost_worker_s_runs_are_done_again(
    client: Any, table: pd.DataFrame, tmp_path: Path
) -> None:
    killed: list[int] = []

    def kill() -> None:
        killed.append(next(iter(client.run(os.getpid).values())))
        os.kill(killed[0], signal.SIGKILL)

    with Acting(tmp_path / "runs", 9, kill) as store:
        found = execute(slow_study(), store, workers=client, progress=False)
    assert killed
    pd.testing.assert_frame_equal(outcome(found), table)


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
    """The digest of a run says what its files hold."""
    run = PlannedRun({}, scenario(), 1, "of other contents")
    task = remote.Batch([run], Order(), mine(), "made up")
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
    assert words.endswith(f", and here is {mine()}")
    theirs = r" is refused: it has lightburst 0\.0\.9 \(model 7, build [0-9a-f]{12}, NumPy"
    assert re.match(f"worker {re.escape(address)}{theirs}", words)


def test_also_one_that_joins_later(client: Any, table: pd.DataFrame, tmp_path: Path) -> None:
    """Between two studies, of which the second is asked for at once."""
    with where.workers_of(client) as workers:
        execute(Study(slow_study().base, {}, 1), workers=workers, progress=False)
        with (
            old_worker(client, tmp_path) as address,
            pytest.warns(WorkerWarning, match=f"{address} is refused: it has lightburst 0.0.9"),
        ):
            workers._look(now=True)  # type: ignore[attr-defined] # and not within a second
            found = execute(slow_study(), workers=workers, progress=False)
    pd.testing.assert_frame_equal(outcome(found), table)


def test_where_all_have_another_version_nothing_is_run(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = Identity("9.9.9", 99, "0" * 12, "2.0", mine().machine)
    monkeypatch.setattr(dask, "mine", lambda: here)
    with pytest.raises(
        InputError, match=r"^workers: given tcp://.*, whose workers have "
    ) as raised:
        execute(slow_study(), workers=client, progress=False)
    assert str(mine()) in raised.value.given
    assert str(here) in raised.value.allowed


def test_a_batch_is_refused_where_the_driver_has_another_build(client: Any) -> None:
    driver = Identity(mine().version, mine().model, "0" * 12, mine().numpy, mine().machine)
    task = remote.Batch([], Order(), driver, "made up")
    answer = client.submit(remote.compute, task, pure=False).result()
    assert answer.identity == mine()
    assert answer.worker in client.nthreads()


def test_a_core_for_another_machine_is_another_file_of_the_same_version() -> None:
    one = Identity("1.0", 8, "a", "2.0", "Linux x86_64")
    assert one.fits(Identity("1.0", 8, "b", "2.0", "Linux aarch64"))
    assert not one.fits(Identity("1.0", 8, "b", "2.0", "Linux x86_64"))
    assert not one.fits(Identity("1.0", 7, "b", "2.0", "Linux aarch64"))
    assert not one.fits(Identity("1.0", 8, "a", "2.1", "Linux x86_64"))
    assert str(Identity()) == "no lightburst"


def test_an_interrupt_ends_what_is_under_way_there(client: Any, tmp_path: Path) -> None:
    """Runs of minutes; the first one is short."""
    grid = [{}, *({"workload.size.value": f"{n} TB"} for n in range(1, 7))]
    study = Study(scenario(), grid, 1)

    def interrupt() -> None:
        deadline = time.monotonic() + 30
        while not sum(map(len, client.processing().values())):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        begun.append(time.monotonic())
        raise KeyboardInterrupt

    begun: list[float] = []
    with Acting(tmp_path / "runs", 0, interrupt) as store:
        with pytest.raises(KeyboardInterrupt):
            execute(study, store, workers=client, progress=False)
        assert time.monotonic() - begun[0] < 2
        while any(client.run(lambda dask_worker: dask_worker.state.executing_count).values()):
            assert time.monotonic() - begun[0] < 10
            time.sleep(0.05)
        # The one that had come back then.
        assert len(store) == 1


@pytest.mark.filterwarnings("ignore::lightburst.WorkerWarning")  # a worker that takes its time
def test_a_scheduler_that_dies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was finished is kept, and the next call goes on from there."""
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
            Acting(file, 9, scheduler.kill) as store,
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
        execute(slow_study(), workers="local:2", progress=False)

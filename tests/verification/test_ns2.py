"""The stored runs of ns-2: their content, their reproduction by ns-2, their comparison."""

import dataclasses
from collections import Counter

import numpy as np
import pytest
from ns2.golden import GOLDEN, Case, Run, cases, differences, load, parse
from ns2.rerun import installed, rerun

CASES = list(cases())


def lost(text: str) -> Counter[int]:
    """How often each segment is lost, from the argument of ``path.tcl``."""
    losses: Counter[int] = Counter()
    for word in text.split():
        first, _, last = word.partition("*")[0].partition("-")
        losses.update(range(int(first), int(last or first) + 1))
    return losses


def test_each_case_has_its_file_and_each_file_its_case() -> None:
    assert sorted(path.name for path in GOLDEN.iterdir()) == sorted(c.path.name for c in CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_golden_run_is_whole(case: Case) -> None:
    """All segments are sent, those lost once more for each loss, and all are acknowledged."""
    run = load(case)
    sent = Counter(number for _, number, _ in run.sent)
    segments = int(case.parameters.get("segments", "300"))
    assert sorted(sent) == list(range(segments))
    for number, times in lost(case.parameters.get("drop", "")).items():
        assert sent[number] > times
    acknowledged = run.seq[run.event == "ack"]
    assert acknowledged[-1] == segments
    assert (np.diff(acknowledged) >= 0).all()
    assert (np.diff(run.time_s) >= 0).all()


@pytest.mark.skipif(installed() is None, reason="no ns-2 here; Debian and Ubuntu: apt install ns2")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_ns2_still_gives_the_golden_run(case: Case) -> None:
    stored, again = load(case), parse(rerun(case), case.window)
    assert differences(again.sent, stored, time_tolerance_s=2e-6) == []
    for column in ("event", "seq"):
        assert (getattr(again, column) == getattr(stored, column)).all()
    for column in ("time_s", "cwnd", "ssthresh"):
        np.testing.assert_allclose(getattr(again, column), getattr(stored, column), atol=1e-3)


@pytest.fixture(scope="module")
def run() -> Run:
    return load(Case("Reno", "five"))


def test_a_run_does_not_differ_from_itself(run: Run) -> None:
    shifted = [(time + 7.5, number, window) for time, number, window in run.sent]
    assert differences(shifted, run, time_tolerance_s=1e-9) == []


def test_the_first_segment_out_of_order_is_told_and_ends_the_comparison(run: Run) -> None:
    sent = run.sent
    sent[100] = (sent[100][0], 4711, sent[100][2])
    sent[200] = (0.0, 0, 0.0)
    (line,) = differences(sent, run)
    assert line.startswith("send 100,")
    assert "segment 4711, ns-2 sends" in line


def test_a_window_a_time_and_a_missing_segment_are_told(run: Run) -> None:
    sent = run.sent
    time, number, window = sent[50]
    sent[50] = (time + 0.01, number, window + 0.5)
    lines = differences(sent[:-1], run, time_tolerance_s=0.005)
    assert ["window" in lines[0], "at 0.4" in lines[1], "segments sent" in lines[2]] == [True] * 3
    assert len(lines) == 3
    assert len(differences(sent[:-1], run)) == 2
    assert differences(sent, run, window_tolerance=0.6) == []


def test_windows_are_compared_up_to_the_advertised_one() -> None:
    """ns-2 lets cwnd grow beyond the advertised window, which has no effect."""
    run = load(Case("Reno", "none"))
    assert run.cwnd.max() > run.window
    sent = [(time, number, min(window, 50.0)) for time, number, window in run.sent]
    assert differences(sent, run) == []
    narrow = dataclasses.replace(run, window=20)
    assert max(window for _, _, window in narrow.sent) == 20


def test_timeouts(run: Run) -> None:
    """Reno with five losses in a window times out once, 0.23 s after its fast retransmission."""
    (expiry,) = run.timeouts
    times = [time for time, number, _ in run.sent if number == 41]
    assert expiry == pytest.approx(times[1])
    assert load(Case("Sack1", "five")).timeouts == []


def test_what_is_no_output_of_the_script_is_refused() -> None:
    with pytest.raises(ValueError, match=r"not the output of path\.tcl: 'ns: no such file'"):
        parse("ns: no such file\n", 50)

"""Flows: distributions against SciPy, structure of shuffle and incast, user's tables."""

import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats

from lightburst.foundation.errors import InputError
from lightburst.scenario.tables.sizes import (
    BoundedPareto,
    Constant,
    Empirical,
    Exponential,
    FlowSize,
    Lognormal,
    Pareto,
)
from lightburst.scenario.tables.workload import Incast, Pairs, Poisson, Shuffle, Table
from lightburst.scenario.transport import Datagram
from lightburst.workload import Flows, datagram_counts, departures, make_flows
from lightburst.workload.cdf import parse_distribution
from lightburst.workload.sizes import draw_sizes
from lightburst.workload.streams import stream

DRAWS = 20_000
# The seeds are fixed, so a test that passes once passes always; a wrong distribution has p < 1e-20.
LEAST_P = 1e-3

Cdf = Callable[[Any], Any]


def truncated(cdf: Cdf, maximum: float) -> Cdf:
    """The distribution of sizes that are redrawn until at most the maximum."""
    return lambda x: cdf(np.minimum(x, maximum)) / cdf(np.array(maximum))


def drawn(size: FlowSize, seed: int = 1) -> NDArray[np.uint64]:
    return draw_sizes(size, DRAWS, stream(seed, "sizes"))


LOGNORMAL = stats.lognorm(s=2.45663283, scale=np.exp(9.48)).cdf
EXPONENTIAL = stats.expon(scale=100_000).cdf
PARETO = stats.pareto(1.2, scale=10_000).cdf


@pytest.mark.parametrize(
    ("size", "cdf"),
    [
        (Exponential(mean="100 kB"), EXPONENTIAL),
        (Exponential(mean="100 kB", max="50 kB"), truncated(EXPONENTIAL, 50_000)),
        (Lognormal(), LOGNORMAL),
        (Lognormal(max="16 MiB"), truncated(LOGNORMAL, 2**24)),
        (Pareto(shape=1.2, minimum="10 kB"), PARETO),
        (Pareto(shape=1.2, minimum="10 kB", max="1 MB"), truncated(PARETO, 1e6)),
        (BoundedPareto(shape=1.2, minimum="10 kB", max="1 MB"), truncated(PARETO, 1e6)),
    ],
    # The text is the same in each process: it has no address of a function.
    ids=lambda value: "" if callable(value) else str(value),
)
def test_sizes_are_distributed_as_they_should(size: FlowSize, cdf: Cdf) -> None:
    # Half a byte of noise undoes the rounding to whole bytes.
    noise = stream(2, "noise").uniform(-0.5, 0.5, DRAWS)
    sizes = drawn(size) + noise
    assert stats.kstest(sizes, cdf).pvalue > LEAST_P


def test_the_paper_s_sizes_have_the_mean_of_theory() -> None:
    # E[X | X <= m] of a log-normal X, by its partial expectation.
    mu, sigma, m = 9.48, 2.45663283, 2**24
    z = (np.log(m) - mu) / sigma
    mean = np.exp(mu + sigma**2 / 2) * stats.norm.cdf(z - sigma) / stats.norm.cdf(z)
    sizes = np.concatenate([drawn(Lognormal(max="16 MiB"), seed) for seed in range(20)])
    error = sizes.std() / np.sqrt(sizes.size)
    assert abs(sizes.mean() - mean) < 4 * error
    assert sizes.max() <= m


def test_constant_sizes_and_the_smallest() -> None:
    assert set(drawn(Constant(value="9 kB")).tolist()) == {9000}
    tiny = drawn(Exponential(mean="1 B"))
    assert tiny.min() == 1
    assert tiny.dtype == np.uint64


def test_a_tail_without_end_is_refused() -> None:
    with pytest.raises(InputError, match=r"^workload.size: .* a 'max'"):
        drawn(Pareto(shape=0.05, minimum="1 kB"))


# --- measured distributions ---


# The points of the DCTCP paper as the HPCC traffic generator has them, and means by the trapezoid
# rule over all points.
WEBSEARCH = {10_000: 15, 50_000: 40, 80_000: 53, 200_000: 60, 1_000_000: 70, 10_000_000: 97}
HADOOP = {300: 5, 500: 30, 1_000: 60, 50_000: 82, 300_000: 95, 1_000_000: 97.5}


@pytest.mark.parametrize(
    ("name", "points", "mean"),
    [("websearch", WEBSEARCH, 1_711_250), ("hadoop", HADOOP, 120_420.75)],
)
def test_shipped_distributions(name: str, points: dict[int, float], mean: float) -> None:
    sizes = np.concatenate([drawn(Empirical(name=name), seed) for seed in range(10)])
    for size, percent in points.items():
        share = (sizes <= size).mean()
        assert share == pytest.approx(percent / 100, abs=4 * 0.5 / np.sqrt(sizes.size)), size
    assert abs(sizes.mean() - mean) < 4 * sizes.std() / np.sqrt(sizes.size)


def test_percent_and_probability_are_the_same_distribution() -> None:
    percent = parse_distribution("0 0\n1000 50\n3000 100\n", "a")
    probability = parse_distribution("# c\nbytes,cdf\n0, 0\n\n1000, 0.5 # half\n3000, 1.0\n", "b")
    assert np.array_equal(percent.bytes, probability.bytes)
    assert np.array_equal(percent.probability, probability.probability)
    sizes = percent.draw(DRAWS, stream(1, "sizes"))
    assert stats.kstest(sizes, lambda x: np.interp(x, [0, 1000, 3000], [0, 0.5, 1])).pvalue > 1e-3


def test_jumps_of_a_distribution() -> None:
    # A quarter at 100 bytes, half at 200, none between, the rest evenly to 400.
    jumps = parse_distribution("100 0.25\n200 0.25\n200 0.75\n400 1\n", "jumps")
    sizes = jumps.draw(DRAWS, stream(1, "sizes"))
    assert (sizes == 100).mean() == pytest.approx(0.25, abs=0.02)
    assert (sizes == 200).mean() == pytest.approx(0.5, abs=0.02)
    assert not np.any((sizes > 100) & (sizes < 200))


@pytest.mark.parametrize(
    ("text", "given", "allowed"),
    [
        ("", "empty", "100 (percent) or 1 (probability)"),
        ("0 0\n10 50\n", "ends at 50", "100 (percent) or 1 (probability)"),
        ("0 0\n10 x\n", "line 2: '10 x'", "two numbers"),
        ("0 0 0\n10 1 1\n", "line 1", "two numbers"),
        ("0 0\nnan 100\n", "line 2", "two numbers"),
        ("0 0\n-5 100\n", "line 2", "two numbers"),
        ("0 0\n10 120\n", "line 2", "two numbers"),
        ("0 0\n10 50\n5 100\n", "line 3", "less than the line before"),
        ("0 0\n10 50\n20 40\n30 100\n", "line 3", "less than the line before"),
        ("0 0\n10 50\n10 50\n30 100\n", "line 3", "nor the same"),
        ("0 0\n0 1\n", "no size above zero", "sizes in bytes"),
    ],
)
def test_bad_distributions(tmp_path: Path, text: str, given: str, allowed: str) -> None:
    file = tmp_path / "sizes.txt"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        drawn(Empirical(file=file))
    assert caught.value.path == "workload.size.file"
    assert given in caught.value.given
    assert allowed in caught.value.allowed


# --- arrivals and pairs ---


def poisson(hosts: int = 128, seed: int = 1, **fields: object) -> Flows:
    given: dict[str, object] = {"arrival_rate": "1e6 /s", "flows": DRAWS, **fields}
    return make_flows(Poisson(**given), hosts, seed)


def check_consistent(flows: Flows, hosts: int) -> None:
    assert np.all(np.diff(flows.start_ps.astype(np.int64)) >= 0)
    assert np.all(flows.source != flows.destination)
    assert max(flows.source.max(), flows.destination.max()) < hosts
    assert flows.size_bytes.min() >= 1
    assert flows.source.dtype == flows.destination.dtype == np.uint32
    assert flows.start_ps.dtype == flows.size_bytes.dtype == np.uint64


def test_arrivals_are_a_poisson_process() -> None:
    flows = poisson()
    check_consistent(flows, 128)
    gaps = np.diff(flows.start_ps.astype(np.float64))
    assert stats.kstest(gaps, stats.expon(scale=1e6).cdf).pvalue > LEAST_P
    # The next gap does not depend on the last.
    assert abs(np.corrcoef(gaps[:-1], gaps[1:])[0, 1]) < 4 / np.sqrt(gaps.size)


def test_all_pairs_of_different_hosts_are_equally_likely() -> None:
    flows = poisson(hosts=9)
    table = np.zeros((9, 9), int)
    np.add.at(table, (flows.source, flows.destination), 1)
    assert np.all(np.diag(table) == 0)
    assert stats.chisquare(table[~np.eye(9, dtype=bool)]).pvalue > LEAST_P


def test_two_hosts_are_enough() -> None:
    check_consistent(poisson(hosts=2), 2)


def test_parts_of_the_workload_draw_from_streams_of_their_own() -> None:
    before = poisson()
    other_sizes = poisson(size=Constant(value="1 B"))
    faster = poisson(arrival_rate="2e6 /s")
    assert np.array_equal(before.start_ps, other_sizes.start_ps)
    assert np.array_equal(before.source, other_sizes.source)
    assert np.array_equal(before.size_bytes, faster.size_bytes)
    assert np.array_equal(before.destination, faster.destination)
    # Twice as fast: each start at half the time, except for the rounding to picoseconds.
    half = before.start_ps.astype(np.float64) / 2
    assert np.max(np.abs(faster.start_ps.astype(np.float64) - half)) <= 1


def test_fewer_flows_are_the_first_of_more() -> None:
    few, many = poisson(flows=100), poisson()
    assert np.array_equal(few.start_ps, many.start_ps[:100])
    assert np.array_equal(few.source, many.source[:100])


def test_seeds_are_independent() -> None:
    first, again, second = poisson(seed=1), poisson(seed=1), poisson(seed=2)
    assert np.array_equal(first.size_bytes, again.size_bytes)
    correlation = stats.spearmanr(first.size_bytes, second.size_bytes).statistic
    assert abs(correlation) < 4 / np.sqrt(DRAWS)
    assert poisson(seed=2**64 - 1).source.size == DRAWS


def test_flows_that_would_start_after_the_end_of_time_are_refused() -> None:
    with pytest.raises(InputError, match=r"^workload.arrival_rate: given 1e-09 /s"):
        poisson(arrival_rate="1e-9 /s")


def test_a_shuffle_is_all_to_all() -> None:
    flows = make_flows(Shuffle(hosts=12, spread="1 us"), 128, 1)
    check_consistent(flows, 12)
    pairs = set(zip(flows.source.tolist(), flows.destination.tolist(), strict=True))
    assert len(flows) == len(pairs) == 12 * 11
    assert stats.kstest(flows.start_ps, stats.uniform(0, 1e6).cdf).pvalue > LEAST_P


def test_a_shuffle_without_spread_begins_at_once_in_random_order() -> None:
    flows = make_flows(Shuffle(), 16, 1)
    assert len(flows) == 16 * 15
    assert set(flows.start_ps.tolist()) == {0}
    first = {
        int(s): int(d) for s, d in zip(flows.source[::-1], flows.destination[::-1], strict=True)
    }
    assert len(set(first.values())) > 4  # not all begin with host 0


@pytest.mark.parametrize(("hosts", "partners"), [(2, 1), (6, 3), (7, 3)])
def test_pairs_join_the_halves(hosts: int, partners: int) -> None:
    workload = Pairs(size={"kind": "constant", "value": "1 MB"})
    flows = make_flows(workload, hosts, 1)
    assert len(flows) == workload.count(hosts) == partners
    assert flows.source.tolist() == list(range(partners))
    assert flows.destination.tolist() == list(range(partners, 2 * partners))
    assert set(flows.start_ps.tolist()) == {0}
    spread = make_flows(Pairs(spread="1 ms"), 2000, 1)
    check_consistent(spread, 2000)
    assert np.all(spread.destination - spread.source == 1000)
    assert stats.kstest(spread.start_ps, stats.uniform(0, 1e9).cdf).pvalue > LEAST_P


def test_incast_has_rounds_of_different_senders_to_one() -> None:
    workload = Incast(senders=7, rounds=500, interval="10 us", spread="1 us")
    flows = make_flows(workload, 8, 1)
    check_consistent(flows, 8)
    rounds = (flows.start_ps // 10_000_000).astype(int)
    assert np.array_equal(np.bincount(rounds), np.full(500, 7))
    assert np.all(flows.start_ps % 10_000_000 <= 1_000_000)
    destination, source = flows.destination.reshape(500, 7), flows.source.reshape(500, 7)
    assert np.all(destination == destination[:, :1])
    assert all(len(set(row.tolist())) == 7 for row in source)
    assert stats.chisquare(np.bincount(destination[:, 0], minlength=8)).pvalue > LEAST_P


def test_incast_senders_are_equally_likely() -> None:
    flows = make_flows(Incast(senders=2, rounds=4000), 8, 1)
    assert stats.chisquare(np.bincount(flows.source, minlength=8)).pvalue > LEAST_P


# --- tables ---


HEADING = "source,destination,start_s,size_bytes\n"


def table(
    directory: Path, text: str, hosts: int = 4, names: tuple[str, ...] | None = None
) -> Flows:
    file = directory / "flows.csv"
    file.write_text(text, encoding="utf-8")
    return make_flows(Table(file=file), hosts, 1, names)


def test_a_table_of_flows(tmp_path: Path) -> None:
    flows = table(tmp_path, HEADING + "0,1,0,10\n3,2,1.5e-6,20\n1,0,0.0000015,9007199254740992\n")
    check_consistent(flows, 4)
    assert flows.source.tolist() == [0, 3, 1]
    assert flows.destination.tolist() == [1, 2, 0]
    assert flows.start_ps.tolist() == [0, 1_500_000, 1_500_000]
    assert flows.size_bytes.tolist() == [10, 20, 2**53]


def test_picoseconds_are_exact_and_other_columns_are_ignored(tmp_path: Path) -> None:
    flows = table(
        tmp_path,
        "note, size_bytes, start_s, start_ps, destination, source\n"
        "x, 5, 9, 1234567890123456789, 1, 0\n",
    )
    assert flows.start_ps.tolist() == [1234567890123456789]
    assert flows.size_bytes.tolist() == [5]


def test_hosts_by_name(tmp_path: Path) -> None:
    flows = table(tmp_path, HEADING + "b,a,0,1\n", 2, ("a", "b"))
    assert (flows.source.tolist(), flows.destination.tolist()) == ([1], [0])
    flows = table(tmp_path, HEADING + "1,0,0,1\n", 2, ("a", "b"))
    assert (flows.source.tolist(), flows.destination.tolist()) == ([1], [0])


def test_names_that_could_be_numbers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^workload.file: given numbers, where host 0 .* '5'"):
        table(tmp_path, HEADING + "7,5,0,1\n", 2, ("5", "7"))
    assert table(tmp_path, HEADING + "1,0,0,1\n", 2, ("0", "1")).source.tolist() == [1]


def test_parquet(tmp_path: Path) -> None:
    file = tmp_path / "flows.parquet"
    frame = pd.DataFrame(
        {"source": [0, 1], "destination": [1, 0], "start_s": [0.0, 1e-3], "size_bytes": [1, 2]}
    )
    frame.to_parquet(file)
    flows = make_flows(Table(file=file), 2, 1)
    assert flows.start_ps.tolist() == [0, 10**9]


def test_a_changed_table_is_read_again(tmp_path: Path) -> None:
    assert len(table(tmp_path, HEADING + "0,1,0,10\n")) == 1
    assert len(table(tmp_path, HEADING + "0,1,0,10\n0,1,0,10\n")) == 2


BAD_TABLES = {
    "host that does not exist": ("0,4,0,1\n", "row 1: destination 4", "from 0 to 3"),
    "negative host": ("0,1,0,1\n-1,1,0,1\n", "row 2: source -1", "from 0 to 3"),
    "half a host": ("0.5,1,0,1\n", "row 1: source 0.5", "from 0 to 3"),
    "host with a name": ("0,1,0,1\nbob,1,0,1\n", "row 2: source 'bob'", "from 0 to 3"),
    "same host": ("2,2,0,1\n", "row 1: destination 2", "another host than the source"),
    "unsorted": ("0,1,2,1\n0,1,1,1\n", "row 2: start_s 1", "sort the table by start"),
    "NaN": ("0,1,0,1\n0,1,NaN,1\n", "row 2: start_s nothing, or NaN", "a number from 0"),
    "no start": ("0,1,0,1\n0,1,,1\n", "row 2: start_s nothing, or NaN", "a number from 0"),
    "negative start": ("0,1,-1,1\n", "row 1: start_s -1", "a number from 0"),
    "infinite start": ("0,1,inf,1\n", "row 1: start_s 'inf'", "a number from 0"),
    "start with a unit": ("0,1,5 ms,1\n", "row 1: start_s '5 ms'", "a number from 0"),
    "date": ("0,1,2024-05-01,1\n", "row 1: start_s '2024-05-01'", "a number from 0"),
    "size zero": ("0,1,0,0\n", "row 1: size_bytes 0", "a whole number of bytes from 1"),
    "negative size": ("0,1,0,-3\n", "row 1: size_bytes -3", "a whole number of bytes from 1"),
    "part of a byte": ("0,1,0,1.5\n", "row 1: size_bytes 1.5", "a whole number of bytes from 1"),
    "no size": ("0,1,0,1\n0,1,0,\n", "row 2: size_bytes nothing", "a whole number of bytes"),
    "true": ("0,1,0,true\n", "row 1: size_bytes 'true'", "a whole number of bytes"),
    "too few values": ("0,1,0\n", "Expected 4 columns, got 3", "a CSV or Parquet file"),
    "no rows": ("", "no rows", "at least one flow"),
}


@pytest.mark.parametrize("case", BAD_TABLES)
def test_bad_tables(case: str, tmp_path: Path) -> None:
    rows, given, allowed = BAD_TABLES[case]
    with pytest.raises(InputError) as caught:
        table(tmp_path, HEADING + rows)
    assert caught.value.path == "workload.file"
    assert given in caught.value.given
    assert allowed in caught.value.allowed


@pytest.mark.parametrize("missing", ["source", "destination", "start_s", "size_bytes"])
def test_missing_columns(missing: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"'{missing}' is missing"):
        table(tmp_path, HEADING.replace(missing, "other") + "0,1,0,1\n")


def test_unknown_names_of_hosts(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"row 2: source 'c'; allowed: the name of a host"):
        table(tmp_path, HEADING + "a,b,0,1\nc,a,0,1\n", 2, ("a", "b"))


def test_unreadable_tables(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^workload.file: .*No such file"):
        make_flows(Table(file=tmp_path / "none.csv"), 4, 1)
    with pytest.raises(InputError, match=r"^workload.file: .*can be read"):
        make_flows(Table(file=tmp_path), 4, 1)
    (tmp_path / "no.parquet").write_text("no")
    with pytest.raises(InputError, match=r"^workload.file: .*no.parquet"):
        make_flows(Table(file=tmp_path / "no.parquet"), 4, 1)
    (tmp_path / "empty.csv").touch()
    with pytest.raises(InputError, match=r"^workload.file: .*[Ee]mpty"):
        make_flows(Table(file=tmp_path / "empty.csv"), 4, 1)


# --- datagrams ---

FAR = 10**18


def some_flows(sizes: list[int], starts: list[int]) -> Flows:
    zeros = np.zeros(len(sizes), np.uint32)
    return Flows(zeros, zeros + 1, np.array(starts, np.uint64), np.array(sizes, np.uint64))


def test_datagrams_of_a_flow() -> None:
    transport = Datagram(segment_size="1000 B", header_size="100 B", spacing="constant")
    flows = some_flows([1, 900, 901, 9000, 9000, 9000], [0, 0, 0, 0, 3_000_000, 4_000_001])
    links = np.full(6, 10**10, np.uint64)
    # One each 0.8 us; those that depart within 4 us, and the next one if there is one.
    counts = datagram_counts(flows, transport, links, 4_000_000)
    assert counts.tolist() == [1, 1, 2, 7, 3, 2]
    assert datagram_counts(flows, transport, links, 10**15).tolist() == [1, 1, 2, 10, 10, 10]


def test_constant_spacing_is_exact() -> None:
    # 1000 B at 1 Gb/s: 8 us. Without its own rate the link's, 10 Gb/s: 0.8 us.
    flows = some_flows([2000, 1, 3000], [0, 5, 1_000])
    links = np.full(3, 10**10, np.uint64)
    transport = Datagram(segment_size="1 kB", rate="1 Gb/s", spacing="constant")
    times, offsets = departures(flows, transport, links, 1, FAR)
    assert offsets.tolist() == [0, 2, 3, 6]
    assert times.tolist() == [0, 8_000_000, 5, 1_000, 8_001_000, 16_001_000]
    assert times.dtype == offsets.dtype == np.uint64
    times, _ = departures(flows, Datagram(segment_size="1 kB", spacing="constant"), links, 1, FAR)
    assert times.tolist() == [0, 800_000, 5, 1_000, 801_000, 1_601_000]


def test_poisson_spacing_is_a_poisson_process_in_each_flow() -> None:
    count, start = 5_000, 7_000_000
    flows = some_flows([1000 * count] * 4, [start] * 4)
    links = np.full(4, 10**10, np.uint64)
    transport = Datagram(segment_size="1 kB", rate="1 Gb/s")
    times, offsets = departures(flows, transport, links, 1, FAR)
    each = times.reshape(4, count).astype(np.float64)
    assert offsets.tolist() == [0, count, 2 * count, 3 * count, 4 * count]
    gaps = np.diff(each, axis=1, prepend=float(start))
    assert gaps.min() >= 0
    for row in gaps:
        assert stats.kstest(row, stats.expon(scale=8e6).cdf).pvalue > LEAST_P
    assert abs(np.corrcoef(gaps[0], gaps[1])[0, 1]) < 4 / np.sqrt(count)


@pytest.mark.parametrize("spacing", ["poisson", "constant"])
@pytest.mark.parametrize("block", [1, 7, 2**20])
def test_departures_end_with_the_first_beyond_the_time_limit(
    spacing: Literal["poisson", "constant"], block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The departures within the limit equal those without a limit bit for bit, for every method of
    drawing.
    """
    flows = some_flows([30_000, 1, 50_000, 1000, 40_000], [0, 5, 7_000, 90_000_000, 100_000_000])
    links = np.full(5, 10**10, np.uint64)
    transport = Datagram(segment_size="1 kB", header_size="1 B", rate="1 Gb/s", spacing=spacing)
    whole, begin = departures(flows, transport, links, 1, FAR)
    assert np.diff(begin.astype(int)).tolist() == [31, 1, 51, 2, 41]
    # In the package it is the name of the function.
    monkeypatch.setattr(sys.modules[departures.__module__], "_BLOCK", block)
    for limit in (0, 4, 7_000, 16_000_000, 95_000_000, 150_000_000, int(whole.max()), FAR):
        times, offsets = departures(flows, transport, links, 1, limit)
        for flow in range(5):
            row = whole[int(begin[flow]) : int(begin[flow + 1])]
            expected = row[: int((row <= limit).sum()) + 1]
            got = times[int(offsets[flow]) : int(offsets[flow + 1])]
            assert got.tolist() == expected.tolist()
        assert offsets[-1] == times.size <= datagram_counts(flows, transport, links, limit).sum()


def test_flows_without_end_depart_until_the_time_limit() -> None:
    flows = some_flows([10**15] * 3, [0, 500_000_000, 2_000_000_000])
    links, limit = np.full(3, 10**9, np.uint64), 1_000_000_000
    transport = Datagram(segment_size="125 B", header_size="0 B")
    times, offsets = departures(flows, transport, links, 1, limit)
    within = [
        int((times[int(first) : int(last)] <= limit).sum())
        for first, last in pairwise(offsets.tolist())
    ]
    # One each microsecond: four standard deviations.
    assert within[0] == pytest.approx(1000, abs=4 * 32)
    assert within[1] == pytest.approx(500, abs=4 * 23)
    assert np.diff(offsets.astype(int)).tolist() == [within[0] + 1, within[1] + 1, 1]

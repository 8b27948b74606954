"""Expressions over flows: the numbers of lightburst itself and of pandas, or one clear error."""

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import lightburst as lb
from lightburst.expressions import STATISTICS, parse
from lightburst.expressions.columns import COLUMNS, NAMES, Kind
from lightburst.expressions.reader import DEEPEST, LONGEST
from lightburst.foundation.errors import InputError
from lightburst.foundation.units import TIME, Quantity
from lightburst.simulation.simulate import simulate


@cache
def result() -> lb.Result:
    """Two groups, flows that do not finish or not even start, and some that do not count."""
    scenario = lb.load("examples/groups.toml").with_(
        {
            "measurement.time_limit": "30 ms",
            "measurement.warm_up": "5 ms",
            "measurement.until": "25 ms",
            "measurement.flow_throughput": True,
        }
    )
    return simulate(scenario, 2)


@cache
def bursts() -> lb.Result:
    """Burst switching, with the contents of bursts."""
    return simulate(lb.load("examples/obs.toml").with_(measurement__bursts={}), 1)


@cache
def outage() -> lb.Result:
    """A link that goes down, with times to recover."""
    event = {"at": "10 us", "state": "down", "link": ["2", "1"]}
    short = {"events": [event], "measurement.recovery": "1 ms", "measurement.time_limit": "10 ms"}
    return simulate(lb.load("examples/path.toml").with_(short), 1)


@cache
def reinjected() -> lb.Result:
    """A connection whose subflows may send again what others hold."""
    subflows = {"transport.subflows": 2, "transport.reinjection": True}
    return simulate(lb.load("examples/path.toml").with_({"transport.kind": "tcp", **subflows}), 1)


def test_every_column_of_flows_can_be_named_and_has_its_kind() -> None:
    with_all = [
        *result().flows,
        *(name for name in bursts().flows if str(name).startswith("bursts")),
        *outage().flows,
        *reinjected().flows,
    ]
    assert sorted(set(with_all) - {"counted"}) == sorted(COLUMNS)
    for name, kind in COLUMNS.items():
        endings = {Kind.TIME: "_s", Kind.SIZE: "_bytes", Kind.RATE: "_bps"}
        assert name.endswith(endings.get(kind, name))
        assert NAMES[name] == NAMES[name.removesuffix(endings.get(kind, " "))] == name


SUMS = ("retransmissions", "spurious_bytes", "fast_retransmits", "false_fast_retransmits")
OWN = {
    "flows": "count",
    "finished": "count where received >= 0 s",
    "unfinished": "count where completion_time > 1000000 s",
    "delivered_bytes": "sum of delivered",
    **{name: f"sum of {name}" for name in (*SUMS, "timeouts", "false_timeouts", "reordered")},
    **{
        f"{name}_{word}{unit}": f"{statistic} of {name}"
        for name, unit in (("completion_time", "_s"), ("slowdown", ""))
        for word, statistic in (("mean", "mean"), ("median", "median"), ("p99", "p99"))
    },
    **{
        f"flow_throughput_{word}_{unit}": f"{statistic} of throughput"
        for word, unit, statistic in (
            *(("mean", "bps", "mean"), ("min", "bps", "min"), ("max", "bps", "max")),
            *(("p10", "bps", "p10"), ("p90", "bps", "p90"), ("median", "bps", "median")),
            ("variance", "bps2", "variance"),
        )
    },
}


@pytest.mark.parametrize("key", OWN)
def test_what_lightburst_has_itself_is_the_same_to_the_bit(key: str) -> None:
    for ran, where in ((result(), ""), (bursts(), "")):
        if key in ran.metrics:
            assert ran.metric(OWN[key] + where) == ran.metrics[key]
    groups = result().groups
    for name in groups.index:
        where = "and" if "where" in OWN[key] else "where"
        assert result().metric(f"{OWN[key]} {where} group = '{name}'") == groups.loc[name, key]
    classes = result().size_classes
    if key in classes and "where" not in OWN[key]:
        low, *_, high = classes.index
        assert (low, high) == ("below 100 kB", "1 MB and above") or len(classes) > 1
        below = f"{OWN[key]} where bytes < {low.removeprefix('below ')}"
        assert result().metric(below) == classes.loc[low, key]


def test_a_boundary_in_time_is_exact() -> None:
    flows = result().plan.flows["start_ps"][result().plan.counted]
    assert len(flows) > 50
    for picoseconds in flows[:: max(1, len(flows) // 50)].tolist():
        text = Quantity(TIME).format(picoseconds)
        assert result().metric(f"count where start = {text}") == (flows == picoseconds).sum() > 0
        assert result().metric(f"count where start >= {text}") == (flows >= picoseconds).sum()


def test_what_is_not_there_and_what_did_not_finish() -> None:
    ran = result()
    flows = ran.flows[ran.flows["counted"]]
    assert np.isinf(flows["completion_time_s"]).any()
    assert flows["throughput_bps"].isna().any()
    for statistic in ("mean", "median", "min", "max", "std", "variance", "p0", "p99.9", "p100"):
        assert ran.metric(f"{statistic} of slowdown where size > 1 TB") is None
    assert ran.metric("share of slowdown < 2 where size > 1 TB") is None
    assert ran.metric("count where size > 1 TB") == ran.metric("sum of size where size > 1 TB") == 0
    # An unfinished flow is infinitely slow, as everywhere.
    for statistic in ("mean", "max", "sum", "std", "variance", "p100"):
        assert ran.metric(f"{statistic} of completion_time") == math.inf
    # A flow without throughput is left out of a mean, and true in no comparison.
    assert ran.metric("mean of throughput") == flows["throughput_bps"].mean()
    assert ran.metric("count where throughput >= 0 * 1 b/s") == flows["throughput_bps"].count()
    assert ran.metric("mean of slowdown / 0") == math.inf
    assert ran.metric("mean of 0 / 0") is None


def test_the_text_of_an_expression_is_one_form() -> None:
    forms = [
        "p99 of slowdown where bytes < 100 kB and not group = 'query'",
        'p99.0 of (slowdown) where ((size<100000 B)) and (not (group == "query"))',
        "p99   of slowdown\nwhere size_bytes < 0.1 MB and not(group='query')",
    ]
    assert len({str(parse(form)) for form in forms}) == 1
    assert str(parse("share where slowdown < 2")) == "share of slowdown < 2"
    assert parse("mean of (size - 1 B) - 2 B") != parse("mean of size - (1 B - 2 B)")


# Text that is an expression, and the same for `pandas.DataFrame.eval`; there ``one`` is a column,
# because Python raises an error for its own numbers divided by zero.
Pair = tuple[str, str]
TIMES = st.sampled_from([0, 1, 1_000_000, 185_000_000, 20_000_000_000, 10**12])


def times() -> st.SearchStrategy[Pair]:
    literal = TIMES.map(lambda ps: (str(Quantity(TIME).format(ps)), f"({ps * 1e-12!r} * one)"))
    return literal | column("start_s", "completion_time_s", "ideal_s", "received_s")


def column(*names: str) -> st.SearchStrategy[Pair]:
    return st.sampled_from([(name, name) for name in names])


def numbers() -> st.SearchStrategy[Pair]:
    literal = st.floats(0, 1e6).map(lambda x: (repr(x), f"({x!r} * one)"))
    return literal | column("slowdown", "retransmissions", "path_links", "reorder_extent_mean")


def joined(parts: st.SearchStrategy[Pair], signs: Sequence[str]) -> st.SearchStrategy[Pair]:
    def write(first: Pair, sign: str, second: Pair) -> Pair:
        ours, theirs = (f"({a} {sign} {b})" for a, b in zip(first, second, strict=True))
        return ours, theirs

    return st.builds(write, parts, st.sampled_from(signs), parts)


def negative(parts: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
    return parts.map(lambda pair: (f"-{pair[0]}", f"(-{pair[1]})"))


ANY_TIME = st.recursive(times(), lambda inner: joined(inner, "+-") | negative(inner), max_leaves=4)
ANY_NUMBER = st.recursive(
    numbers() | joined(ANY_TIME, "*/"),
    lambda inner: joined(inner, "+-*/") | negative(inner),
    max_leaves=6,
)
COMPARED = ("<", "<=", ">", ">=", "==", "!=")
CONDITION = st.recursive(
    joined(ANY_TIME, COMPARED)
    | joined(ANY_NUMBER, COMPARED)
    | column("group == 'query'", "status != 'finished'", "source == 3"),
    lambda inner: (
        joined(inner, ("and", "or"))
        | inner.map(lambda pair: (f"not ({pair[0]})", f"(not ({pair[1]}))"))
    ),
    max_leaves=5,
)


def by_pandas(statistic: str, of: str, where: str | None) -> float | None:
    flows = result().flows
    whole = {str(name): flows[name].astype(float) for name in flows.select_dtypes("number")}
    table = flows.assign(**whole, one=1.0)[flows["counted"]]
    if where is not None:
        table = table[np.asarray(table.eval(where, engine="python"), bool)]
    if statistic == "count":
        return len(table)
    found = np.asarray(table.eval(of, engine="python"), float)
    if statistic == "share":
        return float(found.mean()) if found.size else None
    return statistic_of(statistic, pd.Series(found).dropna())


def statistic_of(name: str, found: "pd.Series[float]") -> float | None:
    if found.empty:
        return 0 if name == "sum" else None
    if name in ("std", "variance"):
        spread = float(found.var(ddof=0)) if np.isfinite(found).all() else math.inf
        value = math.sqrt(spread) if name == "std" else spread
    elif name.startswith("p"):
        ordered, place = sorted(found), float(name[1:]) / 100 * (len(found) - 1)
        low, high = ordered[math.floor(place)], ordered[math.ceil(place)]
        value = low if low == high else low + (place - math.floor(place)) * (high - low)
    else:
        value = float(getattr(found, name)())
    return None if math.isnan(value) else value


@settings(max_examples=60)
@given(
    st.sampled_from([*STATISTICS[:-2], "p99", "p0"]),
    ANY_TIME | ANY_NUMBER,
    st.none() | CONDITION,
)
def test_values_are_those_of_pandas(statistic: str, of: Pair, where: Pair | None) -> None:
    text = f"{statistic} of {of[0]}" + (f" where {where[0]}" if where else "")
    if len(text) > LONGEST:
        return
    wanted = by_pandas(statistic, of[1], where[1] if where else None)
    read = parse(text)
    assert parse(str(read)) == read
    assert result().metric(text) == (None if wanted is None else pytest.approx(wanted, rel=1e-9))


@settings(max_examples=60)
@given(CONDITION, st.none() | CONDITION)
def test_counts_and_shares_are_those_of_pandas(of: Pair, where: Pair | None) -> None:
    behind = f" where {where[0]}" if where else ""
    wanted = by_pandas("share", of[1], where[1] if where else None)
    assert result().metric(f"share of {of[0]}{behind}") == wanted
    assert result().metric(f"count where {of[0]}") == by_pandas("count", "", of[1])


WORDS = st.sampled_from(
    [
        *(*NAMES, *STATISTICS, *COMPARED, *"+-*/()'\"=;", "of", "where", "and", "or", "not", "p99"),
        *("p99.9", "p-1", "p1000", "1", "1e9", "1e999", "5 ms", "100 kB", "1 Gb/s", "3 kb"),
        *("'query'", "__import__('os')", "lambda", "True", "\0", "\x1b[31m", "\ud800", "µs"),
        *("\u0663", "0x1F", "1_0"),
    ]
)


@given(st.text() | st.lists(WORDS, max_size=30).map(" ".join))
@example("(" * LONGEST)
@example("mean of " + "-" * (LONGEST - 20) + "slowdown")
@example("count where " + "not " * 200 + "slowdown < 2")
@example("mean of " + "+".join("1" * 490))
def test_no_text_does_anything_but_be_an_expression_or_be_refused(text: str) -> None:
    try:
        read = parse(text)
    except InputError as error:
        assert len(str(error)) < 2000
        assert str(error).isprintable()
        return
    assert parse(str(read)) == read
    try:
        result().metric(read)
    except InputError as error:
        assert "bursts" in str(error) or "source" in str(error) or "destination" in str(error)


def test_depth_and_length_are_bounded() -> None:
    deep = "count where " + "(" * DEEPEST + "slowdown < 2" + ")" * DEEPEST
    assert result().metric(deep) == result().metric("count where slowdown < 2")
    for text in (deep.replace("(", "((").replace(")", "))"), "count where " + "a" * LONGEST):
        with pytest.raises(InputError, match=r"levels deep|up to 1,000"):
            parse(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "metric: given nothing; allowed: a statistic: 'mean'"),
        ("p99", r"the end behind 'p99'; allowed: 'of'"),
        ("p101 of slowdown", "a percentile from p0 to p100"),
        ("medien of slowdown", r"did you mean 'median'"),
        ("p99 of slowdwn", r"'slowdwn' at character 8 of .*did you mean 'slowdown'"),
        ("mean of slowdown were size < 1 kB", r"'were' at character 18 .*did you mean 'where'"),
        ("mean of slowdown where bytes < 100", "a size is written with its unit, as 100 kB"),
        ("mean of slowdown where bytes < 5 ms", "a size stands beside a duration"),
        ("mean of slowdown where bytes < 9 kb", r"did you mean 'kB'"),
        ("mean of slowdown where 1 ms < start < 2 ms", "one comparison; join two with 'and'"),
        ("mean of slowdown where group = query", r"\(text stands in quotes\)"),
        ("mean of slowdown where group = 'query", "text with a quote on both sides"),
        ("mean of slowdown where group = 'qury'", "'query'.*did you mean 'query'"),
        ("mean of slowdown where status = 'done'", "'finished', 'time-limit'"),
        ("mean of slowdown where source = 99", "source = 99.0; allowed: '0', '1'"),
        ("mean of slowdown where group < 'query'", "= or != for text and hosts"),
        ("mean of group", "numbers: a column that holds them; this is text"),
        ("mean of bursts_lost", "only with measurement.bursts"),
        ("sum of reinjections", "only with transport.reinjection = true"),
        ("share", "'of' or 'where' and a condition"),
        ("share of slowdown", "a condition, such as slowdown < 2; this is a number"),
        ("count of slowdown", "'where' and a condition, or nothing"),
        ("mean of slowdown + start", "a number stands beside a duration"),
        ("mean of 8 * size / completion_time where throughput > 8 * size / ideal", "in SI units"),
        ("mean of __import__('os').system('true')", r"'\.' at character 25"),
    ],
)
def test_what_is_refused_says_where_and_what_is_allowed(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        result().metric(text)

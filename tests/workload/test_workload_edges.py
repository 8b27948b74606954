"""Flows between edges, and sizes with a given mean: exact distributions and their draws."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import integrate, optimize, stats

import lightburst as lb
from lightburst.compile import compile_plan
from lightburst.foundation.errors import InputError
from lightburst.scenario.tables.sizes import Exponential, Lognormal, Pareto
from lightburst.scenario.tables.workload import Poisson
from lightburst.workload import Edges, make_flows
from lightburst.workload.sizes import draw_sizes, mean_size
from lightburst.workload.streams import stream

# The seeds are fixed, so a test that passes once passes always.
LEAST_P = 1e-3
#: Three edges with one, two and three hosts.
EDGES = Edges(np.array([2, 0, 1, 2, 1, 2]), ("a", "b", "c"))
SECONDS = 1000


def flows(**keys: Any) -> Any:
    workload = {"arrival_rate": "60 /s", "between": "edges", "duration": f"{SECONDS} s", **keys}
    return make_flows(Poisson(size="1 kB", **workload), 6, 1, edges=EDGES)


def test_arrivals_at_each_edge_are_a_poisson_process_of_its_own() -> None:
    made = flows()
    edge, seconds = EDGES.of_host[made.source], made.start_ps / 1e12
    own = [seconds[edge == e] for e in range(3)]
    counts = np.array([np.histogram(one, SECONDS, (0, SECONDS))[0] for one in own])
    for count in counts:
        # In a second 20 are expected: classes of the Poisson distribution against the arrivals.
        bounds = [-1, 14, 17, 19, 21, 24, 10**6]
        expected = SECONDS * np.diff(stats.poisson(20).cdf(bounds))
        seen = np.histogram(count, np.array(bounds) + 0.5)[0]
        assert stats.chisquare(seen, expected, sum_check=False).pvalue > LEAST_P
        # The variance of a Poisson distribution is its mean.
        assert count.var() / count.mean() == pytest.approx(1, abs=4 * math.sqrt(2 / SECONDS))
    for one in own:
        assert stats.kstest(np.diff(one), stats.expon(scale=1 / 20).cdf).pvalue > LEAST_P
    # Arrivals of one edge are independent of the others.
    correlation = np.corrcoef(counts)[np.triu_indices(3, 1)]
    assert np.all(np.abs(correlation) < 4 / math.sqrt(SECONDS))


def test_a_rate_for_each_edge_is_that_many_times_as_many() -> None:
    links = [{"source": name, "target": "hub"} for name in "abcd"]
    scenario = lb.Scenario.from_dict(
        {
            "topology": {"kind": "graph", "links": links, "hosts_per_node": 2, "edges": ["a", "c"]},
            "switching": {"kind": "electronic"},
            "transport": {"kind": "tcp"},
            "workload": {"kind": "poisson", "arrival_rate_per_edge": "50 /s", "flows": 500},
        }
    )
    every = scenario.with_({"workload.arrival_rate": "100 /s", "workload.between": "edges"})
    own, all_together = (compile_plan(one, 1) for one in (scenario, every))
    assert own.digest() == all_together.digest()
    # Hosts 0 and 1 are at a, 2 and 3 at c.
    assert np.array_equal(own.flows["source"] < 2, own.flows["destination"] >= 2)


@pytest.mark.parametrize("weights", [{}, {"a": 3.0}, {"b": 0.0, "c": 0.5}])
def test_destinations_come_as_often_as_their_weights_say(weights: dict[str, float]) -> None:
    made = flows(destination_weights=weights)
    source, destination = EDGES.of_host[made.source], EDGES.of_host[made.destination]
    seen = np.zeros((3, 3), int)
    np.add.at(seen, (source, destination), 1)
    weight = np.array([weights.get(name, 1.0) for name in "abc"])
    expected = np.array(
        [
            [0 if d == s else weight[d] / (weight.sum() - weight[s]) for d in range(3)]
            for s in range(3)
        ]
    )
    expected *= len(made) / 3
    assert np.all(seen[expected == 0] == 0)
    possible = expected > 0
    assert stats.chisquare(seen[possible], expected[possible], sum_check=False).pvalue > LEAST_P
    # The hosts of an edge are alike.
    for hosts in (made.source, made.destination):
        of_c = np.bincount(hosts, minlength=6)[[0, 3, 5]]
        assert stats.chisquare(of_c).pvalue > LEAST_P


@pytest.mark.parametrize("where", [0.0, 1 - 2**-53])
@pytest.mark.parametrize("number", [2, 7])
def test_the_ends_of_a_draw_are_edges_with_a_weight(where: float, number: int) -> None:
    class Fixed:
        def integers(self, low: int, high: Any, count: int | None = None) -> Any:
            return np.arange(high) if count else np.zeros(np.shape(high), int)

        def random(self, count: int) -> Any:
            return np.full(count, where)

    names = tuple(map(str, range(number)))
    edges = Edges(np.arange(number), names)
    source, destination = edges.pairs(number, dict.fromkeys(names, 0.1), Fixed())  # type: ignore[arg-type]
    assert np.all(source != destination)
    assert np.all((destination >= 0) & (destination < number))


# --- sizes with a given mean ---


#: S1, S2 and S4 of the reference for vlachos2008: shape and mean of the draws.
@pytest.mark.parametrize(
    ("keys", "shape", "kilobytes"),
    [
        ({"mean": "700 kB", "max": "100 MB"}, 1.0606, 264),
        ({"mean": "700 kB", "max": "1 GB"}, 1.0606, 321),
        ({"truncated_mean": "700 kB", "max": "1 GB"}, 0.8787, 700),
        ({"mean": "700 kB"}, 1.0606, 700),
    ],
)
def test_pareto_sizes_of_a_mean(keys: dict[str, str], shape: float, kilobytes: int) -> None:
    size = Pareto(minimum="40 kB", **keys)
    assert size.tail_index == pytest.approx(shape, abs=5e-5)
    assert mean_size(size) == pytest.approx(kilobytes * 1000, abs=500)


def test_the_mean_of_sizes_of_at_most_10_mb_is_that_of_scipy() -> None:
    """vlachos2008 with sizes from 40 kB to 10 MB and the printed mean of 700 kB."""
    size = Pareto(minimum="40 kB", truncated_mean="700 kB", max="10 MB")

    def mean(shape: float) -> float:
        return float(40_000 * stats.truncpareto(shape, 10e6 / 40e3).mean())

    assert size.tail_index == pytest.approx(optimize.brentq(lambda a: mean(a) - 700e3, 0.1, 2))
    assert mean_size(size) == pytest.approx(mean(size.tail_index))
    drawn = draw_sizes(size, 200_000, stream(1, "sizes"))
    law = stats.truncpareto(size.tail_index, 10e6 / 40e3, scale=40e3)
    assert stats.kstest(drawn, law.cdf).pvalue > 0.01
    assert abs(drawn.mean() - 700e3) < 4 * drawn.std() / math.sqrt(drawn.size)


@pytest.mark.parametrize("shape", [0.5, 0.8787, 1.0, 1.0606, 1.5, 3.0])
def test_the_mean_of_the_truncated_law_is_the_integral_of_its_tail(shape: float) -> None:
    low, high = 40_000, 10_000_000
    size = Pareto(shape=shape, minimum=low, max=high)

    def survival(x: float) -> float:
        cut = (low / high) ** shape
        return float(((low / x) ** shape - cut) / (1 - cut))

    area, _ = integrate.quad(survival, low, high, limit=500, epsrel=1e-10)
    assert mean_size(size) == pytest.approx(low + area, rel=1e-8)
    # The shape that has this mean is found again.
    again = Pareto(truncated_mean=f"{round(mean_size(size))} B", minimum=low, max=high)
    assert again.tail_index == pytest.approx(shape, rel=1e-4)
    drawn = draw_sizes(again, 200_000, stream(1, "sizes"))
    assert drawn.max() <= high
    assert abs(drawn.mean() - mean_size(again)) < 4 * drawn.std() / math.sqrt(drawn.size)


@pytest.mark.parametrize(
    ("keys", "path", "allowed"),
    [
        ({}, "shape", "one of shape, mean and truncated_mean"),
        ({"shape": 2, "mean": "1 MB"}, "shape", "one of shape, mean and truncated_mean"),
        ({"mean": "40 kB"}, "mean", "more than minimum (40 kB)"),
        ({"truncated_mean": "700 kB"}, "truncated_mean", "a max, or mean in its place"),
        ({"truncated_mean": "1 MB", "max": "30 kB"}, "max", "more than minimum (40 kB)"),
        ({"truncated_mean": "99 MB", "max": "100 MB"}, "truncated_mean", "or a larger max"),
    ],
)
def test_means_that_cannot_be(keys: dict[str, Any], path: str, allowed: str) -> None:
    with pytest.raises(InputError) as error:
        Pareto(minimum="40 kB", **keys)
    assert error.value.path == path
    assert allowed in error.value.allowed


@pytest.mark.parametrize("sigma", [0.5, 1.0, 2.0, 2.45663283])
def test_log_normal_sizes_by_their_mean(sigma: float) -> None:
    # Wide distributions are drawn with a maximum, so that the mean of a sample is meaningful.
    most = None if sigma <= 1 else "16 MiB"
    size = Lognormal(mean="100 kB", sigma=sigma, max=most)
    mu = math.log(100_000) - sigma**2 / 2
    assert size.log_median == pytest.approx(mu, rel=1e-12)
    assert stats.lognorm(s=sigma, scale=math.exp(size.log_median)).mean() == pytest.approx(100_000)
    assert mean_size(Lognormal(mean="100 kB", sigma=sigma)) == pytest.approx(100_000, rel=1e-12)
    sizes = draw_sizes(size, 200_000, stream(1, "sizes"))
    assert abs(sizes.mean() - mean_size(size)) < 4 * sizes.std() / math.sqrt(sizes.size)
    # The same distribution by mu has the same flows.
    same = Lognormal(mu=mu, sigma=sigma, max=most)
    assert np.array_equal(draw_sizes(same, 200_000, stream(1, "sizes")), sizes)


def test_log_normal_sizes_by_their_median() -> None:
    size = Lognormal(median="100 kB")
    assert size.log_median == math.log(100_000)
    sizes = draw_sizes(size, 40_000, stream(1, "sizes"))
    assert abs(np.mean(sizes > 100_000) - 0.5) < 4 * 0.5 / 200
    assert set(draw_sizes(Lognormal(mean="9 kB", sigma=0), 9, stream(1, "sizes"))) == {9000}


@pytest.mark.parametrize(
    ("keys", "path", "given", "allowed"),
    [
        ({"mu": 9, "mean": "1 MB"}, "mu", "both of mu and mean", "one of mu, median and mean"),
        ({"median": "1 MB", "mean": "2 MB"}, "mu", "both of median and mean", "one of mu"),
        # exp(5^2 / 2) = 268,337
        ({"mean": "200 kB", "sigma": 5}, "mean", "200 kB with sigma = 5", "bytes, 268337, or a"),
        ({"mean": "1 MB", "max": "10 B"}, "max", "10 B, which keeps", "at least 1 % of them"),
    ],
)
def test_log_normal_means_that_cannot_be(
    keys: dict[str, Any], path: str, given: str, allowed: str
) -> None:
    with pytest.raises(InputError) as error:
        Lognormal(**keys)
    assert error.value.path == path
    assert given in error.value.given
    assert allowed in error.value.allowed


def test_a_mean_takes_the_place_of_mu_and_the_other_way_round() -> None:
    scenario = lb.Scenario.from_dict(
        {
            "topology": {"kind": "path", "links": 1},
            "switching": {"kind": "all-optical"},
            "transport": {"kind": "datagram", "segment_size": "1 GB", "spacing": "constant"},
            "workload": {"kind": "poisson", "arrival_rate": "100 /s", "flows": 20},
        }
    )
    told = scenario.with_(workload__size__mean="100 kB")
    size = told.to_dict()["workload"]["size"]
    assert size == {
        "kind": "lognormal",
        "mean": "100 kB",
        "sigma": 2.45663283,
        "max": "16 MiB",
    }
    assert lb.Scenario.from_dict(told.to_dict()) == told
    # A size written before there were other keys is still written so, as it is in stores.
    back = told.with_(workload__size__mu=9.48)
    assert back.canonical_json() == scenario.canonical_json()
    assert '"size":{"kind":"lognormal","max":"16 MiB","mu":9.48,' in scenario.canonical_json()


def told(size: Any) -> str:
    scenario = lb.Scenario.from_dict(
        {
            "topology": {"kind": "path", "links": 1, "link_rate": "10 Tb/s"},
            "switching": {"kind": "all-optical"},
            "transport": {"kind": "datagram", "segment_size": "1 GB", "spacing": "constant"},
            "workload": {"kind": "poisson", "arrival_rate": "100 /s", "flows": 50, "size": size},
        }
    )
    return "; ".join(lb.run(scenario).warnings)


@pytest.mark.filterwarnings("ignore::lightburst.foundation.errors.RunWarning")
def test_a_warning_says_what_the_mean_is() -> None:
    pareto = {"kind": "pareto", "minimum": "40 kB"}
    cut = told({**pareto, "mean": "700 kB", "max": "100 MB"})
    assert cut.startswith("workload.size.mean (700 kB) is the mean before the maximum")
    assert "up to 100 MB, have a mean of 264 kB (truncated_mean = '700 kB'" in cut
    endless = told({**pareto, "mean": "700 kB"})
    assert "with the shape 1.061 their variance is infinite" in endless
    wide = told(Lognormal(mean="100 kB"))
    # sqrt((exp(2.45663283^2) - 1) / 50) = 2.89
    assert "with sigma = 2.45663283 a mean of 50 sizes has a deviation of 289 %, and" in wide
    # 80.5 of 100 kB are in sizes up to 16 MiB, by the partial expectation.
    capped = told(Lognormal(mean="100 kB", max="16 MiB"))
    assert capped.endswith("up to 16 MiB, have a mean of 80.5 kB")
    short = told(Exponential(mean="100 kB", max="100 kB"))
    # 1 - 1 / (e - 1) of 100 kB.
    assert short.endswith("up to 100 kB, have a mean of 41.8 kB")
    # A mean that was given directly, or is hardly cut, needs no warning.
    for size in (
        {**pareto, "truncated_mean": "700 kB", "max": "1 GB"},
        {**pareto, "shape": 1.0606, "max": "100 MB"},
        {**pareto, "mean": "50 kB"},
        {"kind": "exponential", "mean": "100 kB", "max": "10 MB"},
        {"kind": "lognormal", "mean": "100 kB", "sigma": 0.5},
        {"kind": "lognormal", "mu": 9, "max": "100 kB"},
    ):
        assert told(size) == ""

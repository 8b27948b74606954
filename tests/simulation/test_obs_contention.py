"""Contention of bursts with reservations: exact times, reasons, refusals, and unchanged digests."""

from pathlib import Path
from typing import Any

import pytest

import lightburst as lb
from lightburst.compile import compile_plan
from lightburst.foundation.errors import InputError

LINES = {"kind": "delay-line", "granularity": "1 us", "delays": 3}
# x and a send to b: over A and B. There is another path from A to B over C.
FAST = {"rate": "1000 Tb/s", "length": "0 m"}
ENDS = ["xX", "aA", "bB", "XA", "AB", "AC", "CB"]


def crossing(path: Path, a_starts: str, contention: list[Any], **switching: Any) -> lb.Scenario:
    """Two bursts of 1 us that meet on the fibre from A to B; each fibre takes 10 us."""
    table = path / "flows.csv"
    table.write_text(f"source,destination,start_s,size_bytes\nx,b,0,1250\na,b,{a_starts},1250\n")
    links = [
        {"source": end[0], "target": end[1], **(FAST if end[0].islower() else {})} for end in ENDS
    ]
    return lb.Scenario.from_dict(
        {
            "topology": {
                "kind": "graph",
                "links": links,
                "link_rate": "10 Gb/s",
                "link_length": "2 km",
            },
            "switching": {
                "kind": "obs",
                "assembly": {"kind": "timer", "time": "0 s"},
                "ingress": "lose",
                "contention": contention,
                **switching,
            },
            "transport": {
                "kind": "datagram",
                "segment_size": "1250 B",
                "header_size": "0 B",
                "spacing": "constant",
            },
            "workload": {"kind": "table", "file": str(table)},
        }
    )


def counted(result: lb.Result, node: str = "A") -> dict[str, float]:
    """The fate of bursts at a node for lack of a channel."""
    row = result.switches.set_index("node").loc[node]
    names = [name for name in row.index if name.startswith(("bursts_de", "delay_", "dropped_"))]
    return {name: row[name] for name in names if row[name]}


# The fate of the burst of a, and its delay compared with a run without the other burst.
FATES: dict[str, tuple[list[Any], dict[str, float], float | None]] = {
    "nothing": ([], {"dropped_no_channel": 1}, None),
    "delayed": ([LINES], {"bursts_delayed": 1, "delay_line_s": 1e-6}, 1e-6),
    "deflected": (["deflection"], {"bursts_deflected": 1}, 10e-6),
    "first delayed": ([LINES, "deflection"], {"bursts_delayed": 1, "delay_line_s": 1e-6}, 1e-6),
    "first deflected": (["deflection", LINES], {"bursts_deflected": 1}, 10e-6),
    "too many hops": ([{"kind": "deflection", "hop_limit": 1}], {"dropped_hop_limit": 1}, None),
    "just so many": ([{"kind": "deflection", "hop_limit": 2}], {"bursts_deflected": 1}, 10e-6),
}


@pytest.mark.parametrize("fate", FATES.values(), ids=FATES)
def test_what_becomes_of_a_burst_that_meets_another(
    fate: tuple[list[Any], dict[str, float], float | None], tmp_path: Path
) -> None:
    contention, expected, later = fate
    # The burst of x is on the fibre from A to B from 10 us on, that of a comes half a microsecond
    # later.
    result = lb.run(crossing(tmp_path, "10.5e-6", contention), seed=1)
    assert counted(result) == pytest.approx(expected)
    alone, met = result.flows["completion_time_s"]
    if later is not None:
        assert met == pytest.approx(alone - 10e-6 + later, abs=1e-12)
    assert result.flows["drops"].tolist() == [0, int(later is None)]


def test_a_deflected_burst_needs_an_offset_for_the_longer_way(tmp_path: Path) -> None:
    def run(offset: str) -> lb.Result:
        slow = {"header_processing_time": "3 us", "offset_time": offset}
        # The header of x is at A at 10 us, and is handled at 13 us; the burst follows at 16 us.
        return lb.run(crossing(tmp_path, "13.5e-6", ["deflection"], **slow), seed=1)

    with pytest.warns(
        lb.RunWarning,
        match="1 of 2 bursts were lost because their offset time was too short for deflection",
    ):
        assert counted(run("0 s")) == {"dropped_offset_used_up": 1}
    # The path over C has two fibres, for which a header takes 6 us; its offset has 3 us for one.
    with pytest.warns(lb.RunWarning, match=r"longer switching\.offset_time leaves time"):
        assert counted(run("2.999 us")) == {"dropped_offset_used_up": 1}
    assert counted(run("3 us")) == {"bursts_deflected": 1}


def test_a_burst_comes_back_where_it_may(tmp_path: Path) -> None:
    def run(**more: Any) -> lb.Result:
        # C is a dead end here, and so is X.
        scenario = crossing(tmp_path, "10.5e-6", [{"kind": "deflection", **more}])
        links = [link for link in scenario.to_dict()["topology"]["links"] if link["target"] != "B"]
        links += [{"source": "A", "target": "B"}, {"source": "B", "target": "b", **FAST}]
        return lb.run(scenario.with_(topology__links=links), seed=1)

    result = run()
    assert counted(result) == {"bursts_deflected": 1}
    alone, met = result.flows["completion_time_s"]
    # One fibre more there, and one back.
    assert met == pytest.approx(alone - 10e-6 + 20e-6, abs=1e-12)
    assert counted(run(loops=False)) == {"dropped_no_channel": 1}
    assert counted(run(hop_limit=2)) == {"dropped_hop_limit": 1}
    assert counted(run(hop_limit=3)) == {"bursts_deflected": 1}


def test_a_burst_that_waits_at_its_ingress_is_not_in_contention(tmp_path: Path) -> None:
    result = lb.run(crossing(tmp_path, "10.5e-6", [LINES, "deflection"], ingress="delay"), seed=1)
    assert counted(result) == {}
    alone, met = result.flows["completion_time_s"]
    assert met == pytest.approx(alone - 10e-6 + 0.5e-6, abs=1e-12)


def test_a_trace_has_the_time_in_a_delay_line_as_waiting(tmp_path: Path) -> None:
    scenario = crossing(tmp_path, "10.5e-6", [LINES]).with_(measurement__trace=[1])
    hops = lb.run(scenario, seed=1).trace.hops.set_index("link_source")
    assert hops.loc["A", "queued_s"] == pytest.approx(1e-6, abs=1e-15)
    # It comes, waits, and begins.
    assert hops.loc["A", "held_s"] == 0
    begins = hops["came_s"] + hops["queued_s"]
    assert hops["start_s"].to_dict()["A"] == pytest.approx(begins.to_dict()["A"], abs=1e-15)
    assert hops.drop("A")["queued_s"].sum() == 0


ALLOWED = "a whole number from 1 to"
BAD: dict[str, tuple[Any, str, str, str]] = {
    "no granularity": (["delay-line"], "[0].granularity", "nothing", "a duration, greater than"),
    "no length": (
        [LINES | {"granularity": "0 s"}],
        "[0].granularity",
        "'0 s'",
        "greater than zero",
    ),
    "no delay": ([LINES | {"delays": 0}], "[0].delays", "0", f"{ALLOWED} 1000"),
    "no line": ([LINES | {"lines": 0}], "[0].lines", "0", f"{ALLOWED} 256, or 'unlimited'"),
    "nowhere": ([LINES | {"occupied": "out"}], "[0].occupied", "'out'", "'entering', 'inside'"),
    "no hop": ([{"kind": "deflection", "hop_limit": 0}], "[0].hop_limit", "0", f"{ALLOWED} 255"),
    "misspelt": (["deflecton"], "[0]", "'deflecton'", "did you mean 'deflection'"),
    "twice": (
        ["deflection", LINES, "deflection"],
        "[2]",
        "'deflection' again",
        "each resolver once",
    ),
    "a stranger": ([LINES, "reflection"], "[1]", "'reflection'", "one of 'delay-line', 'defl"),
    "no kind": ([{"hop_limit": 3}], "[0].kind", "nothing", "one of 'delay-line', 'deflection'"),
    "a foreign key": (
        [{"kind": "deflection", "granularity": "1 us"}],
        "[0].granularity",
        "an unknown key 'granularity'",
        "for kind 'delay-line'",
    ),
    "a name": ("deflection", "", "'deflection'", "a list, each item one of 'delay-line', 'defl"),
    "a number": ([3], "[0]", "3", "one of 'delay-line', 'deflection', 'segmentation', or a table"),
}


@pytest.mark.parametrize("case", BAD.values(), ids=BAD)
def test_what_makes_no_sense_is_refused(case: tuple[Any, str, str, str], tmp_path: Path) -> None:
    contention, path, given, allowed = case
    with pytest.raises(InputError) as caught:
        crossing(tmp_path, "0", contention)
    error = caught.value.errors[0]
    assert error.path == f"switching.contention{path}"
    assert error.given == given
    assert allowed in error.allowed


def test_without_resolvers_a_scenario_keeps_its_digests(tmp_path: Path) -> None:
    empty = crossing(tmp_path, "0", [])
    assert "contention" not in empty.canonical_json()
    assert "contention" not in compile_plan(empty, 1).settings["switches"][0]
    nested = empty.with_(
        switching__nodes={"C": empty.switching.model_dump(exclude={"nodes", "layers"}, mode="json")}
    )
    assert "contention" not in nested.canonical_json()
    orders = [
        crossing(tmp_path, "0", order) for order in ([LINES, "deflection"], ["deflection", LINES])
    ]
    assert len({scenario.canonical_json() for scenario in orders}) == 2
    assert len({compile_plan(scenario, 1).digest() for scenario in orders}) == 2
    text = orders[0].to_toml()
    assert "[[switching.contention]]" in text

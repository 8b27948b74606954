"""Buffers that outputs share, marks at departures, and scalable senders beside classic ones."""

from pathlib import Path
from typing import Any

import pytest

import lightburst as lb
from lightburst.compile import compile_plan

HOSTS: list[dict[str, Any]] = [
    *({"source": host, "target": "S", "rate": "1 Gb/s"} for host in "abcd"),
    {"source": "S", "target": "T", "rate": "100 Mb/s"},
    *({"source": "T", "target": host, "rate": "1 Gb/s"} for host in "efgh"),
]


def crowd(folder: Path, **switching: Any) -> lb.Scenario:
    """Two flows of Reno and two of DCTCP without end that share a link."""
    groups = {}
    for law, pairs in (("reno", ("ae", "bf")), ("dctcp", ("cg", "dh"))):
        file = folder / f"{law}.csv"
        rows = [f"{pair[0]},{pair[1]},0,1000000000\n" for pair in pairs]
        file.write_text("source,destination,start_ps,size_bytes\n" + "".join(rows), "utf-8")
        transport = {"kind": "tcp", "segment_size": "1500 B", "congestion_control": law}
        workload = {"kind": "table", "file": str(file)}
        groups[law] = {"workload": workload, "transport": transport}
    return lb.Scenario.from_dict(
        {
            "topology": {"kind": "graph", "links": HOSTS, "link_length": "200 km"},
            "switching": {"kind": "electronic", "queue_size": "3 MB", **switching},
            "measurement": {"time_limit": "12 s"},
            "groups": groups,
        }
    )


@pytest.mark.filterwarnings("ignore:.*did not finish")
@pytest.mark.parametrize(
    ("queue", "least", "most"), [("dualpi2", 1, 3), ({"kind": "codel", "ecn": True}, 5, 100)]
)
def test_the_coupling_keeps_scalable_senders_from_taking_all(
    queue: Any, least: float, most: float, tmp_path: Path
) -> None:
    # RFC 9332, section 2.1: with the coupling of 2 the windows are about equal, so that the rates
    # are as the round trips: about 21 ms with the classic queue, and 7 ms or more without.
    flows = lb.run(crowd(tmp_path, queue=queue), seed=1).flows
    got = flows.groupby("group")["delivered_bytes"].sum()
    assert least < got["dctcp"] / got["reno"] < most


def test_what_is_not_asked_for_is_in_no_plan(tmp_path: Path) -> None:
    def own(**switching: Any) -> dict[str, Any]:
        switches = compile_plan(crowd(tmp_path, **switching), 1).settings["switches"]
        return {key: switches[0][key] for key in switches[0] if key not in ("kind", "queue_bytes")}

    explicit = {"queue": {"kind": "drop-tail"}}
    assert own() == {"ecn_threshold_bytes": None}
    marks = own(ecn_threshold="30 kB", ecn_marking="departure")
    assert marks == {"ecn_threshold_bytes": 30_000, "marks_at_departure": True, **explicit}
    shared = {"size_bytes": 90_000, "alpha": 2.0}
    assert own(shared_buffer={"size": "90 kB", "alpha": 2}) == {
        "ecn_threshold_bytes": None,
        "shared_buffer": shared,
        **explicit,
    }

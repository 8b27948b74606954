"""Scenarios of all kinds, whose peaks of memory are compared with the estimates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Table = dict[str, Any]
# The larger or the smaller size of a scenario.
Size = Callable[[int, int], int]

ELECTRONIC = {"kind": "electronic"}
UNLIMITED = {"kind": "electronic", "queue_size": "unlimited"}
HYBRID = {"kind": "hybrid"}
TCP = {"kind": "tcp", "preset": "datacentre"}
DATAGRAM = {"kind": "datagram", "rate": "1 Gb/s"}
SEGMENTS = {"kind": "tcp", "segment_size": "1 kB"}
TIMER = {"kind": "burst", "assembly": {"kind": "timer", "time": "1 ms"}}
MIXED = {"kind": "burst", "assembly": {"kind": "mixed", "time": "100 us", "size": "100 kB"}}
OBS = {"kind": "obs-path", "access_rate": "1 Gb/s"}
NARROW = {"kind": "obs-path", "access_rate": "10 Gb/s", "fibre_rate": "1 Gb/s", "host_pairs": 100}


def tree(k: int, **more: Any) -> Table:
    return {"kind": "fat-tree", "k": k, **more}


def torus(side: int) -> Table:
    names = [(i, j) for i in range(side) for j in range(side)]
    links = [
        {"source": f"{i}.{j}", "target": f"{(i + di) % side}.{(j + dj) % side}"}
        for i, j in names
        for di, dj in ((0, 1), (1, 0))
    ]
    return {"kind": "graph", "hosts_per_node": 1, "links": links}


def star(leaves: int) -> Table:
    links = [{"source": "hub", "target": f"n{i}"} for i in range(leaves)]
    return {"kind": "graph", "hosts_per_node": 1, "links": links}


def sized(kind: str, value: str, **more: Any) -> Table:
    return {"kind": kind, "size": {"kind": "constant", "value": value}, **more}


def poisson(flows: int, value: str, rate: str = "1e6 /s") -> Table:
    return sized("poisson", value, arrival_rate=rate, flows=flows)


def make(
    topology: Table, switching: Table, transport: Table, workload: Table, **more: Any
) -> Table:
    return {
        "topology": topology,
        "switching": switching,
        "transport": transport,
        "workload": workload,
        **more,
    }


def groups(flows: int) -> Table:
    both = {
        "connections": {"workload": poisson(flows, "9 kB"), "transport": TCP},
        "datagrams": {"workload": poisson(flows // 100, "9 MB", "1e4 /s"), "transport": DATAGRAM},
    }
    return {"topology": tree(8), "switching": ELECTRONIC, "groups": both}


def scenarios(full: bool) -> dict[str, Table]:
    """Return more than twenty scenarios by name: of full size, or of seconds."""

    def size(large: int, small: int) -> int:
        return large if full else small

    return {
        **_loads(size),
        **_transports(size),
        **_networks(size),
        **_looks(size),
        **_edges(size),
        **_circuits(size),
    }


def _circuits(size: Size) -> dict[str, Table]:
    return {
        "circuits": make(
            {"kind": "racks"}, {"kind": "circuit"}, TCP, poisson(size(100_000, 20_000), "9 kB")
        ),
        "circuits of many racks": make(
            {"kind": "racks", "racks": size(1024, 512), "hosts_per_rack": 1, "uplinks": 8},
            {"kind": "circuit", "forwarding": "rotor-lb"},
            TCP,
            poisson(1000, "9 kB"),
        ),
    }


def _loads(size: Size) -> dict[str, Table]:
    return {
        "a large load": make(
            tree(size(32, 16)) | {"link_rate": "400 Gb/s"},
            {"kind": "electronic", "queue_size": "2 MB", "ecn_threshold": "400 kB"},
            {"kind": "tcp", "preset": "datacentre", "congestion_control": "dctcp"},
            {
                "kind": "poisson",
                "load": 0.3,
                "duration": f"{size(300, 1000)} us",
                "size": {"kind": "empirical", "name": "websearch"},
            },
        ),
    }


def _transports(size: Size) -> dict[str, Table]:
    return {
        "hybrid, small": make(tree(4), HYBRID, {"kind": "sawl"}, poisson(1000, "9 kB")),
        "electronic, k = 16": make(tree(16), ELECTRONIC, TCP, poisson(10_000, "9 kB")),
        "hybrid, k = 32": make(tree(32), HYBRID, {"kind": "sawl"}, poisson(20_000, "9 kB")),
        "hybrid, k = 64": make(tree(64), HYBRID, {"kind": "sawl"}, poisson(20_000, "9 kB")),
        "queues by flow": make(
            tree(size(16, 8)),
            {"kind": "electronic", "queue": "fq-codel"},
            TCP,
            poisson(size(100_000, 50_000), "9 kB", "1e7 /s"),
        ),
        "queues by flow, each packet on its way": make(
            tree(size(16, 8)),
            {"kind": "electronic", "queue": "fq-codel"},
            TCP,
            poisson(size(100_000, 50_000), "9 kB", "1e7 /s"),
            routing={"choice": "random"},
        ),
        "collectives": make(
            tree(8),
            ELECTRONIC,
            {"kind": "tcp", "handshake": False, "initial_window": 1000},
            {
                "kind": "collective",
                "operation": "all-reduce",
                "size": "1 MB",
                "steps": size(30, 3),
            },
        ),
        "stop-and-wait": make(
            tree(8), ELECTRONIC, {"kind": "saw"}, poisson(size(10**6, 50_000), "1 kB", "1e7 /s")
        ),
        "TCP": make(tree(8), ELECTRONIC, TCP, poisson(size(10**6, 50_000), "9 kB")),
        "TCP, many windows": make(
            tree(8), ELECTRONIC, TCP, poisson(size(10**6, 20_000), "90 kB", "1e5 /s")
        ),
        "TCP, overload": make(
            tree(8), ELECTRONIC, {"kind": "tcp"}, poisson(size(10**5, 10_000), "90 kB", "1e9 /s")
        ),
        "windows in one queue": make(
            NARROW,
            UNLIMITED,
            SEGMENTS
            | {"advertised_window": 10_000, "initial_timeout": "60 s", "min_timeout": "60 s"},
            sized("pairs", "50 MB"),
            measurement={"time_limit": "40 s"},
        ),
        "datagrams": make(
            tree(8), ELECTRONIC, DATAGRAM, poisson(size(20_000, 1000), "9 MB", "1e4 /s")
        ),
        "datagrams in one queue": make(
            NARROW,
            UNLIMITED,
            {"kind": "datagram", "segment_size": "1 kB"},
            sized("pairs", f"{size(50, 5)} MB"),
        ),
        "datagrams without end": make(
            tree(4),
            ELECTRONIC,
            DATAGRAM,
            sized("pairs", "1000 TB"),
            measurement={"time_limit": f"{size(10, 1)} s"},
        ),
    }


def _networks(size: Size) -> dict[str, Table]:
    return {
        "groups": groups(size(200_000, 20_000)),
        "shuffle": make(tree(size(16, 8)), ELECTRONIC, {"kind": "sawl"}, sized("shuffle", "1 kB")),
        "incast": make(
            tree(16), ELECTRONIC, TCP, sized("incast", "9 kB", senders=500, rounds=size(500, 50))
        ),
        "bursts": make(
            tree(size(16, 8)), MIXED, TCP, poisson(size(100_000, 10_000), "90 kB", "1e5 /s")
        ),
        "booked bursts": make(
            torus(size(16, 8)) | {"wavelengths": 32},
            {"kind": "obs", "assembly": {"kind": "mixed", "time": "1 ms", "size": "50 kB"}},
            TCP,
            poisson(size(100_000, 10_000), "90 kB", "1e5 /s"),
        ),
        "bursts that edges make": make(
            torus(8) | {"wavelengths": 32},
            {"kind": "obs", "assembly": {"kind": "timer", "time": "1 us"}},
            {"kind": "bursts"},
            poisson(size(1_000_000, 100_000), "125 kB", "1e6 /s"),
        ),
        "streams of bursts": make(
            torus(8) | {"wavelengths": 32},
            {"kind": "obs", "assembly": {"kind": "timer", "time": "1 us"}},
            {"kind": "bursts", "segment_size": "125 kB", "rate": "50 Gb/s", "spacing": "poisson"},
            sized("pairs", f"{size(4000, 400)} MB"),
        ),
        "booked channels": make(
            {"kind": "path", "links": size(10_000, 3000), "wavelengths": 64},
            {"kind": "obs", "assembly": {"kind": "timer", "time": "1 us"}},
            DATAGRAM,
            sized("pairs", "9 kB"),
        ),
        "bursts of many edges": make(
            star(size(800, 200)), TIMER, DATAGRAM, sized("shuffle", "9 kB")
        ),
        "table of routes": make(torus(size(40, 16)), ELECTRONIC, TCP, poisson(10_000, "9 kB")),
        "paths with labels": make(
            torus(size(8, 5)), ELECTRONIC, TCP, poisson(10_000, "9 kB"), routing={"paths": 4}
        ),
        "wavelengths": make(tree(8, wavelengths=32), HYBRID, TCP, poisson(10_000, "9 kB")),
    }


def _looks(size: Size) -> dict[str, Table]:
    traced: Table = {"measurement": {"trace": [0]}}
    loss: Table = {"loss": {"probability": 0.1}, "measurement": {"trace": [0]}}
    loss["measurement"]["time_limit"] = "100000 s"
    megabytes = f"{size(100, 20)} MB"
    return {
        "trace": make(OBS, TIMER, SEGMENTS, sized("pairs", megabytes), **traced),
        "trace under loss": make(OBS, TIMER, SEGMENTS, sized("pairs", megabytes), **loss),
        "trace, time stamps": make(
            OBS,
            TIMER,
            SEGMENTS | {"acknowledge_every": 1, "timestamps": True},
            sized("pairs", megabytes),
            **traced,
        ),
        "trace of stop-and-wait": make(
            {"kind": "path", "links": 3},
            ELECTRONIC,
            {"kind": "saw", "segment_size": "1 kB"},
            sized("pairs", megabytes),
            **traced,
        ),
        "bursts on links": make(
            torus(size(16, 8)) | {"wavelengths": 32},
            {"kind": "obs", "assembly": {"kind": "mixed", "time": "1 ms", "size": "50 kB"}},
            TCP,
            poisson(size(100_000, 10_000), "90 kB", "1e5 /s"),
            measurement={"network": {}},
        ),
        "order of arrivals": make(
            tree(8),
            ELECTRONIC,
            TCP,
            poisson(size(100_000, 10_000), "90 kB", "1e5 /s"),
            routing={"choice": "free"},
            measurement={"reordering": {}},
        ),
        "bins of time": make(
            OBS,
            TIMER,
            SEGMENTS,
            sized("pairs", "1000 TB"),
            measurement={
                "time_limit": "1 s",
                "synchronisation": {"bin": f"{size(100, 1000)} ns", "series": True},
            },
        ),
        "samples": make(
            tree(8),
            ELECTRONIC,
            TCP,
            poisson(1000, "90 kB"),
            measurement={"sample": "1 us", "time_limit": f"{size(4, 1)} ms"},
        ),
        "scripted drops": make(
            OBS,
            TIMER,
            SEGMENTS,
            sized("pairs", "10 MB"),
            loss={"drops": [{"segments": [100, 10_000_000]}]},
            measurement={"time_limit": "1 s"},
        ),
    }


def _edges(size: Size) -> dict[str, Table]:
    """Return the scenarios whose estimate was once below or far above the peak."""
    nsfnet: Table = {"kind": "nsfnet", "wavelengths": 8}
    held = TIMER | {"ordering": {"kind": "destination", "hold_back": "100 s"}}
    held["assembly"] = {"kind": "timer", "time": "100 us"}
    edges: Table = HYBRID | {"layers": {"edge": UNLIMITED}}
    return {
        "series of many flows": make(
            NARROW,
            TIMER,
            SEGMENTS,
            sized("pairs", "1000 TB"),
            measurement={
                "time_limit": f"{size(4000, 500)} ms",
                "synchronisation": {"bin": "1 us", "series": True},
            },
        ),
        "a long stream of bursts": make(
            {"kind": "path", "links": 4, "link_length": "3000 km", "wavelengths": 2},
            {"kind": "obs"},
            {"kind": "bursts", "segment_size": "125 B", "rate": "9 Gb/s"},
            sized("pairs", f"{size(600, 200)} MB"),
        ),
        "held back": make(
            OBS | {"access_rate": "10 Gb/s"},
            held,
            DATAGRAM | {"segment_size": "1 kB"},
            sized("pairs", f"{size(1500, 300)} MB"),
            loss={"probability": 0.01},
        ),
        "datagrams of 40 B in bursts": make(
            OBS,
            TIMER,
            DATAGRAM | {"rate": "100 Mb/s", "segment_size": "40 B", "header_size": "0 B"},
            sized("pairs", f"{size(80, 20)} MB"),
            measurement={"bursts": {}},
        ),
        "many short flows": make(
            tree(16), ELECTRONIC, TCP, poisson(size(300_000, 60_000), "2 kB", "1e7 /s")
        ),
        "samples of 2 us": make(
            tree(8),
            ELECTRONIC,
            TCP,
            poisson(1000, "90 kB"),
            measurement={"sample": "2 us", "time_limit": f"{size(8, 2)} ms"},
        ),
        "booked flows": make(
            nsfnet,
            {"kind": "obs", "assembly": {"kind": "mixed", "time": "1 ms", "size": "100 kB"}},
            TCP,
            poisson(size(100_000, 30_000), "10 kB", "1e5 /s"),
        ),
        "hybrid, unlimited edges": make(
            tree(8), edges, {"kind": "sawl"}, poisson(size(60_000, 10_000), "90 kB", "1e7 /s")
        ),
        "hybrid, unlimited edges, TCP": make(
            tree(8), edges, TCP, poisson(size(100_000, 10_000), "90 kB", "1e5 /s")
        ),
        "window-based": make(
            {"kind": "nsfnet"},
            {"kind": "burst", "assembly": {"kind": "window-based"}},
            SEGMENTS,
            poisson(size(100_000, 20_000), "50 kB", "2e4 /s"),
        ),
    }

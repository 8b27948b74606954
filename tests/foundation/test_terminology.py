"""A name from another simulator gets a hint with the name here."""

import json
from typing import Any

import pytest

import lightburst as lb
from lightburst.cli import main
from lightburst.foundation.errors import InputError, did_you_mean
from lightburst.foundation.spelling import distance
from lightburst.foundation.terminology import NAMES, called_here, plain
from lightburst.foundation.unsupported import NOT_HERE
from lightburst.scenario.registry import KINDS
from lightburst.study.design.description import StudyDescription

LINKS = [{"source": "a", "target": "s"}, {"source": "s", "target": "b"}]
OBS: dict[str, object] = {"kind": "obs", "assembly": {"kind": "timer", "time": "1 ms"}}
BASE: dict[str, dict[str, object]] = {
    "topology": {"kind": "graph", "links": LINKS},
    "switching": {"kind": "electronic"},
    "transport": {"kind": "tcp"},
    "workload": {"kind": "pairs"},
}


@pytest.mark.parametrize(
    ("table", "changes", "meant"),
    [
        ("transport", {"mss": "1460 B"}, "did you mean 'segment_size', headers included?"),
        ("transport", {"rto_min": "1 ms"}, "did you mean 'min_timeout'?"),
        ("transport", {"minRto": "1 ms"}, "did you mean 'min_timeout'?"),
        ("transport", {"congestion_control": {"kind": "reno", "abc": 2}}, "'byte_counting', L of"),
        ("transport", {"congestion_control": "DCTCP"}, "did you mean 'dctcp'?"),
        ("transport", {"recovery": "NewReno"}, "did you mean 'new-reno'?"),
        ("transport", {"kind": "dctcp"}, "'tcp', with congestion_control = 'dctcp'?"),
        ("transport", {"kind": "NewReno"}, "'tcp', with recovery = 'new-reno'?"),
        ("transport", {"kind": "MPTCP"}, "did you mean 'tcp', with subflows of 2 or more?"),
        ("transport", {"kind": "udp"}, "did you mean 'datagram'?"),
        ("topology", {"link_delay": "1 ms"}, "did you mean 'link_length', with 200 km for 1 ms?"),
        ("topology", {"links": [{**LINKS[0], "delay": "1 ms"}]}, "'length', with"),
        ("topology", {"links": [{**LINKS[0], "from": "a"}]}, "did you mean 'source'?"),
        ("topology", {"links": [{**LINKS[0], "dst": "a"}]}, "did you mean 'target'?"),
        ("topology", {"kind": "star"}, "did you mean 'graph', with a table of links?"),
        ("switching", {"buffer_size": "9 kB"}, "did you mean 'queue_size', in bytes?"),
        # Tables in `queue` also have a key of this name.
        ("switching", {"buffer": "9 kB"}, "did you mean 'queue_size', in bytes?"),
        ("switching", {"kind": "drop-tail"}, "did you mean 'electronic'?"),
        ("switching", {"kind": "prio"}, "'electronic', with queue = 'prio', by groups of flows?"),
        ("switching", {"kind": "drr"}, "'electronic', with queue = 'drr', by groups of flows?"),
        ("switching", {"kind": "dualpi2"}, "'electronic', with queue = 'dualpi2'?"),
        ("hosts", {"queueing": "drr"}, "'fair', deficit round robin over the flows of a host?"),
        ("workload", {"kind": "permutation"}, "did you mean 'pairs'?"),
        ("workload", {"kind": "flows"}, "did you mean 'table', with a file of flows?"),
        ("measurement", {"duration": "1 s"}, "did you mean 'time_limit'?"),
        ("switching", {**OBS, "assembly": {"kind": "adaptive"}}, "'average-delay', the rule that"),
        ("switching", {**OBS, "assembly": {"kind": "fixed"}}, "did you mean 'timer'?"),
        ("switching", {**OBS, "assembly": {"kind": "timer", "period": "1 ms"}}, "mean 'time'?"),
        ("switching", {**OBS, "scheduler": "FFUC-VF"}, "did you mean 'first-fit-vf'?"),
        ("switching", {**OBS, "conversion": "yes"}, "did you mean 'full'?"),
        ("switching", {**OBS, "fdl": 4}, "'contention', with 'delay-line' in its list?"),
        ("switching", {**OBS, "offset": "1 us"}, "did you mean 'offset_time'?"),
        ("routing", {"multipath": True}, "did you mean 'label', with kind = 'load' and two"),
        # The hint names the kind itself, not a table in it.
        ("routing", {"kind": "ecmp"}, "one of the keys choice, metric, paths, label, routes"),
        # A misspelt name gets the usual hint.
        ("workload", {"kind": "pars"}, "did you mean 'pairs'?"),
    ],
)  # fmt: skip
def test_names_of_elsewhere(table: str, changes: dict[str, object], meant: str) -> None:
    values = {**BASE, table: {**BASE.get(table, {}), **changes}}
    with pytest.raises(InputError) as error:
        lb.Scenario.from_dict(values)
    assert meant in str(error.value)


@pytest.mark.parametrize(
    ("changes", "meant"),
    [
        ({"base": "x.toml"}, "did you mean 'scenario'?"),
        ({"axes": {"workload.load": [1]}}, "did you mean 'over'?"),
        ({"param_grid": {}}, "did you mean 'over'?"),
        ({"replications": 5}, "did you mean 'seeds'?"),
        ({"treatments": {}}, "did you mean 'variants'?"),
        ({"target": {"metric": "slowdown_p99", "half_width": 0.1}}, "'precision', half of the 95"),
        ({"target": {"metric": "x", "precision": 1, "min_runs": 5}}, "did you mean 'minimum'?"),
        ({"over": {"transport.segment_size": {"from": 1, "stop": 2}}}, "did you mean 'to'?"),
        ({"over": {"transport.segment_size": {"from": 1, "to": 2, "num": 3}}}, "mean 'number'?"),
        ({"over": {"transport": {"segment_size": {"start": 1, "stop": 9}}}}, "mean 'from'?"),
        ({"sample": {"kind": "sobol", "n_samples": 8}}, "did you mean 'points'?"),
        ({"optimise": {"maximize": "throughput_bps"}}, "did you mean 'maximise', or minimise?"),
        ({"figures": [{"x": "a", "y": "b", "color": "c"}]}, "did you mean 'hue'?"),
    ],
)  # fmt: skip
def test_names_of_other_runners_of_studies(changes: dict[str, object], meant: str) -> None:
    with pytest.raises(InputError) as error:
        StudyDescription.from_dict({"scenario": BASE, **changes}).design  # noqa: B018
    assert meant in str(error.value)


LISTS = {
    "transport": KINDS["transports"],
    "law": KINDS["congestion_controls"],
    "recovery": KINDS["recoveries"],
    "switch": KINDS["switches"],
    "choice": KINDS["choices"],
    "topology": KINDS["topologies"],
    "workload": KINDS["workloads"],
    "resolver": KINDS["resolvers"],
    "queueing": ("fifo", "fair"),
    "scheduler": KINDS["schedulers"],
    "queue": KINDS["queues"],
    "switch key": ("kind", "queue_size", "ecn_threshold", "switching_time", "pfc"),
    "routing key": ("choice", "metric", "paths", "label", "routes"),
}


@pytest.mark.parametrize(
    ("where", "names", "nearest"),
    [
        # Linux, ns-3, HPCC's simulator, htsim: features that are missing here, and no misspelt
        # names.
        ("law", "d2tcp prague", "'dctcp', which follows the marks of switches"),
        ("law", "bbr2 BBRv2", "'bbr3', the version after it"),
        ("law", "ledbat TcpLp nv", "'vegas', which follows the round-trip"),
        ("law", "htcp illinois yeah", "'highspeed', a window"),
        ("law", "bic hybla", "'cubic', a window"),
        ("law", "westwood", "'reno', which follows losses"),
        ("transport", "bbr2", "'tcp', with congestion_control = 'bbr3'"),
        ("transport", "ledbat", "'tcp', with congestion_control = 'vegas'"),
        ("transport", "quic sctp dccp", "'tcp'"),
        ("transport", "homa eqds", "'tcp', with congestion_control = 'dctcp'"),
        ("recovery", "fack", "'sack', RFC 6675"),
        ("switch", "helios mordia", "'circuit', with schedule = 'hungarian' and others"),
        ("switch", "cake wred", "'electronic', with queue = 'codel', 'red', 'pie' or 'fq-codel'"),
        ("queue", "cobalt", "'codel'"),
        ("queue", "cake", "'fq-codel'"),
        ("queue", "fq_pie", "'pie'"),
        ("queue", "wred", "'red'"),
        ("queueing", "fq WRR round-robin", "'fair', deficit round robin"),
        ("queue", "trimming cutpayload CompositeQueue", "'trim', a queue that cuts payloads off"),
        ("law", "TcpBic TcpHybla", "'cubic', a window"),
        ("law", "TcpWestwoodPlus", "'reno', which follows losses"),
        ("workload", "OnOffHelper", "'poisson'"),
        ("choice", "presto", "'random', a way for each packet"),
        ("choice", "hermes CLOVE", "'least-queue', by the queues of the node alone"),
        ("choice", "rr round-robin", "'entropy-spray', whose packets take paths in turn"),
        ("choice", "wcmp", "'flow-hash', one way for a whole flow"),
        ("choice", "conga hedera", "'least-queue', by the queues of the node alone"),
        ("routing key", "wcmp", "'choice' = 'flow-hash'"),
        ("scheduler", "min-ev best-fit", "'lauc-vf'"),
        ("resolver", "preemption", "'segmentation'"),
        # ASTRA-sim.
        ("workload", "moe pipeline", "'collective'"),
    ],
)  # fmt: skip
def test_what_is_not_here_is_said_to_be_so(where: str, names: str, nearest: str) -> None:
    for name in names.split():
        said = did_you_mean(name, LISTS[where])
        assert said.startswith(f" ({name} is not supported; the nearest substitute: {nearest}"), (
            said
        )


@pytest.mark.parametrize(
    ("where", "names", "meant"),
    [
        ("switch key", "lossless pause PriorityFlowControl", "'pfc'"),
        ("choice", "ecmp ECMP single ecmp_host", "'flow-hash', one way for a flow"),
        ("choice", "spray packet-spraying rps", "'random', a way for each packet"),
        ("choice", "flowlets LetFlow", "'flowlet', a random way for each flowlet"),
        ("choice", "ecmp_ar drill jsq", "'least-queue', the output with the fewest bytes"),
        ("routing key", "flowlets", "'choice' = 'flowlet'"),
        ("routing key", "ecmp", "'choice' = 'flow-hash'"),
        ("topology", "dumbbell star Ring dragonfly clos", "'graph', with a table of links"),
        ("topology", "leaf-spine RotorNet", "'racks', whose switches a core joins"),
        ("switch", "ocs OCS opera sirius", "'circuit', with a schedule"),
        ("scheduler", "min-sv", "'lauc-vf'"),
        ("recovery", "prr rack frto", "'rack-tlp'"),
        ("transport", "RoCEv2 infiniband", "'rdma'"),
        ("transport", "DCQCN", "'rdma', with congestion_control = 'dcqcn'"),
        ("transport", "NDP", "'rdma', with congestion_control = 'ndp'"),
        ("queue", "ndp", "'trim', its queue"),
        ("transport", "irn", "'rdma', with recovery = 'selective-repeat'"),
        (
            "law",
            "dcqcn",
            "'dctcp', which follows the marks of switches; transport.kind = 'rdma' has 'dcqcn'",
        ),
        (
            "law",
            "TIMELY",
            "'vegas', which follows the round-trip time; transport.kind = 'rdma' has 'timely'",
        ),
        # Classes of ns-3 and OMNeT++.
        ("law", "TcpCubic", "'cubic'"),
        ("law", "TcpDctcp ns3::TcpDctcp", "'dctcp'"),
        ("law", "TcpHighSpeed hstcp", "'highspeed'"),
        ("law", "TcpNewReno newreno", "'reno', with transport.recovery = 'new-reno'"),
        ("law", "TCPTahoe", "'reno', with transport.recovery = 'tahoe'"),
        (
            "transport",
            "bbr",
            "'tcp', with congestion_control = 'bbr1', the 'bbr' of Linux, or 'bbr3'",
        ),
        ("transport", "TcpCubic", "'tcp', with congestion_control = 'cubic'"),
        ("transport", "UdpApp", "'datagram'"),
        ("queue", "RedQueueDisc", "'red'"),
        ("queue", "FqCoDelQueueDisc", "'fq-codel'"),
        ("queue", "DropTailQueue pfifo_fast fifo", "'drop-tail'"),
        ("queue", "ecn", "'drop-tail', with switching.ecn_threshold"),
        ("queueing", "PfifoFastQueueDisc", "'fifo'"),
        ("switch", "EthernetSwitch electrical", "'electronic'"),
        ("workload", "BulkSendHelper BulkSendApplication", "'pairs'"),
        ("workload", "cdf websearch hadoop", "'poisson', with sizes of the kind 'empirical'"),
        ("choice", "VLB valiant", "'random', a shortest way for each packet"),
        # Typing errors.
        ("law", "dctpc dctp dcctcp dcttcp", "'dctcp'"),
        ("law", "cubc", "'cubic'"),
        ("law", "hihgspeed high-speed higspeed", "'highspeed'"),
        ("switch", "obss osb", "'obs'"),
        ("switch", "electornic eletronik", "'electronic'"),
        ("choice", "flowhash flow_hash hash", "'flow-hash'"),
        ("workload", "poison possion", "'poisson'"),
    ],
)
def test_what_has_a_name_here_or_is_misspelt(where: str, names: str, meant: str) -> None:
    for name in names.split():
        said = did_you_mean(name, LISTS[where])
        assert said == f" (did you mean {meant}?)", name


@pytest.mark.parametrize(
    ("where", "names"),
    [
        ("law", "dctpx fst tcp qwerty rena1 veggie"),
        ("transport", "atcps rtcp2 tsp2"),
        ("switch", "oxx burzd optix"),
        ("choice", "flow-cache free-for-all"),
    ],
)
def test_what_only_looks_alike_is_not_meant(where: str, names: str) -> None:
    for name in names.split():
        assert did_you_mean(name, LISTS[where]) in ("", " (did you mean 'fast'?)"), name


def test_what_is_not_here_is_in_no_list() -> None:
    here = {plain(name) for names in LISTS.values() for name in names}
    assert not here & set(NOT_HERE)
    assert not set(NAMES) & set(NOT_HERE)
    named = {name for nearest in NOT_HERE.values() for name, _ in nearest}
    inside = {"congestion_control", "recovery", "jit"}
    assert named <= inside | {name for names in LISTS.values() for name in names}
    assert all(name == plain(name) for name in NOT_HERE)


@pytest.mark.parametrize(
    ("one", "other", "slips"),
    [
        ("", "abc", 3), ("abc", "abc", 0), ("abc", "acb", 1), ("abcd", "badc", 2),
        ("dcqcn", "dctcp", 2), ("ocs", "obs", 1), ("ca", "abc", 3), ("kitten", "sitting", 3),
    ],
)  # fmt: skip
def test_slips_are_counted(one: str, other: str, slips: int) -> None:
    assert distance(one, other) == distance(other, one) == slips


def test_arguments_of_elsewhere() -> None:
    sweep: Any = lb.sweep
    with pytest.raises(InputError, match=r"^sweep: given axes=.*\(did you mean 'over'\?\)$"):
        sweep(lb.Scenario.from_dict(BASE), axes={"workload.size": ["1 kB"]})


@pytest.mark.parametrize(
    ("name", "meant"), [("fct", "completion_time_mean_s"), ("goodput", "throughput_bps")]
)
def test_metrics_of_elsewhere(name: str, meant: str) -> None:
    with pytest.raises(InputError, match=f"did you mean '{meant}'"):
        lb.sweep(lb.Scenario.from_dict(BASE), seeds=1, progress=False).table(name)


def test_a_name_that_can_stand_there_is_not_taken_for_another() -> None:
    assert did_you_mean("capacity", ["rate", "link_rate"]) == " (did you mean 'rate'?)"
    assert did_you_mean("DELAY", ["delay", "length"]) == " (did you mean 'delay'?)"
    assert called_here("delay", ["delays"]) is None
    assert did_you_mean("quite something else", ["rate"]) == ""


def test_each_name_here_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    found: set[str] = set()

    def look(value: object) -> None:
        if isinstance(value, dict):
            found.update(value)
            found.update(x for x in (value.get("const"), *value.get("enum", ())) if x)
            for inner in value.values():
                look(inner)
        elif isinstance(value, list):
            for inner in value:
                look(inner)

    for kind in ("scenario", "study"):
        assert main(["schema", kind]) == 0
        look(json.loads(capsys.readouterr().out))
    found |= set(lb.run(lb.Scenario.from_dict(BASE)).metrics)
    here = {name for names in NAMES.values() for name, _ in names}
    assert here <= found
    assert all(plain == plain.casefold() and plain.isalnum() for plain in NAMES)

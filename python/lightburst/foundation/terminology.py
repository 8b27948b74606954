"""Names of other tools for terms of lightburst: of papers, Linux, ns-3, OMNeT++ and htsim."""

from collections.abc import Collection
from typing import Final

_LIGHT: Final = "with 200 km for 1 ms"


def _window(name: str) -> tuple[str, str]:
    return "tcp", f"with congestion_control = '{name}'"


def _contention(name: str) -> tuple[str, str]:
    return "contention", f"with '{name}' in its list"


def _repair(name: str) -> tuple[str, str]:
    return "tcp", f"with recovery = '{name}'"


def _recovers(name: str) -> tuple[str, str]:
    return "reno", f"with transport.recovery = '{name}'"


# Names of lightburst with a remark each, by the other tool's name in lower case without separators.
# The first name that is allowed in the field is suggested.
NAMES: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    # Links.
    **dict.fromkeys(
        ("delay", "latency", "linkdelay", "linklatency", "hoplatency", "propagationdelay"),
        (("length", _LIGHT), ("link_length", _LIGHT)),
    ),
    **dict.fromkeys(
        ("bandwidth", "bw", "capacity", "datarate", "speed", "linkspeed", "bitrate"),
        (("rate", ""), ("link_rate", "")),
    ),
    **dict.fromkeys(("channels", "lambdas", "wdm"), (("wavelengths", ""),)),
    **dict.fromkeys(("src", "u", "nodea", "node1"), (("source", ""),)),
    **dict.fromkeys(("dst", "dest", "v", "nodeb", "node2"), (("target", ""), ("destination", ""))),
    **dict.fromkeys(
        ("star", "dumbbell", "ring", "torus", "mesh", "line", "custom"),
        (("graph", "with a table of links"),),
    ),
    **dict.fromkeys(
        ("leafspine", "rotornet", "rotor"),
        (("racks", "whose switches a core joins"), ("circuit", "with schedule = 'rotor'")),
    ),
    **dict.fromkeys(
        ("clos", "dragonfly", "jellyfish", "slimfly", "hyperx", "bcube", "xpander"),
        (("graph", "with a table of links"),),
    ),
    # Switches.
    **dict.fromkeys(
        ("pause", "pauses", "lossless", "losslessqueue", "priorityflowcontrol", "8021qbb"),
        (("pfc", ""), ("electronic", "with pfc"), ("drop-tail", "with switching.pfc")),
    ),
    # Events.
    **dict.fromkeys(("down", "up", "fail", "repair"), (("state", "'down' or 'up'"),)),
    # Routing.
    **dict.fromkeys(
        ("ecmp", "ecmphost", "single", "perflow", "perflowecmp", "flowecmp"),
        (("flow-hash", "one way for a flow"), ("choice", "= 'flow-hash'")),
    ),
    **dict.fromkeys(
        ("spray", "spraying", "packetspray", "packetspraying", "perpacket", "rps", "randomecmp"),
        (("random", "a way for each packet"), ("choice", "= 'random'")),
    ),
    **dict.fromkeys(
        ("oblivious", "bitmap", "uecmpbitmap", "reps", "uecmpreps", "entropy", "entropies"),
        (("entropy-spray", "entropy values in turn"), ("choice", "= 'entropy-spray'")),
    ),
    **dict.fromkeys(
        ("plb", "flowbender", "repath", "rehash"),
        (("adaptive", "another way where one is congested"), ("choice", "= 'adaptive'")),
    ),
    **dict.fromkeys(
        ("flowlets", "flowletswitching", "letflow"),
        (("flowlet", "a random way for each flowlet"), ("choice", "= 'flowlet'")),
    ),
    **dict.fromkeys(
        ("ecmpar", "drill", "ar", "adaptiverouting", "jsq", "shortestqueue", "leastloaded"),
        (("least-queue", "the output with the fewest bytes"), ("choice", "= 'least-queue'")),
    ),
    # Switches.
    **dict.fromkeys(
        ("buffer", "buffersize", "queue", "queuelimit", "qlimit", "maxsize", "queuecapacity"),
        (("queue_size", "in bytes"), ("buffer_size", "in bytes")),
    ),
    **dict.fromkeys(
        ("ecn", "ecnk", "markingthreshold", "ecnthresh"),
        (("ecn_threshold", "in bytes"), ("drop-tail", "with switching.ecn_threshold")),
    ),
    **dict.fromkeys(("accecn", "accurateecn"), (("ecn", "= 'accurate'"), ("accurate", ""))),
    "k": (("ecn_threshold", "in bytes"), ("paths", "")),
    **dict.fromkeys(
        ("droptail", "fifo", "pfifo", "pfifofast", "bfifo", "taildrop"),
        (("drop-tail", ""), ("fifo", ""), ("electronic", "")),
    ),
    **dict.fromkeys(
        ("packet", "eps", "ethernet", "ethernetswitch", "electrical", "storeandforward"),
        (("electronic", ""),),
    ),
    **dict.fromkeys(
        ("red", "codel", "pie", "fqcodel"),
        (("electronic", "with queue = 'codel', 'red', 'pie' or 'fq-codel'"), ("fq-codel", "")),
    ),
    **dict.fromkeys(
        ("prio", "strictpriority", "priorities", "sp", "sppifo"),
        (("prio", ""), ("electronic", "with queue = 'prio', by groups of flows")),
    ),
    **dict.fromkeys(
        ("dualpi2", "pi2", "dualq"), (("dualpi2", ""), ("electronic", "with queue = 'dualpi2'"))
    ),
    **dict.fromkeys(
        ("drr", "deficitroundrobin"),
        (
            ("drr", ""),
            ("fair", "deficit round robin over the flows of a host"),
            ("electronic", "with queue = 'drr', by groups of flows"),
        ),
    ),
    **dict.fromkeys(("priomap", "priority"), (("bands", "by groups of flows"),)),
    **dict.fromkeys(("optical", "ops", "bufferless"), (("all-optical", ""),)),
    # Circuits.
    **dict.fromkeys(
        ("ocs", "circuits", "circuitswitching", "opticalcircuitswitching", "sirius", "opera"),
        (("circuit", "with a schedule"), ("racks", "with switches of kind 'circuit'")),
    ),
    **dict.fromkeys(
        ("packetnetwork", "packetswitch", "packetswitched", "electricalnetwork", "eps"),
        (("packet", "a network beside the circuits"),),
    ),
    **dict.fromkeys(("timeslice", "slice", "slicetime", "slottime", "slotlength"), (("slot", ""),)),
    **dict.fromkeys(
        ("guardtime", "guardband", "reconfiguration", "reconfigurationtime", "reconfdelay"),
        (("guard", ""),),
    ),
    **dict.fromkeys(
        ("vlb", "twohop", "valiant"),
        (("valiant", ""), ("random", "a shortest way for each packet")),
    ),
    **dict.fromkeys(("weights", "weight"), (("quanta", "bytes of each group in a turn"),)),
    "dequeue": (("departure", ""),),
    "enqueue": (("arrival", ""),),
    "tree": (("binomial", "or 'binary'"),),
    **dict.fromkeys(("doublebinary", "binarytree"), (("binary", ""),)),
    **dict.fromkeys(("mwm", "maxweight", "maxweightmatching", "munkres"), (("hungarian", ""),)),
    **dict.fromkeys(("bvn", "birkhoffvonneumann", "solstice"), (("birkhoff", ""),)),
    **dict.fromkeys(("rotorlb", "rlb"), (("rotor-lb", ""),)),
    **dict.fromkeys(("onehop", "singlehop"), (("direct", ""),)),
    # Bursts.
    **dict.fromkeys(("reservation", "protocol", "signaling"), (("signalling", ""),)),
    **dict.fromkeys(
        ("fixed", "periodic", "timeout", "period", "assemblytime", "assemblyperiod"),
        (("timer", ""), ("time", ""), ("gap", "")),
    ),
    **dict.fromkeys(
        ("threshold", "length", "burstsize", "burstlength", "maxburstsize", "maxburstlength"),
        (("size", ""),),
    ),
    **dict.fromkeys(
        ("hybrid", "timesize", "sizetime", "timersize", "maxtimemaxlength"), (("mixed", ""),)
    ),
    **dict.fromkeys(
        ("adaptive", "aap"),
        (
            ("average-delay", "the rule that follows the traffic"),
            ("free", "an output that is free now"),
        ),
    ),
    **dict.fromkeys(("ff", "ffuc", "fcfs"), (("first-fit", ""),)),
    "ffucvf": (("first-fit-vf", ""),),
    **dict.fromkeys(("voidfilling", "vf", "lucvf", "latest", "minsv"), (("lauc-vf", ""),)),
    "luc": (("lauc", ""),),
    **dict.fromkeys(("converters", "wavelengthconversion", "wc"), (("conversion", ""),)),
    **dict.fromkeys(("yes", "all"), (("full", ""),)),
    "no": (("none", ""),),
    **dict.fromkeys(("fdl", "fdls", "delayline", "delaylines"), (_contention("delay-line"),)),
    **{name: (_contention(name),) for name in ("deflection", "segmentation")},
    **dict.fromkeys(("resolution", "resolvers", "contentionresolution"), (("contention", ""),)),
    **dict.fromkeys(("offset", "basicoffset"), (("offset_time", ""),)),
    **dict.fromkeys(
        ("processingtime", "bhpprocessingtime", "bcpprocessingtime", "processingdelay"),
        (("header_processing_time", ""),),
    ),
    **dict.fromkeys(("bhpsize", "bcpsize", "controlpacketsize"), (("header_size", ""),)),
    **dict.fromkeys(
        ("loadbalancing", "loadbalance", "multipath", "balance"),
        (("label", "with kind = 'load' and two paths"),),
    ),
    **dict.fromkeys(("numpaths", "kpaths", "kshortest"), (("paths", ""),)),
    # Transports.
    "dcqcn": (
        ("rdma", "with congestion_control = 'dcqcn'"),
        ("dctcp", "which follows the marks of switches; transport.kind = 'rdma' has 'dcqcn'"),
    ),
    "timely": (
        ("rdma", "with congestion_control = 'timely'"),
        ("vegas", "which follows the round-trip time; transport.kind = 'rdma' has 'timely'"),
    ),
    "hpcc": (
        ("rdma", "with congestion_control = 'hpcc'"),
        ("dctcp", "which follows the marks of switches; transport.kind = 'rdma' has 'hpcc'"),
    ),
    "ndp": (
        ("rdma", "with congestion_control = 'ndp'"),
        ("dctcp", "which follows the marks of switches; transport.kind = 'rdma' has 'ndp'"),
        ("trim", "its queue"),
    ),
    "swift": (
        ("rdma", "with congestion_control = 'swift'"),
        ("vegas", "which follows the round-trip time; transport.kind = 'rdma' has 'swift'"),
    ),
    **dict.fromkeys(("roce", "rocev2", "infiniband", "rc", "verbs"), (("rdma", ""),)),
    "irn": (("rdma", "with recovery = 'selective-repeat'"), ("selective-repeat", "")),
    **dict.fromkeys(("gobackn", "gbn"), (("go-back-n", ""),)),
    **{name: (_window(name),) for name in ("cubic", "dctcp", "vegas", "fast", "highspeed")},
    **{name: (_repair(name), _recovers(name)) for name in ("sack", "tahoe")},
    "reno": (_repair("reno"),),
    **dict.fromkeys(("hstcp", "hs"), (("highspeed", ""), _window("highspeed"))),
    "linuxreno": (("linux-reno", ""),),
    **dict.fromkeys(
        ("mptcp", "multipathtcp"),
        (("tcp", "with subflows of 2 or more"), ("lia", "or 'olia', with subflows of 2 or more")),
    ),
    **dict.fromkeys(("npaths", "numsubflows", "nsubflows"), (("subflows", ""),)),
    "newreno": (("new-reno", ""), _repair("new-reno"), _recovers("new-reno")),
    **dict.fromkeys(
        ("rack", "tlp", "prr", "frto", "eifel", "dsack"),
        (("rack-tlp", ""), _repair("rack-tlp"), ("recovery", "= 'rack-tlp'")),
    ),
    "bbr": (
        ("bbr1", "version 1, the 'bbr' of Linux"),
        ("tcp", "with congestion_control = 'bbr1', the 'bbr' of Linux, or 'bbr3'"),
        ("congestion_control", "= 'bbr1', the 'bbr' of Linux, or 'bbr3'"),
    ),
    "bbrv1": (("bbr1", ""), _window("bbr1")),
    "bbrv3": (("bbr3", ""), _window("bbr3")),
    "hystart": (("linux-cubic", ""), _window("linux-cubic")),
    "udp": (("datagram", ""),),
    **dict.fromkeys(
        ("mss", "mtu", "packetsize", "framesize"), (("segment_size", "headers included"),)
    ),
    **dict.fromkeys(
        ("cc", "cca", "congestion", "tcpvariant", "sockettype"), (("congestion_control", ""),)
    ),
    **dict.fromkeys(("rtomin", "minrto"), (("min_timeout", ""),)),
    **dict.fromkeys(("rto", "initialrto", "conntimeout"), (("initial_timeout", ""),)),
    **dict.fromkeys(("cwnd", "initcwnd", "initialcwnd", "iw"), (("initial_window", ""),)),
    **dict.fromkeys(
        ("rwnd", "rcvbuf", "rcvbufsize", "receivewindow", "maxwindow", "window"),
        (("advertised_window", "in segments"),),
    ),
    **dict.fromkeys(
        ("delayedack", "delayedacks", "delack", "delackcount"),
        (("acknowledge_every", "2 segments, or each: 1"),),
    ),
    **dict.fromkeys(
        ("abc", "appropriatebytecounting", "rfc3465"), (("byte_counting", "L of RFC 3465"),)
    ),
    "dupthresh": (("duplicate_threshold", ""),),
    # Workloads and measurement.
    **dict.fromkeys(("bulk", "bulksend", "permutation", "ftp"), (("pairs", ""),)),
    **dict.fromkeys(
        ("cdf", "websearch", "datamining", "hadoop", "random", "openloop"),
        (("poisson", "with sizes of the kind 'empirical'"),),
    ),
    **dict.fromkeys(("rpc", "storage", "partitionaggregate"), (("incast", "answers at once"),)),
    "mapreduce": (("shuffle", ""),),
    **dict.fromkeys(
        ("flows", "file", "csv", "flowlist", "trace"), (("table", "with a file of flows"),)
    ),
    **dict.fromkeys(
        ("allreduce", "allgather", "reducescatter", "alltoall", "bcast"),
        (("collective", "with operation = 'all-reduce', 'all-gather' and so on"),),
    ),
    **dict.fromkeys(("atlahs", "loggopsim", "loggops", "schedgen"), (("goal", ""),)),
    **dict.fromkeys(("ringallreduce", "nccl"), (("collective", ""), ("ring", ""))),
    **dict.fromkeys(("halving", "doubling", "recursivedoubling"), (("halving-doubling", ""),)),
    **dict.fromkeys(("flowsize", "filesize", "maxbytes"), (("size", ""),)),
    **dict.fromkeys(
        ("matrix", "trafficmatrix", "demandmatrix", "odmatrix", "sources", "destinations"),
        (("demands", "the rows of a traffic matrix"),),
    ),
    "lambda": (("arrival_rate", ""),),
    **dict.fromkeys(
        ("simtime", "duration", "limits"), (("time_limit", ""), ("measurement", "with time_limit"))
    ),
    **dict.fromkeys(("stop", "end"), (("time_limit", ""), ("to", ""))),
    # Studies: runners of simulations, libraries of sweeps and of search.
    **dict.fromkeys(("base", "basescenario", "config", "model", "template"), (("scenario", ""),)),
    **dict.fromkeys(
        (
            "axes",
            "axis",
            "grid",
            "paramgrid",
            "params",
            "parameters",
            "factors",
            "sweep",
            "space",
            "vary",
            "itervars",
            "searchspace",
        ),
        (("over", ""),),
    ),
    **dict.fromkeys(("zip", "zipped", "parallel", "together"), (("linked", ""),)),
    **dict.fromkeys(("cases", "configs", "treatments", "arms", "schemes"), (("variants", ""),)),
    **dict.fromkeys(
        (
            "replications",
            "replicates",
            "repetitions",
            "repeat",
            "repeats",
            "runs",
            "numruns",
            "rngrun",
            "seedset",
        ),
        (("seeds", ""),),
    ),
    **dict.fromkeys(
        ("halfwidth", "relativeerror", "relativeprecision", "tolerance", "accuracy", "ciwidth"),
        (("precision", "half of the 95 % interval as a part of the mean"),),
    ),
    **dict.fromkeys(("stopping", "until", "stopwhen"), (("target", ""),)),
    **dict.fromkeys(("min", "minruns", "minseeds"), (("minimum", ""), ("from", ""))),
    **dict.fromkeys(("max", "maxruns", "maxseeds"), (("maximum", ""), ("to", ""))),
    **dict.fromkeys(("maxtotal", "totalruns"), (("budget", ""),)),
    **dict.fromkeys(("start", "begin", "low", "lower"), (("from", ""),)),
    **dict.fromkeys(("high", "upper"), (("to", ""),)),
    "from": (("source", ""),),
    "to": (("target", ""), ("destination", "")),
    **dict.fromkeys(("num", "n", "count", "steps", "values"), (("number", ""),)),
    **dict.fromkeys(("by", "increment"), (("step", ""),)),
    **dict.fromkeys(("log", "logscale", "logspace", "spacing"), (("scale", "'log' or 'linear'"),)),
    **dict.fromkeys(("samples", "npoints", "nsamples"), (("points", ""),)),
    **dict.fromkeys(("ntrials", "maxevals"), (("trials", ""),)),
    "minimize": (("minimise", ""),),
    **dict.fromkeys(("maximize", "objective", "goal"), (("maximise", "or minimise"),)),
    **dict.fromkeys(("outputs", "columns", "measures"), (("show", ""), ("metrics", ""))),
    **dict.fromkeys(("plots", "plot"), (("figures", ""),)),
    **dict.fromkeys(("save", "tables", "record"), (("keep", ""),)),
    **dict.fromkeys(("color", "colour", "group"), (("hue", ""),)),
    "linestyle": (("dash", ""),),
    **dict.fromkeys(("comparisons", "pairs", "baseline"), (("compare", ""),)),
    # Metrics of runs.
    "goodput": (("throughput_bps", ""),),
    **dict.fromkeys(
        ("fct", "avgfct", "fctmean", "meanfct", "flowcompletiontime"),
        (("completion_time_mean_s", ""),),
    ),
    **dict.fromkeys(
        ("fctp99", "p99fct", "tailfct", "p99"), (("completion_time_p99_s", "or slowdown_p99"),)
    ),
    **dict.fromkeys(
        ("drops", "loss", "lossrate", "packetloss", "plr", "droprate"), (("loss_end_to_end", ""),)
    ),
    **dict.fromkeys(("blp", "burstlossrate", "blockingprobability"), (("burst_loss", ""),)),
    "jct": (("makespan_s", ""),),
}


# What ns-3 and OMNeT++ put before and behind a term in the name of a class.
_BEFORE: Final = ("ns3", "tcp")
_BEHIND: Final = ("queuedisc", "queue", "helper", "application", "app", "switch")


def called_here(given: object, known: Collection[str]) -> tuple[str, str] | None:
    """Find lightburst's name for a term of another tool.

    Parameters
    ----------
    given : object
        The term of the other tool.
    known : collection of str
        The names allowed in its field.

    Returns
    -------
    tuple of str or None
        The name and a remark on it; None if the term is not known, or none of its names is allowed
        in the field.
    """
    here = (name for name in NAMES.get(plain(given), ()) if name[0] in known)
    return next(here, None)


def without_class(given: object) -> str:
    """Return a name of a class of ns-3 or OMNeT++ without what only says that it is one.

    ``TcpVegas`` is ``vegas``, ``DropTailQueue`` is ``droptail``; other names are only `plain`.
    """
    name = plain(given)
    for part in _BEFORE:
        name = name.removeprefix(part) or name
    for part in _BEHIND:
        name = name.removesuffix(part) or name
    return name


def plain(given: object) -> str:
    """Return a name in lower case without separators."""
    return "".join(letter for letter in str(given).casefold() if letter.isalnum())

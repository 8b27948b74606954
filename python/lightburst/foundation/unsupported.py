"""Features of other tools that lightburst does not have, with their nearest substitutes."""

from collections.abc import Collection
from typing import Final

# Names of substitutes, each with a remark; the first that is allowed in the field is suggested.
Nearest = tuple[tuple[str, str], ...]


def _law(name: str, why: str) -> Nearest:
    """Return a window law as substitute, also for fields with a transport or with its key."""
    inner = f"with congestion_control = '{name}', {why}"
    return (name, why), ("tcp", inner), ("congestion_control", f"= '{name}', {why}")


def _recovery(name: str, why: str) -> Nearest:
    inner = f"with recovery = '{name}', {why}"
    return (name, why), ("tcp", inner), ("recovery", f"= '{name}', {why}")


_MARKS: Final = _law("dctcp", "which follows the marks of switches")
_DELAY: Final = _law("vegas", "which follows the round-trip time")
_BBR: Final = _law("bbr3", "the version after it")
_FAST_WINDOW: Final = _law("highspeed", "a window for long fat paths")
_CUBIC: Final = _law("cubic", "a window for long fat paths")
_LOSSES: Final = _law("reno", "which follows losses")
_TRANSPORT: Final = (("tcp", "with congestion_control = 'dctcp'"), *_MARKS[:1])
_CIRCUITS: Final = (
    ("circuit", "with schedule = 'hungarian' and others, which follow the demand"),
    ("obs", "which books wavelengths for each burst"),
    ("all-optical", "which switches each packet"),
)
_FLOWS: Final = (("flow-hash", "one way for a whole flow"), ("choice", "= 'flow-hash'"))
_PACKETS: Final = (
    ("random", "a way for each packet"),
    ("choice", "= 'random'"),
)
_LOADS: Final = (
    ("least-queue", "by the queues of the node alone"),
    ("choice", "= 'least-queue'"),
    ("label", "with kind = 'load', for bursts over several paths"),
)
_QUEUE: Final = (
    ("electronic", "first in, first out, with an ecn_threshold"),
    ("ecn_threshold", "which marks by the length of the queue"),
)
_DISCIPLINE: Final = (("electronic", "with queue = 'codel', 'red', 'pie' or 'fq-codel'"),)
_TURNS: Final = (
    ("fair", "deficit round robin over the flows of a host"),
    ("drr", "deficit round robin over groups of flows"),
    *_QUEUE,
    ("entropy-spray", "whose packets take paths in turn"),
)
_TRIMS: Final = (
    ("trim", "a queue that cuts payloads off"),
    ("electronic", "with queue = 'trim'"),
)
_COLLECTIVE: Final = (("collective", "with operation = 'all-reduce' and others"),)

# Substitutes by the other tool's name in lower case without separators.
NOT_HERE: Final[dict[str, Nearest]] = {
    # Window laws and senders of Linux, ns-3, htsim and HPCC's simulator.
    **dict.fromkeys(("prague", "l4s", "d2tcp", "dcqcnplus", "dctcpplus"), _MARKS),
    **dict.fromkeys(("bbr2", "bbrv2"), _BBR),
    **dict.fromkeys(("copa", "pcc", "vivace", "nv", "cdg"), _DELAY),
    **dict.fromkeys(("ledbat", "lp", "tcplp", "veno", "powertcp"), _DELAY),
    **dict.fromkeys(("htcp", "illinois", "yeah", "compound", "ctcp"), _FAST_WINDOW),
    **dict.fromkeys(("bic", "hybla"), _CUBIC),
    **dict.fromkeys(("westwood", "westwoodplus"), _LOSSES),
    **dict.fromkeys(("balia", "wvegas"), (("olia", "with subflows"), ("lia", "with subflows"))),
    "fack": _recovery("sack", "RFC 6675"),
    # Other transports.
    "mpquic": (("tcp", "with transport.subflows of 2 or more"),),
    **dict.fromkeys(("quic", "sctp", "dccp"), (("tcp", ""),)),
    **dict.fromkeys(
        ("eqds", "homa", "phost", "pfabric"),
        _TRANSPORT,
    ),
    **dict.fromkeys(("expresspass", "uec", "uet", "strack", "srd", "falcon"), _TRANSPORT),
    # Switches and queues.
    **dict.fromkeys(
        ("wr", "owr", "helios", "mordia", "reactor", "cthrough", "eclipse"),
        _CIRCUITS,
    ),
    **dict.fromkeys(("wred", "ared", "choke"), (("red", ""), *_DISCIPLINE)),
    "cobalt": (("codel", ""), *_DISCIPLINE),
    "cake": (("fq-codel", ""), *_DISCIPLINE),
    "fqpie": (("pie", ""), *_DISCIPLINE),
    **dict.fromkeys(("fq", "sfq", "wfq", "wrr", "rr", "roundrobin"), _TURNS),
    **dict.fromkeys(("trimming", "cutpayload", "composite", "compositequeue"), _TRIMS),
    # Routing.
    **dict.fromkeys(("wcmp",), _FLOWS),
    **dict.fromkeys(("conga", "hula", "ugal", "hedera", "clove", "hermes"), _LOADS),
    **dict.fromkeys(("presto", "digitreversal"), _PACKETS),
    # Contention of bursts.
    "preemption": (("segmentation", "which lets the later burst in"),),
    **dict.fromkeys(("jumpstart", "tag", "tellandgo", "tellandwait", "taw"), (("jit", ""),)),
    **dict.fromkeys(
        ("minev", "maxsv", "maxev", "bestfit", "lbvf", "lgvf"), (("lauc-vf", "the least gap"),)
    ),
    # Work with dependencies (ATLAHS, ASTRA-sim).
    **dict.fromkeys(("moe", "pipeline"), _COLLECTIVE),
    "chakra": (("goal", "to which ATLAHS converts traces"),),
    **dict.fromkeys(("onoff", "onoffapplication", "cbr"), (("poisson", ""),)),
}


def nearest_here(plain: str, known: Collection[str]) -> str | None:
    """Return the nearest substitute for a feature that lightburst does not have.

    Parameters
    ----------
    plain : str
        Name of the feature in lower case, without separators.
    known : collection of str
        The names allowed in its field.

    Returns
    -------
    str or None
        Text such as ``'vegas', which follows the round-trip time``; None if the feature is not
        known, or no substitute is allowed in the field.
    """
    for name, beside in NOT_HERE.get(plain, ()):
        if name in known:
            joined = "" if not beside else f" {beside}" if beside[0] == "=" else f", {beside}"
            return f"'{name}'{joined}"
    return None

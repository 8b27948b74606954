"""Shell commands of a script: the settings of the kernel that they make."""

from __future__ import annotations

import re
import shlex
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from lightburst.foundation.errors import InputError
from lightburst.packetdrill.script import unknown

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping

# Settings that change what the sender does, with their values in the kernel of the preset `linux`.
DEFAULTS: Final[Mapping[str, str]] = {
    "tcp_congestion_control": "cubic",
    "tcp_early_retrans": "3",
    "tcp_ecn": "2",
    "tcp_frto": "2",
    "tcp_recovery": "1",
    "tcp_reordering": "3",
    "tcp_rto_min_us": "200000",
    "tcp_sack": "1",
    "tcp_slow_start_after_idle": "1",
    "tcp_timestamps": "1",
    "tcp_window_scaling": "1",
    "hystart": "1",
    "hystart_detect": "3",
    "initial_window": "10",
    "qdisc": "pfifo",
}
# What the usual `defaults.sh` of such scripts sets otherwise than the kernel does.
_USUAL: Final[Mapping[str, str]] = {
    "tcp_early_retrans": "4",
    "tcp_ecn": "0",
    "tcp_slow_start_after_idle": "0",
}
# Sizes of buffers and of the pieces that an interface gets, limits of set-up, and what concerns
# receivers: here segments leave one by one, and buffers are never full.
_NO_MATTER: Final = re.compile(
    r"(tcp_)?(rmem|wmem|syn_retries|synack_retries|syncookies|dsack|fack|tso_win_divisor|"
    r"min_tso_segs|tso_rtt_log|pacing_ss_ratio|pacing_ca_ratio|notsent_lowat|fastopen\w*|"
    r"no_metrics_save|limit_output_bytes|moderate_rcvbuf|adv_win_scale|app_win|autocorking|"
    r"comp_sack_\w+|retries[12]|orphan_retries|fin_timeout|tw_reuse|workaround_signed_windows|"
    r"shrink_window|challenge_ack_limit|invalid_ratelimit|min_rtt_wlen|max_reordering|"
    r"base_mss|ecn_fallback|ecn_option|ecn_option_beacon|keepalive_\w+|available_congestion_control|allowed_congestion_control)|"
    r"net\.mptcp\.enabled|net\.core\.\w+|net\.ipv4\.route\.\w+"
)
_QUIET: Final = ("sysctl_restore", "true", "nstat", "sleep", "modprobe", "ethtool")
_QDISCS: Final = ("fq", "pfifo", "fq_codel", "noqueue")
_KNOWN: Final = (
    "sysctl, echo N > /proc/sys/..., a defaults.sh, set_sysctls.py, tc qdisc or ip route"
)


def apply(path: str, line: int, text: str, settings: MutableMapping[str, str]) -> None:
    """Carry out commands.

    Parameters
    ----------
    path : str
        File of the script.
    line : int
        Number of the line on which they begin.
    text : str
        The commands.
    settings : mutable mapping of str to str
        Settings by name, as in `DEFAULTS`; changed.

    Raises
    ------
    InputError
        If a command or a setting is not known.
    """
    joined = re.sub(r"\\\n", "  ", text)
    for offset, row in enumerate(joined.split("\n")):
        for command in re.split(r"[;&|]+(?![^$]*\)\))", re.sub(r"(^|\s)#.*", "", row)):
            _one(_Place(path, line + offset, settings), command.strip())


class _Place:
    """Where a command stands, and what it changes."""

    def __init__(self, path: str, line: int, settings: MutableMapping[str, str]) -> None:
        self.path, self.line, self.settings = path, line, settings

    def refuse(self, word: str, allowed: str) -> InputError:
        return unknown(self.path, self.line, word, allowed)

    def set(self, key: str, value: str) -> None:
        name = key.replace("/", ".").removeprefix(".proc.sys.").removeprefix("net.ipv4.")
        if name in DEFAULTS:
            self.settings[name] = value.strip()
        elif not _NO_MATTER.fullmatch(name):
            raise self.refuse(key, f"a setting of a sender: {', '.join(sorted(DEFAULTS))}")


def _one(place: _Place, command: str) -> None:
    try:
        words = shlex.split(re.sub(r"\d?>\s*/dev/null|2>&1", "", command))
    except ValueError:
        raise place.refuse(command, "a command with its quotes closed") from None
    if not words or any(part in words[0] for part in _QUIET):
        return
    name, rest = PurePosixPath(words[0]).name, words[1:]
    if name == "defaults.sh":
        place.settings.update({**DEFAULTS, **_USUAL})
    elif name in ("sysctl", "set_sysctls.py"):
        for word in (word for word in rest if not word.startswith("-")):
            key, equals, value = word.partition("=")
            if not equals:
                raise place.refuse(word, "key=value")
            place.set(key, value)
    elif name == "echo" and ">" in rest:
        _echo(place, rest)
    elif name == "tc":
        _queue(place, rest)
    elif name == "ip":
        _route(place, rest)
    else:
        raise place.refuse(words[0], _KNOWN)


def _echo(place: _Place, words: list[str]) -> None:
    at = words.index(">")
    value, target = " ".join(words[:at]), " ".join(words[at + 1 :])
    if target.startswith("/sys/module/tcp_cubic/parameters/"):
        name = PurePosixPath(target).name
        if name not in ("hystart", "hystart_detect"):
            raise place.refuse(target, "hystart or hystart_detect")
        place.settings[name] = value
    else:
        place.set(target, value)


def _queue(place: _Place, words: list[str]) -> None:
    """Note the queue of the interface: `fq` paces."""
    kinds = [word for word in words if word in _QDISCS]
    rest = words[words.index(kinds[0]) + 1 :] if kinds else words
    if rest[:1] == ["limit"]:
        raise place.refuse(
            " ".join(["tc", *words]), "no limit: the host drops none of its segments"
        )
    if words[:1] != ["qdisc"] or rest:
        raise place.refuse(" ".join(["tc", *words]), f"tc qdisc with {', '.join(_QDISCS)} alone")
    place.settings["qdisc"] = kinds[0]


def _route(place: _Place, words: list[str]) -> None:
    """Note the initial window of a route."""
    if words[:1] == ["tcp_metrics"]:
        return
    if words[:1] != ["route"] or "initcwnd" not in words[:-1]:
        raise place.refuse(" ".join(["ip", *words]), "ip route ... initcwnd N, or ip tcp_metrics")
    place.settings["initial_window"] = words[words.index("initcwnd") + 1]

"""Scripts of packetdrill: ours, recordings of the kernel as scripts, and what must fail."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from linux.recorded import cases
from linux.scripts import convertible, script

import lightburst as lb
from lightburst.cli import main
from lightburst.packetdrill import Outcome, parse, run
from lightburst.packetdrill.cutting import Cuts

SCRIPTS = Path(__file__).parents[1] / "data" / "packetdrill"
NAMES = sorted(path.stem for path in SCRIPTS.glob("*.pkt"))
RECORDED = [
    *("short-1-lost-1", "short-5-lost-5", "loss-30", "loss-30-ts", "nosack-loss-30+34"),
    *("relost-30", "reorder-10", "spike-600ms-frto", "tail-3", "ecn-mark-then-loss"),
    *("loss-prr-1-4+11-16", "idle-restart", "acks-every-second-lost", "rwnd-20-loss-30"),
]
# The kernel rounds a long timer up by up to an eighth, and the machine of the recordings was busy.
OF_RECORDINGS_US = 80_000
OPEN = """\
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 65535 <mss 1000,sackOK,nop,wscale 6>
+0 > S. 0:0(0) ack 1 <...>
+.1 < . 1:1(0) ack 1 win 1000
+0 accept(3, ..., ...) = 4
"""
LINES = OPEN.count("\n")


def text(name: str) -> str:
    return (SCRIPTS / f"{name}.pkt").read_text()


def ends(script: str) -> Outcome:
    return run(parse("script.pkt", script))


def opened(*lines: str) -> Outcome:
    """Outcome of a connection with these lines, of which the first is line `LINES + 1`."""
    return ends(OPEN + "\n".join(lines))


@pytest.mark.parametrize("name", NAMES)
def test_a_script_passes(name: str) -> None:
    outcome = ends(text(name))
    assert outcome.passed, str(outcome)


@pytest.mark.parametrize("law", ["cubic", "reno"])
@pytest.mark.parametrize("name", RECORDED)
def test_a_recording_of_the_kernel_passes_as_a_script(name: str, law: str) -> None:
    recorded = cases()[f"{law}/{name}"]
    assert convertible(recorded)
    outcome = run(parse(name, script(recorded)), OF_RECORDINGS_US)
    assert outcome.passed, str(outcome)


@pytest.mark.parametrize(
    ("name", "word", "other", "found"),
    [
        ("slow-start", "10001:12001(2000)", "10001:13001(3000)", "> . 10001:12001(2000) ack 1"),
        ("slow-start", "tcpi_snd_cwnd == 15", "tcpi_snd_cwnd == 14", "tcpi_snd_cwnd = 15"),
        ("fast-retransmit", "> . 1:1001(1000)", "> . 12001:13001(1000)", "> . 1:1001(1000)"),
        ("fast-retransmit", "tcpi_snd_ssthresh == 7", "tcpi_snd_ssthresh == 5", "= 7"),
        ("tail-loss-probe", "+.2 >", "+.25 >", "> . 3001:4001(1000) ack 1 at 0.4"),
        ("timeout", "+.6 >", "+.3 >", "at 1.0"),
        ("f-rto", "11001:13001(2000)", "1001:3001(2000)", "> . 11001:12001(1000)"),
        ("ecn", "> [ect0] W.", "> [ect0] .", "> W. 10001:11001(1000)"),
        ("ecn", "> [ect0] P.", "> [noecn] P.", "> . 1:10001(10000)"),
        ("closed-window", "> . 3000:3000(0)", "> . 3001:4001(1000)", "> . 3000:3000(0) ack 1"),
        ("closed-window", "tcpi_probes == 2", "tcpi_probes == 1", "tcpi_probes = 2"),
        ("closed-window", "tcpi_probes == 0", "tcpi_probes == 2", "tcpi_probes = 0"),
        ("accurate-ecn", "tcpi_delivered_ce == 1", "tcpi_delivered_ce == 2", "_ce = 1"),
        ("accurate-ecn", "> [ect0] .5 4001", "> [noecn] .5 4001", "> EA. 4001:5001(1000)"),
        ("accurate-ecn", "> [ect0] .6 13001", "> [ect0] .5 13001", "> WA. 13001:17001(4000)"),
        ("accurate-ecn", "> [ect0] W.", "> [ect0] .", "> W. 1:1(0)"),
        ("accurate-ecn-wrap", "_ce == 2", "_ce == 10", "_ce = 2"),
        ("eifel", "<mss 1460,sackOK,TS", "<mss 1400,sackOK,TS", "> S 0:0(0)"),
    ],
)
def test_a_changed_number_fails_at_its_line(name: str, word: str, other: str, found: str) -> None:
    line = text(name)[: text(name).index(word)].count("\n") + 1
    outcome = ends(text(name).replace(word, other, 1))
    assert outcome.difference is not None
    assert outcome.difference.line == line
    assert found in outcome.difference.found


@pytest.mark.parametrize(
    ("name", "mechanism"),
    [
        ("tail-loss-probe", "tcp_early_retrans=0"),
        ("f-rto", "tcp_frto=0"),
        ("fast-retransmit", "tcp_recovery=4"),
        ("idle-restart", "tcp_slow_start_after_idle=0"),
        ("ecn", "tcp_ecn=0"),
        ("eifel", "tcp_timestamps=0"),
        ("fast-retransmit", "tcp_sack=0"),
        ("fast-retransmit", "tcp_congestion_control=reno"),
        ("fast-retransmit", "tcp_reordering=9"),
        ("timeout", "tcp_rto_min_us=400000"),
    ],
)
def test_a_script_fails_without_its_mechanism(name: str, mechanism: str) -> None:
    """Before its own settings the script gets one; those that it makes itself are taken out."""
    key = mechanism.split("=")[0]
    own = [word for word in text(name).split() if word.startswith(f"net.ipv4.{key}=")]
    body = text(name).replace(own[0].rstrip("`"), "") if own else text(name)
    assert not ends(f"`sysctl -q net.ipv4.{mechanism}`\n{body}").passed


@pytest.mark.parametrize(
    ("name", "evidence", "other", "expected"),
    [
        ("eifel", "ecr 300", "ecr 400", "tcpi_ca_state == TCP_CA_Open"),
        ("undo-by-dsack", " <sack 1:1001,nop,nop>", "", "tcpi_snd_ssthresh == 2147483647"),
    ],
)
def test_without_its_evidence_no_reduction_is_undone(
    name: str, evidence: str, other: str, expected: str
) -> None:
    given = text(name).replace("assert tcpi_dsack_dups == 1, tcpi_dsack_dups\n", "")
    assert evidence in given
    outcome = ends(given.replace(evidence, other))
    assert outcome.difference is not None
    assert outcome.difference.expected == expected


SOCKET = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n"


@pytest.mark.parametrize(
    ("setting", "syn", "answer"),
    [
        # RFC 9768, table 2: the codepoint of the SYN.
        *((3, "[noecn] SEWA", "SW."), (3, "[ect1] SEWA", "SWE."), (4, "[ect0] SEWA", "SA.")),
        (5, "[ce] SEWA", "SWA."),
        # Section 3.1.3: unknown combinations ask for it, too; that of RFC 3168 does not.
        *((3, "SA", "SW."), (3, "SE", "SW."), (3, "SEW", "SE."), (3, "S", "S.")),
        *((1, "SEWA", "SE."), (2, "SEW", "SE."), (2, "SE", "S."), (0, "SEWA", "S.")),
    ],
)
def test_a_syn_is_answered_by_the_table_of_rfc_9768(setting: int, syn: str, answer: str) -> None:
    outcome = ends(
        f"`sysctl -q net.ipv4.tcp_ecn={setting}`\n{SOCKET}+0 listen(3, 1) = 0\n"
        f"+0 < {syn} 0:0(0) win 65535 <mss 1000>\n+0 > [noecn] {answer} 0:0(0) ack 1 <mss 1460>"
    )
    assert outcome.passed, str(outcome)


@pytest.mark.parametrize(
    ("setting", "syn", "answer", "acknowledged", "data"),
    [
        # RFC 9768, table 2: modes; table 3: the codepoint of the SYN+ACK.
        (3, "SEWA", "SW.", "[ect0] W.", "[ect0] .5"),
        (3, "SEWA", "[ect1] SW.", "[ect0] WE.", "[ect0] .5"),
        # A marked SYN+ACK is a marked segment.
        (3, "SEWA", "[ce] SW.", "[ect0] WA.", "[ect0] .6"),
        (3, "SEWA", "SE.", "[noecn] .", "[ect0] ."),
        (3, "SEWA", "S.", "[noecn] .", "[noecn] ."),
        (3, "SEWA", "SEWA.", "[noecn] .", "[noecn] ."),
        # Linux asks for RFC 3168 with 1 and 4, and for nothing with 2 and 5.
        (1, "SEW", "SE.", "[noecn] .", "[ect0] ."),
        (4, "SEW", "SEW.", "[noecn] .", "[noecn] ."),
        (2, "S", "S.", "[noecn] .", "[noecn] ."),
        (5, "S", "S.", "[noecn] .", "[noecn] ."),
    ],
)
def test_a_client_has_the_mode_of_the_answer(
    setting: int, syn: str, answer: str, acknowledged: str, data: str
) -> None:
    outcome = ends(
        f"`sysctl -q net.ipv4.tcp_ecn={setting}`\n{SOCKET}+0 connect(3, ..., ...) = 0\n"
        f"+0 > [noecn] {syn} 0:0(0) <...>\n"
        f"+.1 < {answer} 0:0(0) ack 1 win 65535 <mss 1000,sackOK>\n"
        f"+0 > {acknowledged} 1:1(0) ack 1\n"
        f"+0 write(3, ..., 1000) = 1000\n+0 > {data} 1:1001(1000) ack 1\n"
    )
    assert outcome.passed, str(outcome)


ACCURATE = "`sysctl -q net.ipv4.tcp_ecn=3`\n" + OPEN.replace("< S ", "< SEWA ").replace(
    "> S.", "> SW."
).replace("wscale 6>", "wscale 6,TS val 7 ecr 0>").replace(
    "< . 1:1(0) ack 1 win 1000", "< W. 1:1(0) ack 1 win 1000 <TS val 9 ecr 100>"
)


@pytest.mark.parametrize(("stamp", "marks"), [(9, 0), (10, 1)])
def test_a_newer_timestamp_is_news_for_the_count_of_marks(stamp: int, marks: int) -> None:
    """RFC 9768, appendix A.1, newlyAckedT; the first one is that of the handshake."""
    outcome = ends(
        f"{ACCURATE}+0 write(4, ..., 988) = 988\n+0 > .5 1:989(988) ack 1\n"
        f"+.05 < .6 1:1(0) ack 1 win 1000 <TS val {stamp} ecr 100>\n"
        f"+0 %{{ assert tcpi_delivered_ce == {marks}, tcpi_delivered_ce }}%"
    )
    assert outcome.passed, str(outcome)


def test_an_acknowledgement_with_ece_tells_of_marks_on_all_that_it_delivers() -> None:
    """As Linux counts them (`tcp_count_delivered`), SACKed segments as well."""
    given = text("ecn").rstrip()
    assert ends(f"{given}\n+0 %{{ assert tcpi_delivered_ce == 3, tcpi_delivered_ce }}%").passed


@pytest.mark.parametrize("segments", [7, 8])
def test_byte_counters_are_refused_where_they_could_matter(segments: int) -> None:
    end = 1 + 988 * segments
    lines = (
        f"{ACCURATE}+0 write(4, ..., 9880) = 9880\n+0 > .5 1:9881(9880) ack 1\n"
        f"+.05 < .5 1:1(0) ack {end} win 1000 <ECN e0b {end} ceb 0 e1b 1,TS val 10 ecr 100>\n"
    )
    if segments < 8:
        assert ends(lines).passed
        return
    with pytest.raises(lb.InputError, match="fewer than eight segments"):
        ends(lines)


@pytest.mark.parametrize("answer", ["SEA.", "[ce] SA."])
def test_flags_of_a_handshake_that_were_mangled_are_refused(answer: str) -> None:
    with pytest.raises(lb.InputError):
        ends(
            f"`sysctl -q net.ipv4.tcp_ecn=3`\n{SOCKET}+0 connect(3, ..., ...) = 0\n"
            f"+0 > SEWA 0:0(0) <...>\n+.1 < {answer} 0:0(0) ack 1 win 65535 <mss 1000,sackOK>\n"
        )
    with pytest.raises(lb.InputError, match="had no codepoint"):
        ends(ACCURATE.replace("< W.", "< . "))


def test_the_script_of_the_page_passes() -> None:
    page = (Path(__file__).parents[2] / "docs" / "senders.md").read_text("utf-8")
    _, _, rest = page.partition("<!-- block: not run: a script")
    outcome = ends(rest.partition("```text\n")[2].partition("```")[0])
    assert outcome.passed, str(outcome)
    assert outcome.events == 13


def test_a_recording_with_another_number_fails() -> None:
    given = script(cases()["cubic/loss-30"])
    wrong = given.replace("tcpi_retrans == 1", "tcpi_retrans == 2", 1)
    assert wrong != given
    outcome = run(parse("recorded", wrong), OF_RECORDINGS_US)
    assert outcome.difference is not None
    assert "tcpi_retrans = 1" in outcome.difference.found


def test_an_expected_segment_stands_for_several_sent_in_a_row() -> None:
    writes = "+0 write(4, ..., 3000) = 3000"
    assert opened(writes, "+0 > P. 1:3001(3000) ack 1").passed
    assert opened(writes, "+0 > . 1:1001(1000) ack 1", "+0 > P. 1001:3001(2000) ack 1").passed
    assert not opened(writes, "+0 > P. 1:2501(2500) ack 1").passed


def test_relative_times_count_from_the_segment_that_was_awaited() -> None:
    """The probe comes at 0.304 s, wherever in the range; what follows counts from there."""
    lines = [
        *("+0 write(4, ..., 3000) = 3000", "+0 > . 1:3001(3000) ack 1"),
        "+.1~+.9 > . 2001:3001(1000) ack 1",
    ]
    assert opened(*lines, "+.1 < . 1:1(0) ack 3001 win 1000", ".404 write(4, ..., 9) = 9").passed
    late = opened(*lines, ".2 write(4, ..., 9) = 9")
    assert late.difference is not None
    assert late.difference.line == LINES + 4


def test_tolerance() -> None:
    """4 ms; 12 ms for what a timer releases; a hundredth of the time; or what a script says.

    The probe leaves 2 RTT + 2 ms after the data, and a tick of 4 ms later: 208 ms.
    """
    write = "+0 write(4, ..., 2000) = 2000"
    assert opened(write, "+.004 > . 1:2001(2000) ack 1").passed
    assert not opened(write, "+.005 > . 1:2001(2000) ack 1").passed
    assert opened(write, "+5 write(4, ..., 9) = 9", "* > . 1:2001(2000) ack 1").passed
    probe = [write, "+0 > . 1:2001(2000) ack 1"]
    assert opened(*probe, "+.196 > . 1001:2001(1000) ack 1").passed
    assert not opened(*probe, "+.195 > . 1001:2001(1000) ack 1").passed
    wide = "--tolerance_usecs=20000\n" + OPEN + f"{write}\n+.02 > . 1:2001(2000) ack 1"
    assert ends(wide).passed
    assert not run(parse("script.pkt", wide), 19_000).passed


def test_what_acknowledges_data_not_sent_is_dropped() -> None:
    outcome = opened(
        "+0 write(4, ..., 20000) = 20000",
        "+0 > . 1:10001(10000) ack 1",
        "+.1 < . 1:1(0) ack 15001 win 1000 <sack 16001:17001>",
        "+0 %{ assert tcpi_unacked == 10 and tcpi_sacked == 0, tcpi_unacked }%",
    )
    assert outcome.passed, str(outcome)


def test_a_fin_leaves_with_the_last_data() -> None:
    outcome = opened(
        "+0 write(4, ..., 11000) = 11000",
        "+0 > . 1:10001(10000) ack 1",
        "+.05 close(4) = 0",
        "+.05 < . 1:1(0) ack 10001 win 1000",
        "+0 > FP. 10001:11001(1000) ack 1",
        "+.1 < F. 1:1(0) ack 11002 win 1000",
        "+0 > . 11002:11002(0) ack 2",
    )
    assert outcome.passed, str(outcome)


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("+0 frobnicate(4) = 0", "'frobnicate'"),
        ("+0 ? . 1:1(0)", "'?'"),
        ("soon write(4, ..., 1000) = 1000", "'soon'"),
        ("+0 > .8 1:1001(1000) ack 1", "'.8'"),
        ("+0 > E5. 1:1001(1000) ack 1", "'E5.'"),
        ("+0 < . 1:1(0) ack 1 win 1000 <ECN e0b 1 ceb,nop>", "end of the line"),
        ("+0 < . 1:1(0) ack 1 win 1000 <ECN e2b 1,nop>", "'e2b'"),
        ("+0 setsockopt(4, SOL_TCP, TCP_CORK, [2], 4) = 0", "'2'"),
        ("+0 < icmp unreachable host_unreachable", "'icmp'"),
        ("+0 < C. 1:1(0) ack 1 win 1000", "'C.'"),
        ("+0 < . 1:1001(1000) ack 1 win 1000", "'1:1001'"),
        ("+0 < . 1:1(0) ack 1 win 1000 <foo 3>", "'foo'"),
        ("+0 < . 1:1(0) ack 1 win 1000 urg 3", "'urg'"),
        ("+0 < S 0:0(0) win 1000", "'S'"),
        ("+0 setsockopt(4, SOL_TCP, TCP_FROB, [1], 4) = 0", "'TCP_FROB'"),
        ('+0 setsockopt(4, SOL_TCP, TCP_CONGESTION, "bbr", 3) = 0', "'bbr'"),
        ("+0 send(4, ..., 1000, MSG_OOB) = 1000", "'MSG_OOB'"),
        ("+0 `sysctl -q net.ipv4.tcp_frob=1`", "'net.ipv4.tcp_frob'"),
        ("+0 `sysctl -q net.ipv4.tcp_ecn=6`", "'tcp_ecn=6'"),
        ("+0 `rm -rf /`", "'rm'"),
        ("+0 `tc qdisc replace dev tun0 root pfifo limit 0`", "pfifo limit 0"),
        ("+0 %{ assert tcpi_frob == 1 }%", "'tcpi_frob'"),
        ("+0 %{ __import__('os').abort() }%", "__import__"),
        ("+0 %{ assert (1).__class__ }%", "__class__"),
        ("+0 %{ assert [x for x in 'abc'] }%", "for x in"),
        ("+0 %{ assert 1 + }%", "assert 1 +"),
        ("+0 %{ assert 1 / 0 }%", "1 / 0"),
        ("+0 %{ assert int('x') }%", "int('x')"),
        ("+0 %{ assert max() }%", "max()"),
        ("+0 %{ assert -'a' }%", "-'a'"),
        ("+0 %{ assert int(1e300 * 1e300) }%", "int(1e+300 * 1e+300)"),
    ],
)
def test_an_unknown_word_is_named(line: str, word: str) -> None:
    with pytest.raises(lb.InputError) as refused:
        opened(line)
    assert refused.value.path == f"script.pkt:{LINES + 1}"
    assert word in refused.value.given


def test_an_acknowledgement_within_a_full_segment_is_refused() -> None:
    lines = ("+0 write(4, ..., 1500) = 1500", "+0 > . 1:1501(1500) ack 1")
    assert opened(*lines, "+.1 < . 1:1(0) ack 1501 win 1000").passed
    assert opened(*lines, "+.1 < . 1:1(0) ack 1201 win 1000").passed
    with pytest.raises(lb.InputError, match="within a full segment"):
        opened(*lines, "+.1 < . 1:1(0) ack 501 win 1000")


def test_without_sack_a_part_of_a_segment_is_no_duplicate() -> None:
    """Three later ones are: the first acknowledgement of byte 1200 moves the window."""
    outcome = ends(
        OPEN.replace("sackOK,", "") + "+0 setsockopt(4, SOL_TCP, TCP_NODELAY, [1], 4) = 0\n"
        "+0 write(4, ..., 1000) = 1000\n+0 > . 1:1001(1000) ack 1\n"
        "+.1 < . 1:1(0) ack 1001 win 1000\n"
        "+0 write(4, ..., 500) = 500\n+0 > . 1001:1501(500) ack 1\n"
        "+0 write(4, ..., 3000) = 3000\n+0 > . 1501:4501(3000) ack 1\n"
        "+.1 < . 1:1(0) ack 1201 win 1000\n"
        "+0 < . 1:1(0) ack 1201 win 1000\n+0 < . 1:1(0) ack 1201 win 1000\n"
        "+0 %{ assert tcpi_sacked == 2 and tcpi_ca_state == TCP_CA_Disorder, tcpi_sacked }%\n"
        "+0 < . 1:1(0) ack 1201 win 1000\n+0 > . 1201:1501(300) ack 1\n"
    )
    assert outcome.passed, str(outcome)


def test_the_last_segment_is_cut_where_it_left_or_ended_a_record() -> None:
    """The second segment grows while it waits, and no more once it left."""
    cuts = Cuts(1000)
    cuts.write(1500, 0)
    cuts.write(300, 1)
    assert cuts.ends == [0, 1000, 1800]
    cuts.write(300, 2, end_of_record=True)
    cuts.write(100, 2)
    assert cuts.ends == [0, 1000, 1800, 2100, 2200]
    assert [cuts.down(1800), cuts.down(1900), cuts.up(1900)] == [2000, 2000, 3000]
    assert cuts.bounds(2000) == (1800, 2100)
    # As many segments fit: none, two, all four, and more than all.
    windows = [cuts.window(0, size) for size in (900, 1800, 2200, 9000)]
    assert windows == [900, 2000, 4000, 9000]
    assert [cuts.within(500), cuts.within(1000), cuts.within(1500)] == [True, False, False]


@pytest.mark.parametrize(
    ("name", "word", "other"),
    [
        ("records", "200, MSG_EOR", "200, 0"),
        ("nagle", "300) = 300", "1) = 1"),
        ("nagle", "TCP_NODELAY, [1]", "TCP_NODELAY, [0]"),
        ("nagle", "TCP_CORK, [1]", "TCP_CORK, [0]"),
        ("nagle", "TCP_CORK, [0]", "TCP_CORK, [1]"),
        ("nagle", "70, MSG_MORE", "70, 0"),
        ("nagle", "+.1 > P. 3901", "+.3 > P. 3901"),
    ],
)
def test_short_segments_fail_without_their_word(name: str, word: str, other: str) -> None:
    assert not ends(text(name).replace(word, other, 1)).passed


@pytest.mark.parametrize("seed", range(150))
def test_a_damaged_script_has_an_outcome_or_a_message(seed: int) -> None:
    rng = random.Random(seed)
    given = text(rng.choice(NAMES))
    for _ in range(3):
        place, length = rng.randrange(len(given)), rng.randrange(9)
        other = rng.choice(["", "0", "-1", "9" * 12, "~", '"', "`", "%{", "}%", "(", "sack 5:3,"])
        given = given[:place] + other + given[place + length :]
    try:
        ends(given)
    except lb.InputError as error:
        assert error.errors[0].path.startswith("script.pkt:")


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad, odd = str(SCRIPTS / "f-rto.pkt"), tmp_path / "bad.pkt", tmp_path / "odd.pkt"
    bad.write_text(text("timeout").replace("tcpi_lost == 10", "tcpi_lost == 9"))
    odd.write_text("0 frobnicate() = 0\n")
    assert main(["packetdrill", good]) == 0
    assert capsys.readouterr().out == f"pass  {good}\n"
    assert main(["packetdrill", str(bad), good]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith(f"fail  {bad}:")
    assert [line.split() for line in out[1:3]] == [
        ["-", "tcpi_lost", "==", "9"],
        ["+", "tcpi_lost", "=", "10"],
    ]
    assert out[-1] == "2 scripts: 1 pass, 1 fail, 0 unknown"
    assert main(["packetdrill", good, str(odd), str(tmp_path / "none.pkt")]) == 2
    said = capsys.readouterr()
    assert f"{odd}:1: given 'frobnicate'" in said.err
    assert "none.pkt" in said.err
    assert main(["packetdrill", good, str(bad), "--format", "json"]) == 1
    first, second = json.loads(capsys.readouterr().out)
    assert first == {"file": good, "outcome": "pass", "events": first["events"]}
    assert (second["outcome"], second["found"]) == ("fail", "tcpi_lost = 10")
    assert main(["packetdrill", good, "--tolerance_usecs", "soon"]) == 2

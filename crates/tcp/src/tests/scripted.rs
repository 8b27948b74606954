//! A sender that receives scripted acknowledgements, for cases that occur only when segments
//! overtake each other.

use super::vectors::parameters;
use super::{fabric, SIZES};
use crate::sender::Sender;
use crate::transport::{self, Transport, TransportSettings};
use crate::wire::host_timer::HostTimer;
use crate::wire::segment::{Endpoint, ACK, SYN};
use crate::{Flow, Parameters, Value};
use lightburst_des::{Duration, Simulator, Ties, Time};
use lightburst_net::{
    Block, Context, FlowId, Header, Hosts, Network, NodeId, Options, PacketId, TimerId,
};

pub const MSS: u64 = 1000;
pub const SECOND: u64 = 1_000_000_000_000;
const FLOW: Flow = Flow {
    id: FlowId(0),
    group: 0,
    source: NodeId(0),
    destination: NodeId(1),
    start: Time::ZERO,
    size: 30 * MSS,
};
/// An acknowledgement of the first n segments, and optionally the number of another segment to
/// SACK.
pub type Answer = (u64, Option<u64>);

/// Host 0 is the sender; host 1 answers its SYN and then sends the acknowledgements of the script.
struct Scripted {
    sender: Sender,
    script: Vec<Answer>,
    /// Number and arrival time of each segment sent.
    sent: Vec<(u64, Time)>,
}

fn answer(flags: u8, (count, more): Answer, ctx: &mut Context<'_>) {
    let mut options = Options::default();
    if let Some(start) = more.map(|number| number * MSS) {
        let end = start + MSS;
        options.push(Block { start, end });
    }
    let header = Header {
        acknowledgement: count * MSS,
        flags,
        ..Header::default()
    };
    let mut end = Endpoint {
        id: FLOW.id,
        peer: FLOW.source,
        sizes: &SIZES,
        ctx,
        level: None,
    };
    end.send(header, Some(options), 0);
}

impl Hosts for Scripted {
    fn start(&mut self, ctx: &mut Context<'_>) {
        let end = &mut Endpoint::source(&FLOW, &SIZES, ctx);
        self.sender.start(true, end);
        // The acknowledgements start after 1.5 seconds, when the retransmission timer has expired
        // once.
        for i in 0..self.script.len() as u64 {
            ctx.timer_at(
                NodeId(1),
                Time(SECOND * 3 / 2 + i * SECOND / 1000),
                TimerId {
                    kind: 2,
                    subject: i as u32,
                },
            );
        }
    }

    fn on_packet(&mut self, packet: PacketId, ctx: &mut Context<'_>) {
        let has_options = ctx.packet(packet).header.has_options();
        let options = has_options.then(|| *ctx.options(packet));
        let header = ctx.deliver(packet).header;
        if ctx.node() == NodeId(0) {
            let end = &mut Endpoint::source(&FLOW, &SIZES, ctx);
            self.sender.on_segment(&header, options.as_ref(), end);
        } else if header.flags & SYN != 0 {
            answer(SYN | ACK, (0, None), ctx);
        } else if header.payload > 0 {
            self.sent.push((header.sequence / MSS, ctx.now()));
        }
    }

    fn on_timer(&mut self, timer_id: TimerId, ctx: &mut Context<'_>) {
        if ctx.node() == NodeId(0) {
            let end = &mut Endpoint::source(&FLOW, &SIZES, ctx);
            match HostTimer::of(timer_id) {
                HostTimer::Pacing => self.sender.on_pacing(end),
                _ => self.sender.on_timer(u32::MAX, end),
            }
        } else {
            answer(ACK, self.script[timer_id.subject as usize], ctx);
        }
    }
}

/// Returns the numbers of the segments that a `tcp` sender sends within two seconds.
fn sent(changes: &[(&str, f64)], recovery: [(&str, Value); 5], script: &[Answer]) -> Vec<u64> {
    let word = |word: &str| Value::Word(word.to_string());
    let table = |settings: &[(&str, Value)]| {
        let own = settings.iter().cloned();
        Value::Table(Parameters::new(
            own.map(|(name, value)| (name.to_string(), value)),
        ))
    };
    let mut all = parameters(changes).values;
    let law = [("kind", word("reno")), ("halving", word("flight-size"))];
    all.extend([
        ("congestion_control".to_string(), table(&law)),
        ("recovery".to_string(), table(&recovery)),
        ("rtt_samples".to_string(), word("one-at-a-time")),
        ("timestamps".to_string(), Value::Switch(false)),
    ]);
    let transport = (transport::find("tcp").unwrap().build)(&TransportSettings {
        parameters: &Parameters::new(all),
        sizes: &SIZES,
        line_rate: lightburst_net::Rate::from_bps(1),
        segment_time: Duration::ZERO,
        seed: 0,
    });
    let sent = play(transport, script).into_iter();
    sent.map(|(number, _)| number).collect()
}

/// Returns the number and arrival time of each segment that a sender sends within two seconds.
pub fn play(transport: Transport, script: &[Answer]) -> Vec<(u64, Time)> {
    let hosts = Scripted {
        sender: Sender::new(&FLOW, MSS as u32, u64::MAX, true, transport),
        script: script.to_vec(),
        sent: Vec::new(),
    };
    let network = Network::new(fabric(1), hosts, Vec::new(), 2);
    let mut simulator: Simulator<_> = Simulator::new(network, Ties::new(0, None), 16);
    simulator.model.start(&mut simulator.agenda);
    simulator.run(Time(2 * SECOND), u64::MAX);
    simulator.model.hosts.sent
}

/// After the timeout, `sack1` takes the sixth segment for lost and retransmits it, with a pipe of 5
/// and a window of 3. Then 11 segments are acknowledged: all those sent since the timeout, while
/// the last 9 of those sent before it are outstanding; the pipe is 3. A repetition of this
/// acknowledgement is a duplicate because of the 9 outstanding segments: it reduces the pipe by 1,
/// and the next segment is sent.
#[test]
fn a_duplicate_is_one_also_where_nothing_was_sent_again() {
    let found = sent(
        &[("initial_window_bytes", 20.0 * MSS as f64)],
        [
            ("kind", Value::Word("sack1".to_string())),
            ("duplicate_threshold", Value::Number(1.0)),
            ("limited_transmit", Value::Switch(true)),
            ("bug_fix", Value::Switch(false)),
            ("sack_blocks", Value::Number(4.0)),
        ],
        &[
            (1, None),
            (2, None),
            (3, None),
            (4, None),
            (5, None),
            (5, Some(6)),
            (11, None),
            (11, Some(13)),
        ],
    );
    let first: Vec<u64> = (0..20).collect();
    let (before, after) = found.split_at(first.len());
    assert_eq!(before, first);
    assert_eq!(after, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 5, 11]);
}

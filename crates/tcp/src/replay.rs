//! A sender that hears recorded acknowledgements at their times, without a network: it is compared
//! with another implementation that heard the same.

use crate::sender::timed::Snapshot;
use crate::sender::Sender;
use crate::transport::{TransportKind, TransportSettings};
use crate::wire::host_timer::HostTimer;
use crate::wire::segment::{Endpoint, ACK, CWR, ECE, SYN};
use crate::{Flow, Parameters, Sizes};
use lightburst_des::{Duration, Simulator, Ties, Time};
use lightburst_net::{
    Block, Context, Fabric, FlowId, Header, Hosts, Network, NodeId, Options, PacketId, Rate,
    Routing, TimerId, Wire,
};

/// Rate and delay of the wire on which the segments leave: none waits for another.
const RATE_BPS: u64 = 100_000_000_000_000;
const DELAY: Duration = Duration(1);
/// Time at which the handshake ends; that of the first event is counted from it.
const ESTABLISHED: Time = Time(1_000_000_000_000_000);

/// An event that the sender is told.
#[derive(Clone, Debug)]
pub enum Event {
    /// The application has written this number of bytes in all.
    Write(u64),
    /// An acknowledgement arrives.
    Acknowledgement(Acknowledgement),
    /// The state is noted.
    Look,
}

/// An acknowledgement as it was recorded.
#[derive(Clone, Debug)]
pub struct Acknowledgement {
    /// Next byte that the receiver expects.
    pub acknowledgement: u64,
    /// SACK blocks, at most four.
    pub blocks: Vec<Block>,
    /// Whether ECE is set.
    pub echo: bool,
    /// Count of marks modulo 8 (ACE field of RFC 9768); 0 unless marks are counted.
    pub ace: u8,
    /// Time since the handshake that its timestamp echoes.
    pub timestamp: Option<Duration>,
    /// Its own timestamp, in units of the peer since that of the handshake (TSval of RFC 7323).
    pub stamp: Option<u64>,
    /// Receive window in bytes; as before if it is not given.
    pub window: Option<u64>,
}

/// A recorded connection.
pub struct Recording<'a> {
    /// Transport of the sender.
    pub transport: TransportKind,
    /// Settings of the transport.
    pub parameters: &'a Parameters,
    /// Sizes on the wire.
    pub sizes: Sizes,
    /// Round-trip time of the handshake.
    pub handshake: Duration,
    /// Receive window of the handshake in bytes; that of the settings if it is not given.
    pub window: Option<u64>,
    /// Whether the sender answered the SYN of its peer, and so knows the window of an acknowledgement.
    pub accepted: bool,
    /// Bytes written over all events.
    pub bytes: u64,
    /// Events, with their times since the handshake.
    pub events: Vec<(Duration, Event)>,
    /// Seed of the law's random stream.
    pub seed: u64,
    /// Time after which nothing more is recorded.
    pub end: Duration,
}

/// A segment that the sender sent.
#[derive(Clone, Copy, Debug)]
pub struct Transmission {
    /// First byte.
    pub sequence: u64,
    /// Time since the handshake.
    pub at: Duration,
    /// Index of the event that caused it; `None` for a timer.
    pub cause: Option<u32>,
    /// Whether it tells the receiver of a reduction (CWR of RFC 3168).
    pub reduced: bool,
}

/// State of the sender after an event other than a write, before any later one.
#[derive(Clone, Copy, Debug)]
pub struct After {
    /// Index of the event.
    pub event: u32,
    /// The state.
    pub state: Snapshot,
}

/// Log of a replay.
#[derive(Clone, Debug, Default)]
pub struct Replayed {
    /// Segments in the order of their transmission.
    pub transmissions: Vec<Transmission>,
    /// States after the acknowledgements, and where they were to be noted.
    pub states: Vec<After>,
}

/// Host 0 is the sender; host 1 notes the segments.
struct Player {
    flow: Flow,
    sizes: Sizes,
    sender: Sender,
    events: Vec<(Duration, Event)>,
    log: Replayed,
    /// Segments noted so far.
    noted: usize,
}

impl Player {
    /// Sends an event to the sender, and notes the segments that it causes.
    fn tell(&mut self, index: u32, ctx: &mut Context<'_>) {
        let before = self.sender.transmissions;
        let end = &mut Endpoint::source(&self.flow, &self.sizes, ctx);
        match &self.events[index as usize].1 {
            Event::Write(bytes) => self.sender.write(*bytes, end),
            Event::Look => self.look(index),
            Event::Acknowledgement(given) => {
                let sent = self.sender.sent();
                // RFC 9293, section 3.10.7.4: what acknowledges something not yet sent is dropped.
                if given.acknowledgement > sent {
                    return self.look(index);
                }
                if let Some(window) = given.window {
                    self.sender.hear_window(given.acknowledgement, window);
                }
                let mut options = Options::default();
                // RFC 2018, section 8: blocks concern data that was sent.
                let known = given.blocks.iter().filter(|block| block.end <= sent);
                known.for_each(|&block| options.push(block));
                if let Some(echoed) = given.timestamp {
                    options.echo = ESTABLISHED + echoed;
                }
                if let Some(stamp) = given.stamp {
                    options.timestamp = Time(stamp);
                }
                let header = Header {
                    acknowledgement: given.acknowledgement,
                    flags: ACK | if given.echo { ECE } else { 0 },
                    ace: given.ace,
                    ..Header::default()
                };
                self.sender.on_segment(&header, Some(&options), end);
                self.look(index);
            }
        }
        self.note(before, Some(index), ctx.now());
    }

    fn look(&mut self, index: u32) {
        if let Some(state) = self.sender.snapshot() {
            self.log.states.push(After {
                event: index,
                state,
            });
        }
    }

    fn note(&mut self, before: u64, cause: Option<u32>, now: Time) {
        for _ in before..self.sender.transmissions {
            self.log.transmissions.push(Transmission {
                sequence: u64::MAX,
                at: now.since(ESTABLISHED),
                cause,
                reduced: false,
            });
        }
    }
}

impl Hosts for Player {
    fn start(&mut self, ctx: &mut Context<'_>) {
        let timer = |kind: HostTimer, index: usize| TimerId {
            kind: kind as u8,
            subject: index as u32,
        };
        // The last entry is the handshake.
        for (index, (at, _)) in self.events.iter().enumerate() {
            let at = ESTABLISHED + *at;
            ctx.timer_at(NodeId(0), at, timer(HostTimer::Delay, index));
        }
        ctx.timer_at(NodeId(0), ESTABLISHED, timer(HostTimer::Receiver, 0));
        ctx.timer_at(NodeId(0), self.flow.start, timer(HostTimer::Start, 0));
    }

    fn on_packet(&mut self, packet: PacketId, ctx: &mut Context<'_>) {
        let header = ctx.deliver(packet).header;
        if header.payload > 0 {
            let sent = &mut self.log.transmissions[self.noted];
            sent.sequence = header.sequence;
            sent.reduced = header.flags & CWR != 0;
            self.noted += 1;
        }
    }

    fn on_timer(&mut self, timer_id: TimerId, ctx: &mut Context<'_>) {
        let timer = HostTimer::of(timer_id);
        if timer == HostTimer::Delay {
            return self.tell(timer_id.subject, ctx);
        }
        let (before, now) = (self.sender.transmissions, ctx.now());
        let end = &mut Endpoint::source(&self.flow, &self.sizes, ctx);
        match timer {
            HostTimer::Start => self.sender.start(true, end),
            HostTimer::Receiver => {
                // The application writes at its events.
                self.sender.write(0, end);
                let header = Header {
                    flags: SYN | ACK,
                    ..Header::default()
                };
                self.sender.on_segment(&header, None, end);
            }
            HostTimer::Pacing => self.sender.on_pacing(end),
            _ => self.sender.on_timer(u32::MAX, end),
        }
        self.note(before, None, now);
    }
}

/// Returns the segments that a sender sends, and its states, when it hears the recorded events.
/// Requires a recovery that goes by times of sending.
pub fn replay(recording: Recording<'_>) -> Replayed {
    let sizes = recording.sizes;
    let transport = (recording.transport.build)(&TransportSettings {
        parameters: recording.parameters,
        sizes: &sizes,
        segment_time: Duration::ZERO,
        line_rate: Rate::from_bps(1),
        seed: recording.seed,
    });
    let flow = Flow {
        id: FlowId(0),
        group: 0,
        source: NodeId(0),
        destination: NodeId(1),
        start: Time(ESTABLISHED.0 - recording.handshake.0),
        // The connection stays open, so that it hears every acknowledgement.
        size: recording.bytes + u64::from(sizes.mss()),
    };
    let settings = (recording.transport.reception)(recording.parameters);
    let rwnd = recording.window.unwrap_or(settings.advertised);
    let wire = |from, to| Wire {
        from: NodeId(from),
        to: NodeId(to),
        rate: Rate::from_bps(RATE_BPS),
        delay: DELAY,
        store_and_forward: true,
        watched: false,
    };
    let ends = [(NodeId(0), NodeId(1), 1), (NodeId(1), NodeId(0), 1)];
    let routing = Routing::shortest_path(2, 2, &ends);
    let fabric = Fabric::new(2, &[wire(0, 1), wire(1, 0)], routing, 1);
    let end = ESTABLISHED + recording.end;
    let mut sender = Sender::new(&flow, sizes.mss(), rwnd, true, transport);
    if recording.accepted {
        sender.accept();
    }
    let player = Player {
        sender,
        flow,
        sizes,
        events: recording.events,
        log: Replayed::default(),
        noted: 0,
    };
    let network = Network::new(fabric, player, Vec::new(), 2);
    let mut simulator: Simulator<_> = Simulator::new(network, Ties::new(0, None), 16);
    simulator.model.start(&mut simulator.agenda);
    simulator.run(end, u64::MAX);
    // Segments sent at the very end arrive a moment later.
    let hosts = &mut simulator.model.hosts;
    hosts.log.transmissions.truncate(hosts.noted);
    std::mem::take(&mut hosts.log)
}

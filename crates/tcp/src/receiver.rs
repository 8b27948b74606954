//! Receiving endpoint of a flow.

pub mod reassembly;
pub mod reordering;
mod responder;

use crate::receiver::reassembly::Reassembly;
use crate::receiver::reordering::{Reordered, Reordering};
use crate::transport::{Echo, Reception};
use crate::wire::ace;
use crate::wire::host_timer::HostTimer;
use crate::wire::segment::{Endpoint, ACK, CWR, ECE, FIN, FIN_ACKNOWLEDGED, SYN};
use crate::wire::timer::Timer;
use crate::{Flow, TimeoutPolicy};
use lightburst_des::Time;
use lightburst_net::{Block, Header, NodeId, Options};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Listen,
    SynReceived,
    Established,
    LastAck,
    Closed,
    /// The SYN+ACK or FIN+ACK was repeated as often as permitted.
    GaveUp,
    /// Receives a message without opening or closing a connection (transport `rdma`).
    Responding,
}

/// Pulls of a message.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pulled {
    /// Number of pulls sent.
    pub sent: u64,
    /// Number of pulls that wait in the queue of the host.
    pub waiting: u32,
}

/// Receiving endpoint of one flow. The fields needed for every segment come first and fill one
/// cache line.
#[repr(C, align(64))]
pub struct Receiver {
    /// Next byte expected (RCV.NXT).
    rcv_nxt: u64,
    held: Reassembly,
    delay: Timer,
    /// Arrival time of the segment that last advanced `rcv_nxt`.
    advanced: Time,
    /// Number of in-order segments that are not yet acknowledged.
    waiting: u32,
    /// Index of the flow's group.
    pub group: u16,
    state: State,
    /// Whether a FIN arrived with data, possibly while earlier data is missing.
    fin: bool,
    timer: Timer,
    /// Whether acknowledgements echo a congestion mark (DCTCP.CE); used only if marks are echoed. If
    /// they are counted: whether the last data segment was marked.
    marked: bool,
    /// Marked data segments modulo 256; used only if they are counted.
    marks: u8,
    /// Last.ACK.sent of RFC 7323; used only with timestamps.
    last_ack_sent: u64,
    /// Timestamp to echo (TS.Recent of RFC 7323).
    ts_recent: Time,
    /// Host of the sender.
    pub peer: NodeId,
    /// Timeout of SYN+ACK and FIN+ACK; `None` if only the sender retransmits.
    timeout: Option<Box<dyn TimeoutPolicy>>,
    /// Number of expiries of the timer since the sender last responded.
    attempts: u32,
    /// Number of segments received although their data was held already.
    pub duplicates: u64,
    /// Reordering statistics; `None` as long as all segments arrive in order.
    reordering: Option<Box<Reordering>>,
    /// Time from which a mark is notified at once; only of a responder.
    notify_at: Time,
    /// Pulls of its packets; only of a responder.
    pub pulls: Pulled,
    /// Whether a NAK was sent and its packet has not arrived yet; only of a responder.
    refused: bool,
}

impl Receiver {
    /// Creates the receiver of a flow, waiting for a SYN, or for data if there is no handshake.
    pub fn new(flow: &Flow, timeout: Option<Box<dyn TimeoutPolicy>>) -> Receiver {
        Receiver {
            group: flow.group,
            peer: flow.source,
            state: State::Listen,
            waiting: 0,
            fin: false,
            marked: false,
            marks: 0,
            rcv_nxt: 0,
            advanced: Time::NEVER,
            held: Reassembly::default(),
            timer: Timer::default(),
            delay: Timer::default(),
            ts_recent: Time::NEVER,
            last_ack_sent: 0,
            attempts: 0,
            duplicates: 0,
            reordering: None,
            notify_at: Time::ZERO,
            pulls: Pulled::default(),
            refused: false,
            timeout,
        }
    }

    /// Returns the payload bytes received in order.
    pub fn received(&self) -> u64 {
        self.rcv_nxt
    }

    /// Returns the payload bytes received, in order or not.
    pub fn arrived(&self) -> u64 {
        self.rcv_nxt + self.held.bytes()
    }

    /// Returns the arrival time of the last data in order; [`Time::NEVER`] before the first.
    pub fn advanced(&self) -> Time {
        self.advanced
    }

    /// Returns the reordering statistics.
    pub fn reordered(&self) -> Reordered {
        let counts = self.reordering.as_ref().map(|it| it.counts);
        counts.unwrap_or_default()
    }

    /// Returns whether the receiver gave up.
    pub fn gave_up(&self) -> bool {
        self.state == State::GaveUp
    }

    /// Returns whether no timer is set and no pull waits, so that only an arriving segment can cause
    /// an action.
    pub fn is_done(&self) -> bool {
        !self.timer.is_set() && !self.delay.is_set() && self.pulls.waiting == 0
    }

    /// Handles a segment from the sender; `first` is true at the first transmission of its data.
    #[inline]
    pub fn on_segment(
        &mut self,
        header: &Header,
        first: bool,
        options: Option<&Options>,
        reception: &Reception,
        end: &mut Endpoint<'_, '_>,
    ) {
        if matches!(
            self.state,
            State::Closed | State::GaveUp | State::Responding
        ) {
            if self.state == State::Responding {
                self.on_packet(header, first, reception, end);
            }
            return;
        }
        if header.flags & SYN != 0 {
            self.on_syn(options, reception, end);
        } else if header.payload > 0 {
            self.on_data(header, first, options, reception, end);
        } else if header.flags & FIN != 0 {
            self.state = State::LastAck;
            self.answer(FIN, None, reception, end);
        } else {
            self.on_ack(header.acknowledgement);
        }
    }

    fn on_syn(
        &mut self,
        options: Option<&Options>,
        reception: &Reception,
        end: &mut Endpoint<'_, '_>,
    ) {
        if matches!(self.state, State::Listen | State::SynReceived) {
            self.state = State::SynReceived;
            self.stamp(0, options);
            self.answer(SYN, None, reception, end);
        } else {
            // RFC 9293, section 3.10.7.4: a SYN in a synchronised state is answered with an ACK.
            let options = self.options(None, reception, end.now());
            self.acknowledge(0, options, reception, end);
        }
    }

    #[inline]
    fn on_data(
        &mut self,
        header: &Header,
        first: bool,
        options: Option<&Options>,
        reception: &Reception,
        end: &mut Endpoint<'_, '_>,
    ) {
        // Without a handshake the first data is the first segment.
        if matches!(self.state, State::Listen | State::SynReceived) {
            self.state = State::Established;
            self.attempts = 0;
            self.timer.clear();
        }
        let turned = match reception.echo {
            Echo::None => false,
            Echo::Each => self.turn(header, reception, end),
            Echo::UntilReduced => self.latch(header),
            Echo::Counted => self.count(header),
        };
        self.stamp(header.sequence, options);
        let segment = Block {
            start: header.sequence,
            end: end.after(header),
        };
        let expected = self.rcv_nxt;
        let has_fin = header.flags & FIN != 0;
        self.fin |= has_fin;
        let in_order = segment.start == self.rcv_nxt;
        let mut duplicate = None;
        let mut at_once = true;
        if in_order {
            self.advanced = end.now();
            if self.held.is_empty() {
                self.rcv_nxt = segment.end;
                self.waiting += 1;
                at_once = turned || self.waiting >= reception.acknowledge_every;
            } else {
                // RFC 5681, section 4.2: a segment that fills all or part of a gap is acknowledged
                // at once.
                self.note_order(segment, first, end);
                self.rcv_nxt = self.held.advance(segment.end);
            }
        } else {
            if segment.start < self.rcv_nxt || self.held.holds(segment) {
                self.duplicates += 1;
                duplicate = Some(segment);
            } else {
                self.note_order(segment, first, end);
            }
            if segment.start > self.rcv_nxt {
                self.held.insert(segment);
            }
        }
        if let Some(level) = &mut end.level {
            let fresh = segment.start >= expected;
            level.arrive(header, self.rcv_nxt, fresh, end.ctx.now());
        }
        // No data is held out of order, so a FIN that arrived is in order. It is acknowledged at
        // once, and again whenever it is repeated (RFC 9293, section 3.10.7.4).
        if self.fin && self.held.is_empty() && (in_order || has_fin) {
            self.state = State::LastAck;
            self.answer(FIN, duplicate, reception, end);
        } else if at_once {
            let options = self.options(duplicate, reception, end.now());
            self.acknowledge(0, options, reception, end);
        } else if !self.delay.is_set() {
            self.delay
                .set(end.now() + reception.delay, HostTimer::Delay, end);
        }
    }

    /// Updates the reordering statistics with a segment that was not held before.
    fn note_order(&mut self, segment: Block, first: bool, end: &Endpoint<'_, '_>) {
        let mss = u64::from(end.sizes.mss());
        let next = self.held.end().max(self.rcv_nxt);
        // All segments of a flow but the last are full.
        let arrived = (self.rcv_nxt + self.held.bytes()).div_ceil(mss);
        let reordering = self.reordering.get_or_insert_with(Default::default);
        reordering.advance(self.rcv_nxt);
        reordering.on_segment(segment.start, first, next, arrived);
    }

    /// Records whether the network marked a segment; returns whether this differs from the previous
    /// segment, in which case an acknowledgement is due at once. Segments that await an
    /// acknowledgement are acknowledged first, so that each byte is reported with its own mark (RFC
    /// 8257, section 3.2).
    fn turn(&mut self, header: &Header, reception: &Reception, end: &mut Endpoint<'_, '_>) -> bool {
        let marked = header.flags & Header::MARKED != 0;
        if marked == self.marked {
            return false;
        }
        if self.waiting > 0 {
            let options = self.options(None, reception, end.now());
            self.acknowledge(0, options, reception, end);
        }
        self.marked = marked;
        true
    }

    /// Notes a mark, or that the sender has reduced its window (RFC 3168, section 6.1.3). No
    /// acknowledgement is due sooner.
    fn latch(&mut self, header: &Header) -> bool {
        self.marked &= header.flags & CWR == 0;
        self.marked |= header.flags & Header::MARKED != 0;
        false
    }

    /// Counts a marked segment (RFC 9768, section 3.2); returns whether an acknowledgement is due at
    /// once.
    fn count(&mut self, header: &Header) -> bool {
        let marked = header.flags & Header::MARKED != 0;
        self.marks = self.marks.wrapping_add(u8::from(marked));
        // Section 3.2.2.5.1, change-triggered acknowledgements: a marked data segment comes after one
        // that was not marked.
        let turned = marked && !self.marked;
        self.marked = marked;
        turned
    }

    /// Updates the timestamp to echo: that of the oldest unacknowledged segment (RFC 7323, section
    /// 4.3).
    #[inline]
    fn stamp(&mut self, sequence: u64, options: Option<&Options>) {
        let Some(options) = options.filter(|_| sequence <= self.last_ack_sent) else {
            return;
        };
        if self.ts_recent == Time::NEVER || options.timestamp >= self.ts_recent {
            self.ts_recent = options.timestamp;
        }
    }

    fn on_ack(&mut self, acknowledgement: u64) {
        match self.state {
            State::SynReceived => self.state = State::Established,
            // An ACK of a duplicate SYN+ACK may still be under way; it must not close the
            // connection.
            State::LastAck if acknowledgement == FIN_ACKNOWLEDGED => self.state = State::Closed,
            _ => return,
        }
        self.attempts = 0;
        self.timer.clear();
    }

    /// Returns the options of an acknowledgement: SACK blocks, a duplicate first (RFC 2883, section
    /// 4), and the timestamp to echo.
    #[inline]
    fn options(
        &mut self,
        duplicate: Option<Block>,
        reception: &Reception,
        now: Time,
    ) -> Option<Options> {
        let duplicate = duplicate.filter(|_| reception.duplicate_sack);
        // Most acknowledgements have no SACK blocks and need no options.
        let selective = reception.blocks > 0 && (duplicate.is_some() || !self.held.is_empty());
        if !selective && !reception.timestamps {
            return None;
        }
        let mut options = Options::default();
        // RFC 2018, section 4: the block with the segment that caused the acknowledgement comes
        // first, then the most recently reported ones.
        let blocks = duplicate.iter().chain(self.held.blocks());
        blocks
            .take(reception.blocks)
            .for_each(|&block| options.push(block));
        if reception.timestamps {
            options.timestamp = now;
            options.echo = self.ts_recent;
            self.last_ack_sent = self.rcv_nxt;
        }
        Some(options)
    }

    /// Sends a SYN or FIN with an acknowledgement, and sets the timer if there is one.
    fn answer(
        &mut self,
        flag: u8,
        duplicate: Option<Block>,
        reception: &Reception,
        end: &mut Endpoint<'_, '_>,
    ) {
        let options = self.options(duplicate, reception, end.now());
        let begin = self.acknowledge(flag, options, reception, end);
        let sent = match reception.from_transmission {
            true => begin.unwrap_or(Time::NEVER),
            false => end.now(),
        };
        self.wait_from(sent, end);
    }

    /// Sets the timer for the response to a SYN or FIN, counted from `sent`, if there is a timer.
    fn wait_from(&mut self, sent: Time, end: &mut Endpoint<'_, '_>) {
        if let Some(timeout) = &self.timeout {
            self.timer
                .set(sent + timeout.value(), HostTimer::Receiver, end);
        }
    }

    /// Handles the start of the transmission of a segment that waited at the interface.
    pub fn on_departure(
        &mut self,
        header: &Header,
        reception: &Reception,
        end: &mut Endpoint<'_, '_>,
    ) {
        let awaited = match self.state {
            State::SynReceived => header.flags & SYN != 0,
            State::LastAck => header.flags & FIN != 0,
            _ => false,
        };
        if awaited && reception.from_transmission {
            self.wait_from(end.now(), end);
        }
    }

    #[inline]
    fn acknowledge(
        &mut self,
        flag: u8,
        options: Option<Options>,
        reception: &Reception,
        end: &mut Endpoint<'_, '_>,
    ) -> Option<Time> {
        self.waiting = 0;
        self.delay.clear();
        let (echo, ace) = match reception.echo {
            Echo::None => (0, 0),
            how => self.echo(how, flag),
        };
        let header = Header {
            sequence: end.data_ack(),
            acknowledgement: self.rcv_nxt,
            flags: flag | ACK | echo,
            ace,
            ..Header::default()
        };
        end.send(header, options, 0)
    }

    /// Returns the ECN flags of an acknowledgement, and its count of marks. The function is not
    /// inlined, so that `marked`, which lies in another cache line, is read only if marks are echoed.
    #[cold]
    #[inline(never)]
    fn echo(&self, how: Echo, flag: u8) -> (u8, u8) {
        match how {
            // RFC 9768, section 3.2.2: a segment with SYN has no count.
            Echo::Counted if flag & SYN != 0 => (0, ace::NOT_CAPABLE),
            Echo::Counted => (0, ace::field(u64::from(self.marks))),
            _ if self.marked => (ECE, 0),
            _ => (0, 0),
        }
    }

    /// Handles the event of the delayed-acknowledgement timer.
    pub fn on_delay(&mut self, reception: &Reception, end: &mut Endpoint<'_, '_>) {
        if self.delay.expired(HostTimer::Delay, end) {
            if let Some(interval) = reception.notify {
                return self.notify(interval, end);
            }
            let options = self.options(None, reception, end.now());
            self.acknowledge(0, options, reception, end);
        }
    }

    /// Handles the event of the retransmission timer: repeats the SYN+ACK or FIN+ACK, or gives up.
    pub fn on_timer(&mut self, reception: &Reception, end: &mut Endpoint<'_, '_>) {
        if !self.timer.expired(HostTimer::Receiver, end) {
            return;
        }
        self.attempts += 1;
        if self.attempts > reception.most_retransmissions {
            self.state = State::GaveUp;
            return;
        }
        if let Some(timeout) = &mut self.timeout {
            timeout.on_timeout();
        }
        let flag = if self.state == State::SynReceived {
            SYN
        } else {
            FIN
        };
        self.answer(flag, None, reception, end);
    }
}

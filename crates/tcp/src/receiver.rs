//! The end of a flow that wants the data.

use crate::reassembly::Reassembly;
use crate::reordering::{Reordered, Reordering};
use crate::segment::{Endpoint, ACK, ECE, FIN, FIN_ACKNOWLEDGED, SYN};
use crate::timer::Timer;
use crate::token;
use crate::transport::Reception;
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
    /// Its SYN+ACK or FIN+ACK was repeated as often as it may be.
    GaveUp,
}

/// The receiving end of one flow. What every segment needs fills its first line of memory.
#[repr(C, align(64))]
pub struct Receiver {
    /// Next byte expected (RCV.NXT).
    rcv_nxt: u64,
    held: Reassembly,
    delay: Timer,
    /// When the last byte before `rcv_nxt` arrived.
    advanced: Time,
    /// In-order segments that are not acknowledged yet.
    waiting: u32,
    /// The group of its flow.
    pub group: u16,
    state: State,
    /// Whether a FIN came with data, perhaps ahead of what is missing.
    fin: bool,
    timer: Timer,
    /// Whether the last segment was marked by the network, if it echoes that (DCTCP.CE).
    marked: bool,
    /// Last.ACK.sent of RFC 7323, kept with time stamps only.
    last_ack_sent: u64,
    /// TS.Recent of RFC 7323.
    ts_recent: Time,
    /// The host that has the data.
    pub peer: NodeId,
    /// None: only the sender retransmits, and this end answers.
    timeout: Option<Box<dyn TimeoutPolicy>>,
    /// Expirations of its timer since the sender answered.
    attempts: u32,
    /// Segments that it had already.
    pub duplicates: u64,
    /// None: all came in order.
    reordering: Option<Box<Reordering>>,
}

impl Receiver {
    /// A receiver of this flow that waits for a SYN.
    pub fn new(flow: &Flow, timeout: Option<Box<dyn TimeoutPolicy>>) -> Receiver {
        Receiver {
            group: flow.group,
            peer: flow.source,
            state: State::Listen,
            waiting: 0,
            fin: false,
            marked: false,
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
            timeout,
        }
    }

    /// Useful bytes received in order.
    pub fn received(&self) -> u64 {
        self.rcv_nxt
    }

    /// Useful bytes that are here, in order or not.
    pub fn arrived(&self) -> u64 {
        self.rcv_nxt + self.held.bytes()
    }

    /// When the last of the bytes in order arrived; [`Time::NEVER`] before the first.
    pub fn advanced(&self) -> Time {
        self.advanced
    }

    /// What came behind something that was sent later.
    pub fn reordered(&self) -> Reordered {
        let counts = self.reordering.as_ref().map(|it| it.counts);
        counts.unwrap_or_default()
    }

    /// Whether it gave up.
    pub fn gave_up(&self) -> bool {
        self.state == State::GaveUp
    }

    /// Whether it does nothing more unless something comes.
    pub fn is_done(&self) -> bool {
        !self.timer.is_set() && !self.delay.is_set()
    }

    /// A segment from the sender arrives; `first`: what it carries was not sent before.
    #[inline]
    pub fn on_segment(
        &mut self,
        header: &Header,
        first: bool,
        options: Option<&Options>,
        reception: &Reception,
        end: &mut Endpoint<'_, '_>,
    ) {
        if matches!(self.state, State::Closed | State::GaveUp) {
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
        if self.state == State::SynReceived {
            self.state = State::Established;
            self.attempts = 0;
            self.timer.clear();
        }
        let turned = reception.ecn && self.turn(header, reception, end);
        self.stamp(header.sequence, options);
        let segment = Block {
            start: header.sequence,
            end: header.sequence + u64::from(header.payload),
        };
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
                // RFC 5681, section 4.2: a gap is filled, or part of it.
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
        // Nothing is held back: the FIN, if it came, is in order. RFC 9293, section 3.10.7.4: it is
        // acknowledged at once, and again when it comes again.
        if self.fin && self.held.is_empty() && (in_order || has_fin) {
            self.state = State::LastAck;
            self.answer(FIN, duplicate, reception, end);
        } else if at_once {
            let options = self.options(duplicate, reception, end.now());
            self.acknowledge(0, options, reception, end);
        } else if !self.delay.is_set() {
            self.delay
                .set(end.now() + reception.delay, token::DELAY, end);
        }
    }

    /// Sees whether a segment that it has not got yet comes behind one that was sent later.
    fn note_order(&mut self, segment: Block, first: bool, end: &Endpoint<'_, '_>) {
        let mss = u64::from(end.sizes.mss());
        let next = self.held.end().max(self.rcv_nxt);
        // All segments but the last of a flow are full.
        let arrived = (self.rcv_nxt + self.held.bytes()).div_ceil(mss);
        let reordering = self.reordering.get_or_insert_with(Default::default);
        reordering.advance(self.rcv_nxt);
        reordering.on_segment(segment.start, first, next, arrived);
    }

    /// Looks whether the network has marked a segment; says whether it is the other way than with
    /// the one before, so that an acknowledgement goes at once. RFC 8257, section 3.2, lets what
    /// waited be acknowledged on its own before, so that each byte is counted for what it was.
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

    /// RFC 7323, section 4.3: the echo is that of the oldest segment not acknowledged.
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
            // An ACK of a duplicate SYN+ACK may still be under way: it closes nothing.
            State::LastAck if acknowledgement == FIN_ACKNOWLEDGED => self.state = State::Closed,
            _ => return,
        }
        self.attempts = 0;
        self.timer.clear();
    }

    /// SACK blocks, the duplicate's first (RFC 2883, section 4), and the time stamp to echo.
    #[inline]
    fn options(
        &mut self,
        duplicate: Option<Block>,
        reception: &Reception,
        now: Time,
    ) -> Option<Options> {
        let duplicate = duplicate.filter(|_| reception.duplicate_sack);
        // Options without a block say nothing: most acknowledgements are spared them.
        let selective = reception.blocks > 0 && (duplicate.is_some() || !self.held.is_empty());
        if !selective && !reception.timestamps {
            return None;
        }
        let mut options = Options::default();
        // RFC 2018, section 4: the block of the segment that is answered, then the others, the most
        // recently reported first.
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

    /// Sends a SYN or FIN with an acknowledgement; waits for the answer if it has a timer.
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

    /// Waits for the answer to a SYN or FIN, if it has a timer.
    fn wait_from(&mut self, sent: Time, end: &mut Endpoint<'_, '_>) {
        if let Some(timeout) = &self.timeout {
            self.timer.set(sent + timeout.value(), token::RECEIVER, end);
        }
    }

    /// A segment that has waited at the interface begins its transmission.
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
        let echo = if reception.ecn { self.echo() } else { 0 };
        let header = Header {
            acknowledgement: self.rcv_nxt,
            flags: flag | ACK | echo,
            ..Header::default()
        };
        end.send(header, options, 0)
    }

    /// What it echoes of the network's marks. A function of its own, so that the mark, which stands
    /// in another line of memory, is looked at only where marks are echoed.
    #[cold]
    #[inline(never)]
    fn echo(&self) -> u8 {
        if self.marked {
            ECE
        } else {
            0
        }
    }

    /// The delay timer's event fires.
    pub fn on_delay(&mut self, reception: &Reception, end: &mut Endpoint<'_, '_>) {
        if self.delay.expired(token::DELAY, end) {
            let options = self.options(None, reception, end.now());
            self.acknowledge(0, options, reception, end);
        }
    }

    /// The timer's event fires: SYN+ACK or FIN+ACK is sent again, unless it may not be.
    pub fn on_timer(&mut self, reception: &Reception, end: &mut Endpoint<'_, '_>) {
        if !self.timer.expired(token::RECEIVER, end) {
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

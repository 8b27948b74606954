//! Ingress of an edge: assembly queues of the packets for each egress.

use crate::assembly::{AssemblyPolicy, Decision, Queue, Sight};
use crate::edge::ordering::Departures;
use crate::edge::{Around, EdgeSettings, EdgeTimer};
use lightburst_des::{Stream, Time};
use lightburst_net::{Bundle, Context, NodeId, Packet, PacketId, TimerId};
use std::collections::{HashMap, VecDeque};

/// Number of queues per line, besides the first one, for which memory is reserved at the start.
const FEW: usize = 4;

/// Line: all bursts of one class for one egress.
struct Line {
    egress: NodeId,
    class: u16,
    /// `None` if no host sends packets.
    policy: Option<Box<dyn AssemblyPolicy>>,
    /// Number of bursts assembled so far.
    bursts: u32,
    /// Bursts that have not been sent yet.
    departures: Departures,
}

impl Line {
    #[inline]
    fn policy(&mut self) -> &mut dyn AssemblyPolicy {
        let policy = self.policy.as_mut();
        &mut **policy.expect("a rule of assembly, since a packet has come")
    }

    /// Returns the sequence number for a new burst.
    fn next_sequence(&mut self) -> u32 {
        self.bursts += 1;
        self.bursts - 1
    }
}

/// Assembly queue with its packets.
struct Waiting {
    line: u32,
    queue: Queue,
    /// First and last packet of the linked list.
    ends: Option<(PacketId, PacketId)>,
    /// Destination of the first packet: a host behind the egress.
    destination: NodeId,
    opened: Time,
    /// Time when the timer closes the queue; a timer that expires at any other time is stale.
    closes: Time,
}

impl Waiting {
    /// Creates an empty queue.
    fn new(line: u32, number: u32, egress: NodeId) -> Waiting {
        Waiting {
            line,
            queue: Queue {
                number,
                ..Queue::default()
            },
            ends: None,
            destination: egress,
            opened: Time::ZERO,
            closes: Time::NEVER,
        }
    }
}

/// Burst whose queue was closed.
pub struct Closed {
    /// Packets of the burst.
    pub bundle: Bundle,
    /// Total waiting time of the packets, in picoseconds.
    pub waited: u128,
}

/// All assembly queues of one edge.
pub struct Ingress {
    /// Lines, sorted by class and then by egress.
    lines: Vec<Line>,
    /// Queue 0 of each line, at the index of the line, followed by the other queues in use.
    waiting: Vec<Waiting>,
    /// Index in `waiting` of each of these other queues, by line and queue number.
    places: HashMap<(u32, u32), usize>,
    /// Unused indices of `waiting`.
    free: Vec<usize>,
    has_queues: bool,
    draw: Stream,
    /// Position of each egress among all egresses, by node number; the length is the largest node
    /// number of an egress plus one.
    places_of_egresses: Vec<u32>,
    /// Closed bursts that the edge has not launched yet, in the order of their sequence numbers. An
    /// arrival closes two at most: the burst that has no room for the packet, and that of the packet.
    closed: VecDeque<Closed>,
    /// Number of egresses.
    egresses: usize,
    max_bytes: u32,
    min_bytes: u32,
    acknowledgements: bool,
}

impl Ingress {
    /// Creates an empty queue for each class and each edge that has hosts.
    pub fn new(settings: &EdgeSettings<'_>, around: &Around) -> Ingress {
        let assembly = settings.assembly;
        let mut egresses: Vec<NodeId> = around.edges.to_vec();
        egresses.sort_unstable();
        egresses.dedup();
        let last = egresses.last().expect("an edge");
        let mut places_of_egresses = vec![u32::MAX; last.index() + 1];
        for (place, egress) in (0..).zip(&egresses) {
            places_of_egresses[egress.index()] = place;
        }
        let classes = 0..=around.classes.iter().copied().max().unwrap_or(0);
        let line = |(class, &egress): (u16, &NodeId)| Line {
            egress,
            class,
            policy: assembly.map(|assembly| assembly.rule.start()),
            bursts: 0,
            departures: Departures::default(),
        };
        let lines: Vec<Line> = classes
            .flat_map(|class| egresses.iter().map(move |egress| (class, egress)))
            .map(line)
            .collect();
        let first = |(number, line): (u32, &Line)| Waiting::new(number, 0, line.egress);
        let mut policies = lines.iter().filter_map(|line| line.policy.as_ref());
        let has_queues = policies.any(|policy| policy.has_queues());
        let others = if has_queues { FEW * lines.len() } else { 0 };
        let mut waiting = Vec::with_capacity(lines.len() + others);
        waiting.extend((0..).zip(&lines).map(first));
        Ingress {
            waiting,
            has_queues,
            lines,
            draw: around.draw.clone(),
            places: HashMap::with_capacity(others),
            free: Vec::with_capacity(others),
            places_of_egresses,
            closed: VecDeque::with_capacity(2),
            egresses: egresses.len(),
            max_bytes: assembly.and_then(|it| it.max_bytes).unwrap_or(u32::MAX),
            min_bytes: assembly.and_then(|it| it.min_bytes).unwrap_or(0),
            acknowledgements: settings.acknowledgements,
        }
    }

    /// Adds a packet to a queue of its line, by the policy. A packet without payload becomes a burst
    /// of its own if such packets are not assembled. Returns the timer to be set for the queue, if
    /// the policy starts one; bursts that the packet closed are taken by [`Ingress::next_closed`].
    // Inlined, since each packet of a burst network passes here.
    #[inline(always)]
    pub fn accept(
        &mut self,
        line: usize,
        packet: PacketId,
        ctx: &mut Context<'_>,
    ) -> Option<(Time, TimerId)> {
        let Packet { envelope, header } = ctx.packet(packet);
        let bytes = envelope.bytes;
        if header.payload == 0 && !self.acknowledgements {
            let (bundle, waited) = (self.alone(line, packet, ctx), 0);
            self.closed.push_back(Closed { bundle, waited });
            return None;
        }
        let number = self.number(line, packet, ctx);
        let mut queue = self.place(line, number);
        if !self.has_room(queue, bytes) {
            self.close(queue, ctx.now());
            queue = self.place(line, number);
        }
        match self.add(queue, packet, ctx) {
            Decision::Wait => None,
            Decision::StartTimer(time) => {
                let closes = ctx.now() + time;
                self.waiting[queue].closes = closes;
                Some((closes, self.timer_id(queue)))
            }
            Decision::Close => {
                self.close(queue, ctx.now());
                None
            }
        }
    }

    /// Closes the first queue of a line, if its current timer expires now.
    pub fn expire(&mut self, subject: u32, now: Time) {
        self.close_expired(self.line_of(subject), now);
    }

    /// Closes a queue that is not the first of its line, if its current timer expires now.
    pub fn expire_other(&mut self, subject: u32, now: Time) {
        self.close_expired(self.lines.len() + subject as usize, now);
    }

    fn close_expired(&mut self, queue: usize, now: Time) {
        if self.waiting[queue].closes == now {
            self.close(queue, now);
        }
    }

    /// Takes the first closed burst that has not been launched yet.
    #[inline]
    pub fn next_closed(&mut self) -> Option<Closed> {
        self.closed.pop_front()
    }

    /// Makes a burst of one packet, without a queue.
    fn alone(&mut self, line: usize, packet: PacketId, ctx: &mut Context<'_>) -> Bundle {
        ctx.append(None, packet);
        self.linked(line, packet, ctx)
    }

    /// Makes a burst of packets that are linked already.
    pub fn linked(&mut self, line: usize, first: PacketId, ctx: &Context<'_>) -> Bundle {
        let unit = ctx.envelope(first);
        let (mut packets, mut bytes, mut last) = (1, unit.bytes, first);
        while let Some(next) = ctx.next_packet(last) {
            packets += 1;
            bytes += ctx.envelope(next).bytes;
            last = next;
        }
        let line = &mut self.lines[line];
        Bundle {
            first,
            packets,
            bytes: bytes.max(self.min_bytes),
            destination: unit.destination,
            egress: line.egress,
            class: line.class,
            sequence: line.next_sequence(),
            opened: ctx.now(),
        }
    }

    /// Returns the bursts of a line that have not been sent yet.
    pub fn departures(&mut self, line: usize) -> &mut Departures {
        &mut self.lines[line].departures
    }

    /// Returns the index of the line for an egress and a class.
    #[inline]
    pub fn line(&self, egress: NodeId, class: u16) -> usize {
        let place = self.places_of_egresses[egress.index()];
        usize::from(class) * self.egresses + place as usize
    }

    /// Encodes the egress and the class of a line as the subject of a timer.
    pub fn subject(&self, line: usize) -> u32 {
        let Line { egress, class, .. } = self.lines[line];
        egress.0 + u32::from(class) * self.stride()
    }

    /// Decodes the subject of a timer into the index of a line.
    pub fn line_of(&self, subject: u32) -> usize {
        let egress = NodeId(subject % self.stride());
        self.line(egress, (subject / self.stride()) as u16)
    }

    /// Multiplier of the class in a timer subject: greater than every egress number.
    fn stride(&self) -> u32 {
        self.places_of_egresses.len() as u32
    }

    /// Returns the timer of a queue, by the line of a first queue or by the index of another
    /// queue.
    fn timer_id(&self, queue: usize) -> TimerId {
        match queue.checked_sub(self.lines.len()) {
            None => EdgeTimer::Assembly.id(self.subject(queue)),
            Some(place) => EdgeTimer::AssemblyOfOthers.id(place as u32),
        }
    }

    /// Returns the number of the queue that a packet joins.
    #[inline]
    fn number(&mut self, line: usize, packet: PacketId, ctx: &mut Context<'_>) -> u32 {
        match self.has_queues {
            true => self.chosen_number(line, packet, ctx),
            false => 0,
        }
    }

    fn chosen_number(&mut self, line: usize, packet: PacketId, ctx: &mut Context<'_>) -> u32 {
        let (packet, line) = (*ctx.packet(packet), &mut self.lines[line]);
        let mut sight = Sight {
            now: ctx.now(),
            draw: &mut self.draw,
            notices: ctx.notices(line.egress, line.class),
        };
        line.policy().queue(&packet, &mut sight)
    }

    /// Returns the index of a queue in `waiting`. An empty queue other than the first one gets an
    /// index.
    #[inline]
    fn place(&mut self, line: usize, number: u32) -> usize {
        match number {
            0 => line,
            _ => self.other_place(line as u32, number),
        }
    }

    fn other_place(&mut self, line: u32, number: u32) -> usize {
        if let Some(&place) = self.places.get(&(line, number)) {
            return place;
        }
        let empty = Waiting::new(line, number, self.lines[line as usize].egress);
        let place = match self.free.pop() {
            Some(place) => {
                self.waiting[place] = empty;
                place
            }
            None => {
                self.waiting.push(empty);
                self.waiting.len() - 1
            }
        };
        self.places.insert((line, number), place);
        place
    }

    /// Whether a packet of this size fits into the burst; any packet fits into an empty one.
    fn has_room(&self, queue: usize, bytes: u32) -> bool {
        let waiting = &self.waiting[queue].queue;
        waiting.packets == 0
            || u64::from(waiting.bytes) + u64::from(bytes) <= u64::from(self.max_bytes)
    }

    /// Adds a packet to a queue and returns the policy's decision.
    fn add(&mut self, queue: usize, packet: PacketId, ctx: &mut Context<'_>) -> Decision {
        let waiting = &mut self.waiting[queue];
        let now = ctx.now();
        let unit = *ctx.envelope(packet);
        if waiting.queue.packets == 0 {
            waiting.destination = unit.destination;
            waiting.opened = now;
        }
        ctx.append(waiting.ends.map(|(_, last)| last), packet);
        let first = waiting.ends.map_or(packet, |(first, _)| first);
        waiting.ends = Some((first, packet));
        waiting.queue.newest = now;
        waiting.queue.arrivals += u128::from(now.0);
        waiting.queue.packets += 1;
        waiting.queue.bytes += unit.bytes;
        let line = &mut self.lines[waiting.line as usize];
        line.policy().on_packet(&waiting.queue, &mut self.draw)
    }

    /// Closes a queue.
    fn close(&mut self, queue: usize, now: Time) {
        let waiting = &mut self.waiting[queue];
        let Queue {
            number,
            packets,
            bytes,
            arrivals,
            ..
        } = waiting.queue;
        waiting.queue = Queue {
            number,
            ..Queue::default()
        };
        let (first, _) = waiting.ends.take().expect("a packet that waits");
        waiting.closes = Time::NEVER;
        if queue >= self.lines.len() {
            self.places.remove(&(waiting.line, number));
            self.free.push(queue);
        }
        let line = &mut self.lines[waiting.line as usize];
        let bundle = Bundle {
            first,
            packets,
            bytes: bytes.max(self.min_bytes),
            destination: waiting.destination,
            egress: line.egress,
            class: line.class,
            sequence: line.next_sequence(),
            opened: waiting.opened,
        };
        let waited = u128::from(packets) * u128::from(now.0) - arrivals;
        self.closed.push_back(Closed { bundle, waited });
    }

    /// Returns the total size of all waiting packets, in bytes.
    pub fn held(&self) -> u64 {
        let bytes = |waiting: &Waiting| u64::from(waiting.queue.bytes);
        self.waiting.iter().map(bytes).sum()
    }
}

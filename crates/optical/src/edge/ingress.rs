//! The ingress: packets wait by their egress until they make a burst.

use crate::assembly::{AssemblyPolicy, Decision, Queue, Sight};
use crate::edge::ordering::Departures;
use crate::edge::{Around, EdgeSettings, ASSEMBLY, ASSEMBLY_OF_OTHERS};
use lightburst_des::{Duration, Stream, Time};
use lightburst_net::{Bundle, Context, NodeId, PacketId, Token};
use std::collections::HashMap;

/// So many queues of a line beside its first one have room from the start.
const FEW: usize = 4;

/// The bursts of one class for one egress.
struct Line {
    egress: NodeId,
    class: u16,
    /// None where no host sends packets.
    policy: Option<Box<dyn AssemblyPolicy>>,
    /// How many were made.
    bursts: u32,
    /// Those that have not left yet.
    departures: Departures,
}

impl Line {
    #[inline]
    fn policy(&mut self) -> &mut dyn AssemblyPolicy {
        let policy = self.policy.as_mut();
        &mut **policy.expect("a rule of assembly, since a packet has come")
    }

    /// The number of a new burst.
    fn next_sequence(&mut self) -> u32 {
        self.bursts += 1;
        self.bursts - 1
    }
}

/// The packets that wait in one queue.
struct Waiting {
    line: u32,
    queue: Queue,
    /// The first and the last of them.
    ends: Option<(PacketId, PacketId)>,
    /// A host behind the egress.
    destination: NodeId,
    opened: Time,
    /// When the timer closes it; a timer at another time is stale.
    closes: Time,
}

impl Waiting {
    /// An empty queue.
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

/// The queues of one edge.
pub struct Ingress {
    /// Class by class.
    lines: Vec<Line>,
    /// The queue 0 of each line at its place, and behind them the others in which packets wait.
    waiting: Vec<Waiting>,
    /// The places of those others, by line and number.
    places: HashMap<(u32, u32), usize>,
    /// The places that none of them has.
    free: Vec<usize>,
    has_queues: bool,
    draw: Stream,
    /// By the number of an egress, its place among them; as long as the largest of these.
    places_of_egresses: Vec<u32>,
    /// How many egresses there are.
    egresses: usize,
    max_bytes: u32,
    min_bytes: u32,
    acknowledgements: bool,
}

impl Ingress {
    /// An empty queue for each node that hosts are attached to, and each class.
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
            egresses: egresses.len(),
            max_bytes: assembly.and_then(|it| it.max_bytes).unwrap_or(u32::MAX),
            min_bytes: assembly.and_then(|it| it.min_bytes).unwrap_or(0),
            acknowledgements: settings.acknowledgements,
        }
    }

    /// Whether a packet with this payload becomes a burst of its own.
    pub fn goes_alone(&self, payload: u32) -> bool {
        payload == 0 && !self.acknowledgements
    }

    /// A burst of one packet, which does not wait in a queue.
    pub fn alone(&mut self, line: usize, packet: PacketId, ctx: &mut Context<'_>) -> Bundle {
        ctx.append(None, packet);
        self.linked(line, packet, ctx)
    }

    /// A burst of packets that are linked already.
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

    /// The bursts of a line that have not left yet.
    pub fn departures(&mut self, line: usize) -> &mut Departures {
        &mut self.lines[line].departures
    }

    /// The line of a class for an egress.
    #[inline]
    pub fn line(&self, egress: NodeId, class: u16) -> usize {
        let place = self.places_of_egresses[egress.index()];
        usize::from(class) * self.egresses + place as usize
    }

    /// What a timer of a line is about: its egress and its class.
    pub fn subject(&self, line: usize) -> u32 {
        let Line { egress, class, .. } = self.lines[line];
        egress.0 + u32::from(class) * self.stride()
    }

    /// The line that a timer is about.
    pub fn line_of(&self, subject: u32) -> usize {
        let egress = NodeId(subject % self.stride());
        self.line(egress, (subject / self.stride()) as u16)
    }

    /// More than the number of any egress.
    fn stride(&self) -> u32 {
        self.places_of_egresses.len() as u32
    }

    /// The timer of a queue: that of its line, or one by its place among the others.
    pub fn token(&self, queue: usize) -> Token {
        match queue.checked_sub(self.lines.len()) {
            None => Token {
                kind: ASSEMBLY,
                subject: self.subject(queue),
            },
            Some(place) => Token {
                kind: ASSEMBLY_OF_OTHERS,
                subject: place as u32,
            },
        }
    }

    /// The queue of a line that is not its first one, by what its timer is about.
    pub fn other_queue(&self, subject: u32) -> usize {
        self.lines.len() + subject as usize
    }

    /// The number of the queue in which a packet is to wait.
    #[inline]
    pub fn number(&mut self, line: usize, packet: PacketId, ctx: &mut Context<'_>) -> u32 {
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

    /// Where a queue is; one that is empty, and not the first of its line, is given a place.
    #[inline]
    pub fn place(&mut self, line: usize, number: u32) -> usize {
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

    /// Whether so many more bytes fit into the burst.
    pub fn has_room(&self, queue: usize, bytes: u32) -> bool {
        let waiting = &self.waiting[queue].queue;
        waiting.packets == 0
            || u64::from(waiting.bytes) + u64::from(bytes) <= u64::from(self.max_bytes)
    }

    /// A packet joins the queue.
    pub fn add(&mut self, queue: usize, packet: PacketId, ctx: &mut Context<'_>) -> Decision {
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
        line.policy().on_packet(&waiting.queue)
    }

    /// The queue becomes a burst; also gives the time that its packets have
    /// waited, in picoseconds.
    pub fn close(&mut self, queue: usize, now: Time) -> (Bundle, u128) {
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
        (bundle, waited)
    }

    /// Bytes of the packets that wait.
    pub fn held(&self) -> u64 {
        let bytes = |waiting: &Waiting| u64::from(waiting.queue.bytes);
        self.waiting.iter().map(bytes).sum()
    }

    /// The queue is to be closed after some time; returns when.
    pub fn close_after(&mut self, time: Duration, queue: usize, now: Time) -> Time {
        self.waiting[queue].closes = now + time;
        now + time
    }

    /// Whether a timer that expires now closes the queue.
    pub fn expired(&self, queue: usize, now: Time) -> bool {
        self.waiting[queue].closes == now
    }
}

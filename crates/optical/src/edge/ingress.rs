//! The ingress: packets wait by their egress until they make a burst.

use crate::assembly::{AssemblyPolicy, Decision, Queue};
use crate::edge::ordering::Departures;
use crate::edge::{Around, EdgeSettings};
use lightburst_des::{Duration, Time};
use lightburst_net::{Bundle, Context, NodeId, PacketId};

/// The packets of one class that wait for one egress.
struct Waiting {
    egress: NodeId,
    class: u16,
    policy: Box<dyn AssemblyPolicy>,
    queue: Queue,
    /// The first and the last of them.
    ends: Option<(PacketId, PacketId)>,
    /// A host behind the egress.
    destination: NodeId,
    opened: Time,
    /// Sum of the arrival times of the packets.
    arrivals: u128,
    /// When the timer closes it; a timer at another time is stale.
    closes: Time,
    /// How many bursts were made for the egress.
    bursts: u32,
    /// Those that have not left yet.
    departures: Departures,
}

impl Waiting {
    /// The number of a new burst.
    fn next_sequence(&mut self) -> u32 {
        self.bursts += 1;
        self.bursts - 1
    }
}

/// The queues of one edge.
pub struct Ingress {
    /// Class by class.
    waiting: Vec<Waiting>,
    egresses: Vec<NodeId>,
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
        let classes = 0..=around.classes.iter().copied().max().unwrap_or(0);
        let waiting = |(class, &egress): (u16, &NodeId)| Waiting {
            egress,
            class,
            policy: assembly.rule.start(),
            queue: Queue::default(),
            ends: None,
            destination: egress,
            opened: Time::ZERO,
            arrivals: 0,
            closes: Time::NEVER,
            bursts: 0,
            departures: Departures::default(),
        };
        Ingress {
            waiting: classes
                .flat_map(|class| egresses.iter().map(move |egress| (class, egress)))
                .map(waiting)
                .collect(),
            egresses,
            max_bytes: assembly.max_bytes.unwrap_or(u32::MAX),
            min_bytes: assembly.min_bytes.unwrap_or(0),
            acknowledgements: settings.acknowledgements,
        }
    }

    /// Whether a packet with this payload becomes a burst of its own.
    pub fn goes_alone(&self, payload: u32) -> bool {
        payload == 0 && !self.acknowledgements
    }

    /// A burst of one packet, which does not wait in its queue.
    pub fn alone(&mut self, queue: usize, packet: PacketId, ctx: &mut Context<'_>) -> Bundle {
        ctx.append(None, packet);
        let unit = ctx.envelope(packet);
        Bundle {
            first: packet,
            packets: 1,
            bytes: unit.bytes.max(self.min_bytes),
            destination: unit.destination,
            egress: self.waiting[queue].egress,
            class: self.waiting[queue].class,
            sequence: self.waiting[queue].next_sequence(),
            opened: ctx.now(),
        }
    }

    /// The bursts of a queue that have not left yet.
    pub fn departures(&mut self, queue: usize) -> &mut Departures {
        &mut self.waiting[queue].departures
    }

    /// The queue of a class for an egress.
    #[inline]
    pub fn queue(&self, egress: NodeId, class: u16) -> usize {
        let place = self.egresses.binary_search(&egress).expect("an edge");
        usize::from(class) * self.egresses.len() + place
    }

    /// What a timer of a queue is about: its egress and its class.
    pub fn subject(&self, queue: usize) -> u32 {
        let Waiting { egress, class, .. } = self.waiting[queue];
        egress.0 + u32::from(class) * self.stride()
    }

    /// The queue that a timer is about.
    pub fn queue_of(&self, subject: u32) -> usize {
        let egress = NodeId(subject % self.stride());
        self.queue(egress, (subject / self.stride()) as u16)
    }

    /// More than the number of any egress.
    fn stride(&self) -> u32 {
        self.egresses.last().expect("an edge").0 + 1
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
            waiting.arrivals = 0;
        }
        ctx.append(waiting.ends.map(|(_, last)| last), packet);
        let first = waiting.ends.map_or(packet, |(first, _)| first);
        waiting.ends = Some((first, packet));
        waiting.arrivals += u128::from(now.0);
        waiting.queue.packets += 1;
        waiting.queue.bytes += unit.bytes;
        waiting.policy.on_packet(&waiting.queue)
    }

    /// The queue becomes a burst; also gives the time that its packets have
    /// waited, in picoseconds.
    pub fn close(&mut self, queue: usize, now: Time) -> (Bundle, u128) {
        let waiting = &mut self.waiting[queue];
        let Queue { packets, bytes } = std::mem::take(&mut waiting.queue);
        let (first, _) = waiting.ends.take().expect("a packet that waits");
        waiting.closes = Time::NEVER;
        let bundle = Bundle {
            first,
            packets,
            bytes: bytes.max(self.min_bytes),
            destination: waiting.destination,
            egress: waiting.egress,
            class: waiting.class,
            sequence: waiting.next_sequence(),
            opened: waiting.opened,
        };
        let waited = u128::from(packets) * u128::from(now.0) - waiting.arrivals;
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

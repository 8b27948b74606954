//! Under every assembly policy, each packet that joined a queue is in exactly one burst or still
//! waits, in its order and with all its bytes.

use super::*;
use crate::assembly::{
    Assembly, AssemblyPolicy, AssemblySettings, Decision, Queue, Sight, REGISTRY,
};
use crate::edge::Ordering;
use crate::switch::BurstSettings;
use lightburst_net::alone::{Content, FLOWS};
use lightburst_net::{FlowId, Identity, Notices, Packet};
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering as Memory};
use std::sync::Mutex;

/// Node number of the edge: after two hosts and two far ends that lead to other edges.
const EDGE: u32 = 4;
const EGRESSES: [u32; 2] = [10, 11];

/// Assembly policies, each with settings that make bursts of several packets.
const RULES: &[&str] = &[
    r#"{"kind": "timer", "time_ps": 1000000}"#,
    r#"{"kind": "size", "size_bytes": 4000}"#,
    r#"{"kind": "mixed", "time_ps": 1000000, "size_bytes": 4000}"#,
    r#"{"kind": "window-based", "slow_time_ps": 500000, "medium_time_ps": 1000000,
        "fast_time_ps": 1500000, "medium_window": 2, "fast_window": 4, "acknowledgements": "slow"}"#,
    r#"{"kind": "multi-queue", "time_ps": 1000000, "allocation": {"kind": "a-priori", "queues": 2}}"#,
    r#"{"kind": "multi-queue", "time_ps": 1000000, "allocation": {"kind": "printed", "queues": 3}}"#,
    r#"{"kind": "multi-queue", "time_ps": 1000000, "allocation": {"kind": "per-flow"}}"#,
    r#"{"kind": "multi-queue", "time_ps": 1000000,
        "allocation": {"kind": "a-posteriori", "queues": 2, "forget_after_ps": 20000000}}"#,
    r#"{"kind": "average-delay", "time_ps": 500000}"#,
];

/// State of a queue, recorded when a packet joins it.
#[derive(Debug)]
struct Joined {
    packet: u64,
    /// Number of the line, and of the queue in the line.
    queue: (u32, u32),
    packets: u32,
    bytes: u32,
}

/// Assembly policy whose queues are recorded.
#[derive(Debug)]
struct Watched {
    rule: Arc<dyn AssemblySettings>,
    lines: AtomicU32,
    log: Arc<Mutex<Vec<Joined>>>,
}

impl AssemblySettings for Watched {
    fn start(&self) -> Box<dyn AssemblyPolicy> {
        let line = self.lines.fetch_add(1, Memory::Relaxed);
        Box::new(Listener {
            policy: self.rule.start(),
            line,
            newest: 0,
            log: Arc::clone(&self.log),
            notices: Notices::default(),
            draw: Stream::new(u64::from(line), "notices"),
        })
    }
}

struct Listener {
    policy: Box<dyn AssemblyPolicy>,
    line: u32,
    newest: u64,
    log: Arc<Mutex<Vec<Joined>>>,
    /// Notices of losses, made up because a node alone loses no bursts.
    notices: Notices,
    draw: Stream,
}

impl AssemblyPolicy for Listener {
    fn has_queues(&self) -> bool {
        true
    }

    fn queue(&mut self, packet: &Packet, sight: &mut Sight<'_>) -> u32 {
        self.newest = packet.header.sequence;
        if sight.now > Time::ZERO && self.draw.below(4) == 0 {
            let lost = [0; 3].map(|_| FlowId(self.draw.below(FLOWS)));
            let comes = Time(sight.now.0 - 1);
            self.notices
                .add(comes, Identity::default(), lost.into_iter());
        }
        let notices = Some(&mut self.notices);
        let (now, draw) = (sight.now, &mut *sight.draw);
        self.policy.queue(packet, &mut Sight { now, draw, notices })
    }

    fn on_packet(&mut self, queue: &Queue, draw: &mut Stream) -> Decision {
        let joined = Joined {
            packet: self.newest,
            queue: (self.line, queue.number),
            packets: queue.packets,
            bytes: queue.bytes,
        };
        self.log.lock().expect("one thread").push(joined);
        self.policy.on_packet(queue, draw)
    }
}

/// Packet of the script.
struct Sent {
    time: u64,
    flow: u32,
    bytes: u32,
}

/// Burst that was assembled: its time, packets and size.
struct Made {
    time: u64,
    packets: Vec<u64>,
    bytes: u32,
}

/// Record of a run; packets are numbered from 1.
struct Story {
    sent: Vec<Sent>,
    joined: Vec<Joined>,
    bursts: Vec<Made>,
    /// Bytes waiting at several times, and the number of packets still waiting at the end.
    held: Vec<(u64, u64)>,
    inside: usize,
}

const MAX_BYTES: u32 = 6000;
const MIN_BYTES: u32 = 1000;

/// Runs a script of packets of all flows with random arrivals, on average a third of a microsecond
/// apart.
fn story(rule: &str, seed: u64) -> Story {
    let log = Arc::new(Mutex::new(Vec::new()));
    let table: serde_json::Value = serde_json::from_str(rule).expect("a table");
    let mut assembly = Assembly::deserialize(table).expect("an assembly");
    assembly.rule = Arc::new(Watched {
        rule: assembly.rule,
        lines: AtomicU32::new(0),
        log: Arc::clone(&log),
    });
    let mut draw = Stream::new(seed, "arrivals");
    (assembly.max_bytes, assembly.min_bytes) = match draw.below(2) {
        0 => (None, None),
        _ => (Some(MAX_BYTES), Some(MIN_BYTES)),
    };
    let settings = BurstSettings {
        switching_time: SWITCHING,
        assembly: Some(assembly),
        assemble_acknowledgements: true,
        ordering: Ordering::None,
    };
    let around = Around {
        edges: vec![EDGE, EDGE, EGRESSES[0], EGRESSES[1]],
        seed,
        ..Around::default()
    };
    let mut node = alone_in(around, &settings, &[1; 4]);
    let (mut sent, mut time) = (Vec::new(), 0);
    for _ in 0..300 {
        time += u64::from(1 + draw.below(666_666));
        let (flow, bytes) = (draw.below(FLOWS), 64 + draw.below(1437));
        let window = draw.below(6) as u16;
        // Each host sends half of the flows, and half of them go to each egress.
        node.packet_of((flow, window), time, flow % 2, 2 + flow / 3, bytes);
        sent.push(Sent { time, flow, bytes });
    }
    let mut held = Vec::new();
    for at in (0..time).step_by(1_000_001) {
        node.run_until(at);
        held.push((at, node.node().held(0)));
    }
    node.run();
    held.push((u64::MAX, node.node().held(0)));
    assert_eq!(node.dropped(), []);
    let joined = std::mem::take(&mut *log.lock().expect("one thread"));
    Story {
        sent,
        joined,
        bursts: bursts(&node),
        held,
        inside: node.inside(),
    }
}

/// Returns all bursts. Those for one egress leave in the order of assembly.
fn bursts(node: &Alone) -> Vec<Made> {
    let left = node.left();
    let of = |egress: usize| {
        let made = node.made().into_iter();
        let made = made.filter(move |row| row.egress.0 == EGRESSES[egress]);
        let left = left.iter();
        let left = left.filter(move |left| usize::from(left.port) == 2 + egress);
        made.zip(left).map(|(row, left)| {
            let Content::Burst(packets, bytes) = &left.unit else {
                panic!("no burst: {left:?}");
            };
            assert_eq!((row.packets as usize, row.bytes), (packets.len(), *bytes));
            Made {
                time: row.identity.at.0,
                packets: packets.clone(),
                bytes: *bytes,
            }
        })
    };
    let all: Vec<Made> = (0..2).flat_map(of).collect();
    assert_eq!(all.len(), left.len());
    all
}

impl Story {
    fn sent(&self, packet: u64) -> &Sent {
        &self.sent[packet as usize - 1]
    }

    /// Whether these packets waited together in one queue, starting with its first packet,
    /// according to the states recorded when they joined.
    fn is_one_queue(&self, packets: &[u64], joined: &HashMap<u64, &Joined>) -> bool {
        let queue = joined[&packets[0]].queue;
        let mut bytes = 0;
        (1..).zip(packets).all(|(count, packet)| {
            bytes += self.sent(*packet).bytes;
            let it = joined[packet];
            (it.queue, it.packets, it.bytes) == (queue, count, bytes)
        }) && packets.windows(2).all(|pair| pair[0] < pair[1])
    }

    fn check(&self, rule: &str) {
        let joined: HashMap<u64, &Joined> = self.joined.iter().map(|it| (it.packet, it)).collect();
        assert_eq!(self.joined.len(), self.sent.len(), "{rule}");
        assert_eq!(joined.len(), self.sent.len(), "twice in a queue: {rule}");
        // Each packet that left is in exactly one burst.
        let mut closed: HashMap<u64, u64> = HashMap::new();
        for Made {
            time,
            packets,
            bytes,
        } in &self.bursts
        {
            assert!(self.is_one_queue(packets, &joined), "{rule}: {packets:?}");
            let content: u32 = packets.iter().map(|&packet| self.sent(packet).bytes).sum();
            assert!([content, content.max(MIN_BYTES)].contains(bytes), "{rule}");
            for &packet in packets {
                assert!(self.sent(packet).time <= *time, "{rule}");
                assert_eq!(
                    closed.insert(packet, *time),
                    None,
                    "twice in bursts: {rule}"
                );
            }
        }
        // All other packets still wait.
        let mut waiting: HashMap<(u32, u32), Vec<u64>> = HashMap::new();
        for it in self
            .joined
            .iter()
            .filter(|it| !closed.contains_key(&it.packet))
        {
            waiting.entry(it.queue).or_default().push(it.packet);
        }
        let mut packets = waiting.values();
        assert!(
            packets.all(|packets| self.is_one_queue(packets, &joined)),
            "{rule}"
        );
        assert_eq!(self.inside, self.sent.len() - closed.len(), "{rule}");
        for &(at, held) in &self.held {
            let waits = |&packet: &u64| {
                self.sent(packet).time <= at && closed.get(&packet).map_or(true, |&time| time > at)
            };
            let waits = (1..=self.sent.len() as u64).filter(waits);
            let bytes: u64 = waits.map(|packet| u64::from(self.sent(packet).bytes)).sum();
            assert_eq!(held, bytes, "at {at}: {rule}");
        }
    }

    /// Whether no packet leaves in a burst before an earlier packet of its flow.
    fn keeps_flows_in_order(&self) -> bool {
        let mut newest = [0; FLOWS as usize];
        self.bursts
            .iter()
            .flat_map(|made| &made.packets)
            .all(|&packet| {
                let newest = &mut newest[self.sent(packet).flow as usize];
                let in_order = *newest < packet;
                *newest = packet;
                in_order
            })
    }
}

#[test]
fn what_came_into_a_queue_is_in_one_burst_or_waits() {
    for kind in REGISTRY {
        let name = format!(r#""kind": "{}""#, kind.name);
        assert!(RULES.iter().any(|rule| rule.contains(&name)), "{name}");
    }
    for rule in RULES {
        let (mut several, mut waits) = (0, 0);
        for seed in 0..40 {
            let story = story(rule, seed);
            story.check(rule);
            several += story.joined.iter().filter(|it| it.queue.1 > 0).count();
            waits += story.inside;
            // A flow whose window grows moves to another queue, which may be closed earlier.
            assert!(
                story.keeps_flows_in_order() || rule.contains("window-based"),
                "{rule}"
            );
        }
        let queues = ["window-based", "multi-queue"];
        assert_eq!(
            several > 0,
            queues.iter().any(|kind| rule.contains(kind)),
            "{rule}"
        );
        let without_timer = [r#""size""#];
        assert_eq!(
            waits > 0,
            without_timer.iter().any(|kind| rule.contains(kind)),
            "{rule}"
        );
    }
}

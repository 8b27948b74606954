//! Burst assembly: when the packets that wait for one egress become a burst.
//!
//! One file for each; [`REGISTRY`] is the one list of them.

mod mixed;
mod size;
mod timer;

use lightburst_des::Duration;

/// What waits for one egress, the packet that just came included.
#[derive(Clone, Copy, Debug, Default)]
pub struct Queue {
    /// How many packets.
    pub packets: u32,
    /// How many bytes.
    pub bytes: u32,
}

/// What becomes of a queue when a packet has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Nothing.
    Wait,
    /// It will be closed after this time, unless it is closed before.
    StartTimer(Duration),
    /// It becomes a burst now.
    Close,
}

/// A rule for the assembly of bursts.
pub trait AssemblyPolicy: Send {
    /// A packet has come into the queue.
    fn on_packet(&mut self, queue: &Queue) -> Decision;
}

/// How an edge makes bursts.
#[derive(Clone, Copy, Debug)]
pub struct Assembly {
    /// The rule.
    pub rule: &'static AssemblyKind,
    /// Its numbers.
    pub settings: AssemblySettings,
    /// No burst has more bytes.
    pub max_bytes: u32,
    /// A shorter burst is padded.
    pub min_bytes: u32,
    /// Whether packets without payload wait too; otherwise each is a burst at once.
    pub acknowledgements: bool,
}

/// The settings of all rules; each reads its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct AssemblySettings {
    /// Time from the first packet to the burst (T_b).
    pub time: Duration,
    /// Bytes that make a burst.
    pub size: u32,
}

/// A rule by its name in the scenario.
#[derive(Debug)]
pub struct AssemblyKind {
    /// The name.
    pub name: &'static str,
    /// Builds the rule of one queue.
    pub build: fn(&AssemblySettings) -> Box<dyn AssemblyPolicy>,
}

/// All rules. A new one is a new file and a line here.
pub const REGISTRY: &[AssemblyKind] = &[
    AssemblyKind {
        name: "timer",
        build: |s| Box::new(timer::Timer::new(s)),
    },
    AssemblyKind {
        name: "size",
        build: |s| Box::new(size::Size::new(s)),
    },
    AssemblyKind {
        name: "mixed",
        build: |s| Box::new(mixed::Mixed::new(s)),
    },
];

/// The rule called `name`.
pub fn find(name: &str) -> Option<&'static AssemblyKind> {
    REGISTRY.iter().find(|entry| entry.name == name)
}

//! Circuits that lead nowhere because a link of theirs is known to be down. All times are those at a
//! circuit switch, in picoseconds.

use super::Layout;
use lightburst_net::LinkId;

/// Times from the first instant to before the second.
pub type Spans = Vec<(u64, u64)>;

/// Links between racks and circuit switches, and when each is known to be down.
#[derive(Debug)]
pub struct Closures {
    racks: usize,
    /// Of the link from each rack, circuit switch by circuit switch.
    from: Vec<Spans>,
    /// Of the link to each rack, circuit switch by circuit switch.
    to: Vec<Spans>,
    /// All begins and ends, in order.
    changes: Vec<u64>,
    /// Of the link of each rack to the packet network, and of the one back.
    packet: Vec<[Spans; 2]>,
}

/// Returns the span that contains a time.
fn containing(spans: &Spans, at: u64) -> Option<(u64, u64)> {
    let span = spans.get(spans.partition_point(|&(_, end)| end <= at))?;
    (span.0 <= at).then_some(*span)
}

/// Returns the begin of the first span that begins after a time.
fn next_begin(spans: &Spans, at: u64) -> u64 {
    let next = spans.get(spans.partition_point(|&(begin, _)| begin <= at));
    next.map_or(u64::MAX, |&(begin, _)| begin)
}

impl Closures {
    /// Collects the times in which links are known to be down, in order for each.
    pub fn new(layout: &Layout, known_down: impl Fn(LinkId) -> Spans) -> Closures {
        let switches = || (0..layout.switches).flat_map(|switch| layout.downlinks(switch));
        let from: Vec<Spans> = switches().map(|link| known_down(link.input)).collect();
        let to: Vec<Spans> = switches().map(|link| known_down(link.output)).collect();
        let spans = from.iter().chain(&to).flatten();
        let mut changes: Vec<u64> = spans.flat_map(|&(begin, end)| [begin, end]).collect();
        changes.sort_unstable();
        changes.dedup();
        changes.retain(|&time| time != u64::MAX);
        let star = layout.packet_links().iter();
        let packet = star.map(|link| [known_down(link.input), known_down(link.output)]);
        Closures {
            packet: packet.collect(),
            racks: layout.racks,
            from,
            to,
            changes,
        }
    }

    fn of(&self, switch: usize, from: usize, to: usize) -> [&Spans; 2] {
        let first = switch * self.racks;
        [&self.from[first + from], &self.to[first + to]]
    }

    /// Returns when the circuit of a switch from one rack to another is open again, at the earliest;
    /// `None` if it is not closed at a time.
    pub fn reopens(&self, switch: usize, from: usize, to: usize, at: u64) -> Option<u64> {
        let spans = self.of(switch, from, to).into_iter();
        spans.filter_map(|it| Some(containing(it, at)?.1)).max()
    }

    /// Returns when the circuit of a switch from one rack to another closes after a time.
    pub fn closes(&self, switch: usize, from: usize, to: usize, at: u64) -> u64 {
        let [one, other] = self.of(switch, from, to);
        next_begin(one, at).min(next_begin(other, at))
    }

    /// Whether the packet network does not lead from one rack to another at a time.
    pub fn packet_is_shut(&self, from: usize, to: usize, at: u64) -> bool {
        let ways = [&self.packet[from][0], &self.packet[to][1]];
        ways.into_iter()
            .any(|spans| containing(spans, at).is_some())
    }

    /// Returns the times at which anything closes or opens again.
    pub fn changes(&self) -> &[u64] {
        &self.changes
    }

    /// Returns the first time after `at` at which anything closes or opens again.
    pub fn next_change(&self, at: u64) -> Option<u64> {
        let next = self.changes.partition_point(|&time| time <= at);
        self.changes.get(next).copied()
    }
}

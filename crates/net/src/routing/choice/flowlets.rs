//! Flowlets: bursts of packets of one flow, separated by gaps that are longer than the difference
//! of delay between the paths, so that each can take a path of its own without reordering (Sinha,
//! Kandula and Katabi, HotNets 2004; at random as in LetFlow, Vanini et al., NSDI 2017).

use crate::{Envelope, PortId};
use lightburst_des::{Duration, Time};
use std::collections::HashMap;

/// Number of flowlets that are kept before the first sweep.
const FEW: usize = 64;

/// Last packet of a flowlet.
#[derive(Clone, Copy, Debug)]
struct Flowlet {
    last: Time,
    port: PortId,
}

/// Present flowlets of one node. The table is exact: no two flows share an entry.
#[derive(Clone, Debug)]
pub struct Flowlets {
    gap: Duration,
    /// By flow and source, because both directions of a flow have the same number.
    present: HashMap<(u32, u32), Flowlet>,
    /// Number of entries at which those that have ended are removed.
    sweep_at: usize,
}

impl Flowlets {
    /// Creates the empty table of a node. A flowlet ends with an idle time longer than `gap`.
    pub fn new(gap: Duration) -> Flowlets {
        Flowlets {
            gap,
            present: HashMap::new(),
            sweep_at: FEW,
        }
    }

    /// Returns the port of a packet that comes at `now`: that of its flowlet if the route still has
    /// it, otherwise the one that `draw` returns.
    pub fn port(
        &mut self,
        envelope: &Envelope,
        now: Time,
        ports: &[PortId],
        draw: impl FnOnce() -> PortId,
    ) -> PortId {
        if self.present.len() >= self.sweep_at {
            let gap = self.gap;
            // The order of the entries does not matter.
            self.present.retain(|_, one| now.since(one.last) <= gap);
            self.sweep_at = FEW.max(2 * self.present.len());
        }
        let key = (envelope.flow.0, envelope.source.0);
        let port = match self.present.get(&key) {
            // LetFlow, section 3: the packet starts a flowlet if the gap exceeds the threshold.
            Some(one) if now.since(one.last) <= self.gap && ports.contains(&one.port) => one.port,
            _ => draw(),
        };
        self.present.insert(key, Flowlet { last: now, port });
        port
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FlowId, NodeId};

    fn envelope(flow: u32, source: u32) -> Envelope {
        Envelope::new(FlowId(flow), NodeId(source), NodeId(9), 1500)
    }

    #[test]
    fn a_flowlet_ends_with_an_idle_time_above_the_gap() {
        let mut flowlets = Flowlets::new(Duration(100));
        let ports = [PortId(0), PortId(1), PortId(2)];
        let mut at = |now, drawn| {
            flowlets
                .port(&envelope(7, 0), Time(now), &ports, || PortId(drawn))
                .0
        };
        assert_eq!(at(0, 1), 1);
        // 100 ps is not longer than the gap, 101 ps is.
        assert_eq!(at(100, 2), 1);
        assert_eq!(at(201, 2), 2);
        // The gap counts from the last packet, not from the first of the flowlet.
        assert_eq!(at(290, 0), 2);
        assert_eq!(at(380, 0), 2);
    }

    #[test]
    fn the_two_directions_of_a_flow_have_flowlets_of_their_own() {
        let mut flowlets = Flowlets::new(Duration(100));
        let ports = [PortId(0), PortId(1)];
        let mut from = |source, drawn| {
            flowlets
                .port(&envelope(7, source), Time(0), &ports, || PortId(drawn))
                .0
        };
        assert_eq!(from(0, 0), 0);
        assert_eq!(from(1, 1), 1);
        assert_eq!(from(0, 1), 0);
    }

    #[test]
    fn a_port_that_is_no_next_hop_any_more_ends_the_flowlet() {
        let mut flowlets = Flowlets::new(Duration(100));
        let mut among = |ports: &[PortId], drawn| {
            flowlets
                .port(&envelope(7, 0), Time(0), ports, || PortId(drawn))
                .0
        };
        assert_eq!(among(&[PortId(0), PortId(1)], 1), 1);
        assert_eq!(among(&[PortId(0)], 0), 0);
    }

    #[test]
    fn a_sweep_removes_only_flowlets_that_have_ended() {
        let mut flowlets = Flowlets::new(Duration(100));
        let ports = [PortId(0), PortId(1)];
        for flow in 0..FEW as u32 {
            let now = Time(u64::from(flow));
            flowlets.port(&envelope(flow, 0), now, &ports, || PortId(1));
        }
        // Flows 0 to 19 have been idle for more than 100 ps.
        flowlets.port(&envelope(1000, 0), Time(120), &ports, || PortId(1));
        assert_eq!(flowlets.present.len(), FEW - 20 + 1);
        let kept = flowlets.port(&envelope(20, 0), Time(120), &ports, || PortId(0));
        assert_eq!(kept, PortId(1));
    }
}

//! Least queue: each unit takes the output with the fewest bytes to send, among all outputs or
//! among a few that are sampled and a few that are remembered (DRILL(d, m), Ghorbani et al.,
//! SIGCOMM 2017).

use crate::{PortId, Route};
use lightburst_des::Stream;

/// Chooses the least loaded outputs of one node.
#[derive(Clone, Debug)]
pub struct LeastQueue {
    /// Number of outputs that are sampled for each unit; `None`: all are compared.
    samples: Option<u32>,
    /// Number of outputs that are remembered from the unit before.
    memory: usize,
    /// Remembered outputs of each next-hop set, the least loaded first.
    remembered: Vec<Vec<PortId>>,
    /// Compared outputs and their bytes; empty between units, kept for its allocation.
    compared: Vec<(u64, PortId)>,
    /// Outputs that are not sampled yet; kept for its allocation.
    left: Vec<PortId>,
}

impl LeastQueue {
    /// Creates the choice of one node.
    pub fn new(samples: Option<u32>, memory: u32) -> LeastQueue {
        LeastQueue {
            samples,
            memory: memory as usize,
            remembered: Vec::new(),
            compared: Vec::new(),
            left: Vec::new(),
        }
    }

    /// Returns the port for a unit. `ports` are those of the route, `bytes` returns what a port has
    /// to send.
    pub fn port(
        &mut self,
        route: Route,
        ports: &[PortId],
        draw: &mut Stream,
        bytes: impl Fn(PortId) -> u64,
    ) -> PortId {
        match self.samples {
            None => {
                self.compared
                    .extend(ports.iter().map(|&port| (bytes(port), port)));
                let least = self.compared.iter().map(|one| one.0).min();
                self.compared.retain(|one| Some(one.0) == least);
                let i = match self.compared.len() {
                    1 => 0,
                    equal => draw.below(equal as u32) as usize,
                };
                let port = self.compared[i].1;
                self.compared.clear();
                port
            }
            Some(samples) => self.sampled((route, ports), samples, draw, bytes),
        }
    }

    /// DRILL, section 3.2.2: compares the sampled outputs with the remembered ones and remembers the
    /// least loaded.
    fn sampled(
        &mut self,
        (route, ports): (Route, &[PortId]),
        samples: u32,
        draw: &mut Stream,
        bytes: impl Fn(PortId) -> u64,
    ) -> PortId {
        let set = usize::from(route.set);
        if self.remembered.len() <= set {
            self.remembered.resize(set + 1, Vec::new());
        }
        let compared = &mut self.compared;
        // Different outputs, by the first steps of the shuffle of Fisher and Yates.
        let left = &mut self.left;
        left.clear();
        left.extend_from_slice(ports);
        for _ in 0..samples.min(ports.len() as u32) {
            let port = left.remove(draw.below(left.len() as u32) as usize);
            compared.push((bytes(port), port));
        }
        for &port in &self.remembered[set] {
            // An output can have gone with a change of the routes.
            if ports.contains(&port) && compared.iter().all(|one| one.1 != port) {
                compared.push((bytes(port), port));
            }
        }
        // Stable: of equal outputs the one that was sampled first.
        compared.sort_by_key(|one| one.0);
        let port = compared[0].1;
        self.remembered[set].clear();
        self.remembered[set].extend(compared.iter().take(self.memory).map(|one| one.1));
        compared.clear();
        port
    }
}

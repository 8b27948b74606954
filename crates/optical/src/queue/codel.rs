//! Controlled delay (RFC 8289): a unit is dropped at its departure when the delay of the queue has
//! been above the target for an interval, and again at shorter and shorter intervals while it stays
//! there.

use super::{Discipline, DisciplineSettings, Port};
use crate::output::Output;
use crate::settings::positive_duration;
use lightburst_des::real::root;
use lightburst_des::{Duration, Time};
use lightburst_net::{Chain, DropReason, Unit};
use serde::Deserialize;

/// The queue's delay was above the target for too long.
pub const TARGET_EXCEEDED: &DropReason = &DropReason {
    name: "target-exceeded",
    busy: false,
};

/// Settings of CoDel.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoDel {
    /// Delay in the queue that is acceptable for good (TARGET).
    #[serde(rename = "target_ps", deserialize_with = "positive_duration")]
    target: Duration,
    /// Time for which the delay must be above the target before the first drop (INTERVAL).
    #[serde(rename = "interval_ps", deserialize_with = "positive_duration")]
    interval: Duration,
    /// Whether packets of transports capable of ECN are marked in place of being dropped.
    ecn: bool,
}

impl CoDel {
    /// Settings of one of several queues.
    pub(super) fn new(target: Duration, interval: Duration, ecn: bool) -> CoDel {
        CoDel {
            target,
            interval,
            ecn,
        }
    }
}

impl DisciplineSettings for CoDel {
    fn build(&self, _port: &Port) -> Box<dyn Discipline> {
        Box::new(Queue {
            chain: Chain::default(),
            law: Law::new(*self),
        })
    }
}

/// State of the estimator and of the control law for one queue.
pub(super) struct Law {
    settings: CoDel,
    /// Largest unit that has left the queue, in bytes.
    largest: u32,
    /// Time from which units may be dropped; `None` while the delay is below the target.
    first_above: Option<Time>,
    drop_next: Time,
    count: u32,
    last_count: u32,
    dropping: bool,
}

impl Law {
    pub fn new(settings: CoDel) -> Law {
        Law {
            settings,
            largest: 0,
            first_above: None,
            drop_next: Time::ZERO,
            count: 0,
            last_count: 0,
            dropping: false,
        }
    }

    /// RFC 8289, section 5.5, `control_law`: t + interval / sqrt(count).
    fn control_law(&self, from: Time) -> Time {
        let interval = self.settings.interval.0 as f64;
        from + Duration((interval / root(f64::from(self.count), 2)) as u64)
    }

    /// Takes the first unit out of a queue; also returns whether it may be dropped (RFC 8289,
    /// section 5.6, `dodequeue`). `waiting` is the number of bytes that wait in the queue.
    fn take(
        &mut self,
        chain: &mut Chain,
        waiting: &mut u64,
        output: &mut Output<'_, '_>,
    ) -> (Option<(Unit, Time)>, bool) {
        let now = output.now();
        let Some((unit, since)) = output.pop(chain) else {
            self.first_above = None;
            return (None, false);
        };
        let bytes = output.bytes(unit);
        *waiting -= u64::from(bytes);
        self.largest = self.largest.max(bytes);
        // if (sojourn_time < TARGET || bytes() <= maxpacket_) first_above_time_ = 0
        let sojourn = now.since(since);
        if sojourn < self.settings.target || *waiting <= u64::from(self.largest) {
            self.first_above = None;
            return (Some((unit, since)), false);
        }
        let ok = match self.first_above {
            None => {
                self.first_above = Some(now + self.settings.interval);
                false
            }
            Some(first) => now >= first,
        };
        (Some((unit, since)), ok)
    }

    /// Returns whether a unit was marked in place of being dropped.
    fn marks(&self, unit: Unit, output: &mut Output<'_, '_>) -> bool {
        self.settings.ecn && output.mark_capable(unit)
    }

    /// Takes out the unit to be sent (RFC 8289, section 5.5, `dequeue`). `waiting` is the number of
    /// bytes that wait in the queue.
    pub fn dequeue(
        &mut self,
        chain: &mut Chain,
        waiting: &mut u64,
        output: &mut Output<'_, '_>,
    ) -> Option<(Unit, Time)> {
        let now = output.now();
        let (mut first, mut ok) = self.take(chain, waiting, output);
        if self.dropping {
            self.dropping = ok;
            while self.dropping && now >= self.drop_next {
                let (unit, since) = first.expect("a unit that may be dropped");
                self.count += 1;
                if self.marks(unit, output) {
                    self.drop_next = self.control_law(self.drop_next);
                    return Some((unit, since));
                }
                output.drop(unit, TARGET_EXCEEDED);
                (first, ok) = self.take(chain, waiting, output);
                match ok {
                    true => self.drop_next = self.control_law(self.drop_next),
                    false => self.dropping = false,
                }
            }
        } else if ok {
            let (unit, _) = first.expect("a unit that may be dropped");
            if !self.marks(unit, output) {
                output.drop(unit, TARGET_EXCEEDED);
                (first, _) = self.take(chain, waiting, output);
            }
            self.dropping = true;
            // If the last drops ended less than 16 intervals ago, their rate is a good start.
            let delta = self.count - self.last_count;
            let recent = now.since(self.drop_next.min(now)).0 < 16 * self.settings.interval.0;
            self.count = if delta > 1 && recent { delta } else { 1 };
            self.drop_next = self.control_law(now);
            self.last_count = self.count;
        }
        first
    }
}

struct Queue {
    chain: Chain,
    law: Law,
}

impl Discipline for Queue {
    #[inline]
    fn enqueue(&mut self, unit: Unit, output: &mut Output<'_, '_>) {
        let backlog = output.backlog();
        if output.admit(unit, backlog) {
            output.push(&mut self.chain, unit, backlog);
        }
    }

    #[inline]
    fn dequeue(&mut self, output: &mut Output<'_, '_>) -> Option<(Unit, Time)> {
        let mut waiting = output.waiting().bytes;
        self.law.dequeue(&mut self.chain, &mut waiting, output)
    }

    fn flush(&mut self, output: &mut Output<'_, '_>) -> Vec<Unit> {
        output.pop_all(&mut self.chain)
    }
}

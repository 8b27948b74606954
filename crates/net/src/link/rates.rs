//! Links whose rate changes at known times. A unit has the rate that its link has when its
//! transmission begins, and keeps it; so its times follow at the hand-over, as on any other link.

use super::steps::Steps;
use super::{Kind, Links};
use crate::{Bytes, LinkId, Rate};
use lightburst_des::{Duration, Time};
use std::collections::BTreeMap;

/// Rates of a link over a run.
#[derive(Debug)]
struct Course {
    /// Kind of the link for transmissions that begin at a time.
    kinds: Steps<u32>,
    /// Starts of the transmissions that have another kind than the one before, and their kind.
    begun: Vec<(Time, u32)>,
}

/// Rates of the links whose rate changes.
#[derive(Debug, Default)]
pub(super) struct Courses {
    of: BTreeMap<LinkId, Course>,
}

impl Links {
    /// Gives a link other rates from some times on, in order of time.
    pub fn vary(&mut self, link: LinkId, steps: &[(Time, Rate)]) {
        let exit = &mut self.exits[link.index()];
        let own = self.kinds[exit.kind as usize];
        let mut kind = |rate: Rate| {
            // The bytes of a link do not tell its busy time.
            let rate = rate.divided_only();
            self.kinds.push(Kind { rate, ..own });
            self.kinds.len() as u32 - 1
        };
        exit.kind = kind(own.rate);
        let later = steps.iter().map(|&(time, rate)| (time, kind(rate)));
        let kinds = Steps::new(exit.kind, later);
        let begun = vec![(Time::ZERO, exit.kind)];
        self.busy.resize(self.exits.len(), Duration::ZERO);
        let courses = self.courses.get_or_insert_with(Box::default);
        courses.of.insert(link, Course { kinds, begun });
    }

    fn course(&self, link: LinkId) -> Option<&Course> {
        self.courses.as_ref()?.of.get(&link)
    }

    /// Returns whether the rate of a link changes.
    #[inline]
    pub(crate) fn varies(&self, link: LinkId) -> bool {
        self.courses.is_some() && self.course(link).is_some()
    }

    /// Gives a link the rate of a transmission that begins at `start`.
    #[inline]
    pub(crate) fn shift(&mut self, link: LinkId, start: Time) {
        let Some(course) = self.courses.as_mut().and_then(|all| all.of.get_mut(&link)) else {
            return;
        };
        let exit = &mut self.exits[link.index()];
        let kind = course.kinds.at(start);
        if kind != exit.kind {
            exit.kind = kind;
            course.begun.push((start, kind));
        }
    }

    /// Gives a link the rate of the last transmission that ends at `free_at` or earlier, after later
    /// ones were taken back.
    pub(super) fn shift_back(&mut self, link: LinkId, free_at: Time) {
        if let Some(course) = self.courses.as_mut().and_then(|all| all.of.get_mut(&link)) {
            let kept = course.begun.partition_point(|(start, _)| *start < free_at);
            course.begun.truncate(kept.max(1));
            self.exits[link.index()].kind = course.begun[course.begun.len() - 1].1;
        }
    }

    /// Returns the rate of a transmission on a link that begins at `time`.
    pub(crate) fn rate_at(&self, link: LinkId, time: Time) -> Rate {
        let kind = match self.course(link) {
            None => self.kind(link),
            Some(course) => &self.kinds[course.kinds.at(time) as usize],
        };
        kind.rate
    }

    /// Returns the transmission time of `bytes` on a link if the transmission begins at `time`.
    pub(crate) fn transmission_time_at(&self, link: LinkId, bytes: u64, time: Time) -> Duration {
        self.rate_at(link, time).transmission_time(Bytes(bytes))
    }

    /// Returns the highest rate that a link has during the run.
    pub fn highest_rate(&self, link: LinkId) -> Rate {
        let Some(course) = self.course(link) else {
            return self.rate(link);
        };
        let rates = course
            .kinds
            .values()
            .map(|kind| self.kinds[kind as usize].rate.bps());
        Rate::from_bps(rates.max().expect("a rate"))
    }

    /// Returns the bytes that a link sends after `at` of what was handed to it, rounded up. `left`
    /// is the time for which it transmits.
    #[inline]
    pub(crate) fn bytes_left(&self, link: LinkId, at: Time, left: Duration) -> u64 {
        if self.varies(link) {
            return self.bytes_left_at_rates(link, at);
        }
        self.rate(link).bytes_in(left).0
    }

    #[cold]
    fn bytes_left_at_rates(&self, link: LinkId, at: Time) -> u64 {
        let begun = &self.course(link).expect("a course").begun;
        let mut end = self.free_at(link);
        // In parts of a byte: what 1 b/s sends in a picosecond.
        let mut parts = 0u128;
        for &(start, kind) in begun.iter().rev() {
            let time = end.0.saturating_sub(start.max(at).0);
            parts += u128::from(time) * u128::from(self.kinds[kind as usize].rate.bps());
            if start <= at {
                break;
            }
            end = start;
        }
        u64::try_from(parts.div_ceil(Rate::BYTE_PS)).unwrap_or(u64::MAX)
    }
}

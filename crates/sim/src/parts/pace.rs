//! How many threads a run in parts uses: several, or one where these are slower, as on a machine
//! whose cores other programs use. Each has the same results.

use std::time::Duration;

/// Number of events of a stretch, after which the number of threads may change.
const STRETCH: u64 = 200_000;
/// Number of events in which a number of threads is tried.
const TRIAL: u64 = 30_000;
/// Stretches between two trials of the slower number, at first; then twice as many after each trial
/// that changes nothing.
const PAUSE: u32 = 1;
/// Longest pause.
const LONGEST: u32 = 64;

/// Mode of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// All parts on one thread.
    Alone,
    /// The parts on all threads.
    Together,
}

/// Measured pace of both modes.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Nanoseconds an event, alone and together; `None` if not known.
    measured: [Option<f64>; 2],
    /// Stretches until the next trial.
    wait: u32,
    pause: u32,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace {
            measured: [None; 2],
            wait: PAUSE,
            pause: PAUSE,
        }
    }
}

impl Pace {
    /// Returns the mode of the next stretch, and its number of events.
    pub fn next(&mut self) -> (Mode, u64) {
        match self.measured {
            [_, None] => (Mode::Together, TRIAL),
            [None, _] => (Mode::Alone, TRIAL),
            _ if self.wait == 0 => (self.slower(), TRIAL),
            _ => (self.faster(), STRETCH),
        }
    }

    /// Records a stretch.
    pub fn record(&mut self, mode: Mode, events: u64, time: Duration) {
        if events < TRIAL / 2 {
            return;
        }
        let known = self.measured.iter().all(Option::is_some);
        let before = self.faster();
        self.measured[mode as usize] = Some(time.as_nanos() as f64 / events as f64);
        if !known {
            return;
        }
        if self.wait > 0 {
            self.wait -= 1;
            return;
        }
        self.pause = match self.faster() == before {
            true => LONGEST.min(2 * self.pause),
            false => PAUSE,
        };
        self.wait = self.pause;
    }

    fn faster(&self) -> Mode {
        match self.measured {
            [Some(alone), Some(together)] if alone < together => Mode::Alone,
            _ => Mode::Together,
        }
    }

    fn slower(&self) -> Mode {
        match self.faster() {
            Mode::Alone => Mode::Together,
            Mode::Together => Mode::Alone,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs stretches; `ns` gives the nanoseconds of an event, alone and together, at each.
    fn stretches(number: usize, ns: impl Fn(usize) -> [u64; 2]) -> Vec<(Mode, u64)> {
        let mut pace = Pace::default();
        let stretch = |at| {
            let (mode, events) = pace.next();
            let time = Duration::from_nanos(events * ns(at)[mode as usize]);
            pace.record(mode, events, time);
            (mode, events)
        };
        (0..number).map(stretch).collect()
    }

    #[test]
    fn the_faster_mode_has_all_but_a_few_short_trials() {
        for (ns, best) in [([100, 60], Mode::Together), ([100, 4_000], Mode::Alone)] {
            let all = stretches(1_000, |_| ns);
            assert_eq!(all[..2], [(Mode::Together, TRIAL), (Mode::Alone, TRIAL)]);
            let others = all.iter().filter(|(mode, _)| *mode != best);
            let others: Vec<u64> = others.map(|(_, events)| *events).collect();
            assert!((4..25).contains(&others.len()), "{}", others.len());
            assert!(others.iter().all(|&events| events == TRIAL));
        }
    }

    #[test]
    fn the_mode_follows_the_machine() {
        // Another program comes in the middle, and goes.
        let all = stretches(900, |at| match at / 300 {
            1 => [100, 500],
            _ => [100, 60],
        });
        let modes = |part: std::ops::Range<usize>| {
            let alone = all[part].iter().filter(|(mode, _)| *mode == Mode::Alone);
            alone.count()
        };
        assert!(modes(0..300) < 15);
        assert!(modes(302..600) > 275);
        assert!(modes(700..900) < 15);
    }

    #[test]
    fn a_few_events_say_nothing() {
        let mut pace = Pace::default();
        pace.record(Mode::Together, 10, Duration::from_secs(9));
        assert_eq!(pace.next(), (Mode::Together, TRIAL));
    }
}

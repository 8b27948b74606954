//! Extremes over a window of time or of round trips, as in `lib/win_minmax.c`.

/// Maximum over a window, kept as the best, second and third best of its parts (K. Nichols): pairs
/// of time and value.
#[derive(Clone, Copy, Debug, Default)]
pub struct WindowedMaximum([(u64, u64); 3]);

impl WindowedMaximum {
    /// Returns the maximum; 0 before the first value.
    pub fn value(&self) -> u64 {
        self.0[0].1
    }

    /// Takes in a value of the time `now` (`minmax_running_max`).
    pub fn update(&mut self, now: u64, value: u64, window: u64) {
        let WindowedMaximum(best) = self;
        let sample = (now, value);
        if value >= best[0].1 || now - best[2].0 > window {
            *best = [sample; 3];
            return;
        }
        if value >= best[1].1 {
            (best[1], best[2]) = (sample, sample);
        } else if value >= best[2].1 {
            best[2] = sample;
        }
        // `minmax_subwin_update`
        let age = now - best[0].0;
        if age > window {
            *best = [best[1], best[2], sample];
            if now - best[0].0 > window {
                *best = [best[1], best[2], sample];
            }
        } else if best[1].0 == best[0].0 && age > window / 4 {
            (best[1], best[2]) = (sample, sample);
        } else if best[2].0 == best[1].0 && age > window / 2 {
            best[2] = sample;
        }
    }
}

/// Minimum over a window: the order of complements is the reverse.
#[derive(Clone, Copy, Debug, Default)]
pub struct WindowedMinimum(WindowedMaximum);

impl WindowedMinimum {
    /// Returns the minimum; [`u64::MAX`] before the first value.
    pub fn value(&self) -> u64 {
        !self.0.value()
    }

    /// Takes in a value of the time `now` (`minmax_running_min`).
    pub fn update(&mut self, now: u64, value: u64, window: u64) {
        self.0.update(now, !value, window);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_maximum_is_forgotten_after_its_window() {
        let mut maximum = WindowedMaximum::default();
        let mut after = |round, value| {
            maximum.update(round, value, 10);
            maximum.value()
        };
        let values = [(0, 9), (1, 3), (3, 5), (6, 4), (10, 2), (11, 1), (13, 1)];
        let found: Vec<_> = values.iter().map(|&(r, v)| after(r, v)).collect();
        // 9 of round 0 counts up to round 10; then 5 of round 3 up to round 13.
        assert_eq!(found, [9, 9, 9, 9, 9, 5, 5]);
        assert_eq!(after(14, 1), 4);
        assert_eq!(after(15, 8), 8);
    }

    #[test]
    fn a_minimum_is_forgotten_after_its_window() {
        let mut minimum = WindowedMinimum::default();
        assert_eq!(minimum.value(), u64::MAX);
        let mut after = |time, value| {
            minimum.update(time, value, 10);
            minimum.value()
        };
        let values = [(0, 1), (3, 5), (6, 6), (10, 8), (11, 9), (13, 9), (14, 9)];
        let found: Vec<_> = values.iter().map(|&(at, v)| after(at, v)).collect();
        assert_eq!(found, [1, 1, 1, 1, 5, 5, 6]);
    }
}

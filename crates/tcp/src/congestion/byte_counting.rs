//! Slow start by acknowledged bytes (RFC 3465, sections 2.2 and 2.3).

use crate::cc::Window;
use crate::Parameters;

/// Limit on the growth of the window in slow start.
#[derive(Clone, Copy, Debug)]
pub struct ByteCounting {
    /// Most bytes that an acknowledgement counts for (L).
    limit: f64,
    /// Whether the current slow start follows a timeout.
    after_timeout: bool,
}

impl ByteCounting {
    /// Returns the rule of a law with segments of `mss` bytes, if its settings ask for it.
    pub fn of(parameters: &Parameters, mss: f64) -> Option<ByteCounting> {
        let segments = parameters.optional("byte_counting", 1.0..=2.0)?;
        Some(ByteCounting::new(segments * mss))
    }

    /// Creates the rule with a limit in bytes.
    pub fn new(limit: f64) -> ByteCounting {
        ByteCounting {
            limit,
            after_timeout: false,
        }
    }

    /// Grows the window in slow start.
    pub fn slow_start(&self, bytes: f64, window: &mut Window, mss: f64) {
        // Section 2.3: L = 1*SMSS in the slow start after a timeout.
        let limit = if self.after_timeout { mss } else { self.limit };
        // Section 2.2: cwnd += min (N, L)
        window.cwnd += bytes.min(limit);
    }

    /// Notes the end of a slow start.
    pub fn end(&mut self) {
        self.after_timeout = false;
    }

    /// Notes a timeout.
    pub fn on_timeout(&mut self) {
        self.after_timeout = true;
    }
}

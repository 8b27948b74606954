//! Explicit congestion notification (RFC 3168): answers to the echo of a mark, and counts of marks
//! (AccECN, RFC 9768).

use super::Sender;
use crate::cc::{Ack, Loss};
use crate::flight::scoreboard::Scoreboard;
use crate::flight::Flight;
use crate::recovery::Phase;
use crate::wire::ace;
use crate::wire::segment::CWR;
use lightburst_des::Time;
use lightburst_net::{Header, Options};

/// Reductions of the window, of which the receiver is told.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reductions {
    /// End of the data sent at the last reduction; 0 before the first.
    until: u64,
    /// Whether the receiver has not been told yet.
    news: bool,
}

/// Count of marked segments of which the receiver has told.
#[derive(Debug, Default)]
pub(super) struct Feedback {
    /// Marked segments (s.cep of RFC 9768, without its first value).
    marked: u64,
    /// Bytes known to have arrived, in order or not.
    arrived: u64,
    /// Time stamp of the newest acknowledgement; 0 without time stamps.
    newest: Time,
    /// Data reported beyond the cumulative acknowledgement, with any recovery.
    scoreboard: Scoreboard,
}

impl Feedback {
    pub fn marked(&self) -> u64 {
        self.marked
    }

    /// Returns the number of marked segments of which an acknowledgement tells; called once the
    /// flight was updated.
    fn hear(&mut self, header: &Header, options: Option<&Options>, flight: &Flight) -> u64 {
        let una = flight.snd_una;
        let blocks = options.map_or(&[][..], Options::blocks);
        self.scoreboard.acknowledge(una);
        self.scoreboard.update(blocks, una);
        let arrived = una + self.scoreboard.sacked(una);
        // RFC 9768, appendix A.1: newlyAckedB, by the acknowledgement number and SACK.
        let bytes = arrived - std::mem::replace(&mut self.arrived, arrived);
        // newlyAckedT, by time stamps.
        let stamp = options.map_or(Time::NEVER, |options| options.timestamp);
        let newer = stamp != Time::NEVER && stamp > self.newest;
        if newer {
            self.newest = stamp;
        }
        // Section 3.2.2.2: the count of an acknowledgement that was superseded is ignored.
        if bytes == 0 && !newer {
            return 0;
        }
        // Appendix A.2.1: newlyAckedPkt = newlyAckedB / MSS; the last segment may be shorter.
        let segments = bytes.div_ceil(u64::from(flight.mss));
        let marks = ace::increment(header.ace, self.marked, segments);
        self.marked += marks;
        marks
    }
}

impl Sender {
    /// Reads the count of marks of an acknowledgement, new or duplicate, if marks are counted.
    #[inline]
    pub(super) fn hear_marks(&mut self, ack: &mut Ack, header: &Header, options: Option<&Options>) {
        if self.measure.accurate {
            self.count_marks(ack, header, options);
        }
    }

    #[cold]
    #[inline(never)]
    fn count_marks(&mut self, ack: &mut Ack, header: &Header, options: Option<&Options>) {
        let Some(feedback) = &mut self.feedback else {
            return;
        };
        let marks = feedback.hear(header, options, &self.flight);
        ack.ecn_echo = marks > 0;
        ack.marks = Some(marks as u32);
    }

    /// Notes that the window was reduced.
    pub(super) fn note_reduction(&mut self) {
        self.reductions = Reductions {
            until: self.flight.snd_max,
            news: true,
        };
    }

    /// Answers an acknowledgement that echoes a mark, after the recovery has handled it. `before` is
    /// the window before that; `fast`: the recovery has reduced the window.
    #[inline]
    pub(super) fn answer_echo(&mut self, ack: &Ack, before: f64, fast: bool) {
        if self.measure.ecn && (ack.ecn_echo || fast) {
            self.reduce_once(ack, before, fast);
        }
    }

    /// Reduces the window as for a loss, at most once per window of data (RFC 3168, section 6.1.2).
    #[cold]
    #[inline(never)]
    fn reduce_once(&mut self, ack: &Ack, before: f64, fast: bool) {
        if fast {
            return self.note_reduction();
        }
        // "SHOULD NOT increase the congestion window in response to" an echo.
        if self.congestion.window().cwnd > before {
            self.congestion.set_cwnd(before);
        }
        let until = self.reductions.until;
        let newer = until == 0 || self.flight.snd_una > until;
        if newer && self.recovery.phase(&self.flight) == Phase::Open {
            self.congestion.on_loss(&Loss {
                at: ack.at,
                in_flight: self.recovery.flight_size(&self.flight),
                echo: true,
            });
            self.note_reduction();
        }
    }

    /// Returns the header of a new data segment, which tells the receiver of a reduction. With counts
    /// of marks there is no CWR (RFC 9768, section 3.2.2).
    pub(super) fn with_news(&mut self, mut header: Header) -> Header {
        if std::mem::take(&mut self.reductions.news) && !self.measure.accurate {
            header.flags |= CWR;
        }
        header
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::ace::field;
    use lightburst_net::Block;

    const MSS: u64 = 1000;

    /// A sender's knowledge of 40 segments in flight, and the acknowledgements that it hears.
    struct Heard {
        feedback: Feedback,
        flight: Flight,
    }

    impl Heard {
        fn new() -> Heard {
            let mut flight = Flight::new(40 * MSS, MSS as u32, u64::MAX);
            (0..40).for_each(|number| flight.send(number * MSS, Time::ZERO));
            Heard {
                feedback: Feedback::default(),
                flight,
            }
        }

        /// Hears an acknowledgement of the first `count` segments, whose receiver has seen `marked`
        /// marks, with a block of segments and a time stamp, if any; returns the marks it tells.
        fn ack(&mut self, count: u64, marked: u64, block: Option<[u64; 2]>, stamp: u64) -> u64 {
            if count * MSS > self.flight.snd_una {
                self.flight.acknowledge(count * MSS);
            }
            let mut options = Options::default();
            if stamp > 0 {
                options.timestamp = Time(stamp);
            }
            if let Some([start, end]) = block.map(|ends| ends.map(|number| number * MSS)) {
                options.push(Block { start, end });
            }
            let header = Header {
                acknowledgement: count * MSS,
                ace: field(marked),
                ..Header::default()
            };
            self.feedback.hear(&header, Some(&options), &self.flight)
        }
    }

    #[test]
    fn a_count_is_decoded_by_the_segments_acknowledged() {
        let mut heard = Heard::new();
        assert_eq!(heard.ack(2, 1, None, 0), 1);
        // Five acknowledgements of two segments were lost, with 10 marks: 2 or 10 are possible.
        assert_eq!(heard.ack(12, 11, None, 0), 10);
        // Nine segments may not have ten marks.
        assert_eq!(heard.ack(21, 13, None, 0), 2);
    }

    #[test]
    fn a_short_last_segment_is_a_segment() {
        let mut flight = Flight::new(8 * MSS + 1, MSS as u32, u64::MAX);
        (0..9).for_each(|number| flight.send(number * MSS, Time::ZERO));
        flight.acknowledge(8 * MSS + 1);
        let header = Header {
            ace: field(1),
            ..Header::default()
        };
        // Appendix A.2.1: nine segments may have had one mark or nine; eight had one.
        let told = Feedback::default().hear(&header, None, &flight);
        assert_eq!(told, 9);
    }

    #[test]
    fn sacked_segments_count_once() {
        let mut heard = Heard::new();
        assert_eq!(heard.ack(0, 1, Some([1, 2]), 0), 1);
        assert_eq!(heard.ack(0, 2, Some([1, 3]), 0), 1);
        // Eleven segments are acknowledged, and two of them for the second time: nine, of which ten
        // cannot be marked.
        assert_eq!(heard.ack(11, 4, None, 0), 2);
    }

    #[test]
    fn an_acknowledgement_without_news_tells_nothing() {
        let mut heard = Heard::new();
        assert_eq!(heard.ack(4, 1, Some([5, 6]), 0), 1);
        // One that was sent before it and overtaken has an older count: 7 marks more, or none.
        assert_eq!(heard.ack(4, 0, Some([5, 6]), 0), 0);
        // A duplicate without SACK: the next acknowledgement of data has the count, too.
        assert_eq!(heard.ack(4, 3, None, 0), 0);
        assert_eq!(heard.ack(8, 3, None, 0), 2);
    }

    #[test]
    fn a_newer_time_stamp_is_news() {
        let mut heard = Heard::new();
        assert_eq!(heard.ack(4, 0, None, 7), 0);
        assert_eq!(heard.ack(4, 2, None, 9), 2);
        assert_eq!(heard.ack(4, 1, None, 8), 0);
    }
}

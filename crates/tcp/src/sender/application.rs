//! Application that writes its data in parts.

use super::{Sender, State};
use crate::wire::host_timer::HostTimer;
use crate::wire::segment::Endpoint;
use lightburst_des::Duration;

/// Writes of an application: the first when the connection is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Writes {
    /// Bytes of each write; the last one has the rest of the data.
    pub bytes: u64,
    /// Time from one write to the next.
    pub interval: Duration,
}

/// Application of one sender.
pub(super) struct Application {
    writes: Writes,
    /// Bytes written so far, and in all.
    written: u64,
    size: u64,
}

impl Sender {
    /// Has the application write in parts; called before the connection begins.
    pub fn write_in_parts(&mut self, writes: Writes) {
        let size = std::mem::take(&mut self.flight.size);
        self.flight.more = true;
        self.application = Some(Box::new(Application {
            writes,
            written: 0,
            size,
        }));
    }

    /// Writes the next part and sets the timer for the one after it, if data is left.
    pub(super) fn write_part(&mut self, end: &mut Endpoint<'_, '_>) {
        let application = self.application.as_mut().expect("it writes in parts");
        let (Writes { bytes, interval }, size) = (application.writes, application.size);
        let written = application.written.saturating_add(bytes).min(size);
        application.written = written;
        self.flight.more = written < size;
        if self.flight.more {
            end.timer(end.now() + interval, HostTimer::Write);
        }
        // A segment leaves when all of it is written, as with TCP_CORK.
        let rest = match self.flight.more {
            true => written % u64::from(self.flight.mss),
            false => 0,
        };
        self.flight.size = written - rest;
    }

    /// Handles the event of the next write.
    #[cold]
    pub fn on_write(&mut self, end: &mut Endpoint<'_, '_>) {
        if self.state != State::Established {
            return;
        }
        self.tell_of_write(end);
        self.write_part(end);
        self.resume(end);
        self.tell_window(end);
    }
}

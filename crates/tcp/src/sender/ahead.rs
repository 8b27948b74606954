//! Memory that the next event needs.

use super::Sender;
use lightburst_net::unit::arena::prefetch_lines;

impl Sender {
    /// Prefetches what an acknowledgement needs outside of the sender.
    #[inline]
    pub fn prefetch(&self) {
        prefetch_lines(&*self.recovery, 0..1);
        prefetch_lines(&*self.timeout, 0..1);
        self.congestion.prefetch();
    }
}

//! Queues that have a unit.

/// Set of queues: a bit for each, in words of 64.
pub struct Occupied(Vec<u64>);

impl Occupied {
    /// Creates the empty set of so many queues.
    pub fn new(queues: usize) -> Occupied {
        Occupied(vec![0; queues.div_ceil(64)])
    }

    /// Adds a queue.
    #[inline]
    pub fn add(&mut self, queue: usize) {
        self.0[queue / 64] |= 1 << (queue % 64);
    }

    /// Removes a queue.
    #[inline]
    pub fn remove(&mut self, queue: usize) {
        self.0[queue / 64] &= !(1 << (queue % 64));
    }

    /// Returns the first queue from a number on.
    #[inline]
    fn next(&self, from: usize) -> Option<usize> {
        let mut place = from / 64;
        let mut word = *self.0.get(place)? & (u64::MAX << (from % 64));
        while word == 0 {
            place += 1;
            word = *self.0.get(place)?;
        }
        Some(64 * place + word.trailing_zeros() as usize)
    }

    #[inline]
    fn from(&self, first: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.next(first), |queue| self.next(queue + 1))
    }

    /// Iterates over the queues, from a number on and then from the first one on.
    #[inline]
    pub fn round(&self, first: usize) -> impl Iterator<Item = usize> + '_ {
        let before = self.from(0).take_while(move |&queue| queue < first);
        self.from(first).chain(before)
    }
}

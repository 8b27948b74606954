//! Queues that have a unit, and take turns.

/// The first queues of a rack, as many as there are racks: which of them have a unit, and which has
/// the next turn. Queues after these are ignored.
pub struct Occupied {
    queues: usize,
    /// A bit for each queue, in words of 64.
    words: Vec<u64>,
    turn: usize,
}

impl Occupied {
    /// Creates so many queues without units.
    pub fn new(queues: usize) -> Occupied {
        Occupied {
            queues,
            words: vec![0; queues.div_ceil(64)],
            turn: 0,
        }
    }

    /// Notes that a queue has a unit.
    #[inline]
    pub fn add(&mut self, queue: usize) {
        if queue < self.queues {
            self.words[queue / 64] |= 1 << (queue % 64);
        }
    }

    /// Notes that a queue has no unit any more.
    #[inline]
    pub fn remove(&mut self, queue: usize) {
        if queue < self.queues {
            self.words[queue / 64] &= !(1 << (queue % 64));
        }
    }

    /// Whether no queue has a unit.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Notes that a queue had its turn: the one after it is next.
    #[inline]
    pub fn served(&mut self, queue: usize) {
        if queue < self.queues {
            self.turn = (queue + 1) % self.queues;
        }
    }

    /// Returns the first queue from a number on.
    #[inline]
    fn next(&self, from: usize) -> Option<usize> {
        let mut place = from / 64;
        let mut word = *self.words.get(place)? & (u64::MAX << (from % 64));
        while word == 0 {
            place += 1;
            word = *self.words.get(place)?;
        }
        Some(64 * place + word.trailing_zeros() as usize)
    }

    #[inline]
    fn from(&self, first: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.next(first), |queue| self.next(queue + 1))
    }

    /// Iterates over the queues with a unit, from the one that has the turn on.
    #[inline]
    pub fn round(&self) -> impl Iterator<Item = usize> + '_ {
        let first = self.turn;
        let before = self.from(0).take_while(move |&queue| queue < first);
        self.from(first).chain(before)
    }
}

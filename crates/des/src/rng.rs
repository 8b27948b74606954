//! Random streams, one for each named component, so that adding a component does not change the
//! random numbers of the others.

use crate::real::ln;

const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns the output of SplitMix64 for state `x` (Steele, Lea, Flood 2014).
#[inline]
pub fn mix(x: u64) -> u64 {
    let mut z = x.wrapping_add(GOLDEN_GAMMA);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Returns the 64-bit FNV-1a hash of a name.
fn fnv1a(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The generator xoshiro256++ (Blackman and Vigna 2018).
#[derive(Clone, Debug)]
pub struct Stream {
    state: [u64; 4],
}

impl Stream {
    /// Creates the stream of the component called `name` for a run with this `seed`.
    pub fn new(seed: u64, name: &str) -> Stream {
        let start = mix(seed) ^ fnv1a(name);
        let word = |i: u64| mix(start.wrapping_add(GOLDEN_GAMMA.wrapping_mul(i)));
        Stream {
            state: [word(0), word(1), word(2), word(3)],
        }
    }

    /// Returns 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Returns an unbiased uniform integer in `0..n` (Lemire 2019); `n` must be positive.
    #[inline]
    pub fn below(&mut self, n: u32) -> u32 {
        let n = u64::from(n);
        let mut m = u128::from(self.next_u64()) * u128::from(n);
        if (m as u64) < n {
            let threshold = n.wrapping_neg() % n;
            while (m as u64) < threshold {
                m = u128::from(self.next_u64()) * u128::from(n);
            }
        }
        (m >> 64) as u32
    }

    /// Returns a uniformly distributed number from 0 to less than 1, a multiple of 2^-53.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns an exponentially distributed number with mean 1, from one draw.
    pub fn exponential(&mut self) -> f64 {
        // u is uniform among the multiples of 2^-53 in (0, 1].
        let u = ((self.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64;
        // -ln u, since `ln` needs a number that is at least 1.
        ln(1.0 / u)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix64_reference_output() {
        // Source: https://prng.di.unimi.it/splitmix64.c, seed 1234567.
        let seed: u64 = 1_234_567;
        let out: Vec<u64> = (0..3)
            .map(|i| mix(seed.wrapping_add(GOLDEN_GAMMA.wrapping_mul(i))))
            .collect();
        assert_eq!(
            out,
            [
                6457827717110365317,
                3203168211198807973,
                9817491932198370423
            ]
        );
    }

    #[test]
    fn xoshiro256plusplus_reference_output() {
        let mut stream = Stream {
            state: [1, 2, 3, 4],
        };
        let out: Vec<u64> = (0..4).map(|_| stream.next_u64()).collect();
        assert_eq!(
            out,
            [41943041, 58720359, 3588806011781223, 3591011842654386]
        );
    }

    #[test]
    fn fnv1a_reference_output() {
        assert_eq!(fnv1a(""), 0xcbf29ce484222325);
        assert_eq!(fnv1a("foobar"), 0x85944171f73967e8);
    }

    #[test]
    fn a_draw_is_uniform_and_streams_differ() {
        let mut a = Stream::new(7, "switch/0");
        let mut b = Stream::new(7, "switch/1");
        assert_ne!(a.next_u64(), b.next_u64());
        let mut counts = [0u32; 6];
        for _ in 0..60_000 {
            counts[a.below(6) as usize] += 1;
        }
        // Chi-squared test with 5 degrees of freedom; the 99.9 % quantile is 20.5.
        let chi: f64 = counts
            .iter()
            .map(|&c| (f64::from(c) - 1e4).powi(2) / 1e4)
            .sum();
        assert!(chi < 20.5, "{counts:?}");
    }

    #[test]
    fn an_exponential_draw_has_the_mean_and_the_tail_of_the_distribution() {
        let mut draw = Stream::new(7, "assembly/0");
        let draws: Vec<f64> = (0..100_000).map(|_| draw.exponential()).collect();
        let mean = draws.iter().sum::<f64>() / 1e5;
        // The standard deviation of the mean is 0.003, that of each share at most 0.0016.
        assert!((mean - 1.0).abs() < 0.012, "{mean}");
        for x in [0.1f64, 1.0, 3.0] {
            let share = draws.iter().filter(|&&drawn| drawn > x).count() as f64 / 1e5;
            assert!((share - (-x).exp()).abs() < 0.006, "{x}: {share}");
        }
    }
}

//! Roots and logarithms computed from correctly rounded IEEE 754 operations in a fixed order. The
//! results are identical on every machine, which system mathematics libraries do not guarantee.

/// ln 2, rounded.
const LN_2: f64 = std::f64::consts::LN_2;
/// Number of terms in the series of the logarithm; further terms lie below the precision of a
/// double.
const TERMS: u32 = 17;

/// Returns the `n`-th root of a positive `x`, by Newton's method from above until the value no
/// longer decreases.
pub fn root(x: f64, n: u32) -> f64 {
    let mut root = x.max(1.0);
    loop {
        let power = (2..n).fold(root, |power, _| power * root);
        let next = (f64::from(n - 1) * root + x / power) / f64::from(n);
        if next >= root {
            return root;
        }
        root = next;
    }
}

/// Returns the natural logarithm of `x`, which must be at least 1.
pub fn ln(x: f64) -> f64 {
    let (mut rest, mut doublings) = (x, 0.0);
    while rest >= 2.0 {
        rest /= 2.0;
        doublings += 1.0;
    }
    // ln x = 2 artanh ((x - 1) / (x + 1)) = 2 s (1 + s^2 / 3 + s^4 / 5 + ...)
    let s = (rest - 1.0) / (rest + 1.0);
    let series = (0..TERMS)
        .rev()
        .fold(0.0, |sum, k| sum * (s * s) + 1.0 / f64::from(2 * k + 1));
    2.0 * s * series + doublings * LN_2
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Numbers from 1 to 4e16, most of them small.
    fn numbers() -> impl Strategy<Value = f64> {
        prop_oneof![1.0..2.0, 1.0..100.0, 1.0..1e6, 1.0..4e16]
    }

    proptest! {
        #[test]
        fn the_power_of_a_root_is_the_number_to_the_last_bits(
            x in prop_oneof![0.01..1.0, numbers()],
            n in 2..=5u32,
        ) {
            let power = (1..n).fold(root(x, n), |power, _| power * root(x, n));
            prop_assert!((power / x - 1.0).abs() < 1e-15 * f64::from(n), "{power}");
        }

        #[test]
        fn a_logarithm_is_right_to_the_last_bits(x in numbers()) {
            prop_assert!((ln(x) - x.ln()).abs() <= 4e-16 * x.ln().max(1.0), "{}", ln(x));
        }
    }

    #[test]
    fn roots_and_logarithms_of_powers_are_exact() {
        assert_eq!(ln(1.0), 0.0);
        assert_eq!([root(27.0, 3), root(32.0, 5)], [3.0, 2.0]);
    }
}

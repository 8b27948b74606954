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

    #[test]
    fn roots_and_logarithms_are_right_to_the_last_bits() {
        for exponent in -40..=400 {
            let x = 1.1f64.powi(exponent);
            for n in [2, 3, 5] {
                let exact = x.powf(1.0 / f64::from(n));
                assert!((root(x, n) / exact - 1.0).abs() < 1e-15, "{x}");
            }
            if x >= 1.0 {
                assert!((ln(x) - x.ln()).abs() <= 4e-16 * x.ln().max(1.0), "{x}");
            }
        }
        assert_eq!(ln(1.0), 0.0);
        assert_eq!([root(27.0, 3), root(32.0, 5)], [3.0, 2.0]);
    }
}

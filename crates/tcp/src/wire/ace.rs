//! Counts of congestion marks in the headers of segments (AccECN, RFC 9768).

/// Number of values of the field (DIVACE of appendix A.2).
const VALUES: u64 = 8;
/// Field before the first mark (section 3.2.1: r.cep = s.cep = 5).
pub const FIRST: u8 = 5;

/// Field of a SYN: (AE, CWR, ECE) = (1, 1, 1) asks for accurate feedback (section 3.1.1).
pub const REQUEST: u8 = 0b111;
/// Field of a SYN+ACK and of its acknowledgement: the segment that is answered was not capable of ECN
/// (section 3.1.1, table 2, and section 3.2.2.1, table 3).
pub const NOT_CAPABLE: u8 = 0b010;

/// Returns the field after this number of marked segments (section 3.2.2.2).
pub fn field(marked: u64) -> u8 {
    // Appendix A.2.1: ACE = r.cep % DIVACE
    ((u64::from(FIRST) + marked) % VALUES) as u8
}

/// Returns the number of marked segments that a field tells in addition to `known` ones, with an
/// acknowledgement of `acknowledged` more segments: the safest likely number (section 3.2.2.5.2).
pub fn increment(field: u8, known: u64, acknowledged: u64) -> u64 {
    // Appendix A.2.1: d.cep = (ACE + DIVACE - (s.cep % DIVACE)) % DIVACE
    let counted = u64::from(FIRST) + known;
    let least = (u64::from(field) + VALUES - counted % VALUES) % VALUES;
    // Section 3.2.2.5.2: a count above the number of segments is taken for correct.
    if least > acknowledged {
        return least;
    }
    // dSafer.cep = newlyAckedPkt - ((newlyAckedPkt - d.cep) % DIVACE)
    acknowledged - (acknowledged - least) % VALUES
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_field_begins_with_5_and_wraps_after_7() {
        let fields = [0, 1, 2, 3, 4, 8, 11].map(field);
        assert_eq!(fields, [5, 6, 7, 0, 1, 5, 0]);
    }

    #[test]
    fn the_examples_of_appendix_a_2_1_are_decoded_as_there() {
        // "it would still be safe to assume 2 CE marks (because 9 - ((9-2) % 8) = 2)"
        assert_eq!(increment(7, 0, 9), 2);
        // "there could have been 10 CE marks (because 10 - ((10-2) % 8) = 10)"
        assert_eq!(increment(7, 0, 10), 10);
        // "checks would need to be added [...] for (d.cep > newlyAckedPkt)"
        assert_eq!(increment(0, 0, 2), 3);
        // The count of before matters modulo 8 alone.
        assert_eq!([increment(7, 800, 9), increment(7, 803, 4)], [2, 7]);
    }

    #[test]
    fn the_kernels_tests_without_options_expect_the_same() {
        // tools/testing/selftests/net/packetdrill of Linux: tcp_accecn_delivered_maxack (ten
        // segments, ACE 4), tcp_accecn_delivered_2ndlargeack (nine segments, ACE 5), and the
        // fields of tcp_accecn_delivered_updates, one segment each.
        assert_eq!([increment(4, 0, 10), increment(5, 0, 9)], [7, 8]);
        let mut known = 0;
        let told = [6, 6, 7, 7, 0].map(|field| {
            known += increment(field, known, 1);
            known
        });
        assert_eq!(told, [1, 1, 2, 2, 3]);
    }

    proptest! {
        /// Up to seven segments are told exactly; of more, never too few and at most all.
        #[test]
        fn no_mark_is_missed(known in 0..1_000u64, acknowledged in 0..40u64, share in 0.0..=1.0f64) {
            let marked = (share * acknowledged as f64) as u64;
            let told = increment(field(known + marked), known, acknowledged);
            prop_assert!(marked <= told && told <= acknowledged);
            prop_assert_eq!((told - marked) % VALUES, 0);
            prop_assert!(acknowledged >= VALUES || told == marked);
        }
    }
}

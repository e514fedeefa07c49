//! Counts in how many texts each feature occurs, so that common parts of words weigh less.

/// The number of counters. Features that share a counter are counted together.
const COUNTERS: usize = 1 << 16;
/// The number of imaginary texts added for smoothing, so that features do not look common in a
/// small collection.
const ASSUMED_TEXTS: f32 = 20.0;

/// For each counter, the number of texts with its features.
pub(crate) struct Frequencies {
    texts: u32,
    with_feature: Vec<u32>,
}

impl Default for Frequencies {
    fn default() -> Self {
        Self { texts: 0, with_feature: vec![0; COUNTERS] }
    }
}

impl Frequencies {
    /// Counts a text with these features. Each feature counts once.
    pub(crate) fn add_text(&mut self, features: impl Iterator<Item = u64>) {
        let mut counters: Vec<usize> = features.map(counter).collect();
        counters.sort_unstable();
        counters.dedup();
        for counter in counters {
            self.with_feature[counter] = self.with_feature[counter].saturating_add(1);
        }
        self.texts = self.texts.saturating_add(1);
    }

    /// Returns the weight of a feature: large if few texts have it.
    pub(crate) fn weight(&self, feature: u64) -> f32 {
        let with = self.with_feature[counter(feature)] as f32;
        (1.0 + (self.texts as f32 + ASSUMED_TEXTS) / (1.0 + with)).ln()
    }
}

fn counter(feature: u64) -> usize {
    feature as usize % COUNTERS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_common_feature_weighs_less_than_a_rare_one() {
        let mut frequencies = Frequencies::default();
        for n in 0..10 {
            frequencies.add_text([7, 7, 100 + n].into_iter());
        }
        assert!(frequencies.weight(7) < frequencies.weight(100));
        assert!(frequencies.weight(100) < frequencies.weight(9_999));
        assert_eq!(frequencies.with_feature[7], 10, "a feature counts once for each text");
    }
}

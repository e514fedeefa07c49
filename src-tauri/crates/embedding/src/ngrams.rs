//! The built-in model: the parts of words, three to five characters long, hashed into a vector of
//! fixed length. The model needs no file and no network and works for every language with words. It
//! finds inflected and misspelled words, but knows no meanings.

use std::collections::HashMap;

use async_trait::async_trait;
use engine::ports::{Embedder, EmbeddingFailed, EmbeddingModel, EmbeddingModelId};
use parking_lot::Mutex;

use crate::frequencies::Frequencies;

/// The number of values in a vector.
const DIMENSION: usize = 1_024;
/// The lengths of word parts in characters, including the marks for the word's start and end.
const LENGTHS: std::ops::RangeInclusive<usize> = 3..=5;
/// The similarity from which a memory is relevant. Calibrated with every second question of
/// `tests/data/memory-recall`: 83 of 100 questions reach the threshold with their own memory, and
/// one of the 199 other memories reaches the threshold in two of three questions. With 0.22, only
/// 79 questions reach the threshold; with 0.18, one other memory per question does.
const THRESHOLD: f32 = 0.20;
const DESCRIPTION: &str = "Compares parts of words. It finds inflected and misspelled words in any language, but knows no meanings.";

/// The built-in embedding model.
///
/// Stored texts are weighted by the number of occurrences alone. Questions are also weighted by how
/// rare each part is among the stored texts, so that a stored vector stays correct when more texts
/// are stored.
#[derive(Default)]
pub struct CharacterNgrams {
    frequencies: Mutex<Frequencies>,
}

#[async_trait]
impl Embedder for CharacterNgrams {
    fn model(&self) -> EmbeddingModel {
        EmbeddingModel {
            id: EmbeddingModelId("character-ngrams-1".into()),
            dimension: DIMENSION as u32,
            threshold: THRESHOLD,
            description: DESCRIPTION.into(),
        }
    }

    fn learn(&self, text: &str) {
        self.frequencies.lock().add_text(count_features(text).into_keys());
    }

    fn forget_learned(&self) {
        *self.frequencies.lock() = Frequencies::default();
    }

    async fn embed_memory(&self, text: &str) -> Result<Vec<f32>, EmbeddingFailed> {
        Ok(vector(text, |_| 1.0))
    }

    async fn embed_question(&self, text: &str) -> Result<Vec<f32>, EmbeddingFailed> {
        let frequencies = self.frequencies.lock();
        Ok(vector(text, |feature| frequencies.weight(feature)))
    }
}

/// Returns the vector of a text, with the length 1. All values are 0 if the text has no words.
fn vector(text: &str, weight: impl Fn(u64) -> f32) -> Vec<f32> {
    let mut features: Vec<(u64, u32)> = count_features(text).into_iter().collect();
    // The features are sorted because sums of floats depend on the order, and equal texts must get
    // equal vectors.
    features.sort_unstable();
    let mut values = vec![0.0_f32; DIMENSION];
    for (feature, count) in features {
        let strength = (1.0 + (count as f32).ln()) * weight(feature);
        // The lowest bits are already used by the counters of `frequencies`.
        let place = (feature >> 20) as usize % DIMENSION;
        values[place] += if feature >> 63 == 1 { strength } else { -strength };
    }
    let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        values.iter_mut().for_each(|value| *value /= length);
    }
    values
}

/// Returns the parts of all words in a text as hashes, and how often each part occurs.
fn count_features(text: &str) -> HashMap<u64, u32> {
    let mut counts = HashMap::new();
    let folded = language::fold(text);
    for word in folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let chars: Vec<char> = format!("<{word}>").chars().collect();
        for part in LENGTHS.flat_map(|length| chars.windows(length)) {
            *counts.entry(hash(part)).or_insert(0) += 1;
        }
    }
    counts
}

/// Returns the hash of a part: FNV-1a over its characters, then mixed so that all bits depend on
/// all characters. The function must not change, because vectors are stored.
fn hash(part: &[char]) -> u64 {
    let fnv = part.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, c| {
        (hash ^ u64::from(*c)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let mixed = (fnv ^ (fnv >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    mixed ^ (mixed >> 33)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    const MEMORIES: [&str; 16] = [
        "Account 17 reports in Central European Time",
        "Anna prefers bullet points over long paragraphs",
        "The quarterly budget for Northwind is 120 000 euros",
        "Our invoices are due within thirty days",
        "The staging server restarts every Sunday night",
        "Bluebell's contact person is Johan Lindqvist",
        "The retargeting campaign must never exceed 500 kr per day",
        "Customers in Norway pay without VAT",
        "Konto 23 rapporterar i svenska kronor",
        "Chefen vill ha rapporten före klockan nio",
        "Kampanjen för vinterjackor startar i november",
        "Vi mäter konverteringar sju dagar efter klick",
        "Leveranser till Gotland tar två extra dagar",
        "Den gamla prislistan gäller till årsskiftet",
        "Butiken i Umeå har stängt på söndagar",
        "Returer kostar kunden ingenting",
    ];

    /// Returns the similarity of a question to each memory.
    async fn similarities(question: &str) -> Vec<f32> {
        let model = CharacterNgrams::default();
        MEMORIES.iter().for_each(|text| model.learn(text));
        let asked = model.embed_question(question).await.unwrap();
        let mut all = Vec::new();
        for text in MEMORIES {
            let stored = model.embed_memory(text).await.unwrap();
            all.push(asked.iter().zip(&stored).map(|(a, b)| a * b).sum());
        }
        all
    }

    #[tokio::test]
    async fn inflected_and_misspelled_words_are_found_in_both_languages() {
        for (question, expected) in [
            ("which account is reporting in european times", 0),
            ("does anna prefer a bullet point or a paragraf", 1),
            ("whats northwinds quartely budget", 2),
            ("When is an invoice due?", 3),
            ("why did the stagging servers restart on sundays", 4),
            ("daily limit of the retargetting campaigns", 6),
            ("Does a Norwegian customer pay VAT?", 7),
            ("när vill chefen ha rapporterna", 9),
            ("vinterjackornas kampanjer startade", 10),
            ("hur mäts en konvertering efter klicket", 11),
            ("hur lång tid tar leveransen till gottland", 12),
            ("hur länge gäller prislistorna", 13),
            ("har butiken i Umea öppet på en söndag", 14),
            ("vad kostar en retur för kunder", 15),
        ] {
            let all = similarities(question).await;
            let best = (0..all.len()).max_by(|a, b| all[*a].total_cmp(&all[*b])).unwrap();
            assert_eq!(MEMORIES[best], MEMORIES[expected], "{question}");
            assert!(all[expected] >= THRESHOLD, "{question}: {}", all[expected]);
        }
    }

    #[tokio::test]
    async fn unrelated_messages_stay_below_the_threshold() {
        for message in [
            "How is the weather today?",
            "Tell me a joke",
            "Hej, vad kan du göra?",
            "Compare the two lamps",
            "Tack så mycket!",
            "Write a poem about the sea",
            "hur mår du idag",
        ] {
            let most = similarities(message).await.into_iter().fold(0.0, f32::max);
            assert!(most < THRESHOLD, "{message}: {most}");
        }
    }

    #[tokio::test]
    async fn the_built_in_model_finds_no_synonyms_and_says_so_in_its_description() {
        let similar = similarities("holiday bill payment deadline").await;
        assert!(similar.iter().all(|similarity| *similarity < THRESHOLD), "{similar:?}");
        assert!(DESCRIPTION.contains("knows no meaning"));
    }

    #[tokio::test]
    async fn a_vector_has_a_fixed_dimension_unit_length_and_is_reproducible() {
        let model = CharacterNgrams::default();
        let one = model.embed_memory("Konto 17 rapporterar i CET. 東京 ok").await.unwrap();
        assert_eq!(one.len(), DIMENSION);
        assert!((one.iter().map(|value| value * value).sum::<f32>() - 1.0).abs() < 1e-4);
        model.learn("Konto 17");
        let again = model.embed_memory("Konto 17 rapporterar i CET. 東京 ok").await.unwrap();
        assert_eq!(one, again, "a stored vector stays right when more texts are stored");
        let nothing = model.embed_memory(" …! ").await.unwrap();
        assert!(nothing.iter().all(|value| *value == 0.0));
    }

    #[tokio::test]
    async fn rare_words_are_weighted_more_than_common_words() {
        let model = CharacterNgrams::default();
        for n in 0..50 {
            model.learn(&format!("the customer wants number {n}"));
        }
        let asked = model.embed_question("the customer zanzibar").await.unwrap();
        let similarity = async |text: &str| -> f32 {
            let stored = model.embed_memory(text).await.unwrap();
            asked.iter().zip(&stored).map(|(a, b)| a * b).sum()
        };
        assert!(similarity("zanzibar").await > similarity("the customer").await);
        model.forget_learned();
        let forgotten = model.embed_question("the customer zanzibar").await.unwrap();
        assert_ne!(asked, forgotten);
    }

    #[test]
    fn feature_hashes_stay_the_same_between_versions() {
        assert_eq!(hash(&['<', 'a', 'b']), 5_172_649_928_599_062_589);
    }
}

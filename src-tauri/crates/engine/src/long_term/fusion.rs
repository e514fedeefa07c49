//! Joins the results of two searches into a list, and decides which of them match a question.

use std::collections::HashMap;

use contract::{MemoryEntry, MemoryHit, MemoryId};

/// The constant of reciprocal rank fusion. A larger constant reduces the weight of the first ranks.
const RANK_OFFSET: f64 = 60.0;
/// The share of the question's letters whose words must occur in a memory that is not similar
/// enough by its vector. Long words have more weight, because they are rarer in every language.
const LEAST_SHARE: f64 = 0.25;
/// The shortest word that is used, unless a word contains a digit.
const SHORTEST: usize = 3;
/// The most words of a question that are searched for.
const MOST_WORDS: usize = 64;

/// Returns the words of a text in lower case, each once.
pub(crate) fn words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let mut words: Vec<String> = Vec::new();
    for word in lower.split(|c: char| !c.is_alphanumeric()) {
        let counts = word.chars().count() >= SHORTEST || word.chars().any(|c| c.is_ascii_digit());
        if counts && words.len() < MOST_WORDS && !words.iter().any(|known| known == word) {
            words.push(word.to_owned());
        }
    }
    words
}

/// Joins both lists by reciprocal rank fusion, best first. A missing list contributes nothing.
/// Returns the memories that match the question: memories with sufficiently similar vectors, and
/// memories that contain enough of its words.
pub(crate) fn fuse(
    words: &[String],
    by_words: Vec<MemoryEntry>,
    by_vector: Vec<(MemoryEntry, f32)>,
    threshold: f32,
) -> Vec<MemoryHit> {
    let mut hits: Vec<MemoryHit> = Vec::new();
    let mut places: HashMap<MemoryId, usize> = HashMap::new();
    let similar = by_vector
        .into_iter()
        .filter(|(_, similarity)| *similarity >= threshold)
        .map(|(memory, similarity)| (memory, Some(similarity)))
        .zip(1_u32..);
    let worded = by_words.into_iter().map(|memory| (memory, None)).zip(1_u32..);
    for ((memory, similarity), rank) in similar.chain(worded) {
        let place = *places.entry(memory.id.clone()).or_insert_with(|| {
            hits.push(MemoryHit { memory, score: 0.0, similarity });
            hits.len() - 1
        });
        hits[place].score += 1.0 / (RANK_OFFSET + f64::from(rank));
    }
    hits.retain(|hit| {
        hit.similarity.is_some() || share_of_words(words, &hit.memory.text) >= LEAST_SHARE
    });
    hits.sort_by(|a, b| {
        b.score.total_cmp(&a.score).then_with(|| b.memory.created_at.cmp(&a.memory.created_at))
    });
    hits
}

/// Returns the share of the words that occur in a text, weighted by their lengths.
fn share_of_words(words: &[String], text: &str) -> f64 {
    let text = text.to_lowercase();
    let known: std::collections::HashSet<&str> =
        text.split(|c: char| !c.is_alphanumeric()).collect();
    let length = |word: &&String| word.chars().count() as f64;
    let all: f64 = words.iter().map(|word| length(&word)).sum();
    let found: f64 =
        words.iter().filter(|word| known.contains(word.as_str())).map(|word| length(&word)).sum();
    if all > 0.0 { found / all } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use contract::MemoryKind;

    use super::*;

    fn memory(id: &str, text: &str) -> MemoryEntry {
        MemoryEntry {
            id: id.into(),
            session: None,
            kind: MemoryKind::Note,
            text: text.into(),
            sources: vec![],
            pinned: false,
            untrusted: false,
            local_only: false,
            created_at: chrono::DateTime::UNIX_EPOCH,
            edited_at: None,
        }
    }

    fn ids(hits: &[MemoryHit]) -> Vec<&str> {
        hits.iter().map(|hit| hit.memory.id.as_str()).collect()
    }

    #[test]
    fn a_memory_found_by_both_searches_ranks_above_the_first_of_either() {
        let words = words("budget of northwind");
        let (a, b, c) = (
            memory("a", "budget of northwind"),
            memory("b", "northwind budget"),
            memory("c", "similar"),
        );
        let hits = fuse(&words, vec![a, b.clone()], vec![(c, 0.9), (b, 0.8)], 0.2);
        assert_eq!(ids(&hits), ["b", "c", "a"], "{hits:?}");
        assert!((hits[0].score - (1.0 / 62.0 + 1.0 / 62.0)).abs() < 1e-12);
        assert_eq!(hits[0].similarity, Some(0.8));
    }

    #[test]
    fn fusion_works_with_only_one_list_of_results() {
        let words = words("budget of northwind");
        let (a, b) = (memory("a", "budget of northwind"), memory("b", "northwind budget"));
        let only_words = fuse(&words, vec![a.clone(), b.clone()], vec![], 0.2);
        assert_eq!(ids(&only_words), ["a", "b"]);
        let only_vectors = fuse(&words, vec![], vec![(b, 0.5), (a, 0.4)], 0.2);
        assert_eq!(ids(&only_vectors), ["b", "a"]);
        assert!((only_vectors[0].score - 1.0 / 61.0).abs() < 1e-12);
        assert_eq!(fuse(&words, vec![], vec![], 0.2), []);
    }

    #[test]
    fn a_weak_similarity_or_a_common_word_alone_finds_no_memory() {
        let words = words("what does the customer in Norway pay");
        let weak = (memory("a", "unrelated"), 0.19);
        let common = memory("b", "the server is down");
        let fits = memory("c", "a customer in norway pays without VAT");
        let hits = fuse(&words, vec![fits, common], vec![weak], 0.2);
        assert_eq!(ids(&hits), ["c"], "{hits:?}");
    }

    #[test]
    fn short_words_are_searched_only_if_they_are_distinctive() {
        assert_eq!(words("Is it on 7, åt Åsa? åsa"), ["7", "åsa"]);
    }
}

//! Parts of values: segments such as "Summer Sale" of "North - Summer Sale", and words. People say one instead of the
//! whole name. It must not know which words are ordinary ones.

use super::{PartHit, SourceNames};
use crate::{lexicon::Lexicon, tokens::name_words};

/// The signs between the segments of a name.
const SIGNS: [&str; 10] = [" - ", " – ", " — ", " | ", " / ", " · ", " > ", ": ", "(", ")"];

/// The length of the shortest name that an ending of an owner is cut from.
const SHORTEST_OWNER: usize = 3;

impl SourceNames {
    /// Adds the segments of a value.
    pub(super) fn add_segments(&mut self, value: &str, place: usize) {
        let segments = segments_of(value);
        if segments.len() < 2 {
            return;
        }
        for segment in segments {
            let key = name_words(segment).concat();
            if !key.chars().any(char::is_alphabetic) {
                continue;
            }
            self.segments.entry(key).or_default().add(place);
        }
    }

    /// Adds the words of a value that may stand for it, one to three in a row.
    pub(super) fn add_words(&mut self, words: &[String], place: usize, lexicon: &Lexicon) {
        let is_plain = |word: &String| {
            word.len() >= 3 && (!lexicon.knows(word) || lexicon.is_empty_word(word))
        };
        for size in 1..words.len().min(4) {
            let parts = words.windows(size);
            let said = parts.filter(|part| part.len() > 1 || part.iter().any(is_plain));
            said.for_each(|part| self.parts.entry(part.concat()).or_default().add(place));
        }
    }

    /// Returns the values of each dimension that have the words as a segment. Empty if there are too many
    /// to name them.
    pub fn find_segment(&self, words: &[&str]) -> Vec<(String, Vec<String>)> {
        let Some(part) = self.segments.get(&words.concat()) else { return Vec::new() };
        if part.count > part.values.len() {
            return Vec::new();
        }
        let mut found: Vec<(String, Vec<String>)> = Vec::new();
        for (at, value) in part.values.iter().filter_map(|place| self.values.get(*place)) {
            let Some(dimension) = self.dimensions.get(*at) else { continue };
            match found.iter_mut().find(|(own, _)| own == dimension) {
                Some((_, values)) => values.push(value.clone()),
                None => found.push((dimension.clone(), vec![value.clone()])),
            }
        }
        found
    }
}

impl SourceNames {
    /// Returns the values that have the words of a span as a part, by dimension.
    pub fn find_part(&self, words: &[&str]) -> Vec<PartHit> {
        let Some(part) = self.parts.get(&words.concat()) else { return Vec::new() };
        let mut hits: Vec<PartHit> = Vec::new();
        for (dimension, value) in part.values.iter().filter_map(|place| self.values.get(*place)) {
            let Some(dimension) = self.dimensions.get(*dimension) else { continue };
            match hits.iter_mut().find(|hit| hit.dimension == *dimension) {
                Some(hit) => hit.value = None,
                None => hits.push(PartHit {
                    dimension: dimension.clone(),
                    value: (part.count == part.values.len()).then(|| value.clone()),
                }),
            }
        }
        hits
    }

    /// Returns the values of a dimension that have the words of a span as a part, if these are all that a
    /// condition on the text would not find, or would find besides others.
    pub fn listed_part(&self, words: &[&str], dimension: &str, text: &str) -> Option<Vec<String>> {
        let part = self.parts.get(&words.concat())?;
        let own = self.dimensions.iter().position(|own| own == dimension)?;
        let found = part.values.iter().filter_map(|place| self.values.get(*place));
        let found: Vec<&String> =
            found.filter(|(at, _)| *at == own).map(|(_, value)| value).collect();
        if part.count > part.values.len() {
            return None;
        }
        let lower = text.to_lowercase();
        let has = |value: &String| value.to_lowercase().contains(&lower);
        let others = self.values.iter().filter(|(at, value)| *at == own && has(value)).count();
        let is_exact = others == found.len() && found.iter().all(|value| has(value));
        (!is_exact).then(|| found.into_iter().cloned().collect())
    }

    /// Whether words are a part of a value.
    pub fn has_part(&self, words: &[&str]) -> bool {
        let key = words.concat();
        self.parts.contains_key(&key) || self.segments.contains_key(&key)
    }

    /// Returns a word without the ending of an owner if only that is a part of a value: "Bluebell's".
    pub fn owner<'w>(&self, word: &'w str) -> Option<&'w str> {
        let owner = word.strip_suffix('s').filter(|owner| owner.len() > SHORTEST_OWNER)?;
        (!self.has_part(&[word]) && self.has_part(&[owner])).then_some(owner)
    }

    /// Returns the number of values of a dimension.
    pub fn count_values(&self, dimension: &str) -> usize {
        let own = self.dimensions.iter().position(|own| own == dimension);
        own.map_or(0, |own| self.values.iter().filter(|(at, _)| *at == own).count())
    }
}

/// Whether the words are the last segment of a value.
pub(crate) fn ends_with(value: &str, words: &[&str]) -> bool {
    let last = segments_of(value).last().map(|segment| name_words(segment).concat());
    last == Some(words.concat())
}

fn segments_of(value: &str) -> Vec<&str> {
    let mut segments = vec![value];
    for sign in SIGNS {
        segments = segments.into_iter().flat_map(|segment| segment.split(sign)).collect();
    }
    segments.retain(|segment| !segment.trim().is_empty());
    segments
}

#[cfg(test)]
mod tests {
    use super::segments_of;

    #[test]
    fn a_name_is_divided_at_signs_and_not_at_hyphens_within_words() {
        assert_eq!(segments_of("North - Pop-up (Oslo)"), ["North", "Pop-up ", "Oslo"]);
        assert_eq!(segments_of("Moss & Oak"), ["Moss & Oak"]);
    }
}

//! General words for amounts of money, such as "revenue", where a source has its amounts under another
//! name. It must not know which words there are.

use std::collections::HashMap;

use analytics::SourceModel;
use contract::definitions::Measure;

use crate::{
    central::{is_money, main_measure, total_of},
    lexicon::Lexicon,
    tokens::name_words,
};

/// Returns the sums of money that each general word may mean. A word for one kind of amount does not mean
/// a measure that the vocabulary knows as another kind.
pub(super) fn words_for_amounts(
    source: &SourceModel,
    lexicon: &Lexicon,
) -> HashMap<String, Vec<String>> {
    let measures = &source.definitions.measures;
    // The other amounts of a computed source say how its main one stands.
    let main = source.definitions.pacing.as_ref().and_then(|_| main_measure(source, lexicon));
    let is_amount = |(name, measure): &(&String, &Measure)| {
        is_money(measure) && main.as_ref().is_none_or(|main| main == *name)
    };
    let money: Vec<&String> = measures.iter().filter(is_amount).map(|(name, _)| name).collect();
    let mut found: HashMap<String, Vec<String>> = HashMap::new();
    for amounts in &lexicon.amounts {
        let fits = |name: &&&String| {
            let names = names_of(name, &measures[**name]);
            !amounts.not.iter().any(|concept| means(&names, concept, lexicon))
        };
        let mut fitting: Vec<String> =
            money.iter().filter(fits).map(|name| (*name).clone()).collect();
        // An amount that contains the others is the one that is meant.
        if let Some(total) = total_of(source, lexicon, &fitting) {
            fitting.retain(|name| *name == total);
        }
        if !fitting.is_empty() {
            found.extend(amounts.words.iter().map(|word| (word.clone(), fitting.clone())));
        }
    }
    found
}

fn names_of(name: &str, measure: &Measure) -> Vec<String> {
    let synonyms = measure.synonyms.values().flatten().map(String::as_str);
    [name].into_iter().chain(synonyms).map(|name| name_words(name).concat()).collect()
}

fn means(names: &[String], concept: &str, lexicon: &Lexicon) -> bool {
    let words = lexicon.concepts.get(concept);
    words.is_some_and(|words| names.iter().any(|name| words.contains(name)))
}

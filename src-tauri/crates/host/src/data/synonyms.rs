//! Stores a word of a person as another name of a measure or dimension, so that questions with the
//! word are read so from now on. It changes no figure and approves none that was not approved
//! before.

use std::collections::BTreeSet;

use analytics::Proof;
use contract::{
    AgentError,
    definitions::{Definitions, Synonyms},
    members::unknown_name,
    params::SourceSynonymParams,
    text,
};

use super::{Inner, Sources, change_record, corrections::faulty, describing::Described};
use crate::log::current_caller;

/// The longest word, in characters.
const LONGEST: usize = 60;

impl Sources {
    /// Stores a word as another name of a measure or dimension.
    pub(crate) async fn add_synonym(&self, params: &SourceSynonymParams) -> Result<(), AgentError> {
        let inner = self.opened()?;
        let _changing = inner.begin_change().await?;
        let before = inner.read_described(&params.source)?;
        if let Some(fault) = before.faults.first() {
            return Err(faulty(fault));
        }
        let definitions = with_synonym(&before.definitions, params)?;
        if definitions == before.definitions {
            return Ok(());
        }
        let text = analytics::write_definitions(&definitions)?;
        // A word must not make the file unreadable.
        analytics::parse_definitions(&text)?;
        let draft = change_record("defined", &params.source)
            .commit("before", before.text.clone())
            .commit("after", text.clone());
        inner.record(draft, &current_caller()).await?;
        inner.storage.write_definitions(&params.source, &text)?;
        inner.keep_version(&params.source, &definitions)?;
        inner.keep_approvals(&before, &definitions)?;
        inner.changed();
        Ok(())
    }
}

impl Inner {
    /// Approves the definitions that a person approved before they got other names, and no others.
    fn keep_approvals(&self, before: &Described, after: &Definitions) -> Result<(), AgentError> {
        // A definition without risks needs no approval, and gets none for a later import.
        let approved =
            before.views.iter().filter(|view| view.is_approved && !view.risks.is_empty());
        let approved: BTreeSet<&String> = approved.map(|view| &view.name).collect();
        let views = analytics::definition_views(after, &Proof::default(), &BTreeSet::new())?;
        let kept = views.into_iter().filter(|view| approved.contains(&view.name));
        self.add_approvals(&before.source.name, kept.map(|view| view.hash).collect())
    }
}

/// Returns definitions in which only this measure or dimension has the word as another name.
fn with_synonym(
    definitions: &Definitions,
    params: &SourceSynonymParams,
) -> Result<Definitions, AgentError> {
    let SourceSynonymParams { name, language, .. } = params;
    let word = params.word.trim();
    let is_word = !word.is_empty() && word.chars().count() <= LONGEST;
    if !is_word || word.chars().any(char::is_control) {
        return Err(unusable(text!("The word must have 1 to {most} characters.", most = LONGEST)));
    }
    if language.is_empty() || !language.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Err(unusable(text!("There is no language {language}.", language)));
    }
    let mut all = definitions.clone();
    let known: Vec<&String> =
        definitions.measures.keys().chain(definitions.dimensions.keys()).collect();
    if !known.contains(&name) {
        return Err(AgentError::invalid(unknown_name(name, known)).reason("unknown_name"));
    }
    let measures = all.measures.iter_mut().map(|(own, measure)| (own, &mut measure.synonyms));
    let dimensions =
        all.dimensions.iter_mut().map(|(own, dimension)| (own, &mut dimension.synonyms));
    for (own, synonyms) in measures.chain(dimensions) {
        if own == name {
            add(synonyms, language, word);
        } else {
            remove(synonyms, word);
        }
    }
    Ok(all)
}

fn add(synonyms: &mut Synonyms, language: &str, word: &str) {
    let lower = word.to_lowercase();
    let words = synonyms.entry(language.to_owned()).or_default();
    if words.iter().all(|own| own.to_lowercase() != lower) {
        words.push(word.to_owned());
    }
}

/// Takes a word from the other names. Two meanings of it would be asked about again.
fn remove(synonyms: &mut Synonyms, word: &str) {
    let lower = word.to_lowercase();
    for words in synonyms.values_mut() {
        words.retain(|own| own.to_lowercase() != lower);
    }
    synonyms.retain(|_, words| !words.is_empty());
}

fn unusable(text: contract::Text) -> AgentError {
    AgentError::invalid(text).reason("invalid_request")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definitions() -> Definitions {
        analytics::parse_definitions(
            "source: ads\ndimensions:\n  campaign: {column: Campaign}\nmeasures:\n  \
             spend: {sum: Cost, synonyms: {en: [cost]}}\n  \
             fees: {sum: Fee, synonyms: {en: [Price, charge]}}\n",
        )
        .unwrap()
    }

    fn added(name: &str, word: &str) -> Result<String, String> {
        let params = SourceSynonymParams {
            source: "ads".into(),
            name: name.to_owned(),
            word: word.to_owned(),
            language: "en".to_owned(),
        };
        let after = with_synonym(&definitions(), &params).map_err(|error| error.message)?;
        Ok(analytics::write_definitions(&after).unwrap())
    }

    #[test]
    fn a_word_is_another_name_of_one_definition_only() {
        let text = added("spend", " price ").unwrap();
        assert!(text.contains("spend: {sum: Cost, synonyms: {en: [cost, price]}}"), "{text}");
        assert!(text.contains("fees: {sum: Fee, synonyms: {en: [charge]}}"), "{text}");
        let text = added("campaign", "ad").unwrap();
        assert!(text.contains("campaign: {column: Campaign, synonyms: {en: [ad]}}"), "{text}");
    }

    #[test]
    fn a_known_name_is_not_added_again_and_a_name_that_is_not_known_is_refused() {
        let same = analytics::write_definitions(&definitions()).unwrap();
        assert_eq!(added("spend", "COST"), Ok(same));
        assert!(added("budget", "plan").unwrap_err().contains("budget"));
        assert!(added("spend", "  ").is_err() && added("spend", &"x".repeat(61)).is_err());
    }
}

//! Holds the packs in the form that the planner uses: compiled phrases, folded names, collected
//! words. The data is built once from the manifests, and no tool is treated specially.

use std::collections::{BTreeMap, HashMap, HashSet};

use contract::{
    Effect, ToolId, ToolSpec,
    manifest::{
        ChoiceValue, Entity, Intent, Localised, PackManifest, PackOffline, Slot, SlotKind, Thing,
        ToolOffline,
    },
};
use language::{Lexicon, Token, TokenKind, WordSet, dates, fold, numbers, tokens};
use messages::Language;

use super::{
    data::DataTools,
    field::{Fields, PackWords},
    handbook,
    pack_texts::Texts,
    pattern::{Index, Pattern},
    social,
};

/// A pack for the offline model: its manifest, with the texts of template files, and its resolved
/// tools.
#[derive(Clone, Debug)]
pub struct OfflinePack {
    pub manifest: PackManifest,
    pub tools: Vec<ToolSpec>,
}

impl OfflinePack {
    /// Joins a manifest and its resolved tools.
    pub fn new(manifest: PackManifest, tools: Vec<ToolSpec>) -> Self {
        Self { manifest, tools }
    }
}

/// All data about the packs that the planner uses.
#[derive(Debug, Default)]
pub(super) struct Book {
    pub(super) packs: Vec<Pack>,
    pub(super) tools: Vec<Tool>,
    pub(super) lexicon: Lexicon,
    /// Phrases that indicate an intent, by (tool, intent).
    pub(super) triggers: Index<(usize, usize)>,
    /// Phrases that exclude an intent, by (tool, intent).
    pub(super) against: Index<(usize, usize)>,
    /// Phrases of requests that a pack declines, by (pack, index).
    pub(super) declined: Index<(usize, usize)>,
    /// The words that assign a clause to a pack.
    pub(super) fields: Fields,
    /// The tools that answer questions about sources, if a pack names them.
    pub(super) data: Option<DataTools>,
    /// Whether questions about the product are answered. Only the person of the profile asks them.
    pub(super) has_handbook: bool,
}

#[derive(Debug)]
pub(super) struct Pack {
    pub(super) offline: PackOffline,
    /// The texts of its templates.
    pub(super) texts: Texts,
    pub(super) entities: Vec<Entity>,
    /// All names with the index of their entity, longest first.
    pub(super) forms: Vec<(usize, Vec<String>)>,
    attributes: HashSet<String>,
    ignored: HashSet<String>,
    vocabulary: WordSet,
    /// The phrases for the sort orders of things, with the thing's name and the order's index.
    pub(super) rankings: Vec<(String, usize, Pattern)>,
    synonyms: HashMap<String, String>,
    /// The name and the id of the specialist.
    pub(super) specialist: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Tool {
    pub(super) spec: ToolSpec,
    /// The tool's id in its own pack.
    own_id: ToolId,
    pub(super) pack: usize,
    pub(super) slots: Vec<Slot>,
    /// The phrases of the cues of each slot.
    pub(super) cues: Vec<Vec<Pattern>>,
    pub(super) intents: Vec<Intent>,
    /// The phrases for the choices of each slot, with the index of the chosen value.
    pub(super) choices: Vec<Vec<(usize, Pattern)>>,
    /// All words in the pack's phrases.
    words: HashSet<String>,
    /// The nouns for each slot of an entity, folded.
    pub(super) nouns: Vec<Vec<String>>,
    pub(super) undone: Localised<String>,
}

impl Tool {
    pub(super) fn is_write(&self) -> bool {
        match self.spec.effect {
            Effect::ReadOnly => false,
            Effect::Write | Effect::Destructive => true,
        }
    }
    /// Whether a word occurs in the phrases of the tool's intents.
    pub(super) fn speaks_of(&self, word: &str) -> bool {
        self.words.contains(word)
    }
    /// Returns the thing that the tool works on, with the slot that takes the thing.
    pub(super) fn thing(&self) -> Option<(&Slot, &str, &str)> {
        self.slots.iter().find_map(|slot| match &slot.kind {
            SlotKind::Thing { thing, field } => Some((slot, thing.as_str(), field.as_str())),
            _ => None,
        })
    }
    pub(super) fn has_slot(&self, wanted: impl Fn(&SlotKind) -> bool) -> bool {
        self.slots.iter().any(|slot| wanted(&slot.kind))
    }
}

impl Pack {
    /// Returns the word that the pack's data uses for this word.
    pub(super) fn canonical_word<'a>(&'a self, word: &'a str) -> &'a str {
        self.synonyms.get(word).map_or(word, String::as_str)
    }
    pub(super) fn is_attribute(&self, word: &str) -> bool {
        self.attributes.contains(word)
    }
    /// Whether a word only describes a thing, like a colour or a number.
    pub(super) fn describes(&self, word: &str) -> bool {
        self.is_attribute(self.canonical_word(word)) || word.parse::<u32>().is_ok()
    }
    pub(super) fn is_ignored(&self, word: &str) -> bool {
        self.ignored.contains(word)
    }
    pub(super) fn is_vocabulary(&self, word: &str) -> bool {
        self.vocabulary.contains(word)
    }
    pub(super) fn thing(&self, name: &str) -> Option<&Thing> {
        self.offline.things.get(name)
    }
}

impl Book {
    /// Returns the length of the specialist's name if the text begins with the whole name, in any
    /// case.
    pub(super) fn match_specialist(&self, text: &str) -> Option<usize> {
        let names = self.packs.iter().flat_map(|pack| &pack.specialist);
        names.filter_map(|name| measure_name(text, name)).max()
    }

    pub(super) fn new(packs: Vec<OfflinePack>) -> Self {
        let mut book = Self::default();
        language::small_words()
            .chain(numbers::number_words())
            .chain(dates::date_words())
            .for_each(|word| book.lexicon.add(word));
        social::phrase_words()
            .chain(language::correct_words())
            .for_each(|word| book.lexicon.add_known_word(word));
        // A usual word is no misspelled word of a pack: "understand" is no "underställ".
        [Language::of_tag("en"), Language::of_tag("sv")]
            .into_iter()
            .flat_map(handbook::words_of)
            .for_each(|word| book.lexicon.add_known_word(&word));
        let (mut triggers, mut against, mut declined) = (Vec::new(), Vec::new(), Vec::new());
        for (index, pack) in packs.into_iter().enumerate() {
            book.add_tools(index, &pack);
            let compiled = Pack::new(&pack.manifest);
            compiled.words().for_each(|word| book.lexicon.add(word));
            let phrases = compiled.rankings.iter().map(|(.., phrase)| phrase);
            phrases.flat_map(Pattern::words).for_each(|word| book.lexicon.add(word));
            for (at, cannot) in compiled.offline.cannot.iter().enumerate() {
                declined.extend(
                    parse_patterns(&cannot.triggers)
                        .into_iter()
                        .map(|pattern| ((index, at), pattern)),
                );
            }
            book.packs.push(compiled);
        }
        let mut packs = book.packs.iter().enumerate();
        book.data = packs.find_map(|(at, pack)| DataTools::of(&book, at, &pack.offline));
        for (tool, data) in book.tools.iter().enumerate() {
            for (at, intent) in data.intents.iter().enumerate() {
                triggers.extend(
                    parse_patterns(&intent.triggers)
                        .into_iter()
                        .map(|pattern| ((tool, at), pattern)),
                );
                against.extend(
                    parse_patterns(&intent.not).into_iter().map(|pattern| ((tool, at), pattern)),
                );
            }
        }
        let cues = book.tools.iter().flat_map(|tool| {
            let choices = tool.choices.iter().flatten().map(|(_, pattern)| pattern);
            tool.cues.iter().flatten().chain(choices)
        });
        let phrases = triggers
            .iter()
            .chain(&against)
            .chain(&declined)
            .map(|(_, pattern)| pattern)
            .chain(cues);
        phrases.flat_map(Pattern::words).for_each(|word| book.lexicon.add(word));
        book.fields = Fields::new(book.words_of_packs(&triggers, &declined));
        book.triggers = Index::new(triggers);
        book.against = Index::new(against);
        book.declined = Index::new(declined);
        book
    }

    /// Collects the words of the phrases for each pack.
    fn words_of_packs(
        &self,
        triggers: &[((usize, usize), Pattern)],
        declined: &[((usize, usize), Pattern)],
    ) -> Vec<PackWords> {
        let mut words: Vec<PackWords> =
            self.packs.iter().map(|pack| PackWords::new(&pack.offline)).collect();
        for ((tool, _), phrase) in triggers {
            words[self.tools[*tool].pack].add_trigger(phrase);
        }
        for ((pack, _), phrase) in declined {
            words[*pack].add_words(phrase.words());
        }
        for (pack, words) in self.packs.iter().zip(&mut words) {
            words.add_words(pack.rankings.iter().flat_map(|(.., phrase)| phrase.words()));
        }
        for tool in &self.tools {
            let choices = tool.choices.iter().flatten().map(|(_, phrase)| phrase);
            let phrases = tool.cues.iter().flatten().chain(choices);
            words[tool.pack].add_words(phrases.flat_map(Pattern::words));
            words[tool.pack].add_words(tool.nouns.iter().flatten().map(String::as_str));
        }
        words
    }

    /// Returns the words of a message, with typing errors corrected.
    pub(super) fn read_words(&self, message: &str) -> Vec<Token> {
        let mut tokens = language::tokens(message);
        self.lexicon.correct_spelling(&mut tokens);
        self.join_names(&mut tokens);
        tokens
    }

    /// Whether a word or one of its forms is used by the packs or the languages.
    pub(super) fn knows_word(&self, word: &str) -> bool {
        self.lexicon.knows(word) || self.packs.iter().any(|pack| pack.is_vocabulary(word))
    }

    /// Marks the last word of each thing's name, so that the "bag" in "sleeping bag" does not mean
    /// the shopping bag.
    pub(super) fn join_names(&self, tokens: &mut [Token]) {
        for at in 1..tokens.len() {
            let (before, word) = (&tokens[at - 1], &tokens[at]);
            let joined = word.kind == TokenKind::Word
                && self
                    .packs
                    .iter()
                    .any(|pack| pack.is_ignored(&word.norm) && pack.is_vocabulary(&before.norm));
            tokens[at].part = joined;
        }
    }

    fn add_tools(&mut self, pack: usize, from: &OfflinePack) {
        for spec in &from.tools {
            let Some(entry) = from.manifest.entry_of(spec) else { continue };
            let offline = match &entry.offline {
                Some(offline) => offline.clone(),
                // The reader of questions calls it, and no phrase.
                None if answers_queries(&from.manifest, &entry.id) => ToolOffline::default(),
                None => continue,
            };
            let tool = Tool::new(spec.clone(), entry.id.clone(), pack, offline);
            tool.nouns.iter().flatten().for_each(|noun| self.lexicon.add(noun));
            self.tools.push(tool);
        }
    }

    pub(super) fn pack_of(&self, tool: usize) -> &Pack {
        &self.packs[self.tools[tool].pack]
    }

    /// Whether a tool is of a pack that one of the named tools is of.
    pub(super) fn is_beside(&self, tool: usize, named: &[String]) -> bool {
        let pack = self.tools[tool].pack;
        self.tools.iter().any(|one| one.pack == pack && named.contains(&one.spec.model_name))
    }

    pub(super) fn tool_by_model_name(&self, name: &str) -> Option<usize> {
        self.tools.iter().position(|tool| tool.spec.model_name == name)
    }

    pub(super) fn tool_by_id(&self, pack: usize, id: &str) -> Option<usize> {
        self.tools.iter().position(|tool| tool.pack == pack && tool.own_id.as_str() == id)
    }
}

impl Tool {
    fn new(spec: ToolSpec, own_id: ToolId, pack: usize, offline: ToolOffline) -> Self {
        let cues = offline.slots.iter().map(|slot| parse_patterns(&slot.cues)).collect();
        let nouns = offline.slots.iter().map(|slot| match &slot.kind {
            SlotKind::Entity { nouns, .. } => {
                nouns.values().flatten().flat_map(|noun| folded_words(noun)).collect()
            }
            _ => Vec::new(),
        });
        let nouns = nouns.collect();
        let choices = offline.slots.iter().map(choices_of).collect();
        let intents = offline.intents.iter().flat_map(|intent| parse_patterns(&intent.triggers));
        let words = intents
            .collect::<Vec<_>>()
            .iter()
            .flat_map(Pattern::words)
            .map(str::to_owned)
            .collect();
        Self {
            words,
            choices,
            spec,
            own_id,
            pack,
            cues,
            nouns,
            slots: offline.slots,
            intents: offline.intents,
            undone: offline.undone,
        }
    }
}

impl Pack {
    fn new(manifest: &PackManifest) -> Self {
        let offline = manifest.offline.clone().unwrap_or_default();
        let folded = |words: &[String]| words.iter().map(|word| fold(word)).collect::<HashSet<_>>();
        let synonyms =
            offline.synonyms.values().flatten().map(|(from, to)| (fold(from), fold(to))).collect();
        let (attributes, ignored, vocabulary) = (
            folded(&offline.attributes),
            folded(&offline.ignored),
            WordSet::new(&offline.vocabulary),
        );
        let rankings = offline.things.iter().flat_map(|(name, thing)| {
            thing.rankings.iter().enumerate().flat_map(move |(index, ranking)| {
                let phrases = parse_patterns(&ranking.phrases).into_iter();
                phrases.map(move |phrase| (name.clone(), index, phrase))
            })
        });
        Self {
            rankings: rankings.collect(),
            forms: name_forms(&manifest.entities),
            specialist: manifest
                .agent
                .iter()
                .flat_map(|agent| [agent.name.clone(), agent.id.0.clone()])
                .collect(),
            entities: manifest.entities.clone(),
            texts: Texts::new(&manifest.texts),
            offline,
            attributes,
            ignored,
            vocabulary,
            synonyms,
        }
    }

    fn words(&self) -> impl Iterator<Item = &String> {
        let names = self.forms.iter().flat_map(|(_, form)| form);
        names
            .chain(&self.attributes)
            .chain(&self.ignored)
            .chain(self.vocabulary.iter())
            .chain(self.synonyms.keys())
    }
}

/// Whether a pack names a tool as one that answers metric queries.
fn answers_queries(manifest: &PackManifest, id: &ToolId) -> bool {
    manifest.offline.as_ref().is_some_and(|offline| {
        let named = [&offline.metric_queries, &offline.charts, &offline.changes];
        named.into_iter().flatten().any(|own| own == id)
    })
}

/// Returns the word sequences that name each entity, longest first, so that a longer name wins.
fn name_forms(entities: &[Entity]) -> Vec<(usize, Vec<String>)> {
    let of = |(i, entity): (usize, &Entity)| {
        std::iter::once(&entity.name)
            .chain(&entity.aliases)
            .flat_map(|text| {
                let joined = ["and", "och"].map(|word| text.replace('&', word));
                std::iter::once(text.clone()).chain(joined)
            })
            .map(move |text| (i, folded_words(&text)))
            .collect::<Vec<_>>()
    };
    let mut forms: Vec<(usize, Vec<String>)> =
        entities.iter().enumerate().flat_map(of).filter(|(_, form)| !form.is_empty()).collect();
    forms.sort_by_key(|(_, form)| std::cmp::Reverse(form.len()));
    forms.dedup();
    forms
}

/// Returns the folded words of a text, without punctuation.
pub(super) fn folded_words(text: &str) -> Vec<String> {
    tokens(text)
        .into_iter()
        .filter(|token| token.kind != TokenKind::Punct)
        .map(|token| token.fold)
        .collect()
}

/// Returns the phrases of a slot that takes one of several values.
fn choices_of(slot: &Slot) -> Vec<(usize, Pattern)> {
    let SlotKind::Choice { values } = &slot.kind else { return Vec::new() };
    let of = |(at, choice): (usize, &ChoiceValue)| {
        parse_patterns(&choice.phrases)
            .into_iter()
            .map(move |pattern| (at, pattern))
            .collect::<Vec<_>>()
    };
    values.iter().enumerate().flat_map(of).collect()
}

fn parse_patterns(texts: &BTreeMap<String, Vec<String>>) -> Vec<Pattern> {
    texts.values().flatten().map(|text| Pattern::new(text)).collect()
}

/// Returns the length in bytes of a name at the beginning of a text.
fn measure_name(text: &str, name: &str) -> Option<usize> {
    let mut rest = text.chars();
    let fits = !name.is_empty()
        && name
            .chars()
            .all(|c| rest.next().is_some_and(|given| given.to_lowercase().eq(c.to_lowercase())));
    let length = text.len() - rest.as_str().len();
    let ends = rest.next().is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != '-');
    (fits && ends).then_some(length)
}

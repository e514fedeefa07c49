//! The packs as the planner uses them: phrases compiled, names folded, words collected. Built once from manifests.
//! Knows no tool by name.

use std::collections::{BTreeMap, HashMap};

use contract::{
    Effect, ToolSpec,
    manifest::{Entity, Intent, Localised, PackManifest, PackOffline, Slot, SlotKind, Thing, ToolOffline},
};

use super::{
    dates, lang, numbers,
    pattern::Pattern,
    social,
    text::{Kind, Lexicon, fold, tokens},
};

/// A pack as the offline model gets it: its manifest (template files already read into it) and its resolved tools.
#[derive(Clone, Debug)]
pub struct OfflinePack {
    pub manifest: PackManifest,
    pub tools: Vec<ToolSpec>,
}

impl OfflinePack {
    /// Puts a manifest and its resolved tools together.
    pub fn new(manifest: PackManifest, tools: Vec<ToolSpec>) -> Self {
        Self { manifest, tools }
    }
}

/// Everything the planner knows.
#[derive(Debug, Default)]
pub(super) struct Book {
    pub(super) packs: Vec<Pack>,
    pub(super) tools: Vec<Tool>,
    pub(super) lexicon: Lexicon,
}

#[derive(Debug)]
pub(super) struct Pack {
    pub(super) offline: PackOffline,
    pub(super) entities: Vec<Name>,
    pub(super) cannot: Vec<(Vec<Pattern>, Localised<String>)>,
    attributes: Vec<String>,
    ignored: Vec<String>,
    vocabulary: Vec<String>,
    synonyms: HashMap<String, String>,
}

/// An entity with the word sequences that name it, longest first.
#[derive(Debug)]
pub(super) struct Name {
    pub(super) entity: Entity,
    pub(super) forms: Vec<Vec<String>>,
}

#[derive(Debug)]
pub(super) struct Tool {
    pub(super) spec: ToolSpec,
    pub(super) pack: usize,
    pub(super) slots: Vec<Slot>,
    /// Phrases of each slot's cues.
    pub(super) cues: Vec<Vec<Pattern>>,
    pub(super) intents: Vec<Want>,
    pub(super) as_of: Option<String>,
    pub(super) undone: Localised<String>,
}

#[derive(Debug)]
pub(super) struct Want {
    pub(super) intent: Intent,
    pub(super) triggers: Vec<Pattern>,
    pub(super) not: Vec<Pattern>,
}

impl Tool {
    pub(super) fn writes(&self) -> bool {
        match self.spec.effect {
            Effect::ReadOnly => false,
            Effect::Write | Effect::Destructive => true,
        }
    }
    /// The thing that the tool works on, with the slot that takes it.
    pub(super) fn thing(&self) -> Option<(&Slot, &str, &str)> {
        self.slots.iter().find_map(|slot| match &slot.kind {
            SlotKind::Thing { thing, field } => Some((slot, thing.as_str(), field.as_str())),
            _ => None,
        })
    }
    pub(super) fn has(&self, wanted: impl Fn(&SlotKind) -> bool) -> bool {
        self.slots.iter().any(|slot| wanted(&slot.kind))
    }
}

impl Pack {
    /// The word that the pack's data uses.
    pub(super) fn canonical<'a>(&'a self, word: &'a str) -> &'a str {
        self.synonyms.get(word).map_or(word, String::as_str)
    }
    pub(super) fn is_attribute(&self, word: &str) -> bool {
        self.attributes.iter().any(|known| known == word)
    }
    pub(super) fn is_ignored(&self, word: &str) -> bool {
        self.ignored.iter().any(|known| known == word)
    }
    pub(super) fn is_vocabulary(&self, word: &str) -> bool {
        self.vocabulary.iter().any(|known| super::text::same_word(known, word))
    }
    pub(super) fn thing(&self, name: &str) -> Option<&Thing> {
        self.offline.things.get(name)
    }
}

impl Book {
    pub(super) fn new(packs: Vec<OfflinePack>) -> Self {
        let mut book = Self::default();
        lang::words().chain(numbers::words()).chain(dates::words().iter().copied()).for_each(|word| book.lexicon.add(word));
        social::words().for_each(|word| book.lexicon.know(word));
        for (index, pack) in packs.into_iter().enumerate() {
            book.add_tools(index, &pack);
            let compiled = Pack::new(&pack.manifest);
            compiled.words().for_each(|word| book.lexicon.add(&word));
            book.packs.push(compiled);
        }
        book
    }

    fn add_tools(&mut self, pack: usize, from: &OfflinePack) {
        for spec in &from.tools {
            let entry = from.manifest.tools.tools.iter().find(|entry| entry.id == spec.id || spec.id.as_str().ends_with(&format!(":{}", entry.id)));
            let Some(offline) = entry.and_then(|entry| entry.offline.clone()) else { continue };
            let tool = Tool::new(spec.clone(), pack, offline);
            tool.phrases().flat_map(Pattern::words).for_each(|word| self.lexicon.add(word));
            for slot in &tool.slots {
                if let SlotKind::Entity { nouns, .. } = &slot.kind {
                    nouns.values().flatten().flat_map(|noun| folded_words(noun)).for_each(|word| self.lexicon.add(&word));
                }
            }
            self.tools.push(tool);
        }
    }

    pub(super) fn pack_of(&self, tool: usize) -> &Pack {
        &self.packs[self.tools[tool].pack]
    }

    pub(super) fn tool_by_model_name(&self, name: &str) -> Option<usize> {
        self.tools.iter().position(|tool| tool.spec.model_name == name)
    }

    pub(super) fn tool_by_id(&self, pack: usize, id: &str) -> Option<usize> {
        self.tools.iter().position(|tool| tool.pack == pack && (tool.spec.id.as_str() == id || tool.spec.id.as_str().ends_with(&format!(":{id}"))))
    }
}

impl Tool {
    fn new(spec: ToolSpec, pack: usize, offline: ToolOffline) -> Self {
        let cues = offline.slots.iter().map(|slot| patterns(&slot.cues)).collect();
        let intents = offline
            .intents
            .into_iter()
            .map(|intent| Want { triggers: patterns(&intent.triggers), not: patterns(&intent.not), intent })
            .collect();
        Self { spec, pack, slots: offline.slots, cues, intents, as_of: offline.as_of, undone: offline.undone }
    }

    fn phrases(&self) -> impl Iterator<Item = &Pattern> {
        self.intents.iter().flat_map(|want| want.triggers.iter().chain(&want.not)).chain(self.cues.iter().flatten())
    }
}

impl Pack {
    fn new(manifest: &PackManifest) -> Self {
        let offline = manifest.offline.clone().unwrap_or_default();
        let entities = manifest.entities.iter().map(Name::new).collect();
        let cannot = offline.cannot.iter().map(|one| (patterns(&one.triggers), one.answer.clone())).collect();
        let synonyms = offline.synonyms.values().flatten().map(|(from, to)| (fold(from), fold(to))).collect();
        let attributes = offline.attributes.iter().map(|word| fold(word)).collect();
        let ignored = offline.ignored.iter().map(|word| fold(word)).collect();
        let vocabulary = offline.vocabulary.iter().map(|word| fold(word)).collect();
        Self { offline, entities, cannot, attributes, ignored, vocabulary, synonyms }
    }

    fn words(&self) -> impl Iterator<Item = String> {
        let names = self.entities.iter().flat_map(|name| name.forms.iter().flatten());
        let phrases = self.cannot.iter().flat_map(|(patterns, _)| patterns).flat_map(Pattern::words).map(str::to_owned);
        names.chain(&self.attributes).chain(&self.ignored).chain(&self.vocabulary).chain(self.synonyms.keys()).cloned().chain(phrases)
    }
}

impl Name {
    fn new(entity: &Entity) -> Self {
        let mut forms: Vec<Vec<String>> = std::iter::once(&entity.name).chain(&entity.aliases).map(|text| folded_words(text)).collect();
        forms.retain(|form| !form.is_empty());
        forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
        forms.dedup();
        Self { entity: entity.clone(), forms }
    }
}

/// The folded words of a text, without signs.
pub(super) fn folded_words(text: &str) -> Vec<String> {
    tokens(text).into_iter().filter(|token| token.kind != Kind::Punct).map(|token| token.fold).collect()
}

fn patterns(texts: &BTreeMap<String, Vec<String>>) -> Vec<Pattern> {
    texts.values().flatten().map(|text| Pattern::new(text)).collect()
}

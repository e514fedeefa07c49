//! The state of the conversation: the lists that were shown, the open question, the last calls.
//! Rebuilt from the messages in every call, by planning each earlier turn again with the results it
//! got.

use chrono::NaiveDate;
use contract::manifest::{Find, SlotKind};
use language::Language;
use serde_json::{Map, Value};

use super::{
    book::Book,
    goal::{Goal, Listing},
    history::Done,
    values,
};

/// A question the user has not answered yet.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pending {
    pub(super) goal: Goal,
    /// The list it offered; empty when it asked for words or a number.
    pub(super) listing: Listing,
    /// Further requests of the same message; they go on once the question is answered.
    pub(super) later: Vec<Goal>,
}

/// The state before a message.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) lang: Option<Language>,
    pub(super) pending: Option<Pending>,
    /// The newest list of each kind of thing, the newest first.
    pub(super) listings: Vec<Listing>,
    /// Single things talked about, newest first: (pack, kind, item).
    pub(super) focus: Vec<(usize, String, Value)>,
    /// The calls of the newest turn that had any, and before them the last call of every other
    /// tool.
    pub(super) calls: Vec<Done>,
    /// The tool of the newest answer, with the goal's intent.
    pub(super) last: Option<(usize, usize)>,
}

impl State {
    /// The newest call of a tool.
    pub(super) fn last_call(&self, tool: usize) -> Option<&Done> {
        self.calls.iter().rev().find(|done| done.tool == tool)
    }

    pub(super) fn last_args(&self, tool: usize) -> Option<&Map<String, Value>> {
        self.last_call(tool).map(|done| &done.args)
    }

    /// The first day of the period asked about last.
    pub(super) fn last_start(&self, book: &Book) -> Option<NaiveDate> {
        self.calls.iter().rev().find_map(|done| {
            let slot = book.tools[done.tool]
                .slots
                .iter()
                .find(|slot| matches!(slot.kind, SlotKind::DateStart))?;
            values::get(&done.args, &slot.parameter)?.as_str()?.parse().ok()
        })
    }

    /// Takes in the calls of a finished turn.
    pub(super) fn absorb(&mut self, calls: Vec<Done>, book: &Book) {
        for done in calls {
            if let Some(value) = done.ok() {
                self.see(&done, value, book);
            }
            self.calls.push(done);
        }
        let excess = self.calls.len().saturating_sub(40);
        self.calls.drain(..excess);
    }

    fn see(&mut self, done: &Done, value: &Value, book: &Book) {
        let tool = &book.tools[done.tool];
        for (name, thing) in &book.packs[tool.pack].offline.things {
            let Some(source) = thing.source_of(book, tool.pack, done.tool) else { continue };
            if source.list.is_empty() && !tool.writes() {
                self.look_at(tool.pack, name, value.clone());
            }
        }
        if tool.writes()
            && let Some((slot, name, field)) = tool.thing()
            && let Some(id) = done.args.get(&slot.parameter)
        {
            let mut item = Map::new();
            item.insert(field.trim_start_matches('/').to_owned(), id.clone());
            self.look_at(tool.pack, name, Value::Object(item));
        }
    }

    /// The list of a kind of thing that places point into.
    pub(super) fn listing(&self, pack: usize, thing: &str) -> Option<&Listing> {
        self.listings.iter().find(|listing| listing.pack == pack && listing.thing == thing)
    }

    /// The newest list of a pack, of whatever kind.
    pub(super) fn newest(&self, pack: usize) -> Option<&Listing> {
        self.listings.iter().find(|listing| listing.pack == pack)
    }

    /// Keeps a list that was shown. Parts of a thing are listed for one question: no later list
    /// stands beside them.
    pub(super) fn list(&mut self, book: &Book, listing: Listing) {
        let is_part = |old: &Listing| {
            let sources =
                book.packs[old.pack].thing(&old.thing).map_or(&[][..], |thing| &thing.sources);
            sources.iter().any(|source| matches!(source.find, Some(Find::Thing { .. })))
        };
        self.listings.retain(|old| {
            old.pack != listing.pack || (old.thing != listing.thing && !is_part(old))
        });
        self.listings.insert(0, listing);
    }

    /// The list that "more" means: that of the open question, else one of the newest answer, first
    /// one of which there is more.
    pub(super) fn to_go_on(&self) -> Option<&Listing> {
        let newest = || self.listings.iter().filter(|listing| listing.newest);
        match &self.pending {
            Some(pending) if !pending.listing.items.is_empty() => Some(&pending.listing),
            Some(_) | None => {
                newest().find(|listing| !listing.rest().is_empty()).or_else(|| newest().next())
            }
        }
    }

    /// Another answer follows: the lists of earlier ones still number what they show, but nobody
    /// goes on with them.
    pub(super) fn set_lists_aside(&mut self) {
        self.listings.iter_mut().for_each(|listing| listing.newest = false);
    }

    /// The text showed its list up to this number.
    pub(super) fn showed_more(&mut self, count: usize) {
        let Some(more) = self.to_go_on().cloned() else { return };
        let mine =
            |listing: &&mut Listing| listing.pack == more.pack && listing.thing == more.thing;
        let kept = self.listings.iter_mut().filter(mine);
        for listing in
            kept.chain(self.pending.iter_mut().map(|pending| &mut pending.listing).filter(mine))
        {
            listing.showed(count.max(listing.shown().len()));
        }
    }

    /// Puts an item first among those that the conversation is about.
    pub(super) fn look_at(&mut self, pack: usize, thing: &str, item: Value) {
        self.focus.retain(|(p, t, known)| !(*p == pack && t == thing && *known == item));
        self.focus.insert(0, (pack, thing.to_owned(), item));
        self.focus.truncate(8);
    }

    /// Several things are talked about: none of them is "it", and nothing that was before them.
    pub(super) fn look_away(&mut self, pack: usize) {
        self.focus.retain(|(p, ..)| *p != pack);
    }

    pub(super) fn focused(&self, pack: usize, thing: &str) -> Option<&Value> {
        self.focus.iter().find(|(p, t, _)| *p == pack && t == thing).map(|(.., item)| item)
    }
}

/// Finding a thing's source among the book's tools.
pub(super) trait SourceOf {
    fn source_of(
        &self,
        book: &Book,
        pack: usize,
        tool: usize,
    ) -> Option<&contract::manifest::ThingSource>;
}

impl SourceOf for contract::manifest::Thing {
    fn source_of(
        &self,
        book: &Book,
        pack: usize,
        tool: usize,
    ) -> Option<&contract::manifest::ThingSource> {
        self.sources.iter().find(|source| book.tool_by_id(pack, &source.tool) == Some(tool))
    }
}

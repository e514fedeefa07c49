//! The state of the conversation: the shown lists, the open question, the last calls. Every call
//! rebuilds the state from the messages by replaying each earlier turn with its results.

use contract::manifest::Find;
use language::Language;
use serde_json::{Map, Value};

use super::{
    book::Book,
    data::Previous,
    goal::{Goal, Listing},
    history::Done,
};

/// A question the user has not answered yet.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pending {
    pub(super) goal: Goal,
    /// The list that the question showed. Empty if the question asked for words or a number.
    pub(super) listing: Listing,
    /// Further requests of the same message, which continue after the answer.
    pub(super) later: Vec<Goal>,
}

/// The state of the conversation before a message.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) lang: Option<Language>,
    pub(super) pending: Option<Pending>,
    /// The newest list of each kind of thing, newest first.
    pub(super) listings: Vec<Listing>,
    /// Single things that the conversation is about, newest first, as (pack, kind, item).
    pub(super) focus: Vec<(usize, String, Value)>,
    /// The calls of the newest turn with calls, after the last call of every other tool.
    pub(super) calls: Vec<Done>,
    /// The tool and the intent of the newest answer.
    pub(super) last: Option<(usize, usize)>,
    /// The readings of the newest question about a source.
    pub(super) asked: Vec<Previous>,
    /// The words of the newest question about a source that no reading uses.
    pub(super) open_words: Vec<String>,
    /// Whether the newest message was about a source.
    pub(super) is_after_data: bool,
}

impl State {
    /// Returns the arguments of the newest call of a tool.
    pub(super) fn last_args(&self, tool: usize) -> Option<&Map<String, Value>> {
        self.calls.iter().rev().find(|done| done.tool == tool).map(|done| &done.args)
    }

    /// Adds the calls of a finished turn.
    pub(super) fn add_calls(&mut self, calls: Vec<Done>, book: &Book) {
        for done in calls {
            if let Some(value) = done.successful_result() {
                self.note_result(&done, value, book);
            }
            self.calls.push(done);
        }
        let excess = self.calls.len().saturating_sub(40);
        self.calls.drain(..excess);
    }

    fn note_result(&mut self, done: &Done, value: &Value, book: &Book) {
        let tool = &book.tools[done.tool];
        for (name, thing) in &book.packs[tool.pack].offline.things {
            let Some(source) = thing.source_of(book, tool.pack, done.tool) else { continue };
            if source.list.is_empty() && !tool.is_write() {
                self.set_focus(tool.pack, name, value.clone());
            }
        }
        if tool.is_write()
            && let Some((slot, name, field)) = tool.thing()
            && let Some(id) = done.args.get(&slot.parameter)
        {
            let mut item = Map::new();
            item.insert(field.trim_start_matches('/').to_owned(), id.clone());
            self.set_focus(tool.pack, name, Value::Object(item));
        }
    }

    /// Returns the list of a kind of thing to which list positions refer.
    pub(super) fn list_of_thing(&self, pack: usize, thing: &str) -> Option<&Listing> {
        self.listings.iter().find(|listing| listing.pack == pack && listing.thing == thing)
    }

    /// Returns the newest list of a pack, of any kind.
    pub(super) fn newest_list(&self, pack: usize) -> Option<&Listing> {
        self.listings.iter().find(|listing| listing.pack == pack)
    }

    /// Stores a list that was shown. A list of a thing's parts belongs to a single question, so
    /// this list is removed when another list is shown.
    pub(super) fn store_list(&mut self, book: &Book, listing: Listing) {
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

    /// Returns the list that "more" continues: the list of the open question or a list of the
    /// newest answer, preferably a list with more items.
    pub(super) fn list_to_continue(&self) -> Option<&Listing> {
        let newest = || self.listings.iter().filter(|listing| listing.newest);
        match &self.pending {
            Some(pending) if !pending.listing.items.is_empty() => Some(&pending.listing),
            Some(_) | None => newest()
                .find(|listing| !listing.hidden_items().is_empty())
                .or_else(|| newest().next()),
        }
    }

    /// Records that another answer follows. Positions can still refer to earlier lists, but "more"
    /// no longer continues them.
    pub(super) fn stop_continuing_lists(&mut self) {
        self.listings.iter_mut().for_each(|listing| listing.newest = false);
    }

    /// Records that the text has shown its list up to this number.
    pub(super) fn note_more_shown(&mut self, count: usize) {
        let Some(more) = self.list_to_continue().cloned() else { return };
        let mine =
            |listing: &&mut Listing| listing.pack == more.pack && listing.thing == more.thing;
        let kept = self.listings.iter_mut().filter(mine);
        for listing in
            kept.chain(self.pending.iter_mut().map(|pending| &mut pending.listing).filter(mine))
        {
            listing.set_shown_count(count.max(listing.shown_items().len()));
        }
    }

    /// Makes an item the newest thing that the conversation is about.
    pub(super) fn set_focus(&mut self, pack: usize, thing: &str, item: Value) {
        self.focus.retain(|(p, t, known)| !(*p == pack && t == thing && *known == item));
        self.focus.insert(0, (pack, thing.to_owned(), item));
        self.focus.truncate(8);
    }

    /// Records that the conversation is about several things, so that "it" refers to no single
    /// thing.
    pub(super) fn clear_focus(&mut self, pack: usize) {
        self.focus.retain(|(p, ..)| *p != pack);
    }

    pub(super) fn focus_of(&self, pack: usize, thing: &str) -> Option<&Value> {
        self.focus.iter().find(|(p, t, _)| *p == pack && t == thing).map(|(.., item)| item)
    }
}

/// Finds the source of a thing in a tool's description.
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

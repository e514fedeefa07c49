//! Names the caller in records, with the person if the owner of the profile asked.

use contract::CallerKind;

use crate::{
    ports::{Profile, RecordDraft},
    turn::refusals::NAME_CHARS,
};

/// Adds to a record who asked: the kind of the caller, its own name, and the person if it is known.
pub fn add_caller(draft: RecordDraft, caller: &CallerKind, profile: &dyn Profile) -> RecordDraft {
    let draft = draft.field("origin", caller.name());
    let name = caller.own_name().map(|name| name.chars().take(NAME_CHARS).collect::<String>());
    let draft = name.into_iter().fold(draft, |draft, name| draft.field("caller", name));
    if caller.is_owner() { add_person(draft, profile) } else { draft }
}

/// Adds to a record the name of the person whose profile it is, if it is known.
pub(crate) fn add_person(draft: RecordDraft, profile: &dyn Profile) -> RecordDraft {
    match profile.person() {
        Some(person) => draft.commit("person", person),
        None => draft,
    }
}

//! Adds the caller to records, and the person if the caller is the owner of the profile.

use contract::CallerKind;

use crate::{
    ports::{Profile, RecordDraft},
    turn::refusals::NAME_CHARS,
};

/// Adds the caller to a record: the kind of the caller, its own name, and the person if known.
pub fn add_caller(draft: RecordDraft, caller: &CallerKind, profile: &dyn Profile) -> RecordDraft {
    let draft = draft.field("origin", caller.name());
    let name = caller.own_name().map(|name| name.chars().take(NAME_CHARS).collect::<String>());
    let draft = name.into_iter().fold(draft, |draft, name| draft.field("caller", name));
    if caller.is_owner() { add_person(draft, profile) } else { draft }
}

/// Adds the name of the profile's owner to a record, if known.
pub(crate) fn add_person(draft: RecordDraft, profile: &dyn Profile) -> RecordDraft {
    match profile.person() {
        Some(person) => draft.commit("person", person),
        None => draft,
    }
}

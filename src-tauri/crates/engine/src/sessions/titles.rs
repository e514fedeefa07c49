//! Gives a session another title if other messages are shown than those that gave the present one.
//! Must not know why they are shown.

use contract::{Item, SessionId};

use crate::{
    conversation::title::{is_title_of, title_of_conversation},
    ports::{MemoryOf, Side, StoreError},
    texts::Text,
    turn::services::TurnServices,
};

/// The most hidden messages that a title is compared with.
const HIDDEN: u32 = 1_000;
/// The most items that are read to find the first messages of a session.
const FIRST_ITEMS: u32 = 50;

/// Replaces a title that is the text of a message which is not shown. Other titles stay.
pub(super) async fn settle_title(
    shared: &TurnServices,
    session: &SessionId,
) -> Result<(), StoreError> {
    replace_title(shared, session, |title, shown, hidden| {
        let gives = |item: &&Item| is_title_of(title, item);
        // An answer that was asked for again has the same question.
        hidden.iter().any(|item| gives(&item)) && !shown.iter().any(gives)
    })
    .await
}

/// Replaces the title after a message was restored that may have given an earlier one. A title that
/// is the text of no shown message stays.
pub(super) async fn renew_title(
    shared: &TurnServices,
    session: &SessionId,
) -> Result<(), StoreError> {
    let none = Text::NotKept.in_locale(&shared.world.profile.locale());
    replace_title(shared, session, |title, shown, _| {
        title == none || shown.iter().any(|item| is_title_of(title, item))
    })
    .await
}

/// Replaces the title by that of the shown messages if `is_outdated` says so of the title, the first
/// shown messages and the hidden ones.
async fn replace_title(
    shared: &TurnServices,
    session: &SessionId,
    is_outdated: impl FnOnce(&str, &[&Item], &[Item]) -> bool,
) -> Result<(), StoreError> {
    let store = &shared.world.store;
    let Some(summary) = store.session(session).await? else { return Ok(()) };
    let of = MemoryOf::Session(session.clone());
    let shown = store.memory_items(&of, 0, Side::Oldest, FIRST_ITEMS).await?;
    let shown: Vec<&Item> = shown.iter().map(|one| one.item.as_ref()).collect();
    let hidden = store.questions_hidden(session, HIDDEN).await?;
    if !is_outdated(&summary.title, &shown, &hidden) {
        return Ok(());
    }
    let none = || Text::NotKept.in_locale(&shared.world.profile.locale()).to_owned();
    let (title, stays) = title_of_conversation(&shown).unwrap_or_else(|| (none(), false));
    if title == summary.title {
        return Ok(());
    }
    store.session_retitle(session, &summary.title, &title, stays).await
}

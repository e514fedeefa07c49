//! The names in the data, by which a message refers to accounts and advertisers.

use std::collections::{BTreeMap, BTreeSet};

use contract::{AgentError, manifest::Entity};
use rusqlite::Connection;

use crate::{data, db::Dataset};

/// Common words, which do not identify a name and make no alias.
const COMMON_WORDS: [&str; 12] = [
    "the", "and", "new", "account", "company", "group", "media", "brand", "home", "ltd", "inc",
    "gmbh",
];

/// Returns accounts and advertisers. An advertiser with a single account implies that account.
pub(crate) fn all(db: &Connection, dataset: Dataset) -> Result<Vec<Entity>, AgentError> {
    let accounts = data::accounts(db, dataset)?;
    let mut owners: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (advertiser, account) in data::advertisers(db, dataset)? {
        owners.entry(advertiser).or_default().insert(account);
    }
    let account_names: Vec<&str> = accounts.iter().map(|a| a.name.as_str()).collect();
    let advertiser_names: Vec<&str> = owners.keys().map(String::as_str).collect();
    let mut found: Vec<Entity> = Vec::with_capacity(accounts.len() + owners.len());
    for account in &accounts {
        let mut aliases = vec![format!("account {}", account.id)];
        aliases.extend(short_name(&account.name, &account_names));
        found.push(Entity {
            kind: "account".to_owned(),
            id: account.id.clone(),
            name: account.name.clone(),
            aliases,
            implies: BTreeMap::new(),
        });
    }
    for (name, accounts) in &owners {
        let only = accounts.first().filter(|_| accounts.len() == 1);
        found.push(Entity {
            kind: "advertiser".to_owned(),
            id: name.clone(),
            name: name.clone(),
            aliases: short_name(name, &advertiser_names).into_iter().collect(),
            implies: only.map(|id| ("account_id".to_owned(), id.clone())).into_iter().collect(),
        });
    }
    Ok(found)
}

/// Returns the first word of a name if no other name has it and it is long enough.
fn short_name(name: &str, names: &[&str]) -> Option<String> {
    let first = |name: &str| name.split_whitespace().next().map(str::to_lowercase);
    let word = first(name).filter(|w| {
        w.chars().count() >= 4
            && w.chars().all(char::is_alphanumeric)
            && !COMMON_WORDS.contains(&w.as_str())
    })?;
    let unique = names
        .iter()
        .filter(|n| n.to_lowercase().split(|c: char| !c.is_alphanumeric()).any(|w| w == word))
        .count()
        == 1;
    (unique && word != name.to_lowercase()).then_some(word)
}

//! The names in the data with which a message can refer to accounts, advertisers and campaigns.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use contract::{AgentError, manifest::Entity};
use rusqlite::Connection;

use crate::{data, db::Dataset, names::without_common_prefix, select::CampaignName};

/// Common words, which do not identify a name and make no alias.
const COMMON_WORDS: [&str; 12] = [
    "the", "and", "new", "account", "company", "group", "media", "brand", "home", "ltd", "inc",
    "gmbh",
];

/// The most campaigns that may share an alias. A question with such an alias is about all of them.
const SHARED: usize = 3;

/// The most campaigns that are returned.
const MAX_CAMPAIGNS: usize = 2_000;

/// Returns accounts, advertisers and campaigns. An advertiser with a single account implies that
/// account, and a campaign implies its account.
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
    found.extend(campaigns(data::campaign_names(db, dataset)?));
    Ok(found)
}

/// Returns the campaigns whose id and name are unique. The alias of a campaign is its name without
/// the beginning that all campaigns of its advertiser share. An alias that too many campaigns share
/// is left out.
fn campaigns(all: Vec<CampaignName>) -> Vec<Entity> {
    let mut groups: BTreeMap<(&str, &str), Vec<&CampaignName>> = BTreeMap::new();
    for campaign in &all {
        groups.entry((&campaign.account, &campaign.advertiser)).or_default().push(campaign);
    }
    let named: Vec<(&CampaignName, String)> = groups
        .into_values()
        .flat_map(|group| {
            let names: Vec<&str> = group.iter().map(|c| c.name.as_str()).collect();
            let short = without_common_prefix(&names);
            group.into_iter().zip(short).collect::<Vec<_>>()
        })
        .collect();
    let count = |texts: Vec<String>| {
        texts.into_iter().fold(HashMap::<String, usize>::new(), |mut counts, text| {
            *counts.entry(text).or_default() += 1;
            counts
        })
    };
    let ids = count(all.iter().map(|c| c.id.clone()).collect());
    let names = count(all.iter().map(|c| c.name.to_lowercase()).collect());
    let shorts = count(named.iter().map(|(_, short)| short.to_lowercase()).collect());
    let is_unique = |c: &CampaignName| {
        ids.get(&c.id) == Some(&1) && names.get(&c.name.to_lowercase()) == Some(&1)
    };
    named
        .into_iter()
        .filter(|(campaign, _)| is_unique(campaign))
        .take(MAX_CAMPAIGNS)
        .map(|(campaign, short)| {
            let lower = short.to_lowercase();
            let has_alias = !lower.is_empty()
                && (1..=SHARED).contains(&shorts.get(&lower).copied().unwrap_or(0))
                && !names.contains_key(&lower);
            Entity {
                kind: "campaign".to_owned(),
                id: campaign.id.clone(),
                name: campaign.name.clone(),
                aliases: has_alias.then_some(short).into_iter().collect(),
                implies: [("account_id".to_owned(), campaign.account.clone())].into(),
            }
        })
        .collect()
}

/// Returns the first word of a name if it is long enough and no other name contains it.
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

//! Selects the account and campaigns of a question. Names are never guessed: an unknown or
//! ambiguous name is an error that lists the existing names.

use contract::{AgentError, text};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::{
    args::Args,
    data::{self, Account, Campaign},
    db::Dataset,
    report::Assumptions,
};

/// The sample's account that a question without an account gets.
const SAMPLE_DEFAULT: &str = "17";

/// How the account of a question was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Explicit,
    Advertiser,
    Campaign,
    Default,
}

impl Source {
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::Explicit => "explicit",
            Self::Advertiser => "advertiser",
            Self::Campaign => "campaign",
            Self::Default => "default",
        }
    }
}

/// Returns the account of a question and how it was chosen.
pub(crate) fn select_account(
    db: &Connection,
    dataset: Dataset,
    args: &Args,
    assumptions: &mut Assumptions,
) -> Result<(Account, Source), AgentError> {
    let accounts = all_accounts(db, dataset)?;
    match &args.account {
        Some(named) => {
            let account = named_account(&accounts, named)?;
            if account.id != *named {
                assumptions.add(
                    "account_by_name",
                    account.id.clone(),
                    text!(
                        "\"{text}\" is account {id}, {name}.",
                        text = named,
                        id = account.id,
                        name = account.name
                    ),
                );
            }
            Ok((account, Source::Explicit))
        }
        None => unnamed_account(db, dataset, accounts, args, assumptions),
    }
}

/// Returns the accounts of the data set, or an error if there are none.
pub(crate) fn all_accounts(db: &Connection, dataset: Dataset) -> Result<Vec<Account>, AgentError> {
    let accounts = data::accounts(db, dataset)?;
    if accounts.is_empty() {
        return Err(AgentError::invalid("There is no pacing data yet.")
            .reason("no_data")
            .hint("Import delivery rows from CSV files, or bring back the sample."));
    }
    Ok(accounts)
}

/// Returns the account of this id or name.
pub(crate) fn named_account(accounts: &[Account], named: &str) -> Result<Account, AgentError> {
    if let Some(account) = accounts.iter().find(|a| a.id == named) {
        return Ok(account.clone());
    }
    let wanted = words(named);
    let same: Vec<&Account> =
        accounts.iter().filter(|a| words(&a.name) == wanted || words(&a.id) == wanted).collect();
    let inside: Vec<&Account> =
        accounts.iter().filter(|a| has_words(&words(&a.name), &wanted)).collect();
    let found = if same.is_empty() { inside } else { same };
    match found.as_slice() {
        [one] => Ok((*one).clone()),
        [] => Err(AgentError::invalid(text!("There is no account {name}.", name = named))
            .reason("unknown_account")
            .with("known_accounts", list_accounts(accounts.iter()))
            .hint(text!("Known accounts: {names}.", names = name_accounts(accounts.iter())))),
        several => {
            Err(AgentError::invalid(text!("\"{name}\" fits more than one account.", name = named))
                .reason("ambiguous_account")
                .with("candidates", list_accounts(several.iter().copied()))
                .hint(text!(
                    "Say which one: {names}.",
                    names = name_accounts(several.iter().copied())
                )))
        }
    }
}

/// Records that amounts are given in the account's currency although another one was requested.
pub(crate) fn note_currency(
    account: &Account,
    wanted: Option<&str>,
    assumptions: &mut Assumptions,
) {
    let known = account.currency.as_deref();
    let Some(wanted) =
        wanted.filter(|wanted| known.is_none_or(|known| !known.eq_ignore_ascii_case(wanted)))
    else {
        return;
    };
    let text = match known {
        Some(known) => text!(
            "There are no exchange rates: the amounts of account {id} stay in {currency}.",
            id = account.id,
            currency = known
        ),
        None => text!("The currency of account {id} is not known.", id = account.id),
    };
    assumptions.add("other_currency", wanted.to_uppercase(), text);
}

fn unnamed_account(
    db: &Connection,
    dataset: Dataset,
    accounts: Vec<Account>,
    args: &Args,
    assumptions: &mut Assumptions,
) -> Result<(Account, Source), AgentError> {
    if let Some(filter) = &args.advertiser {
        let wanted = filter.to_lowercase();
        let owners = data::advertisers(db, dataset)?
            .into_iter()
            .filter(|(name, _)| name.to_lowercase().contains(&wanted));
        let mut owners: Vec<String> = owners.map(|(_, account)| account).collect();
        owners.dedup();
        if let [one] = owners.as_slice()
            && let Some(account) = accounts.iter().find(|a| a.id == *one)
        {
            let text = text!(
                "No account was named; {filter} belongs to account {id}, {name}.",
                filter,
                id = account.id,
                name = account.name
            );
            assumptions.add("account_from_advertiser", account.id.clone(), text);
            return Ok((account.clone(), Source::Advertiser));
        }
    }
    if let Some(named) = &args.campaign {
        let known = data::campaign_names(db, dataset)?;
        let found = matching(&known, named);
        let mut owners: Vec<&str> = found.iter().map(|c| c.account.as_str()).collect();
        owners.sort_unstable();
        owners.dedup();
        if let [one] = owners.as_slice()
            && let Some(account) = accounts.iter().find(|a| a.id == *one)
        {
            let text = text!(
                "No account was named; the campaign {campaign} belongs to account {id}, {name}.",
                campaign = named,
                id = account.id,
                name = account.name
            );
            assumptions.add("account_from_campaign", account.id.clone(), text);
            return Ok((account.clone(), Source::Campaign));
        }
        if owners.len() > 1 {
            return Err(ambiguous_campaign(named, &found));
        }
    }
    let default = match (accounts.as_slice(), dataset) {
        ([only], _) => Some(only.clone()),
        (_, Dataset::Sample) => accounts.iter().find(|a| a.id == SAMPLE_DEFAULT).cloned(),
        (_, Dataset::Imported) => None,
    };
    let Some(account) = default else {
        return Err(AgentError::invalid("It is not said which account is meant.")
            .reason("account_required")
            .with("known_accounts", list_accounts(accounts.iter()))
            .hint(text!("Name one of: {names}.", names = name_accounts(accounts.iter()))));
    };
    assumptions.add(
        "account_default",
        account.id.clone(),
        text!(
            "No account was named, so account {id}, {name}, was used.",
            id = account.id,
            name = account.name
        ),
    );
    Ok((account, Source::Default))
}

/// The chosen campaigns of an account.
pub(crate) struct Selection {
    pub(crate) campaigns: Vec<Campaign>,
    /// The name of the selection. None if all campaigns of the account are included.
    pub(crate) title: Option<String>,
    /// Whether the question names one campaign.
    pub(crate) is_campaign: bool,
}

/// Returns the campaign that was named, or the campaigns whose advertiser or own name contains the
/// filter.
pub(crate) fn select_campaigns(
    db: &Connection,
    dataset: Dataset,
    all: Vec<Campaign>,
    account: &Account,
    args: &Args,
    assumptions: &mut Assumptions,
) -> Result<Selection, AgentError> {
    let (chosen, title) = filter_campaigns(all, account, args, assumptions)?;
    let Some(named) = &args.campaign else {
        return Ok(Selection { campaigns: chosen, title, is_campaign: false });
    };
    let names: Vec<CampaignName> = chosen.iter().map(|c| CampaignName::new(c, account)).collect();
    match matching(&names, named).as_slice() {
        [one] => {
            let campaign: Vec<Campaign> = chosen.into_iter().filter(|c| c.id == one.id).collect();
            let title = campaign.first().map(|c| c.advertiser.clone()).filter(|n| !n.is_empty());
            Ok(Selection { campaigns: campaign, title, is_campaign: true })
        }
        [] => Err(unknown_campaign_error(db, dataset, account, named, &names)?),
        several => Err(ambiguous_campaign(named, several)),
    }
}

/// A campaign by its names.
#[derive(Clone, Debug)]
pub(crate) struct CampaignName {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) advertiser: String,
    /// The id of the campaign's account.
    pub(crate) account: String,
}

impl CampaignName {
    fn new(campaign: &Campaign, account: &Account) -> Self {
        Self {
            id: campaign.id.clone(),
            name: campaign.name.clone(),
            advertiser: campaign.advertiser.clone(),
            account: account.id.clone(),
        }
    }
}

/// Returns the campaigns with this id; else those with this name; else those with these words in
/// their name. Upper and lower case are equal.
fn matching<'a>(campaigns: &'a [CampaignName], named: &str) -> Vec<&'a CampaignName> {
    let (lower, wanted) = (named.to_lowercase(), words(named));
    let rules: [&dyn Fn(&CampaignName) -> bool; 4] = [
        &|c| c.id == named,
        &|c| c.id.to_lowercase() == lower || c.name.to_lowercase() == lower,
        &|c| words(&c.name) == wanted,
        &|c| has_words(&words(&c.name), &wanted),
    ];
    rules
        .iter()
        .map(|rule| campaigns.iter().filter(|c| rule(c)).collect::<Vec<_>>())
        .find(|found| !found.is_empty())
        .unwrap_or_default()
}

fn ambiguous_campaign(named: &str, several: &[&CampaignName]) -> AgentError {
    let list: Vec<&CampaignName> = several.iter().take(20).copied().collect();
    AgentError::invalid(text!("\"{name}\" fits more than one campaign.", name = named))
        .reason("ambiguous_campaign")
        .with("candidates", list_campaigns(&list))
        .hint(text!("Say which one: {names}.", names = name_campaigns(&list, true)))
}

/// Returns the error for a name that no campaign of the account has. The error says so if a
/// campaign of another account has the name.
fn unknown_campaign_error(
    db: &Connection,
    dataset: Dataset,
    account: &Account,
    named: &str,
    names: &[CampaignName],
) -> Result<AgentError, AgentError> {
    let error = AgentError::invalid(text!(
        "Account {id} ({name}) has no campaign \"{campaign}\".",
        id = account.id,
        name = account.name,
        campaign = named
    ))
    .reason("unknown_campaign");
    let everywhere = data::campaign_names(db, dataset)?;
    let elsewhere: Vec<&CampaignName> = matching(&everywhere, named)
        .into_iter()
        .filter(|c| c.account != account.id)
        .take(20)
        .collect();
    let known: Vec<&CampaignName> = names.iter().take(20).collect();
    Ok(if elsewhere.is_empty() {
        error
            .with("candidates", list_campaigns(&known))
            .hint(text!("Its campaigns: {names}.", names = name_campaigns(&known, false)))
    } else {
        error.with("candidates", list_campaigns(&elsewhere)).hint(text!(
            "Other accounts have it: {names}.",
            names = name_campaigns(&elsewhere, true)
        ))
    })
}

fn list_campaigns(campaigns: &[&CampaignName]) -> Vec<Value> {
    campaigns
        .iter()
        .map(|c| json!({"id": c.id, "name": c.name, "advertiser": c.advertiser, "account_id": c.account}))
        .collect()
}

fn name_campaigns(campaigns: &[&CampaignName], has_account: bool) -> String {
    let name = |c: &&CampaignName| match has_account {
        true => format!("{} ({}, account {})", c.name, c.id, c.account),
        false => format!("{} ({})", c.name, c.id),
    };
    campaigns.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// Returns the campaigns whose advertiser or own name contains the filter, and the name of the
/// selection.
fn filter_campaigns(
    all: Vec<Campaign>,
    account: &Account,
    args: &Args,
    assumptions: &mut Assumptions,
) -> Result<(Vec<Campaign>, Option<String>), AgentError> {
    let Some(filter) = &args.advertiser else {
        if args.campaign.is_none() {
            let count = distinct(&all).len();
            assumptions.add(
                "all_advertisers",
                Value::from(count),
                text!("No advertiser was named: all {count} of the account count.", count),
            );
        }
        return Ok((all, None));
    };
    let wanted = filter.to_lowercase();
    let known = distinct(&all);
    let fits = |c: &Campaign| {
        c.advertiser.to_lowercase().contains(&wanted) || c.name.to_lowercase().contains(&wanted)
    };
    let chosen: Vec<Campaign> = all.into_iter().filter(fits).collect();
    if chosen.is_empty() {
        return Err(AgentError::invalid(text!(
            "Account {id} ({name}) has no advertiser or campaign with \"{filter}\" in its name.",
            id = account.id,
            name = account.name,
            filter
        ))
        .reason("unknown_advertiser")
        .with("known_advertisers", known.clone())
        .hint(text!("Its advertisers: {names}.", names = known.join(", "))));
    }
    let names = distinct(&chosen);
    let title = match names.as_slice() {
        [one] => one.clone(),
        _ => filter.clone(),
    };
    Ok((chosen, Some(title)))
}

fn distinct(campaigns: &[Campaign]) -> Vec<String> {
    let mut names: Vec<String> =
        campaigns.iter().map(|c| c.advertiser.clone()).filter(|n| !n.is_empty()).collect();
    names.sort();
    names.dedup();
    names
}

fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|w| !w.is_empty())
        .map(str::to_lowercase)
        .collect()
}

fn has_words(text: &[String], wanted: &[String]) -> bool {
    !wanted.is_empty() && text.windows(wanted.len()).any(|w| w == wanted)
}

fn list_accounts<'a>(accounts: impl Iterator<Item = &'a Account>) -> Vec<Value> {
    accounts.take(20).map(|a| json!({"id": a.id, "name": a.name})).collect()
}

fn name_accounts<'a>(accounts: impl Iterator<Item = &'a Account>) -> String {
    accounts.take(20).map(|a| format!("{} ({})", a.id, a.name)).collect::<Vec<_>>().join(", ")
}

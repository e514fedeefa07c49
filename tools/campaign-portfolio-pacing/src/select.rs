//! Selects the account and campaigns of a question. Names are matched and never guessed: an unknown
//! or ambiguous name is an error that lists the existing ones.

use contract::{AgentError, text};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::{
    args::Args,
    data::{self, Account, Campaign},
    db::Dataset,
    report::Assumptions,
};

/// The account of questions to the sample that name none.
const SAMPLE_DEFAULT: &str = "17";

/// How the account was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Explicit,
    Advertiser,
    Default,
}

impl Source {
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::Explicit => "explicit",
            Self::Advertiser => "advertiser",
            Self::Default => "default",
        }
    }
}

/// Finds the account.
pub(crate) fn account(
    db: &Connection,
    dataset: Dataset,
    args: &Args,
    assumptions: &mut Assumptions,
) -> Result<(Account, Source), AgentError> {
    let accounts = data::accounts(db, dataset)?;
    if accounts.is_empty() {
        return Err(AgentError::invalid("There is no pacing data yet.")
            .reason("no_data")
            .hint("Import delivery rows from CSV files, or bring back the sample."));
    }
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

fn named_account(accounts: &[Account], named: &str) -> Result<Account, AgentError> {
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
            "No account was named: account {id}, {name}, was taken.",
            id = account.id,
            name = account.name
        ),
    );
    Ok((account, Source::Default))
}

/// Returns the campaigns whose advertiser or own name contains the filter, and the name of the
/// selection.
pub(crate) fn campaigns(
    all: Vec<Campaign>,
    account: &Account,
    args: &Args,
    assumptions: &mut Assumptions,
) -> Result<(Vec<Campaign>, Option<String>), AgentError> {
    let Some(filter) = &args.advertiser else {
        let count = distinct(&all).len();
        assumptions.add(
            "all_advertisers",
            Value::from(count),
            text!("No advertiser was named: all {count} of the account count.", count),
        );
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

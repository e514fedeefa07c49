//! One list of the campaigns, line items or advertisers of several accounts. Amounts keep the
//! currency of their account.

use serde_json::{Value, json};

use crate::{
    analyze::Analysis,
    args::{Detail, ListRequest},
    pace::Thresholds,
    report::{self, Entries},
};

/// Returns the list with its counts. The rows take at most `bytes` bytes.
pub(crate) fn list(
    analyses: &[&Analysis],
    detail: Detail,
    request: &ListRequest,
    limits: &Thresholds,
    bytes: usize,
) -> Value {
    let all: Vec<Entries<'_>> =
        analyses.iter().map(|one| Entries::of(one, detail, limits)).collect();
    // Identifies each row by its account and its place within the account.
    let places: Vec<(usize, usize)> = all
        .iter()
        .enumerate()
        .flat_map(|(account, entries)| (0..entries.keys.len()).map(move |at| (account, at)))
        .collect();
    let keys: Vec<_> = places.iter().map(|(account, at)| all[*account].keys[*at].clone()).collect();
    let row = |place: usize| {
        let (account, at) = places[place];
        let mut row = (all[account].row)(at);
        if let Value::Object(members) = &mut row {
            let account = &analyses[account].account;
            members.insert("account_id".to_owned(), json!(account.id));
            members.insert("account_name".to_owned(), json!(account.name));
            members.insert("currency".to_owned(), json!(account.currency));
            members.remove("display_name");
        }
        row
    };
    let (rows, mut numbers) = report::shown_rows(&keys, &row, request, bytes);
    if let Value::Object(members) = &mut numbers {
        members.insert("detail".to_owned(), json!(detail.code()));
        let rows: Vec<Value> = rows.into_iter().map(|(_, row)| row).collect();
        members.insert("rows".to_owned(), Value::Array(rows));
    }
    numbers
}

//! Tests of budgets and flights that a person enters instead of importing a file.

use std::collections::BTreeMap;

use campaign_portfolio_pacing::Pacing;
use contract::{DataEntry, ImportProblem};
use serde_json::json;

use crate::{row, service, with_rows};

const NOW: &str = "2026-11-10T20:00:00Z";
const BUDGETS: &str = "7,Advertiser A,B,Campaign B,3000.5,2026-11-01,2026-11-30,,SEK\n";

fn values(budget: &str, start: &str, end: &str) -> BTreeMap<String, String> {
    [("budget", budget), ("flight_start", start), ("flight_end", end)]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
}

fn entry(pacing: &Pacing, title: &str) -> DataEntry {
    let found = pacing.entries(title).unwrap();
    assert_eq!(found.total, 1);
    found.entries.into_iter().next().unwrap()
}

#[test]
fn campaigns_of_the_imported_data_are_listed_with_their_budgets() {
    let (_folder, pacing) = service(NOW);
    assert_eq!(pacing.entries("").unwrap().total, 0, "those of the sample are not changed");
    let (_folder, pacing) = with_rows(NOW, BUDGETS, &row("A", "1", "2026-11-09", "12.34"));
    let found = pacing.entries("").unwrap();
    let names: Vec<_> = found.fields.iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names, ["budget", "flight_start", "flight_end"]);
    assert_eq!(found.total, 2);
    let known = entry(&pacing, "campaign b");
    assert_eq!((known.group.as_str(), known.currency.as_str()), ("Test Account", "SEK"));
    assert_eq!(known.values, values("3000.50", "2026-11-01", "2026-11-30"));
    assert_eq!(entry(&pacing, "Campaign A").values, BTreeMap::new());
}

#[test]
fn an_entered_budget_is_used_in_the_next_answer_and_can_be_removed() {
    let (_folder, pacing) = with_rows(NOW, BUDGETS, &row("A", "1", "2026-11-09", "12.34"));
    let id = entry(&pacing, "Campaign A").id;
    let entered = values("1500", "2026-11-01", "2026-11-30");
    assert_eq!(pacing.set_entry(&id, &entered).unwrap(), BTreeMap::new());
    let known = entry(&pacing, "Campaign A");
    assert_eq!(
        (known.title.as_str(), &known.values),
        ("Campaign A", &values("1500.00", "2026-11-01", "2026-11-30"))
    );
    let arguments = json!({"account_id": "7", "campaign": "Campaign A", "campaign_start": "2026-11-01", "campaign_end": "2026-11-30"});
    let result = pacing.analyze(&arguments).unwrap();
    assert_eq!(result["insights"]["budget_status"]["portfolio_budget"], 1_500.0, "{result}");
    pacing.set_entry(&id, &BTreeMap::new()).unwrap();
    assert_eq!(entry(&pacing, "Campaign A").values, BTreeMap::new());
}

#[test]
fn an_invalid_entered_value_is_reported_and_nothing_is_stored() {
    let (_folder, pacing) = with_rows(NOW, BUDGETS, &row("A", "1", "2026-11-09", "12.34"));
    let id = entry(&pacing, "Campaign B").id;
    let problems = pacing.set_entry(&id, &values("much", "2026-11-30", "2026-11-01")).unwrap();
    assert_eq!(problems["budget"], ImportProblem::NotANumber { text: "much".to_owned() });
    assert_eq!(problems["flight_end"], ImportProblem::FlightReversed);
    assert_eq!(entry(&pacing, "Campaign B").values["budget"], "3000.50");
    let gone = pacing.set_entry("999", &BTreeMap::new()).unwrap_err();
    assert_eq!(gone.reason_text(), Some("not_found"));
}

//! Twenty export files as platforms and spreadsheets write them. Each file is imported without
//! editing it, or is refused with a remedy that then works. All imported files have the same total
//! spend.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

use campaign_portfolio_pacing::{ImportOptions, ImportReport, Pacing};
use contract::{ImportProblem, data::DateOrder};
use serde_json::{Value, json};

use crate::service;

const NOW: &str = "2026-11-30T20:00:00Z";
/// The total spend of every file.
const SPEND: f64 = 1_236.0;

fn path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/exports").join(file)
}

fn import(pacing: &Pacing, file: &str, options: &ImportOptions) -> ImportReport {
    pacing.import_as(&[path(file)], options, &mut |_| {}, &AtomicBool::new(false)).unwrap()
}

fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(field, value)| ((*field).to_owned(), (*value).to_owned())).collect()
}

fn analyze(pacing: &Pacing) -> Value {
    let days = json!({"campaign_start": "2026-11-01", "campaign_end": "2026-11-30"});
    pacing.analyze(&days).unwrap()
}

#[track_caller]
fn assert_total(pacing: &Pacing, currency: &str) {
    let result = analyze(pacing);
    assert_eq!(result["rollups"]["portfolio_total"]["total_spend"], SPEND);
    assert_eq!(result["currency"].as_str().unwrap_or_default(), currency);
}

/// Asserts that the file is imported, and that its survey agrees with the import.
#[track_caller]
fn assert_imports(file: &str, rows: u64, currency: &str) {
    let (_folder, pacing) = service(NOW);
    let options = ImportOptions::default();
    let found = pacing.survey(&path(file), &options, &AtomicBool::new(false)).unwrap();
    let check = found.check.unwrap();
    assert_eq!((check.accepted, check.rejected), (rows, 0), "{:?}", check.causes);
    let report = import(&pacing, file, &options);
    assert_eq!((report.errors.as_slice(), report.rows_stored), ([].as_slice(), rows));
    assert_total(&pacing, currency);
}

#[track_caller]
fn assert_refused(
    file: &str,
    is_reason: fn(&ImportProblem) -> bool,
) -> (tempfile::TempDir, Pacing) {
    let (folder, pacing) = service(NOW);
    let report = import(&pacing, file, &ImportOptions::default());
    assert!(is_reason(&report.errors[0].problem), "{:?}", report.errors);
    assert_eq!(report.rows_stored, 0);
    (folder, pacing)
}

#[test]
fn google_ads_in_english_in_utf8_is_imported() {
    assert_imports("google-en-utf8.csv", 2, "USD");
}

#[test]
fn google_ads_in_english_in_utf16_is_imported() {
    assert_imports("google-en-utf16.csv", 2, "USD");
}

#[test]
fn google_ads_in_swedish_in_utf8_is_imported() {
    assert_imports("google-sv-utf8.tsv", 2, "SEK");
}

#[test]
fn google_ads_in_swedish_in_utf16_is_imported() {
    assert_imports("google-sv-utf16.csv", 2, "SEK");
}

#[test]
fn google_ads_in_german_in_latin1_is_imported() {
    assert_imports("google-de-latin1.csv", 2, "EUR");
}

#[test]
fn google_ads_in_german_in_utf16_is_imported() {
    assert_imports("google-de-utf16.csv", 2, "EUR");
}

#[test]
fn google_ads_split_by_device_is_imported() {
    assert_imports("google-split-by-device.csv", 2, "USD");
}

#[test]
fn meta_ads_by_ad_set_is_imported() {
    assert_imports("meta-ad-sets.csv", 2, "SEK");
}

#[test]
fn meta_ads_by_reporting_day_is_imported() {
    assert_imports("meta-by-reporting-day.csv", 2, "EUR");
}

#[test]
fn meta_ads_in_swedish_is_imported() {
    assert_imports("meta-sv.csv", 2, "SEK");
}

#[test]
fn a_semicolon_file_with_decimal_commas_is_imported() {
    assert_imports("semicolon-decimal-comma.csv", 2, "EUR");
}

#[test]
fn a_file_whose_dates_show_their_order_is_imported() {
    assert_imports("dates-show-their-order.csv", 2, "");
}

#[test]
fn a_file_with_currencies_in_its_amounts_is_imported() {
    assert_imports("currency-in-cells.csv", 2, "");
}

#[test]
fn a_file_with_our_own_columns_in_latin1_is_imported() {
    assert_imports("own-latin1.csv", 2, "");
}

#[test]
fn a_workbook_with_two_header_rows_is_imported() {
    assert_imports("workbook-two-header-rows.xlsx", 2, "USD");
}

#[test]
fn a_file_whose_dates_leave_their_order_open_waits_for_a_decision() {
    let file = "dates-leave-order-open.csv";
    let (_folder, pacing) =
        assert_refused(file, |p| matches!(p, ImportProblem::DayAmbiguous { .. }));
    let options =
        ImportOptions { date_order: Some(DateOrder::DayFirst), ..ImportOptions::default() };
    assert_eq!(import(&pacing, file, &options).rows_stored, 2);
    assert_total(&pacing, "");
}

#[test]
fn a_file_with_unknown_column_names_waits_for_a_mapping() {
    let file = "own-names.csv";
    let (_folder, pacing) =
        assert_refused(file, |p| matches!(p, ImportProblem::UnknownHeader { .. }));
    let options = ImportOptions {
        columns: map(&[("day", "When"), ("campaign", "What"), ("spend", "How much")]),
        constants: map(&[("account", "Shop"), ("currency", "EUR")]),
        ..ImportOptions::default()
    };
    assert_eq!(import(&pacing, file, &options).rows_stored, 2);
    assert_total(&pacing, "EUR");
}

#[test]
fn a_file_with_rejected_lines_waits_for_a_decision() {
    let file = "some-lines-wrong.csv";
    let (_folder, pacing) = assert_refused(file, |p| matches!(p, ImportProblem::NotADay { .. }));
    let options = ImportOptions { skip_rejected: true, ..ImportOptions::default() };
    assert_eq!(import(&pacing, file, &options).rows_stored, 2);
    assert_total(&pacing, "");
}

#[test]
fn rows_that_cover_a_whole_month_are_refused() {
    assert_refused(
        "meta-whole-month.csv",
        |p| matches!(p, ImportProblem::NotADay { text } if text.contains("2026-11-30")),
    );
}

#[test]
fn a_file_without_day_and_spend_is_refused_with_its_columns() {
    assert_refused(
        "missing-columns.csv",
        |p| matches!(p, ImportProblem::UnknownHeader { found, .. } if found == "Campaign, Impressions"),
    );
}

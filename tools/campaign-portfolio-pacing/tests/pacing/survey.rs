//! Tests of the survey of a file before it is imported, and of mappings that are remembered.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

use campaign_portfolio_pacing::{ImportOptions, ImportReport, Pacing};
use contract::{
    DecimalSign, FileCheck, FileSurvey, ImportNote, ImportProblem, TextEncoding, data::DateOrder,
};
use serde_json::json;

use crate::{CAMPAIGNS, DELIVERY, row, service};

const NOW: &str = "2026-11-10T20:00:00Z";
const GERMAN: &str = "Kampagnenbericht\n01.11.2026 - 02.11.2026\nTag;Kampagne;Währungscode;Kosten;Impressionen\n01.11.2026;Frühling;EUR;1.234,50;12.000\n02.11.2026;Frühling;EUR;;10\nGesamt: Konto; --;EUR;1.234,50;12.010\n";
const UNKNOWN: &str = "When;What;How much\n1/11/2026;Alpha;1.234,50\n2/11/2026;Alpha;x\n";

fn write(folder: &Path, text: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join("export.csv");
    fs::write(&path, text).unwrap();
    path
}

fn survey_with(pacing: &Pacing, path: &Path, options: &ImportOptions) -> FileSurvey {
    pacing.survey(path, options, &AtomicBool::new(false)).unwrap()
}

fn survey(pacing: &Pacing, path: &Path) -> FileSurvey {
    survey_with(pacing, path, &ImportOptions::default())
}

fn import_with(pacing: &Pacing, path: &Path, options: &ImportOptions) -> ImportReport {
    pacing.import_as(&[path.into()], options, &mut |_| {}, &AtomicBool::new(false)).unwrap()
}

fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(field, value)| ((*field).to_owned(), (*value).to_owned())).collect()
}

fn mapped() -> ImportOptions {
    ImportOptions {
        columns: map(&[("day", "When"), ("campaign", "What"), ("spend", "How much")]),
        constants: map(&[("account", "Shop"), ("currency", "EUR")]),
        ..ImportOptions::default()
    }
}

fn fields(view: &FileSurvey) -> Vec<&str> {
    view.columns.iter().map(|column| column.field.as_deref().unwrap_or("")).collect()
}

#[test]
fn surveying_a_recognised_export_describes_it_and_stores_nothing() {
    let (folder, pacing) = service(NOW);
    let view = survey(&pacing, &write(folder.path(), GERMAN));
    assert_eq!(view.layout.as_deref(), Some("Google Ads"));
    assert_eq!((view.encoding, view.separator.as_deref()), (Some(TextEncoding::Utf8), Some(";")));
    assert_eq!((view.header_line, view.title_lines), (3, 2));
    assert_eq!(view.decimals, Some(DecimalSign::Comma));
    assert_eq!(fields(&view), ["day", "campaign", "currency", "spend", "impressions"]);
    assert_eq!(view.columns[3].samples, ["1.234,50", "1.234,50"]);
    assert!(!view.dates.unwrap().is_ambiguous);
    let check = view.check.unwrap();
    assert_eq!((check.accepted, check.rejected, check.totals), (2, 0, 1));
    assert_eq!((check.thousands.as_deref(), check.currencies), (Some("."), vec!["EUR".to_owned()]));
    let first = map(&[
        ("account", "Google Ads"),
        ("campaign", "Frühling"),
        ("currency", "EUR"),
        ("day", "2026-11-01"),
        ("impressions", "12000"),
        ("spend", "1234.50"),
    ]);
    assert_eq!(check.rows[0], first);
    assert_eq!(pacing.datasets().unwrap().imported.rows, 0);
}

#[test]
fn an_unknown_layout_gets_suggestions_and_lists_missing_fields() {
    let (folder, pacing) = service(NOW);
    let path = write(folder.path(), "When;Campaign;How much\n2026-11-01;Alpha;5\n");
    let view = survey(&pacing, &path);
    assert_eq!((view.layout.as_deref(), view.check.as_ref()), (None, None));
    assert_eq!(fields(&view), ["day", "campaign", ""]);
    assert_eq!(view.missing, ["spend"]);
    let required: Vec<_> =
        view.fields.iter().filter(|f| f.is_required).map(|f| f.name.as_str()).collect();
    assert_eq!(required, ["day", "campaign", "spend"]);
    let asked: Vec<_> =
        view.fields.iter().filter(|f| f.takes_constant).map(|f| f.name.as_str()).collect();
    assert_eq!(asked, ["account", "advertiser", "currency"]);
}

#[test]
fn a_survey_checks_a_mapping_once_the_date_order_is_known() {
    let (folder, pacing) = service(NOW);
    let path = write(folder.path(), UNKNOWN);
    let view = survey_with(&pacing, &path, &mapped());
    let dates = view.dates.unwrap();
    assert_eq!(
        (dates.is_ambiguous, dates.order, dates.example.as_str()),
        (true, None, "1/11/2026")
    );
    assert_eq!(view.check, None);
    let options = ImportOptions { date_order: Some(DateOrder::DayFirst), ..mapped() };
    let check = survey_with(&pacing, &path, &options).check.unwrap();
    assert_eq!((check.accepted, check.rejected), (1, 1));
    assert_eq!(
        (check.causes[0].column.as_str(), check.causes[0].lines.as_slice()),
        ("spend", &[3][..])
    );
    assert!(matches!(check.causes[0].example, ImportProblem::NotANumber { .. }));
    let row = &check.rows[0];
    assert_eq!((row["day"].as_str(), row["account"].as_str()), ("2026-11-01", "Shop"));
    assert_eq!((row["spend"].as_str(), row["currency"].as_str()), ("1234.50", "EUR"));
}

/// The counts of a survey equal those of the import that follows.
#[test]
fn a_survey_counts_the_rows_that_an_import_would_store() {
    let (folder, pacing) = service(NOW);
    let own = [
        row("A", "1", "2026-11-09", "1"),
        row("A", "1", "soon", "1"),
        "7,T\n".to_owned(),
        row("A", "2", "2026-11-09", "-3"),
    ];
    let path = write(folder.path(), format!("{DELIVERY}{}", own.concat()));
    let view = survey(&pacing, &path);
    assert_eq!(view.layout.as_deref(), Some("Countersign delivery"));
    let check = view.check.unwrap();
    let options = ImportOptions { skip_rejected: true, ..ImportOptions::default() };
    let report = import_with(&pacing, &path, &options);
    assert_eq!((check.accepted, check.rejected), (report.rows_stored, 3));
    assert_eq!(check.causes.iter().map(|cause| cause.count).sum::<u64>(), report.error_count);
}

#[test]
fn a_budget_file_is_recognised_by_its_columns() {
    let (folder, pacing) = service(NOW);
    let rows = "7,Adv,A,Alpha,3000,2026-11-01,2026-11-30,,SEK\n7,Adv,B,Beta,x,,,,\n";
    let view = survey(&pacing, &write(folder.path(), format!("{CAMPAIGNS}{rows}")));
    assert!(view.is_fixed && view.missing.is_empty());
    let check = view.check.unwrap();
    assert_eq!((check.accepted, check.rejected), (1, 1));
    let row = &check.rows[0];
    assert_eq!((row["budget"].as_str(), row["flight_end"].as_str()), ("3000.00", "2026-11-30"));
}

#[test]
fn surveying_a_file_that_is_no_table_reports_one_problem() {
    let (folder, pacing) = service(NOW);
    let view = survey(&pacing, &write(folder.path(), ""));
    assert_eq!(
        view,
        FileSurvey { problem: Some(ImportProblem::EmptyFile), ..FileSurvey::default() }
    );
    let view = survey(&pacing, &folder.path().join("gone.csv"));
    assert_eq!(view.problem, Some(ImportProblem::Missing));
    let view = survey(&pacing, &write(folder.path(), DELIVERY));
    let check: FileCheck = view.check.unwrap();
    assert_eq!((check.accepted, check.causes[0].example.clone()), (0, ImportProblem::NoRows));
}

#[test]
fn a_survey_of_the_head_is_one_without_a_check_of_the_lines() {
    let (folder, pacing) = service(NOW);
    let path = write(folder.path(), format!("{DELIVERY}{}", row("A", "1", "2026-11-09", "1")));
    let whole = survey(&pacing, &path);
    assert!(whole.check.is_some());
    let head = pacing.survey_head(&path, &ImportOptions::default());
    assert_eq!(head, FileSurvey { check: None, ..whole });
    let none = pacing.survey_head(&folder.path().join("none.csv"), &ImportOptions::default());
    assert!(none.problem.is_some());
}

#[test]
fn a_cancelled_survey_fails() {
    let (folder, pacing) = service(NOW);
    let rows: String =
        (0..2_000).map(|item| row("A", &item.to_string(), "2026-11-09", "1")).collect();
    let path = write(folder.path(), format!("{DELIVERY}{rows}"));
    let stopped = pacing.survey(&path, &ImportOptions::default(), &AtomicBool::new(true));
    assert_eq!(stopped.unwrap_err().reason_text(), Some("stopped"));
}

#[test]
fn a_mapping_is_remembered_after_an_import_and_forgotten_on_request() {
    let (folder, pacing) = service(NOW);
    let path = write(folder.path(), UNKNOWN);
    let options = ImportOptions { date_order: Some(DateOrder::DayFirst), ..mapped() };
    assert_eq!(import_with(&pacing, &path, &options).rows_stored, 0, "a line is rejected");
    assert!(!survey(&pacing, &path).is_remembered, "a refused file is not remembered");
    import_with(&pacing, &path, &ImportOptions { skip_rejected: true, ..options });

    let next = write(folder.path(), "When;What;How much\n3/11/2026;Alpha;7,50\n");
    let view = survey(&pacing, &next);
    assert!(view.is_remembered);
    assert_eq!(view.dates.unwrap().order, Some(DateOrder::DayFirst));
    assert_eq!(view.check.unwrap().rows[0]["day"], "2026-11-03");
    let report = import_with(&pacing, &next, &ImportOptions::default());
    assert_eq!((report.error_count, report.rows_stored), (0, 1));
    assert!(report.notes().contains(&ImportNote::LayoutRemembered));

    pacing.forget_layout(&view.shape).unwrap();
    let report = import_with(&pacing, &next, &ImportOptions::default());
    assert!(matches!(report.errors[0].problem, ImportProblem::UnknownHeader { .. }));
}

#[test]
fn a_remembered_date_order_is_not_used_for_dates_that_contradict_it() {
    let (folder, pacing) = service(NOW);
    let path = write(folder.path(), "When;What;How much\n1/11/2026;Alpha;1,5\n");
    let options = ImportOptions { date_order: Some(DateOrder::MonthFirst), ..mapped() };
    import_with(&pacing, &path, &options);
    let next =
        write(folder.path(), "When;What;How much\n1/11/2026;Alpha;1,5\n13/11/2026;Alpha;1,5\n");
    let check = survey(&pacing, &next).check.unwrap();
    assert_eq!(check.rows[0]["day"], "2026-11-01");
}

#[test]
fn a_named_account_gets_its_own_id_and_the_account_of_a_layout_keeps_its_id() {
    let (folder, pacing) = service(NOW);
    let path =
        write(folder.path(), "Day,Campaign,Currency code,Cost,Impr.\n2026-11-01,Brand,USD,5,1\n");
    for (account, id) in [("Google Ads", "google-ads"), ("Shop", "Shop")] {
        let constants = map(&[("account", account)]);
        import_with(&pacing, &path, &ImportOptions { constants, ..ImportOptions::default() });
        assert!(pacing.analyze(&json!({ "account_id": id })).is_ok(), "{account}");
    }
    assert_eq!(pacing.datasets().unwrap().imported.accounts, 2);
}

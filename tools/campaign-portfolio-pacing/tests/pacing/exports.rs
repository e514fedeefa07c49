//! Tests of exports that are imported without editing them: layouts of advertising platforms,
//! mappings by the user, rejected lines, and answers about accounts without line items and budgets.

use std::{collections::BTreeMap, fs, path::Path, sync::atomic::AtomicBool};

use campaign_portfolio_pacing::{ImportOptions, ImportReport, Pacing};
use contract::{ImportProblem, data::DateOrder};
use serde_json::{Value, json};

use crate::{import, service};

const NOW: &str = "2026-11-10T20:00:00Z";
const GOOGLE: &str = "Campaign report\nNovember 1, 2026 - November 2, 2026\nDay,Campaign,Device,Currency code,Cost,Impr.\n2026-11-01,Brand,Phone,SEK,\"1,000.50\",\"12,000\"\n2026-11-01,Brand,Desktop,SEK,0.25,10\n2026-11-02,Search,Phone,SEK,2.00,10\nTotal: Account, --, --,SEK,\"1,002.75\",\"12,020\"\n";

fn import_text(
    pacing: &Pacing,
    folder: &Path,
    text: &str,
    options: &ImportOptions,
) -> ImportReport {
    let path = folder.join("export.csv");
    fs::write(&path, text).unwrap();
    pacing.import_as(&[path], options, &mut |_| {}, &AtomicBool::new(false)).unwrap()
}

fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(field, value)| ((*field).to_owned(), (*value).to_owned())).collect()
}

fn analyze(pacing: &Pacing) -> Value {
    let days = json!({"campaign_start": "2026-11-01", "campaign_end": "2026-11-09"});
    pacing.analyze(&days).unwrap()
}

fn spend(pacing: &Pacing) -> f64 {
    analyze(pacing)["rollups"]["portfolio_total"]["total_spend"].as_f64().unwrap()
}

#[test]
fn an_unedited_google_ads_export_is_imported() {
    let (folder, pacing) = service(NOW);
    let report = import_text(&pacing, folder.path(), GOOGLE, &ImportOptions::default());
    assert_eq!(report.errors, []);
    assert!(report.sample_replaced);
    assert_eq!(report.files[0].ignored_columns, ["Device"]);
    assert_eq!(spend(&pacing), 1_002.75, "rows of the same day are added, totals are left out");
    let result = analyze(&pacing);
    assert_eq!((&result["account_id"], &result["currency"]), (&json!("google-ads"), &json!("SEK")));
}

#[test]
fn importing_the_same_export_again_replaces_its_rows() {
    let (folder, pacing) = service(NOW);
    for _ in 0..2 {
        import_text(&pacing, folder.path(), GOOGLE, &ImportOptions::default());
    }
    assert_eq!(spend(&pacing), 1_002.75);
}

#[test]
fn a_question_about_an_account_without_budgets_is_answered_with_a_note() {
    let (folder, pacing) = service(NOW);
    import_text(&pacing, folder.path(), GOOGLE, &ImportOptions::default());
    let result = analyze(&pacing);
    assert!(result.to_string().contains("budget_unknown"), "{result}");
}

#[test]
fn a_meta_export_is_split_by_ad_set() {
    let (folder, pacing) = service(NOW);
    let text = "\u{feff}Campaign name,Ad set name,Day,Amount spent (EUR),Impressions\n,,,3.5,30\nAlpha,One,2026-11-01,1.5,10\nAlpha,Two,2026-11-01,2,20\nAlpha,Two,2026-11-02,,\n";
    let report = import_text(&pacing, folder.path(), text, &ImportOptions::default());
    assert_eq!((report.errors.as_slice(), report.rows_stored), ([].as_slice(), 3));
    assert_eq!((spend(&pacing), &analyze(&pacing)["currency"]), (3.5, &json!("EUR")));
}

#[test]
fn a_row_for_several_days_is_refused() {
    let (folder, pacing) = service(NOW);
    let text = "Campaign name,Reporting starts,Reporting ends,Amount spent (EUR)\nAlpha,2026-11-01,2026-11-09,90\n";
    let report = import_text(&pacing, folder.path(), text, &ImportOptions::default());
    assert!(matches!(report.errors[0].problem, ImportProblem::NotADay { .. }));
    assert_eq!(report.rows_stored, 0);
}

#[test]
fn a_file_of_unknown_layout_is_imported_once_its_columns_are_mapped() {
    let (folder, pacing) = service(NOW);
    let text = "When;What;How much\n2.11.2026;Alpha;1.234,50\n";
    let report = import_text(&pacing, folder.path(), text, &ImportOptions::default());
    let ImportProblem::UnknownHeader { found, .. } = &report.errors[0].problem else {
        panic!("{:?}", report.errors);
    };
    assert_eq!(found, "When, What, How much");
    let columns = map(&[("day", "When"), ("campaign", "What"), ("spend", "How much")]);
    let constants = map(&[("account", "Shop"), ("account_id", "shop"), ("advertiser", "Acme")]);
    let options = ImportOptions { columns, constants, ..ImportOptions::default() };
    let report = import_text(&pacing, folder.path(), text, &options);
    assert_eq!(report.errors, []);
    assert_eq!((spend(&pacing), &analyze(&pacing)["account_id"]), (1_234.5, &json!("shop")));
}

#[test]
fn a_mapping_to_an_unknown_column_or_field_is_refused() {
    let (folder, pacing) = service(NOW);
    let options = |field: &str, heading: &str| ImportOptions {
        columns: map(&[(field, heading)]),
        ..ImportOptions::default()
    };
    let report = import_text(&pacing, folder.path(), GOOGLE, &options("spend", "Price"));
    assert!(matches!(report.errors[0].problem, ImportProblem::NoSuchColumn { .. }));
    let report = import_text(&pacing, folder.path(), GOOGLE, &options("colour", "Cost"));
    assert!(matches!(report.errors[0].problem, ImportProblem::NoSuchField { .. }));
}

#[test]
fn ambiguous_dates_are_refused_until_an_order_is_chosen() {
    let (folder, pacing) = service(NOW);
    let text = "Day,Campaign,Cost\n1/11/2026,Alpha,5.5\n2/11/2026,Alpha,5.5\n";
    let report = import_text(&pacing, folder.path(), text, &ImportOptions::default());
    assert!(matches!(report.errors[0].problem, ImportProblem::DayAmbiguous { .. }));
    let options =
        ImportOptions { date_order: Some(DateOrder::DayFirst), ..ImportOptions::default() };
    let report = import_text(&pacing, folder.path(), text, &options);
    assert_eq!((report.error_count, spend(&pacing)), (0, 11.0));
}

#[test]
fn the_user_decides_whether_valid_lines_of_a_file_with_errors_are_imported() {
    let (folder, pacing) = service(NOW);
    let text = "Day,Campaign,Cost\n2026-11-01,Alpha,5\nsoon,Alpha,5\n2026-11-02,Alpha,x\n2026-11-03,Alpha,6\n";
    let report = import_text(&pacing, folder.path(), text, &ImportOptions::default());
    assert_eq!((report.error_count, report.rows_stored), (2, 0));
    let options = ImportOptions { skip_rejected: true, ..ImportOptions::default() };
    let report = import_text(&pacing, folder.path(), text, &options);
    assert_eq!((report.error_count, report.rows_stored), (2, 2));
    assert_eq!(spend(&pacing), 11.0);
}

#[test]
fn a_file_in_the_packs_own_layout_is_read_in_windows_1252() {
    let (folder, pacing) = service(NOW);
    let path = folder.path().join("latin.csv");
    fs::write(
        &path,
        [crate::DELIVERY.as_bytes(), b"7,T,R\xe4v,A,C,1,L,2026-11-09,,1,1\n"].concat(),
    )
    .unwrap();
    assert_eq!(import(&pacing, &[path]).errors, []);
    assert!(pacing.analyze(&json!({"advertiser_filter": "Räv"})).is_ok());
}

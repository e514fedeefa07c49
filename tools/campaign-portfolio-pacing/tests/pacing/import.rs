//! Tests of CSV imports: accepted formats, errors with line and column, and imports that fail
//! without storing a part.

use std::{
    cell::Cell,
    fs,
    sync::atomic::{AtomicBool, Ordering},
};

use campaign_portfolio_pacing::{Dataset, FileKind, MAX_ERRORS};
use contract::{ImportNote, ImportProblem};
use serde_json::json;

use crate::{CAMPAIGNS, DELIVERY, at, import, row, service, with_rows, write};

const NOW: &str = "2026-11-10T20:00:00Z";
const FLIGHT: &str =
    "7,Advertiser A,A,Campaign A,3000,2026-11-01,2026-11-30,Europe/Stockholm,SEK\n";

fn total(pacing: &campaign_portfolio_pacing::Pacing) -> f64 {
    let args =
        json!({"account_id": "7", "campaign_start": "2026-11-01", "campaign_end": "2026-11-30"});
    pacing.analyze(&args).unwrap()["rollups"]["portfolio_total"]["total_spend"].as_f64().unwrap()
}

#[test]
fn imported_rows_replace_the_sample_and_survive_a_restart() {
    let (folder, pacing) = service(NOW);
    let files = [
        write(folder.path(), "d.csv", DELIVERY, &row("A", "1", "2026-11-09", "12.34")),
        write(folder.path(), "c.csv", CAMPAIGNS, FLIGHT),
    ];
    let report = import(&pacing, &files);
    assert_eq!((report.rows_read, report.rows_stored, report.rows_replaced), (2, 2, 0));
    assert!(report.sample_replaced);
    assert_eq!(report.notes(), [ImportNote::SampleReplaced]);
    let kinds: Vec<_> = report.files.iter().map(|f| f.kind).collect();
    assert_eq!(kinds, [Some(FileKind::Delivery), Some(FileKind::Campaigns)]);
    assert_eq!(total(&pacing), 12.34);
    drop(pacing);
    assert_eq!(total(&at(folder.path(), NOW)), 12.34);
}

#[test]
fn a_row_with_the_key_of_an_earlier_row_replaces_that_row() {
    let rows = row("A", "1", "2026-11-09", "1") + &row("A", "1", "2026-11-09", "2");
    let (folder, pacing) = with_rows(NOW, FLIGHT, &rows);
    assert_eq!(total(&pacing), 2.0);
    let again = write(
        folder.path(),
        "again.csv",
        DELIVERY,
        &(row("A", "1", "2026-11-09", "5") + &row("A", "1", "2026-11-08", "1")),
    );
    let report = import(&pacing, &[again]);
    assert_eq!((report.rows_stored, report.rows_replaced, report.sample_replaced), (2, 1, false));
    assert_eq!(total(&pacing), 6.0);
}

#[test]
fn a_file_with_errors_stores_no_rows_and_all_errors_are_listed() {
    let (folder, pacing) = with_rows(NOW, FLIGHT, &row("A", "1", "2026-11-09", "1"));
    let bad = [
        row("A", "1", "2026-11-08", "50"),
        row("A", "1", "08.11.2026", "50"),
        "7,Test,Adv,,C,1,I,2026-11-08,25,-3,1.5\n".to_owned(),
        "7,Test,Adv,A\n".to_owned(),
        "7,Test,Adv,A,C,1,\"two\nlines\",2026-11-08,,x,1\n".to_owned(),
        row("A", "1", "2026-11-08", "y"),
    ]
    .concat();
    let files = [
        write(folder.path(), "bad.csv", DELIVERY, &bad),
        write(folder.path(), "good.csv", DELIVERY, &row("A", "1", "2026-11-07", "2")),
    ];
    let report = import(&pacing, &files);
    let found: Vec<(&str, u64, &str)> =
        report.errors.iter().map(|e| (e.file.as_str(), e.line, e.column.as_str())).collect();
    let expected = [
        ("bad.csv", 3, "date"),
        ("bad.csv", 4, "campaign_id"),
        ("bad.csv", 4, "hour"),
        ("bad.csv", 4, "spend"),
        ("bad.csv", 4, "impressions"),
        ("bad.csv", 5, ""),
        ("bad.csv", 6, "spend"),
        ("bad.csv", 8, "spend"),
    ];
    assert_eq!(found, expected);
    assert_eq!(report.errors[0].problem, ImportProblem::NotADay { text: "08.11.2026".into() });
    assert_eq!(report.errors[5].problem, ImportProblem::CellCount { found: 4, expected: 11 });
    assert_eq!((report.files[0].rows_stored, report.files[1].rows_stored), (0, 1));
    assert_eq!(
        total(&pacing),
        3.0,
        "the good file is there, nothing of the bad one, and what was there before"
    );
}

#[test]
fn import_errors_beyond_the_limit_are_only_counted() {
    let (folder, pacing) = service(NOW);
    let rows: String = (0..500).map(|_| row("A", "1", "soon", "1")).collect();
    let report = import(&pacing, &[write(folder.path(), "bad.csv", DELIVERY, &rows)]);
    assert_eq!((report.errors.len(), report.error_count), (MAX_ERRORS, 500));
    assert!(!report.sample_replaced);
    assert_eq!(pacing.dataset().unwrap(), Dataset::Sample);
}

#[test]
fn formats_that_spreadsheets_write_are_read() {
    let semicolons = "\u{feff}Account ID;Account Name;Advertiser;Campaign ID;Campaign Name;Line Item ID;Line Item Name;Date;Hour;Spend;Impressions;Note\r\n\
        7;Räksmörgås AB;\"Adv; Ett\";A;Kampanj;1;Rad;2026-11-09;;\"1 234,50\";1 000;x\r\n\
        7;Räksmörgås AB;\"Adv; Ett\";A;Kampanj;1;Rad;2026/11/08;;0,25;10;\r\n\r\n";
    let (folder, pacing) = service(NOW);
    let path = folder.path().join("s.csv");
    fs::write(&path, semicolons).unwrap();
    let report = import(&pacing, &[path]);
    assert_eq!(report.errors, []);
    assert_eq!(report.files[0].ignored_columns, ["Note"]);
    assert_eq!(total(&pacing), 1_234.75);
    let quoted = DELIVERY.to_owned()
        + "7,T,A,A,C,2,L,2026-11-07,,\"2,5\",10\n7,T,A,A,C,2,L,2026-11-06,,\"1,234\",10\n";
    let path = folder.path().join("q.csv");
    fs::write(&path, quoted).unwrap();
    let report = import(&pacing, &[path]);
    assert_eq!(report.errors.len(), 1);
    assert_eq!((report.errors[0].line, report.errors[0].column.as_str()), (3, "spend"));
    assert_eq!(report.errors[0].problem, ImportProblem::Ambiguous { text: "1,234".into() });
}

#[test]
fn unreadable_files_are_refused_with_the_reason() {
    let (folder, pacing) = service(NOW);
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let cases = [
        (file("empty.csv", b""), "empty_file"),
        (file("utf16.csv", b"\xff\xfea\0,\0b\0"), "unknown_header"),
        (file("book.xlsx", b"PK\x03\x04rest"), "spreadsheet"),
        (file("other.csv", b"a,b\n1,2\n"), "unknown_header"),
        (file("header.csv", DELIVERY.as_bytes()), "no_rows"),
        (file("short.csv", b"account_id,date,spend\n"), "column_missing"),
        (file("twice.csv", format!("{},spend\n", DELIVERY.trim()).as_bytes()), "column_twice"),
        (folder.path().join("gone.csv"), "missing"),
        (folder.path().to_owned(), "is_folder"),
    ];
    for (path, problem) in cases {
        let report = import(&pacing, std::slice::from_ref(&path));
        assert!(
            report.errors.iter().any(|e| json!(e.problem)["code"] == problem),
            "{}: {:?}",
            path.display(),
            report.errors
        );
        assert_eq!(report.rows_stored, 0);
    }
}

#[test]
fn errors_in_campaign_files_are_reported() {
    let (folder, pacing) = service(NOW);
    let rows = "7,Adv,A,C,x,2026-11-01,2026-11-30,Mars/Olympus,kronor\n7,Adv,B,C,5,2026-11-30,2026-11-01,,\n7,Adv,D,C,5,2026-11-30,,,\n";
    let report = import(&pacing, &[write(folder.path(), "c.csv", CAMPAIGNS, rows)]);
    let found: Vec<(u64, &str)> =
        report.errors.iter().map(|e| (e.line, e.column.as_str())).collect();
    assert_eq!(
        found,
        [(2, "time_zone"), (2, "currency"), (2, "budget"), (3, "flight_end"), (4, "flight_start")]
    );
}

#[test]
fn importing_only_budgets_does_not_replace_the_sample_data() {
    let (folder, pacing) = service(NOW);
    let report = import(&pacing, &[write(folder.path(), "c.csv", CAMPAIGNS, FLIGHT)]);
    assert_eq!((report.rows_stored, report.sample_replaced), (1, false));
    assert_eq!(report.notes(), [ImportNote::BudgetsOnly]);
    assert!(pacing.use_dataset(Dataset::Imported).is_err());
    let report = import(
        &pacing,
        &[write(folder.path(), "d.csv", DELIVERY, &row("A", "1", "2026-11-09", "1"))],
    );
    assert!(report.sample_replaced);
    let result = pacing.analyze(&json!({})).unwrap();
    assert_eq!(
        (&result["currency"], &result["time_zone"]),
        (&json!("SEK"), &json!("Europe/Stockholm"))
    );
}

#[test]
fn a_cancelled_import_stores_no_row() {
    let (folder, pacing) = with_rows(NOW, FLIGHT, &row("A", "1", "2026-11-09", "1"));
    let rows: String = (0..5_000).map(|n| row("A", &n.to_string(), "2026-11-08", "1")).collect();
    let files = [
        write(folder.path(), "first.csv", DELIVERY, &row("A", "1", "2026-11-07", "1")),
        write(folder.path(), "big.csv", DELIVERY, &rows),
    ];
    let (cancel, calls, last) = (AtomicBool::new(false), Cell::new(0), Cell::new((0, 0)));
    let report = pacing
        .import(
            &files,
            &mut |progress| {
                calls.set(calls.get() + 1);
                last.set((progress.done_bytes, progress.total_bytes));
                if progress.rows_read > 2_000 {
                    cancel.store(true, Ordering::Relaxed);
                }
            },
            &cancel,
        )
        .unwrap();
    assert!(report.cancelled && report.rows_stored == 0, "{report:?}");
    assert!(calls.get() > 4, "progress is told on the way");
    let (done, all) = last.get();
    assert!(done > 0 && done < all);
    assert_eq!(total(&pacing), 1.0);
}

#[test]
fn questions_during_an_import_use_the_previous_data() {
    let (folder, pacing) = with_rows(NOW, FLIGHT, &row("A", "1", "2026-11-09", "1"));
    let file = write(folder.path(), "more.csv", DELIVERY, &row("A", "1", "2026-11-08", "10"));
    let during = Cell::new(0.0);
    pacing.import(&[file], &mut |_| during.set(total(&pacing)), &AtomicBool::new(false)).unwrap();
    assert_eq!((during.get(), total(&pacing)), (1.0, 11.0));
}

#[test]
fn names_that_look_like_formulas_are_quoted_in_the_exported_csv() {
    let rows = "7,=HYPERLINK(1),@Adv,A,C,1,L,2026-11-09,,1,1\n";
    let (_folder, pacing) = with_rows(NOW, FLIGHT, rows);
    let result = pacing.analyze(&json!({"advertiser_filter": "@adv"})).unwrap();
    let text = result["csv"]["text"].as_str().unwrap();
    assert!(text.contains(",'=HYPERLINK(1),'@Adv,"), "{text}");
}

#[test]
fn the_user_switches_between_the_sample_and_the_imported_rows() {
    let (folder, pacing) = service(NOW);
    let before = pacing.datasets().unwrap();
    assert_eq!(
        (before.active, before.imported.rows, before.imported.first_day),
        (Dataset::Sample, 0, None)
    );
    assert_eq!(
        (before.sample.accounts, before.sample.last_day),
        (3, Some("2026-11-10".parse().unwrap()))
    );
    let rows = row("A", "1", "2026-11-07", "1") + &row("A", "1", "2026-11-09", "2");
    import(&pacing, &[write(folder.path(), "d.csv", DELIVERY, &rows)]);
    let after = pacing.datasets().unwrap();
    assert_eq!(
        (after.active, after.imported.rows, after.imported.accounts),
        (Dataset::Imported, 2, 1)
    );
    assert_eq!(
        (after.imported.first_day, after.imported.last_day),
        ("2026-11-07".parse().ok(), "2026-11-09".parse().ok())
    );
    assert_eq!(after.sample, before.sample, "an import leaves the sample alone");
    pacing.use_dataset(Dataset::Sample).unwrap();
    assert_eq!(pacing.analyze(&json!({"account_id": "17"})).unwrap()["account_id"], "17");
    pacing.use_dataset(Dataset::Imported).unwrap();
    assert_eq!(total(&pacing), 3.0);
}

//! Tests of the glance at an import.

use contract::{
    SourceName,
    sources::{ColumnSum, FileTotal, ImportDecisions, ImportScope, SumChange, TotalCheck},
};

use super::*;

fn day(day: u32) -> chrono::NaiveDate {
    chrono::NaiveDate::from_ymd_opt(2026, 11, day).unwrap()
}

fn check(column: &str, stated: &str, computed: &str) -> TotalCheck {
    TotalCheck {
        column: column.to_owned(),
        stated: stated.to_owned(),
        computed: computed.to_owned(),
        agrees: stated == computed,
    }
}

fn sum(column: &str, currency: Option<&str>, sum: &str) -> ColumnSum {
    ColumnSum {
        column: column.to_owned(),
        currency: currency.map(str::to_owned),
        sum: sum.to_owned(),
    }
}

fn column(name: &str, usage: ColumnUse) -> FoundColumn {
    FoundColumn { name: name.to_owned(), usage, ..FoundColumn::default() }
}

fn result() -> ImportResult {
    ImportResult {
        source: SourceName::new("ads"),
        is_new_source: false,
        report: TableReport {
            file: "november.csv".to_owned(),
            header_line: 2,
            records: 6,
            stored: 4,
            left_out: vec![
                LeftOut {
                    rule: "title".to_owned(),
                    reason: "Title lines.".into(),
                    lines: vec![1],
                    count: 1,
                    sample: "Report".to_owned(),
                },
                LeftOut {
                    rule: "total".to_owned(),
                    reason: "Total lines.".into(),
                    lines: vec![8],
                    count: 1,
                    sample: "Total,210".to_owned(),
                },
            ],
            rejected: vec![RejectedRows {
                cause: "not_a_day".to_owned(),
                reason: "This is no day.".into(),
                column: "Day".to_owned(),
                lines: vec![4],
                count: 1,
                sample: "soon".to_owned(),
            }],
            columns: vec![
                column("Day", ColumnUse::Time),
                FoundColumn { unit: Some("EUR".to_owned()), ..column("Cost", ColumnUse::Sum) },
                FoundColumn { empty: 2, ..column("Memo", ColumnUse::Other) },
            ],
            file_total: Some(FileTotal {
                line: 8,
                columns: vec![check("Cost", "205.5", "205.5"), check("Clicks", "12", "11")],
            }),
            days: Some(DaySpan { first: day(1), last: day(4), days: 3 }),
            sums: vec![sum("Cost", Some("EUR"), "205.5"), sum("Clicks", None, "11")],
            ..TableReport::default()
        },
        decisions: ImportDecisions::default(),
        change: Some(ImportChange {
            scope: ImportScope {
                days: Some(DayRange { first: day(1), last: day(4) }),
                ..ImportScope::default()
            },
            new_rows: 1,
            vanished_rows: 2,
            sums: vec![SumChange {
                column: "Cost".to_owned(),
                currency: Some("EUR".to_owned()),
                before: "250.00".to_owned(),
                after: "205.50".to_owned(),
                vanished: "40".to_owned(),
            }],
            ..ImportChange::default()
        }),
        questions: Vec::new(),
        is_stored: true,
    }
}

fn text_of<'a>(facts: &'a [Fact], label: &str) -> &'a str {
    facts.iter().find(|fact| fact.label == label).map_or("", |fact| fact.text.as_str())
}

#[test]
fn the_glance_names_all_that_was_stored_left_out_and_rejected() {
    let facts = facts_of(&result());
    for (label, text) in [
        ("days", "2026-11-01 to 2026-11-04 (3 of 4 days)"),
        ("rows", "4 of 6 records, 1 left out, 1 rejected"),
        ("sums", "Cost 205.50 EUR (as line 8 says)"),
        ("total", "Clicks: line 8 says 12, the rows add up to 11"),
        ("replaces", "2026-11-01 to 2026-11-04"),
        ("changes", "Cost 250.00 EUR → 205.50 EUR (-44.50)"),
        ("rows are", "1 new, 2 vanished"),
        ("left out", "1 x Title lines (line 1): Report"),
        ("rejected", "1 x Day: This is no day (line 4): soon"),
        ("columns", "time: Day; sums: Cost (EUR)"),
        ("not used", "Memo (2 empty)"),
        ("read as", "headings in line 2"),
    ] {
        assert_eq!(text_of(&facts, label), text, "{label}");
    }
    let bad: Vec<&str> = facts.iter().filter(|fact| fact.is_bad).map(|fact| fact.label).collect();
    assert_eq!(bad, ["rows", "total", "rows are", "rejected"]);
}

#[test]
fn a_unit_in_the_name_of_a_column_is_not_repeated() {
    let cost = FoundColumn { unit: Some("EUR".to_owned()), ..column("Cost (EUR)", ColumnUse::Sum) };
    assert_eq!(show_column(&cost), "Cost (EUR)");
    assert_eq!(show_column_sum(&sum("Cost (EUR)", Some("EUR"), "205.5")), "Cost (EUR) 205.50");
}

#[test]
fn an_answer_is_shown_as_its_option_is() {
    let mut answered = result();
    answered.decisions.account = Some("Client One".to_owned());
    assert_eq!(text_of(&facts_of(&answered), "account"), "Client One");
    let answers = [("account", "Client Two"), ("vanished", "replace"), ("rejected", "skip")];
    answered.decisions.answers =
        answers.map(|(id, answer)| (id.to_owned(), answer.to_owned())).into();
    assert_eq!(text_of(&facts_of(&answered), "account"), "Client Two");
    assert_eq!(text_of(&facts_of(&answered), "decided"), "rejected: skip; vanished: replace");
    let mut skipped = result();
    skipped.decisions.skip_rejected = true;
    assert_eq!(text_of(&facts_of(&skipped), "decided"), "rejected: skip");
}

#[test]
fn sums_that_stay_are_named_apart() {
    let mut result = result();
    if let Some(change) = &mut result.change {
        change.sums.push(SumChange {
            column: "Clicks".to_owned(),
            currency: None,
            before: "1100".to_owned(),
            after: "1100".to_owned(),
            vanished: "0".to_owned(),
        });
    }
    assert_eq!(
        text_of(&facts_of(&result), "changes"),
        "Cost 250.00 EUR → 205.50 EUR (-44.50); as before: Clicks 1,100"
    );
}

#[test]
fn before_a_question_stands_only_what_is_needed_to_answer_it() {
    let labels = |result: &ImportResult| -> Vec<&str> {
        facts_before(result).iter().map(|fact| fact.label).collect()
    };
    assert_eq!(labels(&result()), ["days", "rows", "replaces", "changes", "rows are"]);
    let unread = ImportResult { change: None, ..result() };
    assert_eq!(labels(&unread), ["days", "rows", "rejected"]);
}

#[test]
fn content_that_is_stored_already_is_said_to_change_nothing() {
    let mut result = result();
    result.change = Some(ImportChange { is_same_content: true, ..ImportChange::default() });
    let facts = facts_of(&result);
    assert!(text_of(&facts, "same").contains("stored already"));
    assert_eq!(text_of(&facts, "replaces"), "");
}

#[test]
fn the_summary_has_rows_days_and_the_first_sum() {
    assert_eq!(
        summarise(&result()),
        "november.csv is in the source ads: 4 rows, 2026-11-01 to 2026-11-04 (3 of 4 days), Cost 205.50 EUR."
    );
}

#[test]
fn many_lines_are_cut_with_a_sign() {
    assert_eq!(show_lines(&[1, 2, 3, 4, 5, 6, 7], 7), " (lines 1, 2, 3, 4, 5, ...)");
    assert_eq!(show_lines(&[], 3), "");
}

//! The cases of `cases/expected.json`.

use std::{collections::BTreeMap, fs::File, path::PathBuf};

use contract::sources::{ColumnUse, FILE_QUESTIONS, FoundColumn, ImportDecisions, TableReport};
use serde::Deserialize;
use serde_json::Value;
use tabular::table::TableError;

use crate::support::{check_law, file_of, inspect_file, read_rows};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    file: Option<String>,
    text: Option<String>,
    bytes: Option<Vec<u8>>,
    #[serde(default)]
    decisions: ImportDecisions,
    error: Option<String>,
    records: Option<u64>,
    stored: Option<u64>,
    rejected: Option<BTreeMap<String, Vec<u64>>>,
    left_out: Option<BTreeMap<String, Vec<u64>>>,
    sums: Option<BTreeMap<String, BTreeMap<String, String>>>,
    questions: Option<Vec<String>>,
    columns: Option<BTreeMap<String, BTreeMap<String, Value>>>,
    notes: Option<Vec<String>>,
    total: Option<BTreeMap<String, (String, String, bool)>>,
    days: Option<(String, String, u64)>,
    range: Option<(String, String)>,
    account: Option<String>,
    samples: Option<BTreeMap<String, String>>,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

#[test]
fn every_case_has_its_expected_values_or_its_expected_refusal() {
    let text = std::fs::read_to_string(folder().join("expected.json")).unwrap();
    let cases: Vec<Case> = serde_json::from_str(&text).unwrap();
    let mut failures = Vec::new();
    for case in &cases {
        let faults = check(case);
        if !faults.is_empty() {
            failures.push(format!("{}:\n    {}", case.name, faults.join("\n    ")));
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {} fail\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n")
    );
}

#[test]
fn every_file_of_the_cases_is_used() {
    let text = std::fs::read_to_string(folder().join("expected.json")).unwrap();
    for entry in std::fs::read_dir(folder().join("files")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(text.contains(&format!("\"{name}\"")), "{name}");
    }
}

fn open(case: &Case) -> File {
    match (&case.file, &case.text, &case.bytes) {
        (Some(name), ..) => File::open(folder().join("files").join(name)).unwrap(),
        (_, Some(text), _) => file_of(text.as_bytes()),
        (.., Some(bytes)) => file_of(bytes),
        _ => panic!("{} has no content", case.name),
    }
}

fn check(case: &Case) -> Vec<String> {
    let file = open(case);
    let mut faults = Vec::new();
    let inspected = match (inspect_file(&file, &case.decisions), &case.error) {
        (Ok(inspected), None) => inspected,
        (Err(error), Some(expected)) => {
            let message = error.message();
            return if message.contains(expected.as_str()) {
                faults
            } else {
                vec![message.to_string()]
            };
        }
        (Ok(inspected), Some(_)) => return vec![format!("was read: {:?}", inspected.report())],
        (Err(error), None) => return vec![error.message().to_string()],
    };
    let report = inspected.report();
    check_law(report);
    let mut compare = |what: &str, found: String, expected: String| {
        if found != expected {
            faults.push(format!("{what}: {found} instead of {expected}"));
        }
    };
    if let Some(records) = case.records {
        compare("records", report.records.to_string(), records.to_string());
    }
    if let Some(stored) = case.stored {
        compare("stored", report.stored.to_string(), stored.to_string());
    }
    if let Some(expected) = &case.questions {
        let found: Vec<&String> = report.questions.iter().map(|question| &question.id).collect();
        compare("questions", format!("{found:?}"), format!("{expected:?}"));
    }
    check_answers(case, &file, report);
    let expected = case.rejected.clone().unwrap_or_default();
    let mut found: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for rejected in &report.rejected {
        found.entry(rejected.cause.clone()).or_default().extend(&rejected.lines);
    }
    compare("rejected", format!("{found:?}"), format!("{expected:?}"));
    if let Some(expected) = &case.left_out {
        let mut found: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for left_out in &report.left_out {
            found.entry(left_out.rule.clone()).or_default().extend(&left_out.lines);
        }
        compare("left out", format!("{found:?}"), format!("{expected:?}"));
    }
    compare_columns(case, report, &mut compare);
    compare_statements(case, report, &mut compare);
    if report.questions.is_empty() {
        let rows = read_rows(&inspected, &file).unwrap();
        compare("rows read", rows.len().to_string(), report.stored.to_string());
        for (at, column) in report.columns.iter().enumerate().filter(|(_, column)| adds_up(column))
        {
            let read = sum_of(&rows, at);
            let sums = report.sums.iter().filter(|sum| sum.column == column.name);
            let stated: f64 = sums.map(|sum| sum.sum.parse::<f64>().unwrap()).sum();
            compare(
                &format!("sum of {}", column.name),
                format!("{read:.4}"),
                format!("{stated:.4}"),
            );
        }
    }
    faults
}

/// Checks that each choice of a question is an answer, and that the reader knows no other.
fn check_answers(case: &Case, file: &File, report: &TableReport) {
    for question in &report.questions {
        assert!(FILE_QUESTIONS.contains(&question.id.as_str()), "{} is listed", question.id);
        let answer = |answer: &str| {
            let mut decisions = case.decisions.clone();
            decisions.answers.insert(question.id.clone(), answer.to_owned());
            inspect_file(file, &decisions)
        };
        for choice in &question.choices {
            let answered = answer(&choice.value);
            let is_unknown = matches!(answered, Err(TableError::UnknownAnswer { .. }));
            assert!(!is_unknown, "{}: {}={}", case.name, question.id, choice.value);
        }
        match answer("no such choice") {
            Err(TableError::UnknownAnswer { id, .. }) => assert_eq!(id, question.id),
            Err(TableError::NoSheet { .. }) => assert_eq!(question.id, "sheets"),
            Err(error) => panic!("{}: {}: {error}", case.name, question.id),
            // The question stays open, or takes any text: an account has any name.
            Ok(again) => {
                let is_open = again.report().questions.iter().any(|one| one.id == question.id);
                let takes_text = question.choices.is_empty() || question.id == "account";
                assert!(is_open || takes_text, "{}: {}", case.name, question.id);
            }
        }
    }
}

/// Compares a value that was found with the expected one.
type Compare<'a> = dyn FnMut(&str, String, String) + 'a;

fn compare_columns(case: &Case, report: &TableReport, compare: &mut Compare<'_>) {
    for (column, expected) in case.sums.iter().flatten() {
        compare(column, format!("{:?}", sums_of(report, column)), format!("{expected:?}"));
    }
    for (name, expected) in case.columns.iter().flatten() {
        let Some(column) = report.columns.iter().find(|column| column.name == *name) else {
            compare("column", format!("{:?}", names(report)), name.clone());
            continue;
        };
        let found = serde_json::to_value(column).unwrap();
        for (member, expected) in expected {
            let found = found.get(member).unwrap_or(&Value::Null);
            compare(&format!("{name}.{member}"), found.to_string(), expected.to_string());
        }
    }
}

fn compare_statements(case: &Case, report: &TableReport, compare: &mut Compare<'_>) {
    for note in case.notes.iter().flatten() {
        if !report.notes.iter().any(|text| text.contains(note.as_str())) {
            compare("notes", format!("{:?}", report.notes), note.clone());
        }
    }
    for (column, expected) in case.total.iter().flatten() {
        let mut checks = report.file_total.iter().flat_map(|total| &total.columns);
        let found = checks.rfind(|check| check.column == *column);
        let found = found.map(|check| (check.stated.clone(), check.computed.clone(), check.agrees));
        compare("total", format!("{found:?}"), format!("{:?}", Some(expected)));
    }
    if let Some(expected) = &case.days {
        let found =
            report.days.map(|days| (days.first.to_string(), days.last.to_string(), days.days));
        compare("days", format!("{found:?}"), format!("{:?}", Some(expected)));
    }
    if let Some(expected) = &case.range {
        let range = report.stated_range;
        let found = range.map(|range| (range.first.to_string(), range.last.to_string()));
        compare("range", format!("{found:?}"), format!("{:?}", Some(expected)));
    }
    if let Some(expected) = &case.account {
        compare("account", format!("{:?}", report.stated_account), format!("{:?}", Some(expected)));
    }
    for (column, expected) in case.samples.iter().flatten() {
        let found = report.columns.iter().find(|found| found.name == *column);
        let found = found.and_then(|found| found.samples.first());
        compare("sample", format!("{found:?}"), format!("{:?}", Some(expected)));
    }
}

fn adds_up(column: &FoundColumn) -> bool {
    column.usage == ColumnUse::Sum && !column.is_added
}

fn sum_of(rows: &[Vec<String>], at: usize) -> f64 {
    rows.iter().map(|row| row[at].parse::<f64>().unwrap_or(0.0)).sum::<f64>() + 0.0
}

fn sums_of(report: &TableReport, column: &str) -> BTreeMap<String, String> {
    let sums = report.sums.iter().filter(|sum| sum.column == column);
    sums.map(|sum| (sum.currency.clone().unwrap_or_default(), sum.sum.clone())).collect()
}

fn names(report: &TableReport) -> Vec<&str> {
    report.columns.iter().map(|column| column.name.as_str()).collect()
}

//! Writes random tables in any convention: the rows that are read equal the rows that were written,
//! or a question or a rejection gives the reason. In random bytes, each record is accounted for.

use contract::sources::ImportDecisions;
use proptest::{collection::vec, prelude::*};

use crate::support::{check_law, decimal, file_of, inspect_bytes, inspect_file, read_rows};

#[derive(Clone, Debug)]
struct Row {
    day: i64,
    name: String,
    clicks: u32,
    cost: i64,
}

#[derive(Clone, Copy, Debug)]
struct Convention {
    separator: char,
    decimal: char,
    thousands: Option<char>,
    day: &'static str,
    quotes_all: bool,
    newline: &'static str,
    encoding: usize,
    title: bool,
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let row =
        (0_i64..800, "Q[A-Za-zÀ-žЖ ,;|\"'\t\n]{0,12}", 0_u32..3_000_000, -900_000_i64..900_000_000);
    let row = row.prop_map(|(day, name, clicks, cost)| Row { day, name, clicks, cost });
    vec(row, 1..40)
}

fn conventions() -> impl Strategy<Value = Convention> {
    let days =
        ["%Y-%m-%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%b %-d, %Y", "%-d %B %Y", "%Y%m%d"];
    (
        prop::sample::select(vec![',', ';', '\t', '|']),
        any::<bool>(),
        prop::sample::select(vec![0, 1, 2, 3]),
        prop::sample::select(days.to_vec()),
        any::<bool>(),
        any::<bool>(),
        0_usize..4,
        any::<bool>(),
    )
        .prop_map(|(separator, comma, thousands, day, quotes_all, crlf, encoding, title)| {
            let (decimal, other) = if comma { (',', '.') } else { ('.', ',') };
            let thousands = [None, Some(other), Some(' '), Some('\'')][thousands];
            let newline = if crlf { "\r\n" } else { "\n" };
            Convention { separator, decimal, thousands, day, quotes_all, newline, encoding, title }
        })
}

impl Convention {
    fn number(self, mantissa: i64, scale: u8) -> String {
        let plain = decimal(i128::from(mantissa), scale);
        let (whole, fraction) = plain.split_once('.').unwrap_or((&plain, ""));
        let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
        let mut grouped = String::new();
        for (at, digit) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at) % 3 == 0 {
                grouped.extend(self.thousands);
            }
            grouped.push(digit);
        }
        let point = if fraction.is_empty() { String::new() } else { self.decimal.to_string() };
        format!("{sign}{grouped}{point}{fraction}")
    }

    fn cell(self, text: &str) -> String {
        let needs = text.contains([self.separator, '"', '\n', '\r']);
        if needs || self.quotes_all {
            format!("\"{}\"", text.replace('"', "\"\""))
        } else {
            text.to_owned()
        }
    }

    fn day(self, day: i64) -> String {
        day_of(day).format(self.day).to_string()
    }

    fn write(self, rows: &[Row]) -> Vec<u8> {
        let mut text = String::new();
        if self.title {
            text.push_str(&format!("Report of Acme{}", self.newline));
        }
        let headings = ["Day", "Campaign", "Clicks", "Cost"].map(|heading| self.cell(heading));
        text.push_str(&headings.join(&self.separator.to_string()));
        for row in rows {
            let cells = [
                self.day(row.day),
                row.name.clone(),
                self.number(i64::from(row.clicks), 0),
                self.number(row.cost, 2),
            ];
            text.push_str(self.newline);
            text.push_str(&cells.map(|cell| self.cell(&cell)).join(&self.separator.to_string()));
        }
        match self.encoding {
            0 => text.into_bytes(),
            1 => format!("\u{feff}{text}").into_bytes(),
            2 => format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect(),
            _ => format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_be_bytes).collect(),
        }
    }
}

fn day_of(day: i64) -> chrono::NaiveDate {
    chrono::NaiveDate::from_ymd_opt(2025, 1, 1).unwrap() + chrono::TimeDelta::days(day)
}

/// Decisions that leave only the questions about formats open.
fn decisions() -> ImportDecisions {
    let answers = [
        ("duplicate_rows", "keep"),
        ("total_rows", "keep"),
        ("period_rows", "keep"),
        ("file_total", "store"),
    ];
    ImportDecisions {
        answers: answers.map(|(id, answer)| (id.to_owned(), answer.to_owned())).into(),
        ..ImportDecisions::default()
    }
}

fn expected(row: &Row) -> [String; 4] {
    [
        day_of(row.day).to_string(),
        row.name.trim().to_owned(),
        row.clicks.to_string(),
        decimal(i128::from(row.cost), 2),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rows_that_are_read_equal_rows_that_were_written_unless_asked_or_rejected(
        rows in rows(), convention in conventions()
    ) {
        let file = file_of(&convention.write(&rows));
        let inspected = inspect_file(&file, &decisions()).unwrap();
        let report = inspected.report();
        check_law(report);
        let asked: Vec<&str> = report.questions.iter().map(|question| question.id.as_str()).collect();
        if !asked.is_empty() {
            for id in &asked {
                let may = match *id {
                    "date_order" => convention.day.contains('/'),
                    "decimal" => convention.thousands.is_some(),
                    _ => false,
                };
                prop_assert!(may, "{asked:?} of {convention:?}");
            }
            return Ok(());
        }
        let read = read_rows(&inspected, &file).unwrap();
        let rejected: u64 = report.rejected.iter().map(|rejected| rejected.count).sum();
        if rejected == 0 {
            prop_assert_eq!(read.len(), rows.len());
        } else {
            prop_assert!(report.rejected.iter().all(|rejected| rejected.cause == "quote"), "{:?}", report.rejected);
        }
        let mut written = rows.iter().map(expected);
        for row in &read {
            prop_assert!(
                written.any(|expected| same(row, &expected)),
                "{row:?} was not written in this order: {convention:?}"
            );
        }
    }

    #[test]
    fn each_record_of_random_bytes_is_accounted_for(
        bytes in vec(prop::sample::select(b"a1.,;\"\n\r\t -Total2026/$%\xC3\xA9\x00".to_vec()), 0..400)
    ) {
        if let Ok(inspected) = inspect_bytes(&bytes, &ImportDecisions::default()) {
            check_law(inspected.report());
        }
    }
}

/// Whether two rows are equal. An amount in a column of whole numbers has no decimals.
fn same(read: &[String], expected: &[String; 4]) -> bool {
    let cost = expected[3].trim_end_matches(".00");
    read[..3] == expected[..3] && (read[3] == expected[3] || read[3] == cost)
}

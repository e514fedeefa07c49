//! Reads all lines of a file without storing them: counts them, groups the rejected ones by cause,
//! and keeps the first rows as they would be stored.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::{AtomicBool, Ordering},
};

use contract::{AgentError, FileCheck, ImportProblem};
use tabular::{Causes, FieldSource, NumberFormat, StringRecord, Survey, thousands_sign};

use super::{
    Errors,
    cells::{CampaignColumns, CampaignRow, DeliveryRow},
    file::ROWS_PER_TICK,
    lines::{Line, Lines},
    table::problem,
};
use crate::{money::MICROS, time};

/// The most rows that are shown.
const SHOWN: usize = 5;
/// The most currencies that are listed.
const CURRENCIES: usize = 5;

/// The source and the format of the amounts, to find the separator between thousands.
pub(super) struct Amounts<'m> {
    pub(super) source: FieldSource<'m>,
    pub(super) format: NumberFormat,
}

/// The findings in the lines that were read so far.
#[derive(Default)]
struct Found {
    check: FileCheck,
    causes: Causes,
    currencies: BTreeSet<String>,
}

/// Reads all lines. Fails if `stop` is set.
pub(super) fn check(
    survey: &Survey<'_>,
    lines: &mut Lines<'_>,
    amounts: Option<&Amounts<'_>>,
    stop: &AtomicBool,
) -> Result<FileCheck, AgentError> {
    let mut found = Found::default();
    let mut read = 0_u64;
    let mut rows = match survey.rows() {
        Ok(rows) => rows,
        Err(error) => {
            found.causes.add(0, "", &problem(error));
            return Ok(found.finish());
        }
    };
    loop {
        match rows.next_row() {
            Ok(None) => break,
            Ok(Some((_, record))) if record.iter().all(str::is_empty) => continue,
            Ok(Some((line, record))) => {
                read += 1;
                found.check_line(lines, record, line);
                found.find_thousands(record, amounts);
            }
            Err(error) => {
                found.causes.add(0, "", &problem(error));
                break;
            }
        }
        if read.is_multiple_of(ROWS_PER_TICK) && stop.load(Ordering::Relaxed) {
            return Err(AgentError::invalid("Looking at the file was stopped.").reason("stopped"));
        }
    }
    if read == 0 && found.causes.lines() == 0 {
        found.causes.add(survey.header_line, "", &ImportProblem::NoRows);
    }
    Ok(found.finish())
}

impl Found {
    fn check_line(&mut self, lines: &mut Lines<'_>, record: &StringRecord, line: u64) {
        let mut errors = Errors::default();
        match lines.read(record, "", line, &mut errors) {
            Line::Total => self.check.totals += 1,
            Line::Rejected => {}
            Line::Delivery(row) => self.accept(&row.columns, || delivery_texts(&row)),
            Line::Campaign(row) => self.accept(&row.columns, || campaign_texts(&row)),
        }
        for error in errors.list {
            self.causes.add(line, &error.column, &error.problem);
        }
    }

    fn accept(
        &mut self,
        columns: &CampaignColumns<'_>,
        texts: impl FnOnce() -> BTreeMap<String, String>,
    ) {
        self.check.accepted += 1;
        if self.check.rows.len() < SHOWN {
            self.check.rows.push(texts());
        }
        let has_room = self.currencies.len() < CURRENCIES;
        if has_room && !columns.currency.is_empty() && !self.currencies.contains(columns.currency) {
            self.currencies.insert(columns.currency.to_owned());
        }
    }

    fn find_thousands(&mut self, record: &StringRecord, amounts: Option<&Amounts<'_>>) {
        if let (None, Some(amounts)) = (&self.check.thousands, amounts) {
            let sign = thousands_sign(amounts.source.text(record), amounts.format);
            self.check.thousands = sign.map(String::from);
        }
    }

    fn finish(mut self) -> FileCheck {
        self.check.rejected = self.causes.lines();
        self.check.causes = self.causes.into_list();
        self.check.currencies = self.currencies.into_iter().collect();
        self.check
    }
}

fn delivery_texts(row: &DeliveryRow<'_>) -> BTreeMap<String, String> {
    let mut texts = column_texts(&row.columns);
    let day = time::day_from_number(row.day).map(|day| day.to_string()).unwrap_or_default();
    put(&mut texts, "day", &day);
    put(&mut texts, "spend", &amount_text(row.spend));
    put(&mut texts, "impressions", &row.impressions.to_string());
    if row.hour >= 0 {
        put(&mut texts, "hour", &row.hour.to_string());
    }
    if row.line_item != row.columns.campaign {
        put(&mut texts, "line_item", row.line_item_name);
    }
    texts
}

fn campaign_texts(row: &CampaignRow<'_>) -> BTreeMap<String, String> {
    let mut texts = column_texts(&row.columns);
    if let Some(budget) = row.budget {
        put(&mut texts, "budget", &amount_text(budget));
    }
    if let Some((start, end)) = row.flight {
        let day =
            |number| time::day_from_number(number).map(|day| day.to_string()).unwrap_or_default();
        put(&mut texts, "flight_start", &day(start));
        put(&mut texts, "flight_end", &day(end));
    }
    texts
}

fn column_texts(columns: &CampaignColumns<'_>) -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    let name = |name: &str, id: &str| if name.is_empty() { id.to_owned() } else { name.to_owned() };
    put(&mut texts, "account", &name(columns.account_name, columns.account));
    put(&mut texts, "campaign", &name(columns.campaign_name, columns.campaign));
    put(&mut texts, "advertiser", columns.advertiser);
    put(&mut texts, "currency", columns.currency);
    texts
}

fn put(texts: &mut BTreeMap<String, String>, field: &str, text: &str) {
    if !text.is_empty() {
        texts.insert(field.to_owned(), text.to_owned());
    }
}

/// Writes an amount with two decimals, or with more if the amount has more.
pub(super) fn amount_text(micros: i64) -> String {
    let text = format!("{}.{:06}", micros / MICROS, micros % MICROS);
    let kept = text.trim_end_matches('0');
    let point = text.len() - 7;
    let end = kept.len().max(point + 3);
    text[..end].to_owned()
}

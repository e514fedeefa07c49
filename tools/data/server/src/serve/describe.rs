//! `data.describe`: the columns of a source with their most frequent values.

use contract::sources::{AskDescribe, ColumnKind, DaySpan, Described};

use super::Asker;
use crate::{DataError, link::Link, parts, sql::identifier, stop::Stop};

/// The first rows, from which frequent values are taken.
const SAMPLED_ROWS: u32 = 1_000_000;
/// The longest sample in characters.
const LONGEST_SAMPLE: usize = 200;

impl Asker {
    /// Describes a source.
    pub fn describe(&self, ask: &AskDescribe, stop: &Stop) -> Result<Described, DataError> {
        let sources = std::slice::from_ref(&ask.source);
        let (mut link, _) = self.connect(sources)?;
        let name = identifier(ask.source.name.as_str());
        let rows = link.row(&format!("SELECT count(*) FROM {name}"), stop)?;
        let mut described = Described {
            rows: number(rows.first()),
            columns: match &ask.source.place {
                contract::sources::AskedPlace::Parts { parts, .. }
                    if ask.source.columns.is_empty() =>
                {
                    parts::union_of(parts)
                }
                _ => ask.source.columns.clone(),
            },
            ..Described::default()
        };
        for column in &described.columns {
            let cell = identifier(&column.name);
            let samples = samples(&mut link, &name, &cell, column.kind, ask.samples, stop)?;
            described.samples.insert(column.name.clone(), samples);
        }
        described.days = days(&mut link, &name, ask, &described, stop)?;
        Ok(described)
    }
}

fn number(cell: Option<&Option<String>>) -> u64 {
    cell.and_then(Option::as_ref).and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn samples(
    link: &mut Link,
    table: &str,
    cell: &str,
    kind: ColumnKind,
    most: u32,
    stop: &Stop,
) -> Result<Vec<String>, DataError> {
    // The least and the greatest number say more than frequent ones.
    if matches!(kind, ColumnKind::Decimal) {
        let query = format!(
            "SELECT CAST(min({cell}) AS VARCHAR), CAST(max({cell}) AS VARCHAR) FROM {table}"
        );
        let mut found: Vec<String> = link.row(&query, stop)?.into_iter().flatten().collect();
        found.dedup();
        found.truncate(most as usize);
        return Ok(found);
    }
    let query = format!(
        "SELECT CAST(c AS VARCHAR) AS v, count(*) AS n FROM (SELECT {cell} AS c FROM {table} LIMIT {SAMPLED_ROWS}) \
         WHERE c IS NOT NULL GROUP BY 1 ORDER BY n DESC, v LIMIT {most}"
    );
    let table = crate::kept::Table::collect(link.ask(&query, stop)?, u64::from(most))?;
    let page = table.page(0, u64::from(most), u64::MAX)?;
    let texts = page.rows.iter().filter_map(|row| row.first()?.as_str());
    Ok(texts.map(|text| text.chars().take(LONGEST_SAMPLE).collect()).collect())
}

/// Returns the days of the time column that the definitions name, or else of the first column with
/// days.
fn days(
    link: &mut Link,
    table: &str,
    ask: &AskDescribe,
    described: &Described,
    stop: &Stop,
) -> Result<Option<DaySpan>, DataError> {
    let defined = ask.source.definitions.as_ref().and_then(|known| known.time.as_ref());
    let is_time = |kind: ColumnKind| matches!(kind, ColumnKind::Day | ColumnKind::Moment);
    let column = described.columns.iter().find(|column| match defined {
        Some(time) => column.name == time.column && is_time(column.kind),
        None => is_time(column.kind),
    });
    let Some(column) = column else { return Ok(None) };
    let day = format!("CAST({} AS DATE)", identifier(&column.name));
    let query = format!(
        "SELECT CAST(min({day}) AS VARCHAR), CAST(max({day}) AS VARCHAR), count(DISTINCT {day}) FROM {table}"
    );
    let row = link.row(&query, stop)?;
    let day = |at: usize| row.get(at)?.as_ref()?.parse().ok();
    Ok(match (day(0), day(1)) {
        (Some(first), Some(last)) => Some(DaySpan { first, last, days: number(row.get(2)) }),
        _ => None,
    })
}

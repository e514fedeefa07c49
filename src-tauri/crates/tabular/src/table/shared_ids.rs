//! Finds ids that have several names on one day. Such an id stands for several things: one thing that
//! is renamed has one name on each day. This module makes no decisions.

use std::collections::HashMap;

use chrono::NaiveDate;

use super::{
    cells::value,
    column::{Reading, Value},
    control::TableControl,
    fault::TableError,
    plan::Plan,
    records::Records,
    rows::{Outcome, RowReader},
    words,
};

/// The maximum number of rows of a table that is searched: the search reads all rows once more.
const MAX_ROWS: u64 = 2_000_000;

/// An id that has two names on one day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SharedId {
    pub(crate) id: String,
    pub(crate) day: NaiveDate,
    pub(crate) first: String,
    pub(crate) second: String,
    /// The line of the second name.
    pub(crate) line: u64,
}

/// A column of ids and the column with the names of the same things.
struct Pair {
    id: usize,
    name: usize,
    /// The name of each id on each day.
    names: HashMap<(u32, NaiveDate), u32>,
    found: Option<SharedId>,
}

/// The texts of the cells, by their numbers.
#[derive(Default)]
struct Texts {
    numbers: HashMap<String, u32>,
    texts: Vec<String>,
}

impl Texts {
    fn number_of(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        self.numbers.insert(text.to_owned(), number);
        self.texts.push(text.to_owned());
        number
    }
}

/// Whether the table has ids beside names, and is short enough for the search.
pub(crate) fn can_have(plan: &Plan, stored: u64) -> bool {
    plan.time.is_some() && stored <= MAX_ROWS && !find_pairs(plan).is_empty()
}

/// Returns the first such id of each column of ids, with the column.
pub(crate) fn find(
    records: &mut dyn Records,
    plan: &Plan,
    control: &TableControl<'_>,
) -> Result<Vec<(usize, SharedId)>, TableError> {
    let Some(time) = plan.time else { return Ok(Vec::new()) };
    let mut pairs = find_pairs(plan);
    let mut texts = Texts::default();
    let mut reader = RowReader::new(plan);
    for _ in 0..plan.header.records {
        records.next()?;
    }
    let mut count = 0_u64;
    while let Some(record) = records.next()? {
        count += 1;
        if count.is_multiple_of(16_384) {
            control.check()?;
        }
        if reader.read(&record) != Outcome::Stored {
            continue;
        }
        let Value::Moment(_, moment) = reader.values[time] else { continue };
        for pair in pairs.iter_mut().filter(|pair| pair.found.is_none()) {
            let (id, name) = (reader.cell(&record, pair.id), reader.cell(&record, pair.name));
            if !value::is_blank(id) && !value::is_blank(name) {
                let texts_of_row = (value::text(id), value::text(name));
                pair.see(texts_of_row, moment.date(), record.line, &mut texts);
            }
        }
    }
    Ok(pairs.into_iter().filter_map(|pair| Some((pair.id, pair.found?))).collect())
}

impl Pair {
    fn see(&mut self, (id, name): (&str, &str), day: NaiveDate, line: u64, texts: &mut Texts) {
        let (id_number, name_number) = (texts.number_of(id), texts.number_of(name));
        let known = *self.names.entry((id_number, day)).or_insert(name_number);
        if known != name_number {
            self.found = Some(SharedId {
                id: value::shorten(id.as_bytes()),
                day,
                first: value::shorten(texts.texts[known as usize].as_bytes()),
                second: value::shorten(name.as_bytes()),
                line,
            });
        }
    }
}

fn find_pairs(plan: &Plan) -> Vec<Pair> {
    let texts = || {
        let columns = plan.columns.iter().enumerate();
        columns.filter(|(_, column)| column.reading == Reading::Text)
    };
    let ids = texts()
        .filter(|(_, column)| column.choice.usage.is_none() && words::is_id(&column.heading));
    ids.filter_map(|(id, column)| {
        let thing = words::advertised_thing(&column.heading)?;
        let (name, _) = texts().find(|(_, other)| {
            !words::is_id(&other.heading) && words::advertised_thing(&other.heading) == Some(thing)
        })?;
        Some(Pair { id, name, names: HashMap::new(), found: None })
    })
    .collect()
}

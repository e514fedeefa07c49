//! Puts answers for models into their form: at most so many bytes, with a line about what was left
//! out, and the place where the next page begins. It must not know where answers come from.

use std::collections::BTreeMap;

use contract::{
    Text,
    metric_query::{DataColumn, DataResult},
    result::{ChartKind, ColumnRole},
    text,
};
use serde_json::{Map, Value, json};

/// The most bytes of an answer as JSON text.
pub(super) const MOST: usize = 64_000;
/// The bytes that notes and marks may take besides the rows.
const ROOM: usize = 1_000;
/// The longest SQL of an answer in bytes.
const LONGEST_SQL: usize = 20_000;
/// The longest words of a question in bytes.
const LONGEST_WORDS: usize = 8_000;
/// The lengths to which long texts are shortened, in characters, until an answer fits.
const TEXTS: [usize; 4] = [4_000, 1_000, 200, 40];
/// The most bytes of a page of a list. A model gets a longer answer cut in the middle.
const PAGE: usize = 12_000;
/// The most definitions that a search finds, and the most values of a dimension.
const FOUND: usize = 20;

/// Returns how many rows of a result fit into an answer.
pub(super) fn rows_that_fit(told: &Value) -> usize {
    let Some(rows) = told["rows"].as_array() else { return 0 };
    let sizes: Vec<usize> = rows.iter().map(|row| size_of(row) + 1).collect();
    let fixed = size_of(told) - sizes.iter().sum::<usize>().min(size_of(told));
    let mut room = MOST.saturating_sub(fixed + ROOM);
    let fits = |size: &&usize| {
        let fits = **size <= room;
        room = room.saturating_sub(**size);
        fits
    };
    sizes.iter().take_while(fits).count()
}

/// Writes a result as an answer for a model. `first` is the number of rows before it.
pub(super) fn tell_result(result: &DataResult, first: u64) -> Value {
    let mut told = json!(result);
    // Long lists of values in words would leave no room for rows. The query itself stays.
    if let Some(asked) = told.get_mut("asked").and_then(Value::as_object_mut)
        && let Some(count) = asked.get("parts").map(size_of).filter(|size| *size > LONGEST_WORDS)
    {
        asked.remove("parts");
        add_note(
            &mut told,
            text!("The question in words has {count} bytes and is left out.", count),
        );
    }
    if result.sql.len() > LONGEST_SQL {
        told["sql"] = Value::String(String::new());
        add_note(
            &mut told,
            text!("The SQL has {count} bytes and is left out.", count = result.sql.len()),
        );
    }
    if result.more.is_some() {
        let last = first + u64::try_from(result.rows.len()).unwrap_or_default();
        add_note(
            &mut told,
            text!(
                "These are rows {first} to {last} of {count}. The same call with `more` as cursor gives the next ones.",
                first = first + 1,
                last,
                count = result.row_count
            ),
        );
    }
    told
}

/// Shortens long texts of an answer until it fits. Returns whether it does.
pub(super) fn shorten(told: &mut Value) -> bool {
    if size_of(told) <= MOST {
        return true;
    }
    for most in TEXTS {
        let rows = told["rows"].as_array_mut().into_iter().flatten();
        for cell in rows.filter_map(Value::as_array_mut).flatten() {
            if let Value::String(text) = cell {
                *text = shorten_text(text, most);
            }
        }
        if size_of(told) + ROOM <= MOST {
            add_note(
                told,
                text!("Texts of more than {count} characters are shortened.", count = most),
            );
            // The shortened figures are not those of the question.
            if let Some(members) = told.as_object_mut() {
                members.remove("asked");
            }
            return true;
        }
    }
    false
}

fn shorten_text(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn add_note(told: &mut Value, note: Text) {
    match told["notes"].as_array_mut() {
        Some(notes) => notes.push(json!(note)),
        None => told["notes"] = json!([note]),
    }
}

/// Returns the length of a value as JSON text.
pub(super) fn size_of(value: &Value) -> usize {
    value.to_string().len()
}

/// An entry of an answer that lists things: the list, its name if the list is an object, and its value.
pub(super) struct Entry {
    list: &'static str,
    name: Option<String>,
    value: Value,
}

impl Entry {
    /// Makes an entry of a list.
    pub(super) fn new(list: &'static str, value: Value) -> Self {
        Self { list, name: None, value }
    }

    /// Makes a member of an object.
    pub(super) fn named(list: &'static str, name: &str, value: Value) -> Self {
        Self { list, name: Some(name.to_owned()), value }
    }

    fn put(self, told: &mut Map<String, Value>) {
        let Some(name) = self.name else {
            let list = told.entry(self.list).or_insert_with(|| json!([]));
            return list.as_array_mut().into_iter().for_each(|list| list.push(self.value.clone()));
        };
        let members = told.entry(self.list).or_insert_with(|| json!({}));
        if let Some(members) = members.as_object_mut() {
            members.insert(name, self.value);
        }
    }
}

/// Words that a model looks for in the description of a source.
pub(super) struct Search(Vec<String>);

impl Search {
    /// Reads the words. None: nothing is looked for.
    pub(super) fn read(text: Option<&str>) -> Option<Self> {
        let words = text?.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let words: Vec<String> = words.map(str::to_lowercase).collect();
        (!words.is_empty()).then_some(Self(words))
    }

    /// Returns how many of the words a text contains.
    fn count(&self, text: &str) -> usize {
        let text = text.to_lowercase();
        self.0.iter().filter(|word| text.contains(word.as_str())).count()
    }

    /// Returns the things whose texts contain a word, those with most words first, and how many more
    /// there are.
    fn best<T>(&self, all: Vec<T>, text: impl Fn(&T) -> String) -> (Vec<T>, usize) {
        let counted = all.into_iter().map(|one| (self.count(&text(&one)), one));
        let mut found: Vec<(usize, T)> = counted.filter(|(count, _)| *count > 0).collect();
        found.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        let more = found.len().saturating_sub(FOUND);
        (found.into_iter().take(FOUND).map(|(_, one)| one).collect(), more)
    }

    /// Returns the entries of definitions and columns that fit, and those of the values of dimensions.
    /// A note says how many others fit, or that nothing does.
    pub(super) fn find(
        &self,
        told: &mut Value,
        entries: Vec<Entry>,
        values: &BTreeMap<String, Vec<String>>,
    ) -> Vec<Entry> {
        let text = |entry: &Entry| {
            let member = |name: &str| entry.value[name].as_str().unwrap_or_default().to_owned();
            [member("name"), member("written")].join(" ")
        };
        let (mut found, mut more) = self.best(entries, text);
        for (dimension, values) in values {
            let text = |value: &&String| (*value).clone();
            let (values, left) = self.best(values.iter().collect(), text);
            more += left;
            if !values.is_empty() {
                found.push(Entry::named("values", dimension, json!(values)));
            }
        }
        if more > 0 {
            add_note(
                told,
                text!("{count} more fit and are left out. Use more exact words.", count = more),
            );
        } else if found.is_empty() {
            add_note(
                told,
                text!("Nothing fits the words. Without `search`, the whole source is described."),
            );
        }
        found
    }
}

/// Adds entries to an answer from a place on, until it is full. A page has at least one entry.
pub(super) fn list_entries(
    mut told: Map<String, Value>,
    entries: Vec<Entry>,
    from: usize,
) -> Value {
    let count = entries.len();
    let mut size = size_of(&Value::Object(told.clone())) + ROOM;
    let mut next = None;
    for (at, entry) in entries.into_iter().enumerate().skip(from) {
        size += size_of(&entry.value) + entry.name.as_ref().map_or(0, String::len) + 8;
        if size > PAGE && at > from {
            next = Some(at);
            break;
        }
        entry.put(&mut told);
    }
    let mut told = Value::Object(told);
    if let Some(next) = next {
        told["more"] = json!(next.to_string());
        add_note(
            &mut told,
            text!(
                "These are entries {first} to {last} of {count}. The same call with `more` as cursor gives the next ones.",
                first = from + 1,
                last = next,
                count
            ),
        );
    }
    told
}

/// Returns the place of the page that a cursor names.
pub(super) fn place_of(cursor: Option<&str>) -> usize {
    cursor.and_then(|cursor| cursor.parse().ok()).unwrap_or_default()
}

/// Returns a definition as it is written. A very long one is shortened.
pub(super) fn written(text: &str) -> String {
    shorten_text(text, TEXTS[0])
}

/// Describes the chart of a result: its kind, and which columns are drawn. None if a table or a single
/// figure says more.
pub(super) fn describe_chart(result: &DataResult, wanted: Option<ChartKind>) -> Option<Value> {
    let fitting = analytics::choose_chart(result)?;
    let of = |role: ColumnRole| {
        result.columns.iter().filter(move |column| column.role == role).map(|column| &column.name)
    };
    let has_time = of(ColumnRole::Time).next().is_some();
    let fits = |kind: &ChartKind| match kind {
        ChartKind::Lines => has_time,
        ChartKind::Bars => !has_time,
        ChartKind::Points => of(ColumnRole::Measure).nth(1).is_some(),
        ChartKind::Columns => true,
    };
    let kind = wanted.filter(fits).unwrap_or(fitting);
    let time = of(ColumnRole::Time).next();
    let dimension = of(ColumnRole::Dimension).next();
    let across = time.or(dimension)?;
    let mut chart = json!({ "kind": kind, "across": across, "figures": figures(&result.columns) });
    if let (Some(_), Some(dimension)) = (time, dimension) {
        chart["each"] = json!(dimension);
    }
    Some(chart)
}

fn figures(columns: &[DataColumn]) -> Vec<&String> {
    let measures = columns.iter().filter(|column| column.role == ColumnRole::Measure);
    measures.map(|column| &column.name).collect()
}

#[cfg(test)]
mod tests {
    use contract::metric_query::{AskedQuestion, DataType, PartKind, QueryPart};
    use contract::result::ValueFormat;

    use super::*;

    fn column(name: &str, role: ColumnRole) -> DataColumn {
        DataColumn::new(name, DataType::Text, role, ValueFormat::Text)
    }

    fn result(rows: Vec<Vec<Value>>) -> DataResult {
        DataResult {
            columns: vec![column("day", ColumnRole::Time), column("spend", ColumnRole::Measure)],
            row_count: 1_000,
            rows,
            ..DataResult::default()
        }
    }

    #[test]
    fn an_answer_has_as_many_rows_as_fit_and_says_where_it_goes_on() {
        let rows = vec![vec![json!("2026-11-01"), json!("x".repeat(190))]; 500];
        let whole = result(rows);
        let told = tell_result(&whole, 0);
        assert!(size_of(&told) > MOST);
        let fits = rows_that_fit(&told);
        let page =
            DataResult { rows: whole.rows[..fits].to_vec(), more: Some("k:1".to_owned()), ..whole };
        let told = tell_result(&page, 0);
        assert!((MOST - 2 * ROOM..=MOST).contains(&size_of(&told)), "{}", size_of(&told));
        assert!(told["notes"][0]["text"].as_str().unwrap().contains("of 1000"), "{told}");
    }

    #[test]
    fn a_question_with_very_many_words_is_left_out_in_words_alone_and_the_answer_says_so() {
        let of = |values: usize| {
            let part = QueryPart {
                kind: PartKind::Filter,
                at: "/where/0".to_owned(),
                text: format!("Device: {}", "Mobile, ".repeat(values)).into(),
            };
            let asked = AskedQuestion {
                query: Some(Box::default()),
                parts: vec![part],
                ..AskedQuestion::default()
            };
            tell_result(&DataResult { asked: Some(asked), ..result(Vec::new()) }, 0)
        };
        let short = of(10);
        assert_eq!(short["asked"]["parts"].as_array().unwrap().len(), 1);
        assert_eq!(short["notes"], json!([]));
        let long = of(2_000);
        assert_eq!(long["asked"].get("parts"), None);
        assert!(long["asked"].get("query").is_some(), "the query itself stays: {long}");
        let [note] = long["notes"].as_array().unwrap().as_slice() else { panic!("{long}") };
        let words = note["text"].as_str().unwrap();
        assert!(words.starts_with("The question in words has 16"), "{words}");
    }

    #[test]
    fn texts_of_a_row_that_is_too_large_are_shortened_and_the_answer_says_so() {
        let asked = Some(AskedQuestion::default());
        let long = DataResult { asked, ..result(vec![vec![json!("é".repeat(500_000))]]) };
        let mut told = tell_result(&long, 0);
        assert_eq!(told["asked"], json!({}));
        assert_eq!(rows_that_fit(&told), 0);
        assert!(shorten(&mut told));
        assert!(size_of(&told) <= MOST);
        assert!(told["rows"][0][0].as_str().unwrap().ends_with('…'));
        assert!(told["notes"][0]["text"].as_str().unwrap().contains("4000"), "{told}");
        assert_eq!(told.get("asked"), None);
    }

    #[test]
    fn lists_are_told_in_pages_without_a_gap() {
        let entries =
            || (0..900).map(|n| Entry::new("all", json!({"n": n, "text": "x".repeat(300)})));
        let (mut seen, mut from) = (Vec::new(), 0);
        loop {
            let told = list_entries(Map::new(), entries().collect(), from);
            assert!(size_of(&told) <= MOST);
            seen.extend(
                told["all"].as_array().unwrap().iter().map(|one| one["n"].as_u64().unwrap()),
            );
            match told["more"].as_str() {
                Some(more) => from = place_of(Some(more)),
                None => break,
            }
        }
        assert_eq!(seen, (0..900).collect::<Vec<u64>>());
    }

    #[test]
    fn a_search_finds_definitions_and_values_by_words_and_says_what_it_leaves_out() {
        let named = |name: &str, written: &str| {
            Entry::new("measures", json!({"name": name, "written": written}))
        };
        let find = |words: &str| {
            let mut entries = vec![
                named("spend", "sum: Cost, synonyms: {sv: [kostnad]}"),
                named("clicks", "sum: Clicks"),
            ];
            entries.extend((0..30).map(|at| named(&format!("cost_{at}"), "sum: Other")));
            let cities = vec!["Northam".to_owned(), "Eastwick".to_owned()];
            let values = BTreeMap::from([("city".to_owned(), cities)]);
            let mut told = json!({"notes": []});
            let found = Search::read(Some(words)).unwrap().find(&mut told, entries, &values);
            list_entries(told.as_object().unwrap().clone(), found, 0)
        };
        assert_eq!(find("KOSTNAD")["measures"][0]["name"], "spend");
        let both = find("cost spend");
        assert_eq!(both["measures"][0]["name"], "spend", "it has both words");
        assert_eq!(both["measures"].as_array().unwrap().len(), FOUND);
        let note = both["notes"][0]["text"].as_str().unwrap();
        assert!(note.starts_with("11 more"), "{note}");
        let city = find("northam");
        assert_eq!((&city["values"], city.get("measures")), (&json!({"city": ["Northam"]}), None));
        assert!(find("weather")["notes"][0].as_str().unwrap().starts_with("Nothing fits"));
        assert!(Search::read(Some(" - ")).is_none());
    }

    #[test]
    fn lines_are_drawn_over_time_only() {
        let row = |day: u32| vec![json!(format!("2026-11-{day:02}")), json!(1)];
        let rows: Vec<Vec<Value>> = (1..=8).map(row).collect();
        let over_time = result(rows.clone());
        let chart = describe_chart(&over_time, None).unwrap();
        assert_eq!(chart, json!({"kind": "lines", "across": "day", "figures": ["spend"]}));
        let mut by_name = result(rows);
        by_name.columns[0].role = ColumnRole::Dimension;
        let chart = describe_chart(&by_name, Some(ChartKind::Lines)).unwrap();
        assert_eq!(chart["kind"], "bars");
        let chart = describe_chart(&by_name, Some(ChartKind::Points)).unwrap();
        assert_eq!(chart["kind"], "bars", "points need two measures");
        assert_eq!(describe_chart(&result(Vec::new()), Some(ChartKind::Columns)), None);
    }
}

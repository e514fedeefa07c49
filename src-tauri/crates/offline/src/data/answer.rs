//! Writes the answer of a question about a source: the figure, or yes or no, and one sentence about it.
//! The table or chart is drawn below from the result, and its chips say the query. It must not know
//! packs or conversations.

use analytics::SourceModel;
use contract::{
    metric_query::{ComparedFigure, Condition, DataResult, Scalar, Test},
    result::{ColumnRole, ValueFormat},
};
use questions::{Form, Reading, View};
use serde_json::Value;

use super::figures::Cells;
use crate::{reply::Speaker, template::escape_markdown, texts::Text};

/// The most names of a list in a sentence.
const NAMED: usize = 3;

/// A result with the reading that it answers.
pub(super) struct Answer<'a> {
    pub(super) speaker: Speaker<'a>,
    pub(super) reading: &'a Reading,
    pub(super) result: &'a DataResult,
    /// Whether the question has a word such as "every".
    pub(super) asks_about_all: bool,
    /// The question in words, with its period and its filters.
    pub(super) question: &'a str,
    /// The source, which may name its values.
    pub(super) source: Option<&'a SourceModel>,
}

impl<'a> Answer<'a> {
    pub(super) fn cells(&self) -> Cells<'a> {
        let (query, source) = (&self.reading.query, self.source);
        Cells { query, result: self.result, lang: self.speaker.lang, source }
    }

    /// Returns the answer: its sentences, and the notes of the result.
    pub(super) fn text(&self) -> String {
        let mut text = self.sentences();
        if let Some(assumption) = self.assumption() {
            text.push(' ');
            text.push_str(&assumption);
        }
        if self.reading.view == Some(View::Csv) {
            text.push(' ');
            text.push_str(&self.speaker.say(Text::DataCsv));
        }
        let notes: Vec<String> = self.result.notes.iter().map(|note| self.note(note)).collect();
        if !notes.is_empty() {
            text.push_str(&format!("\n\n*{}*", notes.join(" ")));
        }
        text
    }

    /// Returns the sentence that says which budget or rate the figures assume.
    fn assumption(&self) -> Option<String> {
        if self.reading.query.what_if.is_empty() || self.result.rows.is_empty() {
            return None;
        }
        let parts = self.result.asked.iter().flat_map(|asked| &asked.parts);
        let own = parts.filter(|part| part.at.starts_with("/what_if"));
        let said: Vec<String> = own.map(|part| self.note(&part.text)).collect();
        let said = if said.is_empty() { escape_markdown(self.question) } else { said.join(", ") };
        Some(self.speaker.fill(Text::DataAssuming, &[("assumption", &said)]))
    }

    fn note(&self, note: &contract::Text) -> String {
        let lang = self.speaker.lang;
        escape_markdown(&note.translated(&|key| lang.sentence(key)))
    }

    fn sentences(&self) -> String {
        let cells = self.cells();
        if self.reading.query.rows && !self.result.rows.is_empty() {
            return self.row_count();
        }
        let has_figures =
            |row: &&Vec<Value>| cells.figures().iter().any(|at| cells.figure(row, *at).is_some());
        let Some(first) = self.result.rows.iter().find(has_figures) else { return self.nothing() };
        if self.reading.query.explain.is_some() {
            return self.explained(first);
        }
        if let Some(about) = self.about_state() {
            return about;
        }
        let is_single = cells.names().is_empty();
        let answer = if is_single { self.single() } else { self.listed(first) };
        let truth = match &self.reading.asked {
            Some(asked) => self.is_true(asked, first),
            // Rows that fit do not show that all do.
            None => (self.asks_for_yes() && !self.asks_about_all).then_some(true),
        };
        match truth {
            Some(true) => format!("**{}.** {answer}", self.speaker.say(Text::Yes)),
            Some(false) => format!("**{}.** {answer}", self.speaker.say(Text::No)),
            None => answer,
        }
    }

    /// Whether a condition on a figure holds in the only row of a result.
    fn is_true(&self, asked: &Condition, row: &[Value]) -> Option<bool> {
        let Condition::Is { name, test: Test::Bounds(bounds) } = asked else { return None };
        let cells = self.cells();
        let at = cells.column(name).filter(|_| self.result.rows.len() == 1)?;
        let figure = cells.number(row, at)?;
        let holds = |side: &Option<Scalar>, holds: fn(f64, f64) -> bool| match side {
            Some(Scalar::Number(limit)) => limit.as_f64().map(|limit| holds(figure, limit)),
            Some(Scalar::Null | Scalar::Flag(_) | Scalar::Text(_)) => None,
            None => Some(true),
        };
        let sides = [
            holds(&bounds.above, |figure, limit| figure > limit)?,
            holds(&bounds.from, |figure, limit| figure >= limit)?,
            holds(&bounds.below, |figure, limit| figure < limit)?,
            holds(&bounds.to, |figure, limit| figure <= limit)?,
        ];
        Some(sides.into_iter().all(|holds| holds))
    }

    fn row_count(&self) -> String {
        // The count of a result is that without the limit.
        let limit = self.reading.query.limit.map_or(u64::MAX, u64::from);
        Text::DataRows.count(self.speaker.lang, self.result.row_count.min(limit))
    }

    /// Whether rows mean yes: the question has a limit for a figure.
    fn asks_for_yes(&self) -> bool {
        self.reading.form == Form::YesNo && self.has_limit()
    }

    /// Whether only rows with some figures are listed.
    fn has_limit(&self) -> bool {
        let is_figure = |name: &str| {
            let at = self.cells().column(name);
            at.is_some_and(|at| self.result.columns[at].role == ColumnRole::Measure)
        };
        self.reading.query.conditions.iter().any(|condition| {
            matches!(condition, Condition::Is { name, test: Test::Bounds(_) } if is_figure(name))
        })
    }

    fn nothing(&self) -> String {
        let question = escape_markdown(self.question);
        let is_limited = self.has_limit();
        let text = if is_limited { Text::DataNoRow } else { Text::DataNoRows };
        let text = self.speaker.fill(text, &[("question", &question)]);
        if self.asks_for_yes() || self.lists_states() {
            format!("**{}.** {text}", self.speaker.say(Text::No))
        } else {
            text
        }
    }

    /// Returns the figures of a result without groups. Each currency has a row.
    fn single(&self) -> String {
        let cells = self.cells();
        let mut figures: Vec<String> = Vec::new();
        for at in cells.figures() {
            let amounts = self.result.rows.iter().filter_map(|row| cells.figure(row, at));
            let amounts: Vec<String> = amounts.map(|amount| format!("**{amount}**")).collect();
            if !amounts.is_empty() {
                figures.push(format!("{} {}", self.speaker.join(&amounts), cells.label(at)));
            }
        }
        let change = match self.result.rows.as_slice() {
            [row] => cells.figures().first().and_then(|at| self.change(row, *at)),
            _ => None,
        };
        let compared = self.compared_values(0).map(|value| format!(" ({value})"));
        let figures = format!("{}{}.", figures.join(", "), compared.unwrap_or_default());
        change.map_or(figures.clone(), |change| format!("{figures} {change}"))
    }

    /// Returns the value of a dimension that is compared with another one.
    fn compared_values(&self, place: usize) -> Option<String> {
        let compare = self.reading.query.compare.as_ref()?;
        let values = compare.values.values().next()?;
        values.get(place).map(|value| escape_markdown(&scalar_text(&serde_json::json!(value))))
    }

    /// Returns the sentence about a change.
    fn change(&self, row: &[Value], figure: usize) -> Option<String> {
        let cells = self.cells();
        let place = |wanted| cells.compared(figure, wanted);
        let before_at = place(ComparedFigure::Before)?;
        let change_at = place(ComparedFigure::Change)?;
        let mut before = cells.figure(row, before_at)?;
        if let Some(value) = self.compared_values(1) {
            before = format!("{before} ({value})");
        }
        let change = cells.number(row, change_at)?;
        let is_percent = self.result.columns[figure].format == ValueFormat::Percent;
        let growth = place(ComparedFigure::Growth).filter(|_| !is_percent);
        let growth = growth.and_then(|at| self.growth(row, at)).unwrap_or_default();
        let text = match change {
            change if change > 0.0 => Text::DataMore,
            change if change < 0.0 => Text::DataLess,
            _ => return Some(self.speaker.fill(Text::DataSame, &[("before", &before)])),
        };
        let change = cells.size(row, change_at)?;
        let values: [(&str, &str); 3] =
            [("change", &change), ("before", &before), ("growth", &growth)];
        Some(self.speaker.fill(text, &values))
    }

    /// Returns a growth in brackets, with its sign.
    fn growth(&self, row: &[Value], at: usize) -> Option<String> {
        let cells = self.cells();
        let part = cells.number(row, at)?;
        let sign = if part > 0.0 { "+" } else { "" };
        Some(format!(" ({sign}{})", cells.percent(part, false)))
    }

    /// Returns the sentence about rows with names.
    fn listed(&self, first: &[Value]) -> String {
        if self.result.rows.len() == 1 || self.is_ranked() {
            return self.named_row(first);
        }
        if self.has_limit() || self.reading.form == Form::HowMany {
            return self.counted();
        }
        self.first_of_units().unwrap_or_else(|| self.broken_down())
    }

    /// Returns the first row of each unit, if those are asked for: "which campaign fell most". Amounts of
    /// different currencies have no common order.
    fn first_of_units(&self) -> Option<String> {
        let (query, cells) = (&self.reading.query, self.cells());
        let figure = cells.figures().first().copied()?;
        let is_asked = self.reading.form == Form::Which && !cells.has_one_unit(figure);
        let order = query.order.first().filter(|_| is_asked)?;
        let at = cells.column(&order.by)?;
        if self.result.columns[at].role != ColumnRole::Measure {
            return None;
        }
        let mut firsts: Vec<(Option<String>, String)> = Vec::new();
        for row in &self.result.rows {
            let unit = cells.unit_of(row, figure);
            let is_new = firsts.iter().all(|(known, _)| *known != unit);
            if is_new && cells.number(row, at).is_some() {
                firsts.push((unit, self.named_row(row)));
            }
        }
        let firsts: Vec<String> = firsts.into_iter().map(|(_, first)| first).collect();
        (!firsts.is_empty()).then(|| firsts.join(" "))
    }

    /// Whether the first row is the first by a figure. Rows in the order of their names or currencies
    /// have no such row.
    fn is_ranked(&self) -> bool {
        let (query, cells) = (&self.reading.query, self.cells());
        if cells.figures().first().is_some_and(|at| !cells.has_one_unit(*at)) {
            return false;
        }
        let is_figure = |name: &str| {
            let at = cells.column(name);
            at.is_none_or(|at| self.result.columns[at].role == ColumnRole::Measure)
        };
        match query.order.first() {
            Some(order) => is_figure(&order.by),
            None => query.top.is_some(),
        }
    }

    /// Returns a row with its figures and its change.
    pub(super) fn named_row(&self, row: &[Value]) -> String {
        let cells = self.cells();
        let figures: Vec<String> = cells
            .figures()
            .into_iter()
            .filter_map(|at| Some(format!("{} {}", cells.figure(row, at)?, cells.label(at))))
            .collect();
        let change = cells.figures().first().and_then(|at| self.change(row, *at));
        let change = change.map(|change| format!(" {change}")).unwrap_or_default();
        format!("**{}**: {}.{change}", cells.name(row), figures.join(", "))
    }

    /// Returns the number of rows with the first names.
    pub(super) fn counted(&self) -> String {
        let cells = self.cells();
        let count = self.result.row_count.to_string();
        let mut names: Vec<String> =
            self.result.rows.iter().take(NAMED).map(|row| cells.name(row)).collect();
        if self.result.row_count > NAMED as u64 {
            names.push("…".to_owned());
        }
        format!("**{count}**: {}", names.join(", "))
    }

    /// Returns the sum of all groups, if there is one, and the group with the highest figure.
    fn broken_down(&self) -> String {
        let cells = self.cells();
        let Some(at) = cells.figures().first().copied() else { return String::new() };
        let rows = || self.result.rows.iter().filter(|row| cells.number(row, at).is_some());
        let greatest = rows().reduce(|best, row| {
            let is_more = cells.number(row, at) > cells.number(best, at);
            if is_more { row } else { best }
        });
        let is_known = self.is_whole() && cells.has_one_unit(at);
        let highest = greatest.filter(|_| is_known).and_then(|row| {
            let (name, figure) = (cells.name(row), cells.figure(row, at)?);
            let values: [(&str, &str); 2] = [("row", &name), ("figure", &figure)];
            Some(self.speaker.fill(Text::DataHighest, &values))
        });
        let sums: Vec<String> = self.sums(at).into_iter().map(|sum| format!("**{sum}**")).collect();
        let first = if sums.is_empty() {
            self.row_count()
        } else {
            let figure = format!("{} {}", self.speaker.join(&sums), cells.label(at));
            self.speaker.fill(Text::DataTotal, &[("figure", &figure)])
        };
        highest.map_or(first.clone(), |highest| format!("{first} {highest}"))
    }

    /// Whether the result has all rows.
    fn is_whole(&self) -> bool {
        self.result.more.is_none()
            && self.result.row_count == self.result.rows.len() as u64
            && self.reading.query.limit.is_none()
    }

    /// Returns the sum of a column for each of its units, if the result has all rows and their figures
    /// add up.
    fn sums(&self, at: usize) -> Vec<String> {
        let cells = self.cells();
        if !self.is_whole() || !self.result.columns[at].adds_up {
            return Vec::new();
        }
        let mut sums: Vec<(Option<String>, f64, &Vec<Value>)> = Vec::new();
        for row in &self.result.rows {
            let Some(amount) = cells.number(row, at) else { continue };
            let unit = cells.unit_of(row, at);
            match sums.iter_mut().find(|(known, ..)| *known == unit) {
                Some((_, sum, _)) => *sum += amount,
                None => sums.push((unit, amount, row)),
            }
        }
        sums.into_iter().map(|(_, sum, row)| cells.amount(sum, row, at)).collect()
    }

    /// Returns the group that explains most of a change.
    fn explained(&self, first: &[Value]) -> String {
        let cells = self.cells();
        let figure = cells.column("contribution").and_then(|at| cells.figure(first, at));
        let share = cells.column("share_of_change").and_then(|at| cells.number(first, at));
        let share = share.map(|share| cells.percent(share, false));
        let row = cells.column("value").and_then(|at| first.get(at)).map(scalar_text);
        let row = escape_markdown(&row.unwrap_or_else(|| "–".to_owned()));
        let figure = figure.unwrap_or_default();
        match share {
            Some(share) => {
                let values: [(&str, &str); 3] =
                    [("row", &row), ("figure", &figure), ("share", &share)];
                self.speaker.fill(Text::DataPartOfChange, &values)
            }
            None => format!("**{row}**: {figure}."),
        }
    }
}

/// Returns a value of the data as a text.
fn scalar_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "–".to_owned(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use contract::{
        metric_query::{DataColumn, DataType, read_metric_query},
        result::ColumnUnit,
    };
    use messages::Language;
    use serde_json::json;

    use super::*;
    use crate::book::Book;

    fn column(name: &str, format: ValueFormat) -> DataColumn {
        let is_name = format == ValueFormat::Text;
        let role = if is_name { ColumnRole::Dimension } else { ColumnRole::Measure };
        let mut column = DataColumn::new(name, DataType::Text, role, format);
        if format == ValueFormat::Money {
            column.unit = Some(ColumnUnit::Fixed("GBP".to_owned()));
            column.adds_up = true;
        }
        column
    }

    fn result(columns: Vec<DataColumn>, rows: Value) -> DataResult {
        let rows: Vec<Vec<Value>> = serde_json::from_value(rows).unwrap();
        DataResult { row_count: rows.len() as u64, columns, rows, ..DataResult::default() }
    }

    fn by_campaign() -> DataResult {
        let columns =
            vec![column("campaign", ValueFormat::Text), column("spend", ValueFormat::Money)];
        result(columns, json!([["Brand", 200], ["Easter", 500]]))
    }

    fn said(query: Value, form: Form, asks_about_all: bool, result: &DataResult) -> String {
        let reading = Reading {
            query: read_metric_query(&query).unwrap(),
            score: 0,
            spans: Vec::new(),
            corrections: Vec::new(),
            assumed: Vec::new(),
            view: None,
            form,
            asked: None,
        };
        let book = Book::new(Vec::new());
        let speaker = Speaker { book: &book, lang: Language::of_tag("en") };
        let question = "spend in May";
        let source = None;
        Answer { speaker, reading: &reading, result, asks_about_all, question, source }.text()
    }

    #[test]
    fn only_an_order_by_a_figure_makes_the_first_row_the_answer() {
        let sorted = |by: &str| {
            json!({"measures": ["spend"], "by": ["campaign"],
                "order": [{"by": by, "descending": by == "spend"}]})
        };
        let text = said(sorted("campaign"), Form::Figures, false, &by_campaign());
        assert_eq!(text, "**700\u{a0}GBP** spend in total. Highest: Easter, 500\u{a0}GBP.");
        let mut ranked = by_campaign();
        ranked.rows.reverse();
        let text = said(sorted("spend"), Form::Which, false, &ranked);
        assert_eq!(text, "**Easter**: 500\u{a0}GBP spend.");
    }

    #[test]
    fn a_part_of_the_rows_has_no_sum_and_no_highest_one() {
        let mut part = by_campaign();
        (part.row_count, part.more) = (900, Some("next".to_owned()));
        let query = json!({"measures": ["spend"], "by": ["campaign"]});
        assert_eq!(said(query, Form::Figures, false, &part), "**900** rows.");
    }

    #[test]
    fn several_currencies_are_summed_apart_and_no_rows_name_the_question() {
        let currency = column("currency", ValueFormat::Text);
        let mut spend = column("spend", ValueFormat::Money);
        spend.unit = Some(serde_json::from_value(json!({"at": "/2"})).unwrap());
        let columns = vec![column("campaign", ValueFormat::Text), spend, currency];
        let rows = json!([["Brand", 200, "GBP"], ["Easter", 500, "EUR"], ["Sale", 300, "GBP"]]);
        let query = json!({"measures": ["spend"], "by": ["campaign"]});
        let several = result(columns, rows);
        let text = said(query.clone(), Form::Figures, false, &several);
        assert_eq!(text, "**500\u{a0}GBP** and **500\u{a0}EUR** spend in total.");
        let none = result(several.columns, json!([]));
        let text = said(query, Form::Figures, false, &none);
        assert_eq!(text, "There are no rows for: spend in May.");
    }

    #[test]
    fn the_latest_day_is_a_figure() {
        let days = result(vec![column("last_day", ValueFormat::Day)], json!([["2026-10-05"]]));
        let text = said(json!({"measures": ["last_day"]}), Form::Figures, false, &days);
        assert!(text.starts_with("**") && text.contains("2026"), "{text}");
        assert!(text.ends_with("last day."), "{text}");
    }

    #[test]
    fn rows_that_fit_do_not_mean_that_all_fit() {
        let query = json!({"measures": ["spend"], "by": ["campaign"],
            "where": {"spend": {">": 100}}});
        let text = said(query.clone(), Form::YesNo, false, &by_campaign());
        assert!(text.starts_with("**Yes.** "), "{text}");
        let text = said(query, Form::YesNo, true, &by_campaign());
        assert!(text.starts_with("**2**: Brand, Easter"), "{text}");
    }
}

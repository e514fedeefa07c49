//! Answers to questions for yes or no about states: "is A behind", "anything overdue". It must not know which
//! states there are.

use contract::metric_query::{Condition, Test};
use serde_json::Value;

use super::answer::Answer;
use crate::{template::escape_markdown, texts::Text};

/// The most things of a state that are named.
const NAMED: usize = 3;

impl Answer<'_> {
    /// Returns the condition on a state whose truth is asked.
    pub(super) fn asked_state(&self) -> Option<(&Condition, &str, &Test)> {
        let asked = self.reading.asked.as_ref()?;
        match asked {
            Condition::Is { name, test: test @ (Test::OneOf(_) | Test::NoneOf(_)) } => {
                Some((asked, name, test))
            }
            Condition::Is { .. } | Condition::And(_) | Condition::Or(_) | Condition::Not(_) => None,
        }
    }

    /// Whether only rows in the state that is asked are listed, so that any row means yes.
    pub(super) fn lists_states(&self) -> bool {
        let asked = self.asked_state().map(|(asked, ..)| asked);
        asked.is_some_and(|asked| self.reading.query.conditions.contains(asked))
    }

    /// Returns the answer about a state: yes, no or partly, and the states that there are.
    pub(super) fn about_state(&self) -> Option<String> {
        let (_, name, test) = self.asked_state()?;
        if self.lists_states() {
            return Some(format!("**{}.** {}", self.speaker.say(Text::Yes), self.things()));
        }
        let at = self.cells().column(name)?;
        let states = self.result.rows.iter().filter_map(|row| Some((row, state_of(row, at)?)));
        let states: Vec<(&Vec<Value>, Value)> = states.collect();
        let holds = states.iter().filter(|(_, state)| is_in(state, test)).count();
        let truth = match holds {
            _ if states.is_empty() => return Some(self.speaker.say(Text::DataNoState)),
            0 => Text::No,
            all if all == states.len() => Text::Yes,
            _ if self.asks_about_all => Text::No,
            _ => Text::DataPartly,
        };
        let said = match states.as_slice() {
            [(row, _)] => self.named_row(row),
            _ => self.states(at),
        };
        Some(format!("**{}.** {said}", self.speaker.say(truth)))
    }

    /// Returns the rows of each state: their names, or else their figures.
    fn states(&self, at: usize) -> String {
        let cells = self.cells();
        let mut groups: Vec<(String, Vec<&Vec<Value>>)> = Vec::new();
        for row in self.result.rows.iter().filter(|row| state_of(row, at).is_some()) {
            let state = cells.value(row, at);
            match groups.iter_mut().find(|(known, _)| *known == state) {
                Some((_, rows)) => rows.push(row),
                None => groups.push((state, vec![row])),
            }
        }
        let others: Vec<usize> = cells.names().into_iter().filter(|name| *name != at).collect();
        let said = groups.iter().map(|(state, rows)| {
            let names = rows.iter().map(|row| match others.as_slice() {
                [] => self.first_figure(row),
                others => {
                    let parts = others.iter().map(|name| cells.value(row, *name));
                    escape_markdown(&parts.collect::<Vec<_>>().join(", "))
                }
            });
            let mut names: Vec<String> = names.collect();
            if names.len() > NAMED {
                names.truncate(NAMED);
                names.push("…".to_owned());
            }
            format!("**{}** ({}): {}", escape_markdown(state), rows.len(), names.join(", "))
        });
        format!("{}.", said.collect::<Vec<_>>().join("; "))
    }

    fn first_figure(&self, row: &[Value]) -> String {
        let cells = self.cells();
        let first = cells
            .figures()
            .into_iter()
            .find_map(|at| Some(format!("{} {}", cells.figure(row, at)?, cells.label(at))));
        first.unwrap_or_else(|| "–".to_owned())
    }

    /// Returns the listed things, or the only one with its figures.
    fn things(&self) -> String {
        match self.result.rows.as_slice() {
            [row] => self.named_row(row),
            _ => self.counted(),
        }
    }
}

/// Returns the state of a row. None: it was not judged.
fn state_of(row: &[Value], at: usize) -> Option<Value> {
    row.get(at).filter(|value| !value.is_null()).cloned()
}

/// Whether a state is one that a test names.
fn is_in(state: &Value, test: &Test) -> bool {
    let has = |values: &[contract::metric_query::Scalar]| {
        values.iter().any(|value| serde_json::json!(value) == *state)
    };
    match test {
        Test::OneOf(values) => has(values),
        Test::NoneOf(values) => !has(values),
        Test::Contains(_)
        | Test::NotContains(_)
        | Test::Starts(_)
        | Test::Ends(_)
        | Test::Bounds(_)
        | Test::Empty(_)
        | Test::In(_)
        | Test::NotIn(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use contract::{
        metric_query::{DataColumn, DataResult, DataType, read_metric_query},
        result::{ColumnRole, ValueFormat},
    };
    use messages::Language;
    use questions::{Form, Reading};
    use serde_json::{Value, json};

    use super::Answer;
    use crate::{book::Book, reply::Speaker};

    fn said(asked: Value, conditions: Value, rows: Value) -> String {
        let condition = |value: Value| {
            let query = json!({"measures": ["rows"], "where": [value]});
            read_metric_query(&query).unwrap().conditions.remove(0)
        };
        let query = json!({"measures": ["spend"], "by": ["account", "status"],
            "where": conditions});
        let reading = Reading {
            query: read_metric_query(&query).unwrap(),
            score: 0,
            spans: Vec::new(),
            corrections: Vec::new(),
            assumed: Vec::new(),
            view: None,
            form: Form::YesNo,
            asked: Some(condition(asked)),
        };
        let name = |name: &str| {
            DataColumn::new(name, DataType::Text, ColumnRole::Dimension, ValueFormat::Text)
        };
        let figure =
            DataColumn::new("spend", DataType::Text, ColumnRole::Measure, ValueFormat::Number);
        let columns = vec![name("account"), name("status"), figure];
        let rows: Vec<Vec<Value>> = serde_json::from_value(rows).unwrap();
        let row_count = rows.len() as u64;
        let result = DataResult { row_count, columns, rows, ..DataResult::default() };
        let book = Book::new(Vec::new());
        let speaker = Speaker { book: &book, lang: Language::of_tag("en") };
        let (reading, result) = (&reading, &result);
        let (question, source) = ("spend by account", None);
        Answer { speaker, reading, result, asks_about_all: false, question, source }.text()
    }

    #[test]
    fn a_question_about_a_state_is_answered_with_yes_or_no_and_the_state() {
        let behind = json!({"status": ["behind"]});
        let text = said(behind.clone(), json!([]), json!([["North", "behind", 5]]));
        assert!(text.starts_with("**Yes.** **North, behind**"), "{text}");
        let text = said(behind.clone(), json!([]), json!([["North", "ahead", 5]]));
        assert!(text.starts_with("**No.** **North, ahead**"), "{text}");
        let not = json!({"status": {"not": ["behind"]}});
        let text = said(not, json!([]), json!([["North", "ahead", 5]]));
        assert!(text.starts_with("**Yes.**"), "{text}");
        let both = json!([["North", "ahead", 5], ["South", "behind", 5]]);
        let text = said(behind, json!([]), both);
        assert!(
            text.starts_with("**Partly.** **ahead** (1): North; **behind** (1): South"),
            "{text}"
        );
    }

    #[test]
    fn rows_in_a_state_mean_yes_where_only_they_are_listed() {
        let behind = json!({"status": ["behind"]});
        let rows = json!([["North", "behind", 5], ["South", "behind", 5]]);
        let text = said(behind.clone(), json!([behind]), rows);
        assert!(text.starts_with("**Yes.** **2**"), "{text}");
        let text = said(behind.clone(), json!([behind]), json!([]));
        assert!(text.starts_with("**No.**"), "{text}");
        let text = said(behind, json!([]), json!([["North", null, 5]]));
        assert!(text.starts_with("No state"), "{text}");
    }
}

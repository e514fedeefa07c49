//! Formats results for the terminal as Markdown, which is formatted in the same way as answers. Says
//! with what figures were computed, and whether an answer already tells a result. Knows no pack.

use contract::{
    ResultView,
    definitions::DefinitionState,
    json_text,
    result::{ResultCell, read_content},
};
use render::{ResultStyle, cell_text, title_column, write_result};
use serde_json::Value;

use crate::visible::escape_invisible;

/// The style of `csign`, with the maximum number of rows that are printed.
const STYLE: ResultStyle<'_> = ResultStyle::english(50);

/// Returns a result as Markdown, or None if its tool declares no shape that can be shown without a
/// pack.
pub(crate) fn to_markdown(title: &str, view: &ResultView, data: &Value) -> Option<String> {
    write_result(title, view, data, &STYLE).map(|written| written.markdown)
}

/// Returns with what figures were computed, if a reader must know it before the figures: a query that
/// the model wrote, or definitions that nobody approved.
pub(crate) fn mark_of(view: &ResultView, data: &Value) -> Option<String> {
    let content = read_content(view, &json_text::members_of(data))?;
    match content.state? {
        DefinitionState::Approved => None,
        DefinitionState::Proposed => Some("Definitions that nobody approved yet".to_owned()),
        DefinitionState::WrittenByModel => {
            let query = content.query.unwrap_or_default();
            Some(format!("Query written by the model: {}", escape_invisible(&query)))
        }
    }
}

/// Whether a text, such as an answer with a list, already contains the names of all rows.
pub(crate) fn is_told_in(view: &ResultView, data: &Value, text: &str) -> bool {
    let Some(content) = read_content(view, &json_text::members_of(data)) else { return false };
    let Some(at) = title_column(&content.columns) else { return false };
    let names =
        |row: &Vec<ResultCell>| text.contains(&cell_text(&row[at], &content.columns[at], &STYLE));
    !content.rows.is_empty() && content.rows.iter().all(names)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn view(shape: &str) -> ResultView {
        serde_json::from_value(json!({"shape": shape, "rows": "/items", "columns": [
            {"field": "to", "label": {"en": "To", "sv": "Till"}},
            {"field": "cost", "role": "measure", "format": "money", "unit": "EUR"},
            {"field": "held", "label": {"en": "Held"}, "format": "flag"}
        ]}))
        .unwrap()
    }

    #[test]
    fn a_reader_is_told_first_that_the_model_wrote_the_query() {
        let view: ResultView = serde_json::from_value(
            json!({"shape": "table", "rows": "/rows", "columns": "/columns"}),
        )
        .unwrap();
        let column = json!({"name": "n", "type": "whole", "role": "measure", "format": "number"});
        let mut data = json!({"columns": [column], "rows": [[1]], "sql": "SELECT 1",
            "definition_state": "written_by_model"});
        assert_eq!(mark_of(&view, &data).unwrap(), "Query written by the model: SELECT 1");
        data["definition_state"] = json!("proposed");
        assert_eq!(mark_of(&view, &data).unwrap(), "Definitions that nobody approved yet");
        data["definition_state"] = json!("approved");
        assert_eq!(mark_of(&view, &data), None);
    }

    #[test]
    fn an_answer_that_names_each_row_counts_as_showing_the_result() {
        let data = json!({"items": [{"to": "Ada"}, {"to": "Grace"}]});
        assert!(is_told_in(&view("table"), &data, "Ada: waiting\nGrace: delivered"));
        assert!(!is_told_in(&view("table"), &data, "Two parcels, one for Ada."));
        assert!(!is_told_in(&view("table"), &json!({"items": []}), "None."));
        let numbered = json!({"items": [{"to": 1001}]});
        assert!(is_told_in(&view("table"), &numbered, "Parcel 1001."));
        assert!(!is_told_in(&view("table"), &numbered, "There is one parcel."));
        assert!(!is_told_in(&ResultView::default(), &data, "Ada, Grace"));
    }
}

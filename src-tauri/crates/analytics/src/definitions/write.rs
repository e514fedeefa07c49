//! Writes the file of definitions: readable, and always the same for the same definitions. One line
//! for each dimension and measure.

use contract::definitions::Definitions;
use serde_json::{Map, Value};

use crate::Problem;
use contract::text;

/// Writes definitions as YAML.
pub fn write_definitions(definitions: &Definitions) -> Result<String, Problem> {
    let value = serde_json::to_value(definitions)
        .map_err(|_| Problem::new(text!("The definitions cannot be written.")))?;
    let Value::Object(members) = value else { return Ok(String::new()) };
    let mut written = String::new();
    const NAMES: [&str; 9] =
        ["source", "rows", "time", "spread", "pacing", "dimensions", "measures", "joins", "rates"];
    for name in NAMES {
        let Some(value) = members.get(name) else { continue };
        match (name, value) {
            ("dimensions" | "measures" | "joins", Value::Object(items)) if !items.is_empty() => {
                written.push_str(&format!("{name}:\n"));
                for (item, value) in items {
                    written.push_str(&format!("  {}: {}\n", scalar(item), inline(value)));
                }
            }
            ("dimensions" | "measures" | "joins", _) => {}
            (_, value) => written.push_str(&format!("{name}: {}\n", inline(value))),
        }
    }
    Ok(written)
}

/// Writes a value in one line.
pub(crate) fn inline(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => scalar(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(inline).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(members) => {
            let members: Vec<String> = ordered(members)
                .map(|(name, value)| format!("{}: {}", scalar(name), inline(value)))
                .collect();
            format!("{{{}}}", members.join(", "))
        }
    }
}

/// Returns members with those first that say where a value comes from.
fn ordered(members: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    const LATER: [&str; 11] = [
        "where",
        "key",
        "name",
        "unit",
        "currency",
        "better",
        "settles_after",
        "unmatched",
        "title",
        "synonyms",
        "values",
    ];
    let place = |name: &str| LATER.iter().position(|later| *later == name).map_or(0, |at| at + 1);
    let mut sorted: Vec<(&String, &Value)> = members.iter().collect();
    sorted.sort_by_key(|(name, _)| place(name));
    sorted.into_iter()
}

/// Writes a text, with quotes if it would mean something else without them.
fn scalar(text: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '(' | ')');
    let starts = text.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let ends = text.ends_with(|c: char| !c.is_whitespace());
    let means_else = ["null", "true", "false", "yes", "no", "off", "y", "n"]
        .contains(&text.to_lowercase().as_str());
    let is_plain = starts && ends && !means_else && text.chars().all(|c| is_word(c) || c == ' ');
    if is_plain {
        return text.to_owned();
    }
    // A text of JSON is a text of YAML, with the same escapes.
    serde_json::to_string(text).unwrap_or_else(|_| format!("\"{text}\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definitions::yaml::parse_definitions;

    /// The example of the design.
    const EXAMPLE: &str = r#"source: google_ads
rows: {one_per: [account, campaign_id, device, day]}
time: {column: Day, week: sunday, year_starts: "04-01"}
dimensions:
  brand: {when: {campaign: {contains: [brand]}}}
  campaign: {column: Campaign, key: campaign_id, name: latest, synonyms: {sv: [kampanj]}}
  part: {split: {by: _, of: Campaign, part: 2}}
measures:
  conversions: {sum: Conversions, settles_after: "30 days"}
  cpa: {ratio: [spend, conversions], unit: money, better: lower}
  mobile_clicks: {of: clicks, where: [{device: [Mobile]}]}
  spend: {sum: Cost, unit: money, currency: {column: Currency code}, synonyms: {en: [cost]}}
joins:
  budgets: {on: {campaign_id: campaign_id}, unmatched: show}
"#;

    #[test]
    fn definitions_that_are_read_and_written_stay_the_same() {
        let definitions = parse_definitions(EXAMPLE).unwrap();
        assert_eq!(write_definitions(&definitions).unwrap(), EXAMPLE);
    }

    #[test]
    fn a_text_that_means_something_else_without_quotes_gets_quotes() {
        for text in
            ["no", "2026", "a: b", "- a", "", " a", "a ", "#a", "a #b", "[a]", "1.0", "a\nb"]
        {
            let yaml = format!("source: {}\n", scalar(text));
            if !text.is_empty() {
                assert_eq!(parse_definitions(&yaml).unwrap().source.as_str(), text, "{yaml}");
            }
        }
    }
}

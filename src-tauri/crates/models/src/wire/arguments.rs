//! Reads the arguments of a call in the forms in which servers send them. The module knows no
//! tools.

use serde_json::Deserializer;
use serde_json::value::RawValue;

/// The maximum number of calls in one text, which is more than any model makes at once. A longer
/// sequence stays one text.
const MOST_OBJECTS: usize = 64;

/// Returns the arguments of each call that a text contains. For missing arguments, servers send no
/// text, `null` or an empty list. Servers also send an object inside a text, an empty object before
/// the real object, one object twice, and the objects of several calls in sequence. Any other text
/// is kept, and the engine refuses it with the reason.
pub(super) fn arguments_of_calls(arguments: String) -> Vec<String> {
    let text = arguments.trim();
    if matches!(text, "" | "null" | "[]") {
        return vec!["{}".to_owned()];
    }
    let inner = serde_json::from_str::<String>(text).ok().filter(|_| text.starts_with('"'));
    if let Some(inner) = inner.filter(|inner| matches!(inner.trim().get(..1), None | Some("{"))) {
        return arguments_of_calls(inner);
    }
    match several_objects(text) {
        Some(objects) => objects,
        None => vec![arguments],
    }
}

/// Returns the objects of a text with several objects, without repetitions.
fn several_objects(text: &str) -> Option<Vec<String>> {
    if !text.starts_with('{') {
        return None;
    }
    let values = Deserializer::from_str(text).into_iter::<&RawValue>();
    let values: Vec<&RawValue> = values.take(MOST_OBJECTS + 1).collect::<Result<_, _>>().ok()?;
    let mut objects: Vec<&str> = values.into_iter().map(RawValue::get).collect();
    let fits = (2..=MOST_OBJECTS).contains(&objects.len());
    if !fits || !objects.iter().all(|object| object.starts_with('{')) {
        return None;
    }
    objects.dedup();
    let is_full =
        |object: &&str| object[1..object.len() - 1].contains(|c: char| !c.is_whitespace());
    objects.retain(is_full);
    if objects.is_empty() {
        objects.push("{}");
    }
    Some(objects.into_iter().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn call_arguments_are_read_in_every_known_form() {
        let table: [(&str, &[&str]); 15] = [
            ("", &["{}"]),
            (" null ", &["{}"]),
            ("[]", &["{}"]),
            (r#""""#, &["{}"]),
            (r#"{"a": 1.10}"#, &[r#"{"a": 1.10}"#]),
            (r#""{\"a\": 1.10}""#, &[r#"{"a": 1.10}"#]),
            (r#"{}{"a":1}"#, &[r#"{"a":1}"#]),
            (r#"{"a":1}{"a":1}"#, &[r#"{"a":1}"#]),
            (r#"{"a":"}{"} {"a":2}"#, &[r#"{"a":"}{"}"#, r#"{"a":2}"#]),
            ("{}{ }", &["{}"]),
            (r#"{"a":1}{"a":"#, &[r#"{"a":1}{"a":"#]),
            (r#"{"a":1}7"#, &[r#"{"a":1}7"#]),
            ("{oops", &["{oops"]),
            (r#""pace""#, &[r#""pace""#]),
            ("[1]", &["[1]"]),
        ];
        for (text, expected) in table {
            assert_eq!(arguments_of_calls(text.to_owned()), expected, "{text}");
        }
        let many = r#"{"a":1}{"b":1}"#.repeat(40);
        assert_eq!(arguments_of_calls(many.clone()), [many]);
    }
}

//! Arguments of a call that arrive as values, each with a path (`$.items[0].name`). The module
//! knows JSON but no streams.

use serde_json::{Map, Value};

/// The maximum index and depth, which is more than any tool's arguments have.
const MAX_INDEX: usize = 10_000;
const MAX_DEPTH: usize = 64;

enum Step {
    Member(String),
    Index(usize),
}

/// Puts one piece into the arguments. A text is appended to a text; any other value replaces the
/// old value. A piece with an invalid path is ignored.
pub(super) fn apply_piece(arguments: &mut Value, piece: &Value) {
    let Some(path) = piece.get("jsonPath").and_then(Value::as_str).and_then(parse_path) else {
        return;
    };
    let value = ["stringValue", "numberValue", "boolValue"]
        .iter()
        .find_map(|name| piece.get(name))
        .cloned()
        .unwrap_or_default();
    let Some(place) = path.iter().try_fold(arguments, follow_step) else { return };
    match (&mut *place, value) {
        (Value::String(there), Value::String(more)) => there.push_str(&more),
        (_, value) => *place = value,
    }
}

fn follow_step<'a>(at: &'a mut Value, step: &Step) -> Option<&'a mut Value> {
    match step {
        Step::Member(name) => {
            if at.is_null() {
                *at = Value::Object(Map::new());
            }
            Some(at.as_object_mut()?.entry(name.clone()).or_insert(Value::Null))
        }
        Step::Index(index) => {
            if at.is_null() {
                *at = Value::Array(Vec::new());
            }
            let list = at.as_array_mut()?;
            if list.len() <= *index {
                list.resize(index + 1, Value::Null);
            }
            list.get_mut(*index)
        }
    }
}

/// Parses a path below `$`.
fn parse_path(path: &str) -> Option<Vec<Step>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let step = if let Some(after) = rest.strip_prefix('.') {
            let end = after.find(['.', '[']).unwrap_or(after.len());
            rest = after.get(end..)?;
            Step::Member(after.get(..end)?.to_owned())
        } else {
            let (inside, after) = rest.strip_prefix('[')?.split_once(']')?;
            rest = after;
            match inside.trim_matches(['\'', '"']) {
                name if name.len() < inside.len() => Step::Member(name.to_owned()),
                number => Step::Index(number.parse().ok().filter(|index| *index <= MAX_INDEX)?),
            }
        };
        steps.push(step);
        if steps.len() > MAX_DEPTH {
            return None;
        }
    }
    Some(steps)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn partial_arguments_are_merged_at_their_paths() {
        let mut arguments = json!({});
        for piece in [
            json!({"jsonPath": "$.items[0].name", "stringValue": "Red", "willContinue": true}),
            json!({"jsonPath": "$.items[0].name", "stringValue": " shoe"}),
            json!({"jsonPath": "$.items[1].name", "stringValue": "Hat"}),
            json!({"jsonPath": "$.items[0].price", "numberValue": 0.5}),
            json!({"jsonPath": "$['odd key']", "boolValue": true}),
            json!({"jsonPath": "$.gone", "nullValue": "NULL_VALUE"}),
        ] {
            apply_piece(&mut arguments, &piece);
        }
        assert_eq!(
            arguments,
            json!({"items": [{"name": "Red shoe", "price": 0.5}, {"name": "Hat"}], "odd key": true, "gone": null})
        );
    }

    #[test]
    fn partial_arguments_with_an_invalid_path_are_ignored() {
        let mut arguments = json!({"a": 1});
        for path in ["a", "$[", "$.a.b", "$[0]", "$.list[99999999]", "$.x[y]"] {
            apply_piece(&mut arguments, &json!({"jsonPath": path, "numberValue": 2}));
        }
        assert_eq!(arguments["a"], 1);
        assert!(arguments.to_string().len() < 100, "{arguments}");
    }
}

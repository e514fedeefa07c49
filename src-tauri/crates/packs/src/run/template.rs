//! Parses and fills templates. `{name}` stands for an argument, `{{` and `}}` for braces. Values
//! are inserted once and are never parsed as templates.

use serde_json::{Map, Value};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(String),
    Argument(String),
}

/// A parsed template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template(pub(crate) Vec<Piece>);

impl Template {
    pub(crate) fn parse(source: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut text = String::new();
        let mut rest = source;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, from) = rest.split_at(at);
            text.push_str(before);
            if let Some(after) = from.strip_prefix("{{") {
                text.push('{');
                rest = after;
            } else if let Some(after) = from.strip_prefix("}}") {
                text.push('}');
                rest = after;
            } else if let Some((name, after)) =
                from.strip_prefix('{').and_then(|inside| inside.split_once('}'))
            {
                if !is_name(name) {
                    return Err(format!(
                        "`{{{name}}}` names no argument; write `{{{{` for a brace"
                    ));
                }
                if !text.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut text)));
                }
                pieces.push(Piece::Argument(name.to_owned()));
                rest = after;
            } else {
                return Err("a brace stands alone; write `{{` or `}}` for one".to_owned());
            }
        }
        text.push_str(rest);
        if !text.is_empty() || pieces.is_empty() {
            pieces.push(Piece::Text(text));
        }
        Ok(Self(pieces))
    }

    /// Returns the names of the template's arguments.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Argument(name) => Some(name.as_str()),
            Piece::Text(_) => None,
        })
    }

    /// Returns the argument's name if the template consists of a single argument.
    pub(crate) fn single_argument(&self) -> Option<&str> {
        match self.0.as_slice() {
            [Piece::Argument(name)] => Some(name),
            _ => None,
        }
    }

    /// Fills the template with the values, each formatted by `show`. Returns None if an argument is
    /// absent.
    pub(crate) fn fill<E>(
        &self,
        arguments: &Map<String, Value>,
        mut show: impl FnMut(&str, &Value) -> Result<String, E>,
    ) -> Result<Option<String>, E> {
        let mut filled = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Argument(name) => match value_of(arguments, name) {
                    Some(value) => filled.push_str(&show(name, value)?),
                    None => return Ok(None),
                },
            }
        }
        Ok(Some(filled))
    }
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
}

/// Returns an argument by name. A dot in the name selects a member of an object. `null` counts as
/// absent.
pub(crate) fn value_of<'a>(arguments: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    let found = arguments.get(name).or_else(|| {
        let mut parts = name.split('.');
        let first = arguments.get(parts.next()?)?;
        parts.try_fold(first, |value, part| value.get(part))
    });
    found.filter(|value| !value.is_null())
}

/// Writes a value as text: numbers and booleans unchanged, lists and objects as JSON.
pub(crate) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(source: &str, arguments: Value) -> Option<String> {
        let Value::Object(arguments) = arguments else { panic!("an object") };
        Template::parse(source)
            .unwrap()
            .fill::<()>(&arguments, |_, value| Ok(plain(value)))
            .unwrap()
    }

    #[test]
    fn template_values_are_filled_once_and_not_expanded_again() {
        use serde_json::json;
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(fill("a {x} {n} {{x}}", json!({"x": "{n}", "n": 3})), some("a {n} 3 {x}"));
        assert_eq!(fill("{o.k}", json!({"o": {"k": true}})), some("true"));
        assert_eq!(fill("{x}", json!({"x": null})), None);
        assert_eq!(fill("--q={x}", json!({})), None);
        assert_eq!(fill("", json!({})), some(""));
    }

    #[test]
    fn an_invalid_template_is_refused() {
        for source in ["{", "}", "{}", "{a b}", "{1}", "a}b", "{{}"] {
            assert!(Template::parse(source).is_err(), "{source}");
        }
    }
}

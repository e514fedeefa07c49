//! Determines which arguments of a call the person typed in this conversation. In a turn with
//! outside content, a permission covers only these arguments and the arguments that it fixes
//! itself.

use contract::{Effect, ItemBody, ToolSpec};
use serde_json::Value;

use crate::turn::{context::TurnContext, kind::TurnKind};

/// The number of the newest items whose messages are searched.
pub(crate) const ITEMS: u32 = 200;

/// Returns the names of the arguments whose values all occur in messages of the person. A caller of
/// the run contract is not a person.
pub(crate) async fn typed_arguments(
    context: &TurnContext,
    spec: &ToolSpec,
    arguments: &Value,
) -> Vec<String> {
    let Some(members) = arguments.as_object().filter(|_| spec.effect != Effect::ReadOnly) else {
        return Vec::new();
    };
    if context.kind == TurnKind::Direct {
        return members.keys().cloned().collect();
    }
    if context.run().is_some() {
        return Vec::new();
    }
    let items = context.world().store.items_before(&context.session, None, ITEMS).await;
    let items = items.unwrap_or_else(|error| {
        tracing::warn!(%error, "the messages of the conversation could not be read");
        Vec::new()
    });
    let said = items.iter().filter_map(|item| match &item.body {
        ItemBody::UserMessage { text } => Some(plain(text)),
        _ => None,
    });
    let said: Vec<String> = said.chain([plain(&context.question)]).collect();
    let typed = members.iter().filter(|(_, value)| is_typed(value, &said));
    typed.map(|(name, _)| name.clone()).collect()
}

/// Whether every text and number in a value occurs in one of the messages. Empty values, booleans
/// and member names cannot be typed.
fn is_typed(value: &Value, said: &[String]) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Object(_) => false,
        Value::Number(number) => holds(said, &number.to_string()),
        Value::String(text) => holds(said, &plain(text)),
        Value::Array(list) => !list.is_empty() && list.iter().all(|item| is_typed(item, said)),
    }
}

/// Whether a message contains this text, and not only as part of a longer name, path, address or
/// number.
pub(crate) fn holds(said: &[String], text: &str) -> bool {
    !text.is_empty()
        && said.iter().any(|message| {
            message.match_indices(text).any(|(at, _)| {
                begins_here(&message[..at], text) && ends_here(&message[at + text.len()..], text)
            })
        })
}

/// Whether a text that follows `before` is separate from it. A currency or number sign may precede
/// a number.
fn begins_here(before: &str, text: &str) -> bool {
    let is_number = text.starts_with(|c: char| c.is_ascii_digit());
    let before = if is_number { before.trim_end_matches(['$', '€', '£', '#']) } else { before };
    let before = before.trim_end_matches(is_bracket);
    before.is_empty()
        || before.ends_with(char::is_whitespace)
        || !is_number && before.ends_with([',', ';'])
}

/// Whether a text that precedes `after` is separate from it. Punctuation separates only if white
/// space or the end follows.
fn ends_here(after: &str, text: &str) -> bool {
    let is_number = text.ends_with(|c: char| c.is_ascii_digit());
    let after = if is_number { after.trim_start_matches(['%', '€', '$', '£']) } else { after };
    let rest = after.trim_start_matches(|c| {
        is_bracket(c) || matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | '…')
    });
    rest.is_empty()
        || rest.starts_with(char::is_whitespace)
        || !is_number && after.starts_with([',', ';'])
}

/// Whether a character encloses words.
fn is_bracket(c: char) -> bool {
    matches!(
        c,
        '"' | '\''
            | '`'
            | '“'
            | '”'
            | '„'
            | '‘'
            | '’'
            | '«'
            | '»'
            | '('
            | ')'
            | '['
            | ']'
            | '<'
            | '>'
    )
}

fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn whole_words_of_a_message_count_as_typed_by_the_person() {
        let said = [plain("Hold parcel 1001 until  2026-11-30,\nplease. Budget 1,200.50; -7")];
        let typed = |value: Value| is_typed(&value, &said);
        assert!(typed(json!("2026-11-30")));
        assert!(typed(json!("hold Parcel")));
        assert!(typed(json!(1001)));
        assert!(typed(json!([1001, "please"])));
        for other in [
            json!(100),
            json!(1),
            json!(200),
            json!("par"),
            json!(true),
            json!("11"),
            json!(7),
            json!({"a": 1001}),
            json!("2026-11-31"),
            json!(""),
            json!(null),
            json!([]),
            json!({}),
        ] {
            assert!(!typed(other.clone()), "{other}");
        }
    }

    #[test]
    fn a_part_of_a_name_path_address_or_number_does_not_count_as_typed() {
        let said = [plain(
            "Archive /home/u/projects/old, tell anna.eve@corp.com (and 'Bob-Eve'), see docs.example.com/a.b; pay $25 for #17, 3% of it.",
        )];
        let typed = |value: &str| holds(&said, value);
        for whole in [
            "/home/u/projects/old",
            "anna.eve@corp.com",
            "bob-eve",
            "docs.example.com/a.b",
            "25",
            "17",
            "3",
        ] {
            assert!(typed(whole), "{whole}");
        }
        for part in [
            "/home/u",
            "projects",
            "eve@corp.com",
            "corp.com",
            "eve",
            "bob",
            "example.com",
            "docs.example.com",
            "docs.example.com/a",
            "a.b",
            "b",
        ] {
            assert!(!typed(part), "{part}");
        }
    }
}

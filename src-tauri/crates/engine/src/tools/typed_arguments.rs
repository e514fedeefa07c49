//! Which arguments of a call the person typed in this conversation. In a turn with content from
//! outside, a permission covers no other value that it does not fix itself.

use contract::{Effect, ItemBody, ToolSpec};
use serde_json::Value;

use crate::turn::{audience::Place, context::TurnContext};

/// The number of the newest items whose messages are searched.
const ITEMS: u32 = 200;

/// Returns the names of the arguments whose values are all in messages of the person. A caller of
/// the run contract is not the person.
pub(crate) async fn typed_arguments(
    context: &TurnContext,
    spec: &ToolSpec,
    arguments: &Value,
) -> Vec<String> {
    let Some(members) = arguments.as_object().filter(|_| spec.effect != Effect::ReadOnly) else {
        return Vec::new();
    };
    if context.place == Place::Outside {
        return members.keys().cloned().collect();
    }
    if context.audience.run().is_some() {
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

/// Whether every text and number in a value stands in one of the messages. Nobody types a boolean
/// or the name of a member.
fn is_typed(value: &Value, said: &[String]) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(_) => false,
        Value::Number(number) => holds(said, &number.to_string()),
        Value::String(text) => holds(said, &plain(text)),
        Value::Array(list) => list.iter().all(|item| is_typed(item, said)),
        Value::Object(members) => members.is_empty(),
    }
}

/// Whether a message has this text as whole words.
fn holds(said: &[String], text: &str) -> bool {
    let is_inside = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    text.is_empty()
        || said.iter().any(|message| {
            message.match_indices(text).any(|(at, _)| {
                let after = &message[at + text.len()..];
                // In `1,200` and `2.5` the part before the mark is no number of its own.
                let mut follows = after.chars();
                let mark = follows.next();
                let is_number = text.ends_with(|c: char| c.is_ascii_digit())
                    && mark.is_some_and(|c| matches!(c, '.' | ','))
                    && follows.next().is_some_and(|c| c.is_ascii_digit());
                let before = message[..at].chars().next_back();
                let is_tail = text.starts_with(|c: char| c.is_ascii_digit())
                    && before.is_some_and(|c| matches!(c, '.' | ',' | '-'));
                !is_inside(before) && !is_inside(mark) && !is_number && !is_tail
            })
        })
}

fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn whole_words_of_messages_are_typed() {
        let said = [plain("Hold parcel 1001 until  2026-11-30,\nplease. Budget 1,200.50; -7")];
        let typed = |value: Value| is_typed(&value, &said);
        assert!(typed(json!("2026-11-30")));
        assert!(typed(json!("hold Parcel")));
        assert!(typed(json!(1001)));
        assert!(typed(json!([1001, "please"])));
        assert!(typed(json!("")));
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
        ] {
            assert!(!typed(other.clone()), "{other}");
        }
    }
}

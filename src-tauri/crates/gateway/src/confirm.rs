//! The second step of a cart change: what waits, how it is shown, and what the next message says to it. The row that decides is the
//! engine's; here are only its words.

use contract::Approval;
use serde_json::{Value, json};

use crate::{json::text, texts::Text};

/// What a message says to a question that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Yes,
    No,
    Other,
}

const YES: [&str; 20] = [
    "y",
    "yes",
    "ok",
    "okay",
    "confirm",
    "sure",
    "yep",
    "yeah",
    "go ahead",
    "do it",
    "please",
    "please do",
    "ja",
    "japp",
    "jo",
    "visst",
    "absolut",
    "självklart",
    "gör det",
    "kör",
];
const NO: [&str; 17] =
    ["n", "no", "cancel", "stop", "nope", "nah", "don't", "dont", "never mind", "nevermind", "nej", "nä", "nää", "avbryt", "stopp", "strunt", "glöm det"];

/// Reads a whole message, in either language whatever the culture.
pub(crate) fn reply(message: &str) -> Reply {
    let small = message.trim().to_lowercase();
    if YES.contains(&small.as_str()) {
        return Reply::Yes;
    }
    if NO.contains(&small.as_str()) { Reply::No } else { Reply::Other }
}

/// The action's id as callers know it: a UUID.
pub(crate) fn public_id(approval: &Approval) -> String {
    let own = approval.id.as_str().rsplit('_').next().unwrap_or_default();
    if let Ok(id) = uuid::Uuid::try_parse(own) {
        return id.to_string();
    }
    let digest = engine::sha256_hex(approval.id.as_str().as_bytes());
    uuid::Uuid::try_parse(digest.get(..32).unwrap_or_default()).unwrap_or_default().to_string()
}

/// What would be done, as a question.
pub(crate) fn description(approval: &Approval, tool: &str, locale: &str) -> String {
    let arguments: Value = serde_json::from_str(&approval.arguments).unwrap_or_default();
    let part = text(&arguments["partNo"]).or_else(|| text(&arguments["productId"]));
    let quantity = text(&arguments["quantity"]).unwrap_or_else(|| "1".into());
    let sv = locale == "sv";
    let Some(part) = part else { return format!("{}?", Text::Generic.of(locale)) };
    // The shop's own words for the product stand where the change adds it.
    let rows = approval.preview.iter().flat_map(|preview| preview.after.rows.iter().chain(&preview.before.rows));
    let name = rows.filter(|row| row.changed).map(|row| row.label.clone()).next();
    let what = name.map_or_else(|| part.clone(), |name| format!("{name} ({part})"));
    match (tool, sv) {
        ("cart_add_item", false) => format!("Add {quantity} × {what} to the cart?"),
        ("cart_add_item", true) => format!("Lägga {quantity} × {what} i varukorgen?"),
        ("cart_set_item_quantity", false) => format!("Change the quantity of {what} to {quantity}?"),
        ("cart_set_item_quantity", true) => format!("Ändra antalet av {what} till {quantity}?"),
        ("cart_remove_item", false) => format!("Remove {what} from the cart?"),
        ("cart_remove_item", true) => format!("Ta bort {what} ur varukorgen?"),
        _ => format!("{} ({what})?", Text::Generic.of(locale)),
    }
}

/// The two blocks of an answer about what waits.
pub(crate) fn blocks(approval: &Approval, tool: &str, locale: &str) -> (Value, Value) {
    let (id, description) = (public_id(approval), description(approval, tool, locale));
    let created = approval.created_at.to_rfc3339_opts(chrono::SecondsFormat::Millis, true);
    let option = |id: &str, text: Text, style: &str| {
        let label = text.of(locale);
        json!({"id": id, "label": label, "value": label.to_lowercase(), "style": style})
    };
    let options = [option("confirm", Text::Yes, "primary"), option("cancel", Text::No, "secondary")];
    (
        json!({"pendingActionId": id, "tool": tool, "description": description, "createdAt": created}),
        json!({"id": id, "kind": "cart_confirm", "prompt": description, "options": options}),
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn waiting(arguments: &Value) -> Approval {
        let approval = json!({
            "id": "approval_1", "session": "shop-web:s", "turn": "turn_1", "call": "call_1", "tool": "cart.addItem", "tool_title": "Add", "server": "shop",
            "agent": "shopper", "effect": "write", "arguments": arguments.to_string(), "hash": "", "why": "", "created_at": "2031-01-02T03:04:05Z",
            "expires_at": "2031-01-02T03:04:05Z", "status": "pending", "grantable": false
        });
        serde_json::from_value(approval).unwrap()
    }

    #[test]
    fn section_11_what_is_asked_names_what_is_known_and_else_the_change_alone() {
        let of = |arguments: Value, tool: &str, locale: &str| description(&waiting(&arguments), tool, locale);
        for tool in ["cart_add_item", "cart_set_item_quantity", "cart_remove_item", "cart_empty"] {
            assert_eq!(of(json!({"quantity": 2}), tool, "en"), "Change the cart?");
            assert_eq!(of(json!({"partNo": " "}), tool, "sv"), "Ändra varukorgen?");
        }
        assert_eq!(of(json!({"partNo": "A-1"}), "cart_add_item", "en"), "Add 1 × A-1 to the cart?");
        assert_eq!(of(json!({"partNo": "A-1", "quantity": 2}), "cart_add_item", "sv"), "Lägga 2 × A-1 i varukorgen?");
        assert_eq!(of(json!({"productId": "A-1", "quantity": 3}), "cart_set_item_quantity", "en"), "Change the quantity of A-1 to 3?");
        assert_eq!(of(json!({"productId": "A-1"}), "cart_remove_item", "sv"), "Ta bort A-1 ur varukorgen?");
        assert_eq!(of(json!({"productId": "A-1"}), "cart_empty", "en"), "Change the cart (A-1)?");
    }

    #[test]
    fn whole_messages_decide_and_nothing_else() {
        let yes = "y, yes, ok, okay, confirm, sure, yep, yeah, go ahead, do it, please, please do, ja, japp, jo, visst, absolut, självklart, gör det, kör";
        let no = "n, no, cancel, stop, nope, nah, don't, dont, never mind, nevermind, nej, nä, nää, avbryt, stopp, strunt, glöm det";
        for (words, decided) in [(yes, Reply::Yes), (no, Reply::No)] {
            for text in words.split(", ") {
                assert_eq!(reply(text), decided, "{text}");
                assert_eq!(reply(&format!(" {} ", text.to_uppercase())), decided, "{text}");
            }
        }
        for text in ["yesterday", "okay but first", "yes and no", "", "not now", "jacka", "yes please", "nej tack", "ja, tack"] {
            assert_eq!(reply(text), Reply::Other, "{text}");
        }
    }
}

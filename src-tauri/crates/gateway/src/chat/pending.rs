//! The texts about a pending cart change. The engine stores the change and handles its decision;
//! this module only words the question.

use contract::Approval;
use serde_json::{Value, json};

use crate::{json::text, shop::tools, texts::Text};

/// Returns the action's id in the form that callers use: a UUID.
pub(crate) fn public_id(approval: &Approval) -> String {
    let own = approval.id.as_str().rsplit('_').next().unwrap_or_default();
    if let Ok(id) = uuid::Uuid::try_parse(own) {
        return id.to_string();
    }
    let digest = engine::sha256_hex(approval.id.as_str().as_bytes());
    uuid::Uuid::try_parse(digest.get(..32).unwrap_or_default()).unwrap_or_default().to_string()
}

/// Returns the question about a change. If the change replaces an outdated one, the question also
/// names the current price.
pub(crate) fn describe_change(approval: &Approval, tool: &str, locale: &str) -> String {
    let question = word_question(approval, tool, locale);
    match find_amount(approval).filter(|_| approval.replaces.is_some()) {
        Some(amount) => format!("{question} ({amount})"),
        None => question,
    }
}

/// Returns the amount of the changed line, or of the whole cart, after the change, as written in
/// the preview.
fn find_amount(approval: &Approval) -> Option<String> {
    let after = &approval.preview.as_ref()?.after;
    let is_known = |text: &&str| !text.is_empty() && *text != "?";
    let total = Some(after.total.as_str()).filter(is_known);
    let row =
        after.rows.iter().find(|row| row.changed).map(|row| row.amount.as_str()).filter(is_known);
    let currency = total
        .and_then(|total| Some(total.rsplit_once(' ')?.1))
        .filter(|word| word.chars().all(char::is_alphabetic));
    let row = row
        .map(|row| currency.map_or_else(|| row.to_owned(), |currency| format!("{row} {currency}")));
    row.or_else(|| total.map(str::to_owned))
}

fn word_question(approval: &Approval, tool: &str, locale: &str) -> String {
    let arguments: Value = serde_json::from_str(&approval.arguments).unwrap_or_default();
    let part = text(&arguments["partNo"]).or_else(|| text(&arguments["productId"]));
    let quantity = text(&arguments["quantity"]).unwrap_or_else(|| "1".into());
    let Some(part) = part else { return format!("{}?", Text::Generic.localize(locale)) };
    // The rows of the preview contain the shop's name of the product.
    let rows = approval
        .preview
        .iter()
        .flat_map(|preview| preview.after.rows.iter().chain(&preview.before.rows));
    let name = rows.filter(|row| row.changed).map(|row| row.label.clone()).next();
    let what = name.map_or_else(|| part.clone(), |name| format!("{name} ({part})"));
    let question = match tool {
        tools::ADD => Text::AddQuestion,
        tools::SET_QUANTITY => Text::SetQuestion,
        tools::REMOVE => Text::RemoveQuestion,
        _ => return format!("{} ({what})?", Text::Generic.localize(locale)),
    };
    question.localize_with(locale, &[("quantity", &quantity), ("what", &what)])
}

/// Returns the two answer blocks about a pending change.
pub(crate) fn approval_blocks(approval: &Approval, tool: &str, locale: &str) -> (Value, Value) {
    let (id, description) = (public_id(approval), describe_change(approval, tool, locale));
    let created = approval.created_at.to_rfc3339_opts(chrono::SecondsFormat::Millis, true);
    let option = |id: &str, text: Text, style: &str| {
        let label = text.localize(locale);
        json!({"id": id, "label": label, "value": label.to_lowercase(), "style": style})
    };
    let options =
        [option("confirm", Text::Yes, "primary"), option("cancel", Text::No, "secondary")];
    (
        json!({"pendingActionId": id, "tool": tool, "description": description, "createdAt": created}),
        json!({"id": id, "kind": "cart_confirm", "prompt": description, "options": options}),
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use language::yes_no::{Reply, read_reply};

    use super::*;

    /// Makes a pending change with these arguments and a changed row with this name.
    fn waiting(arguments: &Value, row: Option<&str>) -> Approval {
        let state = |rows: Value| json!({"rows": rows});
        let preview = row.map(|label| json!({"summary": "s", "before": state(json!([])), "after": state(json!([{"label": label, "changed": true}]))}));
        let mut approval = json!({
            "id": "apr_1", "session": "shop-web:s", "turn": "t", "call": "c", "tool": "cart.addItem", "tool_title": "T", "server": "shop", "agent": "a",
            "effect": "write", "arguments": arguments.to_string(), "hash": "h", "why": "w", "created_at": "2026-11-22T10:00:00Z",
            "expires_at": "2026-11-23T10:00:00Z", "status": "pending", "grantable": false
        });
        if let Some(preview) = preview {
            approval["preview"] = preview;
        }
        serde_json::from_value(approval).unwrap()
    }

    #[test]
    fn chat_api_11_a_question_without_a_known_item_names_only_the_change() {
        let of = |arguments: Value, tool: &str, locale: &str| {
            describe_change(&waiting(&arguments, None), tool, locale)
        };
        for tool in ["cart_add_item", "cart_set_item_quantity", "cart_remove_item", "cart_empty"] {
            assert_eq!(of(json!({"quantity": 2}), tool, "en"), "Change the cart?");
            assert_eq!(of(json!({"partNo": " "}), tool, "sv"), "Ändra varukorgen?");
        }
        assert_eq!(of(json!({"partNo": "A-1"}), "cart_add_item", "en"), "Add 1 × A-1 to the cart?");
        assert_eq!(
            of(json!({"partNo": "A-1", "quantity": 2}), "cart_add_item", "sv"),
            "Lägga 2 × A-1 i varukorgen?"
        );
        assert_eq!(
            of(json!({"productId": "A-1", "quantity": 3}), "cart_set_item_quantity", "en"),
            "Change the quantity of A-1 to 3?"
        );
        assert_eq!(
            of(json!({"productId": "A-1"}), "cart_remove_item", "sv"),
            "Ta bort A-1 ur varukorgen?"
        );
        assert_eq!(of(json!({"productId": "A-1"}), "cart_empty", "en"), "Change the cart (A-1)?");
    }

    #[test]
    fn a_question_that_replaces_another_states_the_new_price() {
        let mut approval = waiting(&json!({"partNo": "A-1"}), None);
        approval.preview = serde_json::from_value(json!({"summary": "s", "before": {"rows": [], "total": "0.00 SEK"}, "after": {
            "rows": [{"label": "Boot", "amount": "9,999.00", "changed": true}], "total": "10,098.00 SEK"}}))
        .unwrap();
        assert_eq!(
            describe_change(&approval, "cart_add_item", "en"),
            "Add 1 × Boot (A-1) to the cart?"
        );
        approval.replaces = Some(contract::ApprovalId::new("apr_0"));
        assert_eq!(
            describe_change(&approval, "cart_add_item", "en"),
            "Add 1 × Boot (A-1) to the cart? (9,999.00 SEK)"
        );
        let after = |approval: &mut Approval, row: &str, total: &str| {
            let after = &mut approval.preview.as_mut().unwrap().after;
            (after.rows[0].amount, after.total) = (row.to_owned(), total.to_owned());
        };
        after(&mut approval, "?", "10 098,00 SEK");
        assert!(describe_change(&approval, "cart_add_item", "sv").ends_with("? (10 098,00 SEK)"));
        after(&mut approval, "12,00", "?");
        assert!(describe_change(&approval, "cart_add_item", "sv").ends_with("? (12,00)"));
        after(&mut approval, "", "?");
        assert!(
            describe_change(&approval, "cart_add_item", "sv").ends_with("varukorgen?"),
            "nothing is known"
        );
    }

    #[test]
    fn chat_api_11_and_18_the_question_names_quantity_and_item_in_both_languages() {
        let part = json!({"partNo": "A-1", "quantity": 3});
        let line = json!({"productId": "A-1", "quantity": 3});
        for (tool, arguments, named) in [
            ("cart_add_item", &part, ["3", "A-1"]),
            ("cart_set_item_quantity", &line, ["3", "A-1"]),
            ("cart_remove_item", &json!({"productId": "A-1"}), ["A-1", "A-1"]),
            ("another", &part, ["A-1", "A-1"]),
        ] {
            for row in [None, Some("Green Tent")] {
                let told = ["en", "sv"]
                    .map(|locale| describe_change(&waiting(arguments, row), tool, locale));
                assert_ne!(told[0], told[1], "{tool}");
                for text in &told {
                    assert!(
                        named.iter().all(|word| text.contains(word)) && text.ends_with('?'),
                        "{tool}: {text}"
                    );
                    assert_eq!(text.contains("Green Tent"), row.is_some(), "{tool}: {text}");
                }
            }
        }
        let generic = ["en", "sv"]
            .map(|locale| describe_change(&waiting(&json!({}), None), "cart_add_item", locale));
        assert_eq!(generic, ["Change the cart?", "Ändra varukorgen?"]);
        assert!(
            describe_change(&waiting(&json!({"partNo": "A-1"}), None), "cart_add_item", "en")
                .contains('1'),
            "one, when nothing is said"
        );
    }

    #[test]
    fn chat_api_11_confirmation_buttons_send_words_that_are_understood() {
        for (locale, values) in [("en", ["yes", "no"]), ("sv", ["ja", "nej"])] {
            let (pending, confirmation) =
                approval_blocks(&waiting(&json!({"partNo": "A-1"}), None), "cart_add_item", locale);
            let options = confirmation["options"].as_array().unwrap();
            assert_eq!(
                options.iter().map(|option| option["value"].as_str().unwrap()).collect::<Vec<_>>(),
                values
            );
            assert_eq!((read_reply(values[0]), read_reply(values[1])), (Reply::Yes, Reply::No));
            assert_eq!(
                (&confirmation["id"], &confirmation["prompt"]),
                (&pending["pendingActionId"], &pending["description"])
            );
        }
    }
}

//! Redacting and then restoring a text returns the same text, also if the text contains something
//! like a placeholder.

use proptest::prelude::*;
use redaction::Level;
use serde_json::{Value, json};

use crate::kit::Session;

/// Generates text that is replaced, text that nearly matches a pattern, and any other text.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("anna@example.com".to_owned()),
        Just("+46 70 123 45 67".to_owned()),
        Just("4111 1111 1111 1111".to_owned()),
        Just("SE4550000000058398257466".to_owned()),
        Just("811218-9876".to_owned()),
        Just("sk-proj-abcdefghij0123456789".to_owned()),
        Just("https://example.com/x?y=z".to_owned()),
        Just("550e8400-e29b-41d4-a716-446655440000".to_owned()),
        (0..40u32).prop_map(|n| format!("<email_{n}>")),
        Just("<literal_1>".to_owned()),
        Just("<email_".to_owned()),
        Just("<".to_owned()),
        Just("_1>".to_owned()),
        Just(" ".to_owned()),
        "[a-z0-9@+.<>_ \\-\"\\\\]{0,12}",
        "\\PC{0,6}",
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..12).prop_map(|pieces| pieces.concat())
}

fn level() -> impl Strategy<Value = Level> {
    prop_oneof![Just(Level::None), Just(Level::Basic), Just(Level::Strict)]
}

proptest! {
    #[test]
    fn restoring_a_redacted_text_gives_the_original_text(texts in prop::collection::vec(text(), 1..4), level in level()) {
        let mut session = Session::new(level);
        let out: Vec<String> = texts.iter().map(|text| session.text(text)).collect();
        for (text, out) in texts.iter().zip(&out) {
            prop_assert_eq!(&session.replaced.restore(out), text);
        }
    }

    #[test]
    fn restoring_a_redacted_json_value_gives_the_original_value(texts in prop::collection::vec(text(), 1..4), level in level()) {
        let mut session = Session::new(level);
        let value = json!({"list": texts, "deep": {"one": [texts.first()]}});
        let out = session.value(&value);
        prop_assert_eq!(session.replaced.restore_value(out.clone()), value.clone());
        let back: Value = serde_json::from_str(&session.replaced.restore_arguments(out.to_string())).unwrap();
        prop_assert_eq!(back, value);
    }

    #[test]
    fn redacted_text_contains_none_of_the_replaced_values(before in "[a-z ,.]{0,10}", after in "[ ,!?]{0,3}") {
        let mut session = Session::new(Level::Strict);
        let out = session.text(&format!("{before} anna@example.com {after} 4111 1111 1111 1111 {after}"));
        prop_assert!(!out.contains("example") && !out.contains("4111"));
    }
}

#[test]
fn a_placeholder_that_the_model_invents_is_not_restored() {
    let mut session = Session::new(Level::Basic);
    session.text("anna@example.com");
    assert_eq!(
        session.replaced.restore("<email_1> <email_2> <card_1> <EMAIL_1>"),
        "anna@example.com <email_2> <card_1> <EMAIL_1>"
    );
}

#[test]
fn a_placeholder_written_in_the_input_is_replaced_by_a_literal_placeholder() {
    let mut session = Session::new(Level::Basic);
    session.text("anna@example.com");
    let out = session.text("Please send it to <email_1>.");
    assert_eq!(out, "Please send it to <literal_1>.");
    assert_eq!(
        session.replaced.restore("<literal_1>"),
        "<email_1>",
        "it comes back as it was written, not as the address"
    );
}

#[test]
fn restored_values_keep_the_arguments_valid_json() {
    let mut session = Session::new(Level::Basic);
    session.value(&json!({"password": "a\"b\\c}"}));
    let arguments =
        session.replaced.restore_arguments(r#"{"p": "\u003ckey_1>", "n": 1.10}"#.to_owned());
    assert_eq!(serde_json::from_str::<Value>(&arguments).unwrap()["p"], "a\"b\\c}");
    let same = r#"{ "n": 1.10 }"#;
    assert_eq!(
        session.replaced.restore_arguments(same.to_owned()),
        same,
        "text without a placeholder is not written again"
    );
}

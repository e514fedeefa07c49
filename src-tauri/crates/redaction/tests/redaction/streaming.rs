//! Tests that a reply in pieces is restored and redacted like a reply in a single piece.

use std::sync::Arc;

use proptest::prelude::*;
use redaction::{Exact, Level, MARK, Restoring, Scrubbing};

use crate::{
    kit::Session,
    secrets::{KEY, PLAIN, forms},
};

fn session() -> Session {
    let mut session = Session::new(Level::Basic);
    for n in 0..12 {
        session.text(&format!("person{n}@example.com"));
    }
    session.text("811218-9876 <email_1>");
    session
}

fn restore_stream(session: &Session, pieces: &[&str]) -> String {
    let mut restoring = Restoring::new(Arc::new(session.replaced.clone()), Arc::default());
    let mut out: String = pieces.iter().map(|piece| restoring.push(piece)).collect();
    out.push_str(&restoring.end());
    out
}

#[test]
fn a_placeholder_split_at_any_position_is_restored_in_a_stream() {
    let session = session();
    for text in [
        "Hi <email_1>!",
        "<email_12><email_2>",
        "a<b <personal_id_1>, <literal_1> <",
        "<<email_3>>",
        "<email_99> <email_1",
        "<emäil_1>",
    ] {
        let whole = session.replaced.restore(text);
        for first in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
            for second in (first..=text.len()).filter(|at| text.is_char_boundary(*at)) {
                assert_eq!(
                    restore_stream(
                        &session,
                        &[&text[..first], &text[first..second], &text[second..]]
                    ),
                    whole,
                    "{text} at {first} and {second}"
                );
            }
        }
        let each: Vec<String> = text.chars().map(String::from).collect();
        assert_eq!(
            restore_stream(&session, &each.iter().map(String::as_str).collect::<Vec<_>>()),
            whole
        );
    }
}

#[test]
fn streamed_text_that_cannot_become_a_placeholder_is_not_delayed() {
    let session = session();
    let mut restoring = Restoring::new(Arc::new(session.replaced.clone()), Arc::default());
    assert_eq!(restoring.push("a < b"), "a < b");
    assert_eq!(restoring.push("<b>x"), "<b>x");
    assert_eq!(restoring.push("to <ema"), "to ");
    assert_eq!(restoring.push("il_1"), "");
    assert_eq!(restoring.push("> and"), "person0@example.com and");
    assert_eq!(restoring.push(" <email_12345678"), " <email_12345678", "no number is that long");
}

proptest! {
    #[test]
    fn restoring_a_stream_equals_restoring_the_whole_text(pieces in prop::collection::vec("[<>_a-z0-9 ]{0,4}|<email_|<|1>|email_1>|personal|_id_1>", 0..20)) {
        let session = session();
        let whole = pieces.concat();
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        prop_assert_eq!(restore_stream(&session, &pieces), session.replaced.restore(&whole));
    }
}

fn scrub_stream<'a>(exact: &Exact, pieces: impl IntoIterator<Item = &'a str>) -> String {
    let mut scrubbing = Scrubbing::default();
    let out: String = pieces.into_iter().map(|piece| scrubbing.push(exact, piece)).collect();
    out + &scrubbing.end(exact)
}

fn letters(text: &str) -> impl Iterator<Item = &str> {
    text.char_indices().map(|(at, letter)| &text[at..at + letter.len_utf8()])
}

#[test]
fn a_secret_in_any_encoding_is_removed_from_a_stream_however_it_is_split() {
    for secret in [KEY, PLAIN] {
        let exact = Exact::new([secret]);
        for (name, form) in forms(secret) {
            for text in [form.clone(), format!("it is ({form}) ok"), format!("a{form}{form} &x%4")]
            {
                let whole = exact.redact_secrets(&text);
                assert!(whole.contains(MARK), "{name}");
                assert_eq!(scrub_stream(&exact, letters(&text)), whole, "{name}, letter by letter");
                for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
                    let (before, after) = text.split_at(at);
                    assert_eq!(scrub_stream(&exact, [before, after]), whole, "{name} at {at}");
                }
            }
        }
    }
}

#[test]
fn only_streamed_text_that_could_become_a_secret_is_delayed() {
    let exact = Exact::new([PLAIN]);
    let mut scrubbing = Scrubbing::default();
    assert_eq!(scrubbing.push(&exact, "The answer is 42."), "The answer is 42.");
    assert_eq!(scrubbing.push(&exact, " Key: Xk29fL"), " Key: ");
    assert_eq!(scrubbing.push(&exact, "x. Then"), "Xk29fLx. The", "a letter may belong to base64");
    assert_eq!(scrubbing.push(&exact, " (Xk29fLm3QpZr81TbVw6Y"), "n (");
    assert!(!scrubbing.has_removed());
    assert_eq!(scrubbing.push(&exact, ") 5%"), "<secret>) ");
    assert!(scrubbing.has_removed());
    assert_eq!(scrubbing.end(&exact), "5%");
}

#[test]
fn a_secret_completed_by_a_restored_value_is_removed() {
    let mut session = Session::new(Level::Basic);
    session.text("ana@example.com");
    let exact = Arc::new(Exact::new(["ana@example.com:hunter22"]));
    let mut restoring = Restoring::new(Arc::new(session.replaced.clone()), exact);
    let out: String =
        letters("log in as <email_1>:hunter22.").map(|piece| restoring.push(piece)).collect();
    assert_eq!(out + &restoring.end(), "log in as <secret>.");
    assert!(restoring.has_removed());
}

#[test]
fn secrets_are_removed_from_every_part_of_call_arguments() {
    let exact = Exact::new([PLAIN]);
    let (first, second) = PLAIN.split_at(7);
    for text in [
        format!(r#"{{"a": {{"b": ["{PLAIN}"]}}, "{PLAIN}": 1}}"#),
        format!(r#"{{"a": "{PLAIN}", "a": "x"}}"#),
        format!(r#"{{"list": ["{first}", "{second}"]}}"#),
        format!(r#"{{"broken": "{PLAIN}"#),
        format!(r#"{{"inner": "{{\"key\": \"{PLAIN}\"}}"}}"#),
    ] {
        let out = exact.scrub_json(text.clone());
        assert!(!exact.contains_secret(&out), "{text} became {out}");
        assert!(!out.contains(first) || !out.contains(second), "{out}");
    }
    let other = r#"{"n": 1.50,  "q": "shoes"}"#;
    assert_eq!(exact.scrub_json(other.to_owned()), other, "not a letter changes");
    // Two member names that together form a secret are not removed.
    let exact = Exact::new(["hunter22x"]);
    let other = r#"{"hunt": 1.50,  "er22x": 2}"#;
    assert_eq!(exact.scrub_json(other.to_owned()), other, "not a letter changes");
}

#[test]
fn repeated_beginnings_of_a_secret_are_streamed_in_linear_time() {
    let exact = Exact::new([PLAIN]);
    for (unit, times) in [(" ", 200_000), ("X", 200_000), ("Xk29fL", 20_000), ("\\u00", 20_000)] {
        let pieces = std::iter::once("X").chain(std::iter::repeat_n(unit, times));
        let text = format!("X{}", unit.repeat(times));
        assert_eq!(scrub_stream(&exact, pieces), text);
    }
}

proptest! {
    #[test]
    fn secrets_in_random_pieces_are_removed_as_in_the_whole_text(pieces in prop::collection::vec(
        "[a-z %&\\\\]{0,3}|Xk29fLm3|QpZr81TbVw6Y|Xk29|fLm3QpZr|81TbVw6Y|%58|k29f|&#x58;|\\\\u0058|\n|\u{1}|%7f|\\\\f|\\\\u0001|\u{ff05}58|%4cm3", 0..24)) {
        let exact = Exact::new([PLAIN]);
        let whole = pieces.concat();
        let out = scrub_stream(&exact, pieces.iter().map(String::as_str));
        prop_assert!(!exact.contains_secret(&out), "{} became {}", whole, out);
        prop_assert_eq!(out, exact.redact_secrets(&whole));
    }
}

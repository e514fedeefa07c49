//! A reply that arrives in pieces is restored like a reply that arrives at once.

use std::sync::Arc;

use proptest::prelude::*;
use redaction::{Level, Restoring};

use crate::kit::Session;

fn session() -> Session {
    let mut session = Session::new(Level::Basic);
    for n in 0..12 {
        session.text(&format!("person{n}@example.com"));
    }
    session.text("811218-9876 <email_1>");
    session
}

fn restore_stream(session: &Session, pieces: &[&str]) -> String {
    let mut restoring = Restoring::new(Arc::new(session.replaced.clone()));
    let mut out: String = pieces.iter().map(|piece| restoring.push(piece)).collect();
    out.push_str(&restoring.end());
    out
}

#[test]
fn every_split_of_every_placeholder_comes_out_whole() {
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
fn nothing_is_held_back_that_cannot_become_a_placeholder() {
    let session = session();
    let mut restoring = Restoring::new(Arc::new(session.replaced.clone()));
    assert_eq!(restoring.push("a < b"), "a < b");
    assert_eq!(restoring.push("<b>x"), "<b>x");
    assert_eq!(restoring.push("to <ema"), "to ");
    assert_eq!(restoring.push("il_1"), "");
    assert_eq!(restoring.push("> and"), "person0@example.com and");
    assert_eq!(restoring.push(" <email_12345678"), " <email_12345678", "no number is that long");
}

proptest! {
    #[test]
    fn pieces_make_no_difference(pieces in prop::collection::vec("[<>_a-z0-9 ]{0,4}|<email_|<|1>|email_1>|personal|_id_1>", 0..20)) {
        let session = session();
        let whole = pieces.concat();
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        prop_assert_eq!(restore_stream(&session, &pieces), session.replaced.restore(&whole));
    }
}

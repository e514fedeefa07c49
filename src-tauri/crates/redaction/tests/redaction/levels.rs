//! Tests which kinds each level replaces, the numbers of values, and the counts shown to a person.

use contract::RedactionKind;
use redaction::{Level, Numbers};
use serde_json::json;

use crate::kit::Session;

const LETTER: &str = "Write to anna.berg@example.com or +46 70 123 45 67, card 4539 1488 0343 6467, IBAN SE45 5000 0000 0583 9825 7466, \
born 811218-9876, key sk-proj-abcdefghij0123456789, see https://example.com/a?b=c and f3a9c1d27b5e48aa90cd1122aa33bb44.";

#[test]
fn level_none_replaces_nothing() {
    let mut session = Session::new(Level::None);
    assert_eq!(session.text(LETTER), LETTER);
    assert_eq!(session.text("<email_1>"), "<email_1>");
    assert!(session.replaced.is_empty());
}

#[test]
fn level_basic_replaces_mail_addresses_personal_numbers_and_keys() {
    let mut session = Session::new(Level::Basic);
    assert_eq!(
        session.text(LETTER),
        "Write to <email_1> or <phone_1>, card <card_1>, IBAN <iban_1>, born <personal_id_1>, key <key_1>, see https://example.com/a?b=c and \
f3a9c1d27b5e48aa90cd1122aa33bb44."
    );
}

#[test]
fn level_strict_also_replaces_web_addresses_and_tokens() {
    let mut session = Session::new(Level::Strict);
    let out = session.text(LETTER);
    assert!(out.ends_with("see <url_1> and <token_1>."), "{out}");
    let kinds: Vec<RedactionKind> =
        session.replaced.counts().into_iter().map(|count| count.kind).collect();
    use RedactionKind::{Card, Email, Iban, Key, PersonalId, Phone, Token, Url};
    assert_eq!(kinds, [Email, Phone, Card, Iban, PersonalId, Key, Url, Token]);
    assert!(session.replaced.counts().iter().all(|count| count.count == 1));
}

#[test]
fn every_listed_notation_is_recognised_and_replaced() {
    for (text, out) in [
        ("a.b+c@sub.example.co.uk.", "<email_1>."),
        ("björn@åkeri.se", "<email_1>"),
        ("q=anna%40example.com&x", "q=<email_1>&x"),
        ("Anna <anna@example.com>", "Anna <<email_1>>"),
        ("tel:+14155550132", "tel:<phone_1>"),
        ("+1 (415) 555-0132", "<phone_1>"),
        ("+46 (0)70-123 45 67", "<phone_1>"),
        ("070-123 45 67", "<phone_1>"),
        ("08-123 456 78", "<phone_1>"),
        ("(415) 555-0132", "<phone_1>"),
        ("4111-1111-1111-1111", "<card_1>"),
        ("5555555555554444", "<card_1>"),
        ("3782 822463 10005", "<card_1>"),
        ("card 4111 1111 1111 1111 2026", "card <card_1> 2026"),
        ("DE89370400440532013000", "<iban_1>"),
        ("GB82 WEST 1234 5698 7654 32 PAID", "<iban_1> PAID"),
        ("19811218-9876", "<personal_id_1>"),
        ("123-45-6789", "<personal_id_1>"),
        ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "<key_1>"),
        ("password: hunter2hunter2", "password: <key_1>"),
        ("Authorization: Bearer abcdefgh12345678", "Authorization: Bearer <key_1>"),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nrest",
            "<key_1>\nrest",
        ),
    ] {
        assert_eq!(Session::new(Level::Basic).text(text), out, "{text}");
    }
}

#[test]
fn values_are_redacted_according_to_their_member_names() {
    let mut session = Session::new(Level::Basic);
    let value = json!({
        "note": "line\nanna@example.com", "card": 5_555_555_555_554_444_u64, "campaign_id": "5555555555554444", "order_number": 4_111_111_111_111_111_u64,
        "login": {"password": "correct horse", "user": "anna@example.com"}, "by": {"bob@example.com": 2}
    });
    let expected = json!({
        "note": "line\n<email_1>", "card": "<card_1>", "campaign_id": "5555555555554444", "order_number": 4_111_111_111_111_111_u64,
        "login": {"password": "<key_1>", "user": "<email_1>"}, "by": {"<email_2>": 2}
    });
    let out = session.value(&value);
    // Numbers follow the order of the text. Which of the two addresses is first does not matter
    // here.
    let swapped = out
        .to_string()
        .replace("<email_1>", "<x>")
        .replace("<email_2>", "<email_1>")
        .replace("<x>", "<email_2>");
    let swapped: serde_json::Value = serde_json::from_str(&swapped).unwrap();
    assert!(out == expected || swapped == expected, "{out}");
}

#[test]
fn a_value_keeps_its_placeholder_number_in_later_turns_and_after_a_restart() {
    let mut session = Session::new(Level::Basic);
    assert_eq!(
        session.text("a@example.com b@example.com a@example.com"),
        "<email_1> <email_2> <email_1>"
    );
    assert!(session.numbers.take_grown());
    assert_eq!(session.text("b@example.com"), "<email_2>");
    assert!(!session.numbers.take_grown(), "nothing new to be kept");
    let stored = session.numbers.stored();
    assert!(!stored.to_string().contains("example"), "no value is stored");
    let mut next =
        Session { numbers: Numbers::restored("session", &stored), ..Session::new(Level::Basic) };
    assert_eq!(next.text("c@example.com b@example.com"), "<email_3> <email_2>");
    let other = Numbers::restored("another session", &stored).stored();
    assert_eq!(other, stored);
    let mut elsewhere =
        Session { numbers: Numbers::new("another session"), ..Session::new(Level::Basic) };
    elsewhere.text("a@example.com");
    assert_ne!(
        elsewhere.numbers.stored()["email"][0],
        stored["email"][0],
        "digests of sessions cannot be compared"
    );
}

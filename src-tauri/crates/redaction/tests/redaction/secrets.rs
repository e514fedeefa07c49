//! Tests that exact values are removed at every level, in every encoding, in parts, and wherever
//! they occur.

use base64::{Engine as _, engine::general_purpose as alphabets};
use proptest::prelude::*;
use redaction::{Exact, Level, MARK};
use serde_json::{Value, json};

use crate::kit::Session;

pub const KEY: &str = "sk-live/9Qz+7rT\"w4 xK2=Åp8";
pub const PLAIN: &str = "Xk29fLm3QpZr81TbVw6Y";

fn percent(text: &str, all: bool) -> String {
    text.bytes()
        .map(|b| {
            if !all && (b.is_ascii_alphanumeric() || b"-_.~".contains(&b)) {
                char::from(b).to_string()
            } else {
                format!("%{b:02X}")
            }
        })
        .collect()
}

fn hex(text: &str) -> String {
    text.bytes().map(|b| format!("{b:02x}")).collect()
}

fn unicode(text: &str) -> String {
    text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect()
}

fn fullwidth(c: char) -> char {
    if c.is_ascii_graphic() { char::from_u32(u32::from(c) + 0xfee0).unwrap() } else { c }
}

/// Inserts one of these characters after each character of the text.
fn with_others(text: &str, others: &[char]) -> String {
    text.chars().zip(others.iter().cycle()).flat_map(|(c, other)| [c, *other]).collect()
}

/// Inserts an invisible character after each character of the text.
fn with_invisible(text: &str) -> String {
    with_others(text, &['\u{200b}', '\u{ad}', '\u{2060}', '\u{feff}', '\u{fe0f}', '\u{e0101}'])
}

fn with_controls(text: &str) -> String {
    with_others(text, &['\0', '\u{1}', '\u{8}', '\u{b}', '\u{c}', '\u{1b}', '\u{1f}', '\u{7f}'])
}

/// Returns a text as the content of a JSON string.
fn in_json(text: &str) -> String {
    let json = json!(text).to_string();
    json[1..json.len() - 1].to_owned()
}

/// Returns the forms of a value, each with its name.
pub fn forms(secret: &str) -> Vec<(String, String)> {
    let json = in_json(secret);
    let mut forms = vec![
        ("plain".to_owned(), secret.to_owned()),
        ("json".into(), json.clone()),
        ("json in json".into(), json!(json).to_string()),
        ("unicode escapes".into(), unicode(secret)),
        ("percent".into(), percent(secret, false)),
        ("percent of everything".into(), percent(secret, true)),
        ("lower percent".into(), percent(secret, true).to_lowercase()),
        ("percent twice".into(), percent(&percent(secret, false), false)),
        (
            "html".into(),
            secret
                .replace('&', "&amp;")
                .replace('"', "&quot;")
                .replace('+', "&#43;")
                .replace('=', "&#x3D;"),
        ),
        ("hex".into(), hex(secret)),
        ("upper hex".into(), hex(secret).to_uppercase()),
        (
            "hex pairs".into(),
            secret.bytes().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(":"),
        ),
        ("x escapes".into(), secret.bytes().map(|b| format!("\\x{b:02x}")).collect()),
        ("lines".into(), format!("{}\n  {}", &secret[..8], &secret[8..])),
        ("capitals".into(), secret.to_ascii_uppercase()),
        ("small letters".into(), secret.to_ascii_lowercase()),
        ("fullwidth".into(), secret.chars().map(fullwidth).collect()),
        ("invisible characters".into(), with_invisible(secret)),
        ("escaped invisible characters".into(), percent(&with_invisible(secret), false)),
        ("hex with invisible characters".into(), with_invisible(&hex(secret))),
        ("control characters".into(), with_controls(secret)),
        ("percent with control characters".into(), percent(&with_controls(secret), false)),
        ("json with control characters".into(), in_json(&with_controls(secret))),
        ("fullwidth percent".into(), percent(secret, true).replace('%', "\u{ff05}")),
        ("fullwidth backslashes".into(), unicode(secret).replace('\\', "\u{ff3c}")),
        (
            "fullwidth ampersands".into(),
            secret.chars().map(|c| format!("\u{ff06}#{};", u32::from(c))).collect(),
        ),
    ];
    for offset in 0..3 {
        let bytes = format!("{}{secret}{}", &"ab"[..offset], &"yz"[..(offset + 1) % 3]);
        forms.push((format!("base64 at {offset}"), alphabets::STANDARD.encode(&bytes)));
        forms.push((format!("base64url at {offset}"), alphabets::URL_SAFE_NO_PAD.encode(&bytes)));
        let wrapped: Vec<String> = alphabets::STANDARD
            .encode(&bytes)
            .as_bytes()
            .chunks(10)
            .map(|c| String::from_utf8_lossy(c).into_owned())
            .collect();
        forms.push((format!("wrapped base64 at {offset}"), wrapped.join("\r\n")));
        forms.push((
            format!("percent of base64 at {offset}"),
            percent(&alphabets::STANDARD.encode(&bytes), false),
        ));
    }
    forms
}

/// Asserts that the remaining text does not decode to half of the secret. `form` is the encoded
/// secret that the text contained.
#[track_caller]
fn assert_gone(name: &str, form: &str, out: &str) {
    assert!(out.contains(MARK), "{name}: {out}");
    let longest = (1..=form.len()).rev().find(|length| {
        (0..=form.len() - length).any(|at| {
            form.is_char_boundary(at)
                && form.is_char_boundary(at + length)
                && out.contains(&form[at..at + length])
        })
    });
    assert!(
        longest.unwrap_or(0) * 4 <= form.len() || longest.unwrap_or(0) <= 4,
        "{name}: {longest:?} of {} bytes are left in {out}",
        form.len()
    );
}

#[test]
fn a_secret_is_removed_at_every_level_in_every_encoding() {
    for secret in [KEY, PLAIN] {
        for level in [Level::None, Level::Basic, Level::Strict] {
            for (name, form) in forms(secret) {
                let mut session = Session::with(level, &[secret]);
                assert_gone(&name, &form, &session.text(&format!("it is ({form}) ok")));
                let out = session.value(&json!({"a": [form], "b": 1}));
                assert_gone(&name, &form, out["a"][0].as_str().unwrap());
                let out = session.value(&json!({form.clone(): 1}));
                assert_gone(&name, &form, out.as_object().unwrap().keys().next().unwrap());
            }
        }
    }
}

#[test]
fn a_secret_in_another_case_or_with_hidden_characters_is_removed_entirely() {
    let (hidden, controls) = (with_invisible(PLAIN), with_controls(PLAIN));
    let other_case = |c: char| {
        if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }
    };
    let mixed: String = PLAIN.chars().map(other_case).collect();
    let wide: String = PLAIN.to_ascii_lowercase().chars().map(fullwidth).collect();
    let odd = format!("\u{feff}{PLAIN}\u{200b}x");
    for (secret, form) in [
        (PLAIN, &hidden),
        (PLAIN, &controls),
        (PLAIN, &mixed),
        (PLAIN, &wide),
        (&*odd, &hidden),
        (&*controls, &hidden),
    ] {
        let mut session = Session::with(Level::None, &[secret]);
        let out = session.text(&format!("é {form}! \u{ad}ö"));
        let rest = out.replace(
            ['\u{e0101}', '\u{ad}', '\u{200b}', '\u{feff}', '\u{fe0f}', '\u{2060}', '\u{b}'],
            "",
        );
        assert_eq!(rest, "é <secret>! ö", "{form}");
    }
    // Other characters are not changed.
    let text = "\u{1b}[1m\u{7f} e\u{301}t\u{e9} \u{ff21}\u{ff22} so\u{ad}ft \u{2764}\u{fe0f} xk29";
    assert_eq!(Session::with(Level::None, &[PLAIN]).text(text), text);
}

#[test]
fn restoring_placeholders_never_restores_a_secret() {
    let mut session = Session::with(Level::Strict, &[PLAIN]);
    assert_eq!(session.text(&format!("x {PLAIN} y")), "x <secret> y");
    assert_eq!(session.replaced.restore("<secret> <secret_1>"), "<secret> <secret_1>");
    assert_eq!(session.replaced.counts().len(), 1);
}

#[test]
fn a_secret_split_at_any_position_over_two_texts_is_removed() {
    for secret in [KEY, PLAIN] {
        for at in (1..secret.len()).filter(|at| secret.is_char_boundary(*at)) {
            let (head, tail) = secret.split_at(at);
            let mut session = Session::with(Level::None, &[secret]);
            // If the secret is split over two texts of one result, both parts are removed.
            let out = session.value(&json!({"content": [{"type": "text", "text": format!("a {head}")}, {"type": "text", "text": format!("{tail} b")}]}));
            assert_eq!(out["content"][0]["text"], format!("a {MARK}"), "{at}");
            assert_eq!(out["content"][1]["text"], format!("{MARK} b"), "{at}");
        }
    }
    // If the secret is split over two messages or two results, at least the longer part is removed.
    for at in 1..PLAIN.len() {
        let (head, tail) = PLAIN.split_at(at);
        let mut session = Session::with(Level::None, &[PLAIN]);
        let out = format!(
            "{}|{}",
            session.text(&format!("a {head}")),
            session.text(&format!("{tail} b"))
        );
        assert!(out.contains(MARK), "{at}: {out}");
        assert!(!out.replace(['|', ' '], "").contains(PLAIN));
    }
}

#[test]
fn a_secret_split_over_many_list_items_is_removed() {
    let mut session = Session::with(Level::None, &[PLAIN]);
    let letters: Vec<String> = PLAIN.chars().map(String::from).collect();
    let out = session.value(&json!({"chunks": letters, "n": [1, 2]}));
    assert!(out["chunks"].as_array().unwrap().iter().all(|chunk| chunk == MARK), "{out}");
}

#[test]
fn ordinary_words_contained_in_a_password_are_not_removed() {
    let mut session = Session::with(Level::Basic, &["Stockholm2024!"]);
    assert_eq!(session.text("Spend in Stockholm in 2024"), "Spend in Stockholm in 2024");
    assert_eq!(session.text("It is Stockholm2024!"), "It is <secret>");
    assert!(Exact::new(["1234", "  ", ""]).is_empty(), "too short to be a key");
}

#[test]
fn the_debug_output_of_the_matcher_contains_no_secret() {
    assert_eq!(format!("{:?}", Exact::new([PLAIN])), "Exact { values: 1, .. }");
}

proptest! {
    #[test]
    fn any_secret_in_any_encoding_and_context_is_removed(secret in "[!-~åäö]{8,60}", before in "\\PC{0,20}", after in "\\PC{0,20}", form in 0..38usize) {
        prop_assume!(secret.trim() == secret && secret.len() >= 8);
        let forms = forms_of_any(&secret);
        let (name, form) = &forms[form % forms.len()];
        let mut session = Session::with(Level::None, &[&secret]);
        let out = session.text(&format!("{before}{form}{after}"));
        prop_assert!(out.contains(MARK), "{}: {} in {}", name, form, out);
        prop_assert!(!out.contains(form.as_str()) || form.len() < 8);
    }

    #[test]
    fn text_without_secrets_is_unchanged(text in "[a-z ,.0-9%\\\\&;\"<>]{0,200}") {
        let mut session = Session::with(Level::None, &["QWERTYUIOPASDFGH", KEY]);
        prop_assert_eq!(session.text(&text), text);
    }
}

/// Returns the same forms as `forms`, except the form that is cut at a fixed position.
fn forms_of_any(secret: &str) -> Vec<(String, String)> {
    let cut = (0..=secret.len() / 2).rev().find(|at| secret.is_char_boundary(*at)).unwrap_or(0);
    let padded = if secret.is_char_boundary(8) {
        secret.to_owned()
    } else {
        format!("{}{}", &secret[..cut], &secret[cut..])
    };
    if padded.is_char_boundary(8) { forms(&padded) } else { vec![("plain".into(), padded)] }
}

#[test]
fn only_the_secret_is_replaced_in_a_value() {
    let value: Value = json!({"n": 1.5, "t": "fine", "l": [true, null, "also fine"], "s": PLAIN});
    let mut session = Session::with(Level::Basic, &[PLAIN]);
    assert_eq!(
        session.value(&value),
        json!({"n": 1.5, "t": "fine", "l": [true, null, "also fine"], "s": MARK})
    );
}

#[test]
fn a_cut_position_is_moved_out_of_secrets_and_redacted_values() {
    let session = Session::with(Level::Basic, &[PLAIN]);
    let text = format!("{}anna@example.com and {PLAIN}{}", "x ".repeat(5_000), " y".repeat(5_000));
    let (mail, key) = (10_000, text.find(PLAIN).unwrap());
    for at in 0..=text.len() {
        let border = session.redactor.safe_cut_position(&text, at);
        let wanted = if at > mail && at < mail + 16 {
            mail
        } else if at > key && at < key + PLAIN.len() {
            key
        } else {
            at
        };
        if at.abs_diff(mail) < 60 || at % 997 == 0 {
            assert_eq!(border, wanted, "{at}");
        }
    }
}

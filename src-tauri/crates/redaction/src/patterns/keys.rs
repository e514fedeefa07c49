//! Finds keys in the formats that services issue, private key files, and values that a text itself
//! calls a password or token.

use std::sync::LazyLock;

use regex::Regex;

use super::{Search, Span, before, pattern};
use crate::Kind;

/// Key formats that name their issuer. The whole match is the key.
static VENDOR_KEYS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        &[
            r"sk-[A-Za-z0-9_-]{16,}",
            r"[rsp]k_(?:live|test)_[A-Za-z0-9]{16,}",
            r"gh[opsur]_[A-Za-z0-9]{30,}",
            r"github_pat_[A-Za-z0-9_]{22,}",
            r"glpat-[A-Za-z0-9_-]{20,}",
            r"xox[abeoprs]-[A-Za-z0-9-]{10,}",
            r"(?:AKIA|ASIA)[A-Z0-9]{16}",
            r"AIza[A-Za-z0-9_-]{35}",
            r"ya29\.[A-Za-z0-9_-]{20,}",
            r"npm_[A-Za-z0-9]{36}",
            r"pypi-[A-Za-z0-9_-]{32,}",
            r"hf_[A-Za-z0-9]{30,}",
            r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
            r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
        ]
        .join("|"),
    )
});

/// `password: …`, `api_key=…`. The value is the key.
static NAMED_VALUES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r#"(?i)(?:pass(?:word|wd|phrase)|lösenord|secret|api[_-]?key|access[_-]?token|auth[_-]?token|client[_-]?secret|token)["']?\s{0,3}[:=]\s{0,3}["']?([^\s"'<>,;&]{8,})"#,
    )
});

/// `Authorization: Bearer …`. The token is the key.
static BEARER: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"(?i)bearer\s{1,3}([A-Za-z0-9._~+/=-]{16,})"));

/// The fewest bytes of a text with a key.
const SHORTEST: usize = 12;

const BEGIN: &str = "-----BEGIN ";
const PRIVATE: &str = "PRIVATE KEY-----";
const END: &str = "-----END ";

/// Finds keys.
pub(super) fn find(search: &Search<'_>, found: &mut Vec<Span>) {
    let text = search.text;
    if text.len() < SHORTEST || search.is_number() {
        return;
    }
    for hit in VENDOR_KEYS.iter().flat_map(|p| p.find_iter(text)) {
        if !before(text, hit.start()).is_some_and(char::is_alphanumeric) {
            found.push((hit.range(), Kind::Key));
        }
    }
    let behind_names = NAMED_VALUES.iter().filter(|_| search.facts.names).chain(BEARER.iter());
    for hit in behind_names.flat_map(|p| p.captures_iter(text)) {
        if let Some(value) = hit.get(1).filter(|value| is_no_word(value.as_str())) {
            found.push((value.range(), Kind::Key));
        }
    }
    private_keys(text, found);
}

/// Whether a value contains letters, and also a digit or at least two punctuation marks. "password:
/// required" is a sentence, not a password.
fn is_no_word(value: &str) -> bool {
    let letters = value.chars().any(char::is_alphabetic);
    letters
        && (value.chars().any(|c| c.is_ascii_digit())
            || value.chars().filter(|c| c.is_ascii_punctuation()).count() >= 2)
}

/// Finds private key blocks from their first line to their last. A block without a last line
/// extends to the end of the text.
fn private_keys(text: &str, found: &mut Vec<Span>) {
    let mut from = 0;
    while let Some(start) = text[from..].find(BEGIN).map(|at| from + at) {
        let head = start + BEGIN.len();
        let line_end = text[head..].find(['\n', '\\']).map_or(text.len(), |at| head + at);
        if !text[head..line_end].contains(PRIVATE) {
            from = head;
            continue;
        }
        let end = text[head..].find(END).map(|at| head + at + END.len());
        let end = end.map_or(text.len(), |tail| {
            text[tail..].find(PRIVATE).map_or(text.len(), |at| tail + at + PRIVATE.len())
        });
        found.push((start..end, Kind::Key));
        from = end;
    }
}

/// Whether a member of this name always contains a secret, regardless of the value.
pub(super) fn is_secret_name(name: &str) -> bool {
    const NAMES: [&str; 17] = [
        "password",
        "passwd",
        "passphrase",
        "pwd",
        "secret",
        "clientsecret",
        "apikey",
        "accesstoken",
        "refreshtoken",
        "authtoken",
        "idtoken",
        "sessiontoken",
        "token",
        "authorization",
        "privatekey",
        "credential",
        "credentials",
    ];
    if name.len() > 24 {
        return false;
    }
    let plain: String = name
        .chars()
        .filter(|c| !matches!(c, '_' | '-' | ' ' | '.'))
        .collect::<String>()
        .to_ascii_lowercase();
    NAMES.contains(&plain.as_str())
}

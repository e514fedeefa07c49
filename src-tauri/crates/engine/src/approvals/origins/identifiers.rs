//! Defines values that identify a chosen thing, and the arguments for which such a value may be
//! meant.

/// The length in bytes of the longest identifier.
const LONGEST: usize = 64;
/// Last words of member names that contain identifiers. A number with another name is a quantity.
const IDENTIFYING: [&str; 7] = ["id", "no", "nr", "number", "code", "key", "sku"];
/// Words of member names that contain destinations.
const DESTINATIONS: [&str; 16] = [
    "account",
    "konto",
    "iban",
    "bic",
    "payee",
    "beneficiary",
    "recipient",
    "mottagare",
    "to",
    "address",
    "adress",
    "email",
    "mail",
    "phone",
    "url",
    "host",
];

/// A value that distinguishes a chosen thing from the others in its list.
#[derive(Debug)]
pub(super) struct Id {
    pub(super) member: String,
    pub(super) value: String,
    /// Whether the list contains other things.
    pub(super) has_others: bool,
}

impl Id {
    /// Whether the value can be meant for the argument `name`. An address, a recipient or an
    /// account is a destination and not a thing.
    pub(super) fn identifies(&self, name: &str) -> bool {
        let value = &self.value;
        let is_sign = |c: char| c.is_alphanumeric() || "-_.:#".contains(c);
        let (member, name) = (name_words(&self.member), name_words(name));
        if value.len() > LONGEST
            || !value.chars().all(is_sign)
            || !policy::named_in(value).is_empty()
            || member.iter().chain(&name).any(|word| DESTINATIONS.contains(&word.as_str()))
        {
            return false;
        }
        let agree = !member.is_empty()
            && !name.is_empty()
            && (member.ends_with(&name) || name.ends_with(&member));
        let is_identifying = member.last().is_some_and(|last| IDENTIFYING.contains(&last.as_str()));
        match is_mixed(value) {
            true => agree || is_identifying,
            false => agree && (is_identifying || self.has_others && !is_digits(value)),
        }
    }
}

pub(super) fn is_digits(text: &str) -> bool {
    text.parse::<f64>().is_ok()
}

/// Whether a text is a single word with letters and digits, like an identifier.
pub(super) fn is_mixed(text: &str) -> bool {
    text.chars().any(|c| c.is_ascii_digit())
        && text.chars().any(char::is_alphabetic)
        && !text.contains(char::is_whitespace)
        && !is_digits(text)
}

/// Returns an identifier without punctuation and in lower case, as a person may type it.
pub(super) fn compact(text: &str) -> String {
    language::fold(text).chars().filter(|c| c.is_alphanumeric()).collect()
}

/// Splits the name of a member into its words: `productId`, `product_id`.
fn name_words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for c in name.chars() {
        let begins = !before.is_alphanumeric() || before.is_lowercase() && c.is_uppercase();
        if c.is_alphanumeric() {
            if begins || words.is_empty() {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(c.to_lowercase());
            }
        }
        before = c;
    }
    words
}

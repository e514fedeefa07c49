//! A value that tells a chosen thing from others, and the arguments that it may be meant by. Knows
//! neither messages nor lists.

/// The longest text that is an identifier, in bytes.
const LONGEST: usize = 64;
/// The last words of names that identifiers have. A number under another name is a quantity.
const IDENTIFYING: [&str; 7] = ["id", "no", "nr", "number", "code", "key", "sku"];
/// Words of names that destinations have.
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

/// A value that tells a chosen thing from the others of its list.
#[derive(Debug)]
pub(super) struct Id {
    pub(super) member: String,
    pub(super) value: String,
    /// Whether the list has other things.
    pub(super) has_others: bool,
}

impl Id {
    /// Whether the value can be meant by the argument `name`. An address, a recipient or an account
    /// names a destination and no thing.
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

/// Whether a text is one word with letters and digits, as identifiers are.
pub(super) fn is_mixed(text: &str) -> bool {
    text.chars().any(|c| c.is_ascii_digit())
        && text.chars().any(char::is_alphabetic)
        && !text.contains(char::is_whitespace)
        && !is_digits(text)
}

/// Returns an identifier without its signs and its case, as somebody may type it.
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

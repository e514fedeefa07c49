//! A sentence for a person, with its key and values for the catalogues of other languages. The
//! English sentence with named placeholders is the key. Other languages are handled elsewhere.

use std::{borrow::Cow, collections::BTreeMap, fmt, ops::Deref};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::error::TEXTS;

mod amount;
mod days;
mod name;

pub use amount::Amount;
pub use days::{Days, DaysForm};
pub use name::GivenName;

/// A sentence for a person. The type dereferences to the English form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(untagged)]
pub enum Text {
    /// A sentence without values, which is its own key.
    Plain(String),
    /// A sentence with values, and its key.
    Filled(Box<FilledText>),
}

/// A sentence with values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct FilledText {
    /// The English sentence.
    pub text: String,
    /// The English sentence with named placeholders, such as `{host} did not answer.`
    pub key: String,
    /// The values of the placeholders.
    pub params: BTreeMap<String, Param>,
}

/// The value of a placeholder: a number, a text that may have its own translation, an amount, a name
/// of the data, or days.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(untagged)]
pub enum Param {
    /// A whole number.
    Number(i64),
    /// A text, possibly with its own key.
    Text(Text),
    /// An exact decimal number, which each language writes in its own way.
    Amount(Amount),
    /// A name or a value of the data, which is shown as it is.
    Name(GivenName),
    /// Days, which each language writes in its own way.
    Days(Days),
}

/// Creates a `Text` from a sentence with named placeholders: `text!("{host} failed ({status}).",
/// host, status = 500)`. Each placeholder must have a value.
#[macro_export]
macro_rules! text {
    ($template:literal $(,)?) => {{
        let _ = ::core::format_args!(::core::concat!($template));
        $crate::Text::from($template)
    }};
    ($template:literal, $($hole:ident $(= $value:expr)?),+ $(,)?) => {{
        let _ = ::core::format_args!(::core::concat!($template), $($hole = ""),+);
        $crate::Text::filled(
            $template,
            [$((::core::stringify!($hole), $crate::text!(@param $hole $(, $value)?))),+],
        )
    }};
    (@param $hole:ident) => { $crate::ToParam::to_param(&$hole) };
    (@param $hole:ident, $value:expr) => { $crate::ToParam::to_param(&$value) };
}

impl Text {
    /// Fills in the placeholders of a sentence. `text!` also checks their names.
    pub fn filled<const N: usize>(key: &str, params: [(&str, Param); N]) -> Self {
        let params = params.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Self::of(key.to_owned(), params)
    }

    fn of(key: String, params: BTreeMap<String, Param>) -> Self {
        Self::Filled(Box::new(FilledText { text: fill(&key, &params), key, params }))
    }

    /// Joins sentences with spaces. Each sentence keeps its own key.
    pub fn join(sentences: impl IntoIterator<Item = impl Into<Self>>) -> Self {
        let mut sentences: Vec<Self> = sentences.into_iter().map(Into::into).collect();
        if sentences.len() < 2 {
            return sentences.pop().unwrap_or_default();
        }
        Self::listed(sentences.into_iter().map(Param::Text), " ")
    }

    /// Lists values, with a separator between two of them. Each value keeps its own key.
    pub fn listed(values: impl IntoIterator<Item = Param>, separator: &str) -> Self {
        let (mut key, mut params) = (Vec::new(), BTreeMap::new());
        for (at, value) in values.into_iter().enumerate() {
            key.push(format!("{{s{at}}}"));
            params.insert(format!("s{at}"), value);
        }
        Self::of(key.join(separator), params)
    }

    /// Appends a sentence.
    #[must_use]
    pub fn append(self, next: impl Into<Self>) -> Self {
        Self::join([self, next.into()])
    }

    /// Restores a text from stored parts. Returns a plain text if filling in the key does not give
    /// the sentence.
    pub fn restored(text: &str, key: &str, params: BTreeMap<String, Param>) -> Self {
        let restored = Self::of(key.to_owned(), params);
        if restored == text { restored } else { Self::Plain(text.to_owned()) }
    }

    /// Returns the English sentence.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Plain(text) => text,
            Self::Filled(filled) => &filled.text,
        }
    }

    /// Returns the sentence in another language. `find` returns the translation of a key. Texts
    /// among the values are translated, too. A key without a translation stays English.
    pub fn translated(&self, find: &dyn Fn(&str) -> Option<&'static str>) -> String {
        let inner = |param: &Param| match param {
            Param::Text(text) => Param::Text(Self::Plain(text.translated(find))),
            Param::Number(_) | Param::Amount(_) | Param::Name(_) | Param::Days(_) => param.clone(),
        };
        match self {
            Self::Plain(text) => find(text).map_or_else(|| text.clone(), str::to_owned),
            Self::Filled(filled) => {
                let params = filled.params.iter().map(|(name, value)| (name.clone(), inner(value)));
                fill(find(&filled.key).unwrap_or(&filled.key), &params.collect())
            }
        }
    }
}

/// Replaces each `{name}` by its value. A name without a value is kept. `{{` and `}}` are braces.
fn fill(key: &str, params: &BTreeMap<String, Param>) -> String {
    let mut filled = String::new();
    let mut rest = key;
    while let Some(at) = rest.find(['{', '}']) {
        filled.push_str(&rest[..at]);
        let brace = &rest[at..=at];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(brace) {
            filled.push_str(brace);
            rest = after;
            continue;
        }
        let hole = rest.split_once('}').filter(|_| brace == "{");
        match hole.and_then(|(name, after)| Some((params.get(name)?, after))) {
            Some((value, after)) => {
                filled.push_str(&value.to_string());
                rest = after;
            }
            None => filled.push_str(brace),
        }
    }
    filled.push_str(rest);
    filled
}

/// Replaces each filled text inside a value by its English sentence, for readers that only use
/// English. `details.texts` is removed from errors.
pub fn in_english(value: Value) -> Value {
    let members = match value {
        Value::Object(members) => members,
        Value::Array(items) => return items.into_iter().map(in_english).collect(),
        other => return other,
    };
    if let Some(sentence) = sentence_of(&members) {
        return Value::String(sentence);
    }
    let is_error = members.contains_key("contract_version");
    let mut members: Map<String, Value> =
        members.into_iter().map(|(name, value)| (name, in_english(value))).collect();
    if let Some(Value::Object(details)) = members.get_mut("details").filter(|_| is_error) {
        details.retain(|name, _| name != TEXTS);
    }
    Value::Object(members)
}

/// Returns the sentence if the members form a filled text.
fn sentence_of(members: &Map<String, Value>) -> Option<String> {
    if members.len() != 3 {
        return None;
    }
    match Text::deserialize(Value::Object(members.clone())).ok()? {
        Text::Filled(filled) => {
            let FilledText { text, key, params } = *filled;
            (fill(&key, &params) == text).then_some(text)
        }
        Text::Plain(_) => None,
    }
}

impl Default for Text {
    fn default() -> Self {
        Self::Plain(String::new())
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Param {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
            Self::Amount(amount) => amount.fmt(f),
            Self::Name(name) => name.fmt(f),
            Self::Days(days) => days.fmt(f),
        }
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::Plain(text.to_owned())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::Plain(text)
    }
}

impl From<&String> for Text {
    fn from(text: &String) -> Self {
        Self::Plain(text.clone())
    }
}

impl From<Cow<'_, str>> for Text {
    fn from(text: Cow<'_, str>) -> Self {
        Self::Plain(text.into_owned())
    }
}

impl From<&Self> for Text {
    fn from(text: &Self) -> Self {
        text.clone()
    }
}

impl From<Text> for String {
    fn from(text: Text) -> Self {
        match text {
            Text::Plain(text) => text,
            Text::Filled(filled) => filled.text,
        }
    }
}

/// A type that can be the value of a placeholder.
pub trait ToParam {
    /// Returns the value for the placeholder.
    fn to_param(&self) -> Param;
}

impl ToParam for Param {
    fn to_param(&self) -> Param {
        self.clone()
    }
}

impl ToParam for Text {
    fn to_param(&self) -> Param {
        Param::Text(self.clone())
    }
}

impl<T: ToParam + ?Sized> ToParam for &T {
    fn to_param(&self) -> Param {
        T::to_param(self)
    }
}

/// Implements `ToParam` for types that are formatted with `Display`.
macro_rules! displayed {
    ($($type:ty),+ $(,)?) => {$(
        impl ToParam for $type {
            fn to_param(&self) -> Param {
                Param::Text(Text::Plain(self.to_string()))
            }
        }
    )+};
}
displayed!(
    str,
    String,
    Cow<'_, str>,
    char,
    f32,
    f64,
    std::path::Display<'_>,
    std::io::Error,
    url::Url,
    serde_json::Error,
    chrono::NaiveDate,
);

/// Implements `ToParam` for integers that fit into an `i64`.
macro_rules! numbers {
    ($($type:ty),+ $(,)?) => {$(
        impl ToParam for $type {
            fn to_param(&self) -> Param {
                Param::Number(i64::from(*self))
            }
        }
    )+};
}
numbers!(u8, u16, u32, i32, i64);

impl ToParam for u64 {
    fn to_param(&self) -> Param {
        i64::try_from(*self).map_or_else(|_| self.to_string().to_param(), Param::Number)
    }
}

impl ToParam for usize {
    fn to_param(&self) -> Param {
        i64::try_from(*self).map_or_else(|_| self.to_string().to_param(), Param::Number)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn wire(text: &Text) -> serde_json::Value {
        serde_json::to_value(text).unwrap_or_default()
    }

    #[test]
    fn a_text_is_a_string_on_the_wire_unless_it_has_values_for_its_key() {
        assert_eq!(wire(&text!("No.")), json!("No."));
        let host = "example.org";
        let text = text!("{host} failed ({status}).", host, status = 500);
        assert_eq!(text, "example.org failed (500).");
        let sent = json!({"text": "example.org failed (500).", "key": "{host} failed ({status}).",
                          "params": {"host": "example.org", "status": 500}});
        assert_eq!(wire(&text), sent);
        assert_eq!(serde_json::from_value::<Text>(sent).ok(), Some(text));
        assert_eq!(serde_json::from_value::<Text>(json!("Old.")).ok(), Some("Old.".into()));
    }

    #[test]
    fn nested_and_joined_texts_keep_their_message_keys() {
        let why = text!("{host} is away.", host = "shop");
        let text = text!("It does not run: {why}", why).append("Try later.");
        assert_eq!(text, "It does not run: shop is away. Try later.");
        let sent = wire(&text);
        assert_eq!(sent["key"], "{s0} {s1}");
        assert_eq!(sent["params"]["s0"]["params"]["why"]["key"], "{host} is away.");
        assert_eq!(sent["params"]["s1"], "Try later.");
        assert_eq!(Text::join(["One."]), "One.");
    }

    #[test]
    fn a_message_key_that_does_not_produce_the_sentence_is_dropped() {
        let key = "The key {key} is wrong.";
        let params = BTreeMap::from([("key".to_owned(), "sk-1".to_param())]);
        let text = text!("The key {key} is wrong.", key = "sk-1");
        assert_eq!(Text::restored("The key sk-1 is wrong.", key, params.clone()), text);
        assert_eq!(
            wire(&Text::restored("The key *** is wrong.", key, params)),
            "The key *** is wrong."
        );
    }

    #[test]
    fn texts_are_replaced_by_english_sentences_and_other_objects_are_unchanged() {
        let why = text!("{host} is away.", host = "shop");
        let error = crate::AgentError::invalid(&why).reason("away");
        let given = json!({"why": why, "list": [why], "error": error,
                           "own": {"text": "a", "key": "b", "params": {}}});
        let english = in_english(given.clone());
        assert_eq!(english["why"], "shop is away.");
        assert_eq!(english["list"], json!(["shop is away."]));
        assert_eq!(english["error"]["details"], json!({"reason": "away"}));
        assert_eq!(english["own"], given["own"]);
    }

    #[test]
    fn values_are_not_expanded_again_and_doubled_braces_become_single() {
        let text = text!("{a} {{{b}}}", a = "{b}", b = 2_u64);
        assert_eq!(text, "{b} {2}");
    }
}

//! The words of a pack as the function `t` of its templates: `t('key', name=value)` is the text of
//! a key with its placeholders filled in. Several values can be passed as a mapping: `t('key',
//! values)`.

use std::{fmt::Write as _, sync::Arc};

use minijinja::{
    Error, ErrorKind, State, Value,
    value::{Kwargs, Object, from_args},
};

use crate::Language;

/// The variable in which a template finds the texts of its pack, by language and key.
pub const PACK_TEXTS: &str = "_texts_of_pack";

/// Makes `t` for a template: the words of a language, from the texts of all languages by tag.
/// `escape` escapes a value for the output of the template.
pub fn template_words(escape: fn(&str) -> String) -> impl Fn(String, Value) -> Value {
    move |tag, languages| Value::from_object(Words { tag, languages, escape })
}

#[derive(Debug)]
struct Words {
    tag: String,
    languages: Value,
    escape: fn(&str) -> String,
}

impl Object for Words {
    fn call(self: &Arc<Self>, _: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
        let (key, values, named): (&str, Option<Value>, Kwargs) = from_args(args)?;
        let value_of = |name: &str| {
            let named = named.peek::<Value>(name).ok();
            let value = named.or_else(|| values.as_ref()?.get_attr(name).ok());
            value.filter(|value| !value.is_undefined())
        };
        let Some(text) = self.find(key) else {
            let missing = || Error::new(ErrorKind::InvalidOperation, format!("no text `{key}`"));
            return value_of("default").ok_or_else(missing);
        };
        let form = if value_of("count") == Some(Value::from(1)) { "one" } else { "other" };
        let text = match text.as_str() {
            Some(text) => text.to_owned(),
            None => text.get_attr(form)?.to_string(),
        };
        self.fill(&text, value_of).map(Value::from_safe_string)
    }
}

impl Words {
    /// Returns the text of a key in the language of the words, or else in English.
    fn find(&self, key: &str) -> Option<Value> {
        let text_in = |tag: &str| self.languages.get_attr(tag).ok()?.get_attr(key).ok();
        let is_text = |text: &Value| !text.is_undefined();
        let english = || text_in(Language::ENGLISH.tag()).filter(is_text);
        text_in(&self.tag).filter(is_text).or_else(english)
    }

    fn fill(&self, text: &str, value_of: impl Fn(&str) -> Option<Value>) -> Result<String, Error> {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            filled.push_str(before);
            let (name, after) = after.split_once('}').unwrap_or((after, ""));
            let value = value_of(name).ok_or_else(|| {
                Error::new(ErrorKind::UndefinedError, format!("no value for `{name}` in: {text}"))
            })?;
            self.write(&mut filled, &value)?;
            rest = after;
        }
        filled.push_str(rest);
        Ok(filled)
    }

    fn write(&self, out: &mut String, value: &Value) -> Result<(), Error> {
        match value.as_str() {
            _ if value.is_none() => {}
            Some(text) if !value.is_safe() => out.push_str(&(self.escape)(text)),
            _ => write!(out, "{value}")?,
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use minijinja::{Environment, context};

    use super::*;

    fn render(tag: &str, template: &str) -> Result<String, Error> {
        let mut environment = Environment::new();
        environment.add_function("catalogue", template_words(|text| text.replace('*', "\\*")));
        let words = r#"{"en": {"hello": "Hello *{name}*", "only": "only English", "files": {"one": "{count} file", "other": "{count} files"}},
            "sv": {"hello": "Hej *{name}*", "files": {"one": "{count} fil", "other": "{count} filer"}}}"#;
        let template = format!("{{% set t = catalogue(tag, {words}) %}}{template}");
        environment.render_str(&template, context! { tag })
    }

    #[test]
    fn a_template_text_is_translated_and_its_values_are_escaped() {
        let hello = "{{ t('hello', name='a*b') }}";
        assert_eq!(render("sv", hello).unwrap(), "Hej *a\\*b*");
        assert_eq!(render("en", hello).unwrap(), "Hello *a\\*b*");
        assert_eq!(render("sv", "{{ t('only') }}").unwrap(), "only English");
        assert!(render("sv", "{{ t('hello') }}").is_err(), "a value is missing");
    }

    #[test]
    fn a_count_selects_the_plural_form() {
        let files = "{{ t('files', count=1) }}, {{ t('files', {'count': 3}) }}";
        assert_eq!(render("sv", files).unwrap(), "1 fil, 3 filer");
    }

    #[test]
    fn a_missing_template_text_uses_its_default_or_is_an_error() {
        assert_eq!(render("en", "{{ t('none', default='else') }}").unwrap(), "else");
        assert!(render("en", "{{ t('none') }}").is_err());
    }

    #[test]
    fn translated_texts_can_be_used_inside_macros() {
        let template =
            "{% macro greet(name) %}{{ t('hello', name=name) }}{% endmacro %}{{ greet('A') }}";
        assert_eq!(render("sv", template).unwrap(), "Hej *A*");
    }
}

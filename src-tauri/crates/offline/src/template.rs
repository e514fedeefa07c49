//! Renders answer templates with minijinja and helpers for money, numbers and days. Every
//! value is escaped for Markdown. The templates come from the packs.

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use chrono::NaiveDate;
use messages::{Language, PACK_TEXTS};
use minijinja::{
    Environment, Error, Output, State, Value as Jinja, syntax::SyntaxConfig, value::Serde,
};
use serde_json::{Map, Value};

use super::{pack_texts::Texts, parts::AskedParts, values};

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut env = Environment::new();
    // Block tags are on separate lines and must not leave empty lines.
    if let Ok(syntax) = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build() {
        env.set_syntax(syntax);
    }
    env.set_fuel(Some(400_000));
    env.set_formatter(escaped);
    env.add_filter("money", money);
    env.add_filter("number", number);
    env.add_filter("day", day);
    env.add_function("catalogue", messages::template_words(escape_markdown));
    env
});

/// The parts of a question that an answer template can use.
pub(super) struct AnswerInputs<'a> {
    pub(super) intent: &'a str,
    pub(super) args: &'a Map<String, Value>,
    /// The parts of the result that the question describes.
    pub(super) asked: Option<AskedParts>,
    /// The number of pieces that the question is about.
    pub(super) count: Option<u32>,
}

/// Renders the answer for a call. The template can use the members of `said`, and the `result` or
/// `results`.
pub(super) fn answer(
    template: &str,
    texts: &Texts,
    lang: Language,
    said: &AnswerInputs<'_>,
    results: &[Arc<Value>],
) -> Option<String> {
    let results: Vec<Jinja> = results.iter().map(|result| Jinja::from(Serde(&**result))).collect();
    let root = BTreeMap::from([
        ("intent".to_owned(), Jinja::from(said.intent)),
        ("args".to_owned(), Jinja::from(Serde(said.args))),
        ("asked".to_owned(), said.asked.as_ref().map_or(Jinja::UNDEFINED, asked_value)),
        ("count".to_owned(), said.count.map_or(Jinja::UNDEFINED, Jinja::from)),
        ("result".to_owned(), results.first().cloned().unwrap_or(Jinja::UNDEFINED)),
        ("results".to_owned(), Jinja::from(results)),
    ]);
    run(template, texts, lang, root)
}

fn asked_value(asked: &AskedParts) -> Jinja {
    Jinja::from(Serde(&serde_json::json!({ "words": asked.words, "items": asked.items })))
}

/// Whether a template uses a variable.
pub(super) fn uses(template: &str, name: &str) -> bool {
    ENVIRONMENT
        .template_from_str(template)
        .is_ok_and(|template| template.undeclared_variables(false).contains(name))
}

/// Renders a template. Returns None if the template fails.
pub(super) fn render(
    template: &str,
    texts: &Texts,
    lang: Language,
    values: &Value,
) -> Option<String> {
    let root = match values {
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), Jinja::from(Serde(value)))).collect()
        }
        _ => BTreeMap::new(),
    };
    run(template, texts, lang, root)
}

fn run(
    template: &str,
    texts: &Texts,
    lang: Language,
    mut root: BTreeMap<String, Jinja>,
) -> Option<String> {
    root.insert("lang".to_owned(), Jinja::from(lang.tag()));
    if template.contains(PACK_TEXTS) {
        root.insert(PACK_TEXTS.to_owned(), texts.value());
    }
    match ENVIRONMENT.render_str(template, root) {
        Ok(text) => Some(text),
        Err(error) => {
            tracing::warn!(%error, "an answer template failed");
            None
        }
    }
}

/// Returns the line that shows a thing.
pub(super) fn label(template: &str, texts: &Texts, lang: Language, item: &Value) -> String {
    render(template, texts, lang, &serde_json::json!({ "item": item }))
        .map(|text| text.trim().to_owned())
        .unwrap_or_default()
}

/// Evaluates a condition on `item`. Returns true without an expression, and false if the expression
/// fails.
pub(super) fn evaluate_condition(expression: Option<&str>, item: &Value) -> bool {
    let Some(expression) = expression else { return true };
    let Ok(compiled) = ENVIRONMENT.compile_expression(expression) else { return false };
    let scope = BTreeMap::from([("item", Jinja::from(Serde(item)))]);
    compiled.eval(scope).is_ok_and(|value| value.is_true())
}

fn escaped(out: &mut Output<'_>, _: &mut State<'_, '_>, value: &Jinja) -> Result<(), Error> {
    if value.is_undefined() || value.is_none() {
        return Ok(());
    }
    if value.is_safe() {
        return write(out, &value.to_string());
    }
    match value.as_str() {
        Some(text) => write(out, &escape_markdown(text)),
        None => write(out, &value.to_string()),
    }
}

fn write(out: &mut Output<'_>, text: &str) -> Result<(), Error> {
    std::fmt::Write::write_str(out, text).map_err(Error::from)
}

/// Escapes a text so that Markdown shows it unchanged.
pub(super) fn escape_markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '~' => {
                out.push('\\');
                out.push(c);
            }
            '\n' | '\r' | '\t' => out.push(' '),
            _ => out.push(c),
        }
    }
    out
}

fn language(state: &State<'_, '_>) -> Language {
    let tag = state.lookup("lang");
    tag.as_ref().and_then(|tag| tag.as_str()).map_or(Language::ENGLISH, Language::of_tag)
}

fn numeric(value: &Jinja) -> Option<f64> {
    f64::try_from(value.clone()).ok().or_else(|| {
        value.as_str().and_then(|text| values::as_number(&Value::String(text.to_owned())))
    })
}

/// Formats an amount: `1234.5|money("SEK")` gives "1,234.50 SEK", and `money("SEK", 0)` no
/// decimals. Text that is not an amount stays unchanged. Without a currency, an amount with its own
/// unit stays unchanged, too.
fn money(
    state: &State<'_, '_>,
    value: &Jinja,
    currency: Option<String>,
    decimals: Option<usize>,
) -> Jinja {
    let currency = currency.filter(|currency| !currency.is_empty());
    let written = value.as_str().map(str::trim).filter(|text| !text.is_empty());
    let keeps_unit = currency.is_none() && written.is_some_and(has_unit);
    let Some(amount) = numeric(value).filter(|_| !keeps_unit) else {
        return Jinja::from_safe_string(written.map_or_else(|| "–".to_owned(), escape_markdown));
    };
    let text = format_grouped(amount, decimals.unwrap_or(2), language(state));
    Jinja::from_safe_string(
        currency
            .map_or(text.clone(), |currency| format!("{text}\u{a0}{}", escape_markdown(&currency))),
    )
}

fn has_unit(amount: &str) -> bool {
    amount.chars().any(|c| !(c.is_ascii_digit() || c.is_whitespace() || ".,'-−".contains(c)))
}

fn number(state: &State<'_, '_>, value: &Jinja, decimals: Option<usize>) -> Jinja {
    Jinja::from_safe_string(numeric(value).map_or_else(
        || "–".to_owned(),
        |amount| format_grouped(amount, decimals.unwrap_or(0), language(state)),
    ))
}

/// Formats a day: "20 November" from "2026-11-20", with the year on request.
fn day(state: &State<'_, '_>, value: &Jinja, year: Option<bool>) -> Jinja {
    let text = value.as_str().unwrap_or_default();
    let shown = parse(text).map_or_else(
        || escape_markdown(text),
        |date| format_day(date, year.unwrap_or(false), language(state)),
    );
    Jinja::from_safe_string(shown)
}

fn parse(text: &str) -> Option<NaiveDate> {
    NaiveDate::parse_from_str(text.get(..10)?, "%Y-%m-%d").ok()
}

pub(super) fn format_day(date: NaiveDate, year: bool, lang: Language) -> String {
    use chrono::Datelike;
    let formats = lang.formats();
    let format = if year { formats.day_and_year } else { formats.day };
    let month = formats.months[date.month0() as usize];
    let (day, year) = (date.day().to_string(), date.year().to_string());
    messages::fill(format, &[("day", &day), ("month", month), ("year", &year)])
}

/// Rounds to a number of decimals, half away from zero, like the window. Rust's own formatting
/// rounds half to even.
fn rounded(amount: f64, decimals: usize) -> String {
    let (Some(exact), 0..=3) = (contract::amounts::read(&amount.to_string()), decimals) else {
        return format!("{amount:.decimals$}");
    };
    let step = 10_i128.pow(contract::amounts::PLACES - decimals as u32);
    let (steps, ten) = ((exact + step / 2) / step, 10_i128.pow(decimals as u32));
    if decimals == 0 {
        steps.to_string()
    } else {
        format!("{}.{:0decimals$}", steps / ten, steps % ten)
    }
}

/// Formats a number with the language's thousands separators.
pub(super) fn format_grouped(amount: f64, decimals: usize, lang: Language) -> String {
    let text = rounded(amount.abs(), decimals);
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let formats = lang.formats();
    let mut out = String::new();
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i) % 3 == 0 {
            out.push_str(formats.group);
        }
        out.push(digit);
    }
    if !fraction.is_empty() {
        out.push_str(formats.decimal);
        out.push_str(fraction);
    }
    let is_zero = text.chars().all(|c| matches!(c, '0' | '.'));
    if amount < 0.0 && !is_zero { format!("−{out}") } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn halves_are_rounded_away_from_zero() {
        let cases = [
            (12.25, 1, "12.3"),
            (0.25, 1, "0.3"),
            (66.846, 1, "66.8"),
            (0.05, 1, "0.1"),
            (2.5, 0, "3"),
            (1e-7, 2, "0.00"),
            (1e21, 0, "1000000000000000000000"),
            (0.999_96, 3, "1.000"),
        ];
        for (amount, decimals, text) in cases {
            assert_eq!(rounded(amount, decimals), text, "{amount}");
        }
    }

    fn swedish() -> Language {
        Language::of_tag("sv")
    }

    fn show(template: &str, lang: Language, values: &Value) -> String {
        render(template, &Texts::default(), lang, values).expect("renders")
    }

    #[test]
    fn a_template_finds_the_texts_of_its_pack() {
        let texts = json!({"en": {"all": "All of {name}"}, "sv": {"all": "Allt av {name}"}});
        let texts = Texts::new(&Arc::new(serde_json::from_value(texts).expect("texts")));
        let template =
            format!("{{% set t = catalogue(lang, {PACK_TEXTS}) %}}{{{{ t('all', name='a*b') }}}}");
        for (lang, shown) in [(Language::ENGLISH, "All of a\\*b"), (swedish(), "Allt av a\\*b")] {
            assert_eq!(render(&template, &texts, lang, &json!({})).as_deref(), Some(shown));
        }
    }

    #[test]
    fn numbers_are_formatted_for_the_language() {
        let values =
            json!({"a": 1234567.5, "b": "899.00", "c": -5.5, "d": "2026-11-20", "n": null});
        assert_eq!(
            show(
                "{{ a|money('SEK', 0) }} {{ b|money('SEK') }} {{ c|number(1) }}",
                Language::ENGLISH,
                &values
            ),
            "1,234,568\u{a0}SEK 899.00\u{a0}SEK −5.5"
        );
        assert_eq!(
            show("{{ a|money('SEK') }} {{ c|number(1) }} {{ d|day(true) }}", swedish(), &values),
            "1\u{a0}234\u{a0}567,50\u{a0}SEK −5,5 20 november 2026"
        );
        assert_eq!(
            show("{{ n|money('SEK') }}{{ n }}{{ missing }}", Language::ENGLISH, &values),
            "–"
        );
    }

    #[test]
    fn amounts_in_common_notations_are_formatted_as_money() {
        for (written, shown) in [
            ("1299,00", "1,299.00\u{a0}SEK"),
            ("1 299,00 kr", "1,299.00\u{a0}SEK"),
            ("SEK 12", "12.00\u{a0}SEK"),
            ("Free over 500", "Free over 500"),
            ("*free*", "\\*free\\*"),
            (" ", "–"),
        ] {
            assert_eq!(
                show("{{ a|money('SEK') }}", Language::ENGLISH, &json!({"a": written})),
                shown,
                "{written}"
            );
        }
        for (written, shown) in [
            ("1 299,00 kr", "1 299,00 kr"),
            ("€499,00", "€499,00"),
            ("1299,00", "1,299.00"),
            ("-5.5", "−5.50"),
        ] {
            assert_eq!(
                show("{{ a|money(c) }}", Language::ENGLISH, &json!({"a": written})),
                shown,
                "{written}: nothing else tells the currency"
            );
        }
        assert_eq!(
            show("{{ a|money('SEK') }}", Language::ENGLISH, &json!({"a": "from 499 kr"})),
            "from 499 kr"
        );
        assert_eq!(values::as_number(&json!("from 499 kr")), None, "no bound for what is cheaper");
        assert_eq!(
            values::as_number(&json!("1 299,50 kr")),
            Some(1299.5),
            "what is cheaper is known"
        );
    }

    #[test]
    fn template_values_are_escaped_for_markdown() {
        let values = json!({"name": "*Bold* [x](http://evil) <b> | #"});
        assert_eq!(
            show("| {{ name }} |", Language::ENGLISH, &values),
            "| \\*Bold\\* \\[x\\](http://evil) \\<b\\> \\| \\# |"
        );
    }

    #[test]
    fn a_condition_that_fails_to_evaluate_is_false() {
        assert!(evaluate_condition(None, &json!({})));
        assert!(evaluate_condition(Some("item.n > 0 and item.ok"), &json!({"n": 2, "ok": true})));
        assert!(!evaluate_condition(Some("item.n > 0"), &json!({"n": 0})));
        assert!(!evaluate_condition(Some("item.n >"), &json!({"n": 1})));
    }
}

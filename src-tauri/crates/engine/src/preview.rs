//! What an action would change, computed by the host: read calls of the same pack, then the manifest's template.
//! A preview that cannot be computed is left out; the full arguments are always shown. A template may also say that the action cannot
//! be carried out: nobody is to sign what will be refused.

use std::sync::Arc;

use contract::{AgentError, Effect, ErrorCode, PreviewView, ToolOutcome, ToolSpec, manifest::PreviewRead};
use minijinja::{Environment, Error, ErrorKind, Value as Template, value::Serde};
use policy::Decision;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{call::Ready, turn::Turn};

/// What a template yields.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Foreseen {
    Shown(PreviewView),
    /// Why the action cannot be carried out as it is.
    Refused {
        refuse: String,
    },
}

/// What could be said of an action, and whether a read that it rests on found nobody to answer.
#[derive(Debug)]
pub(crate) struct Foresight {
    pub(crate) foreseen: Option<Foreseen>,
    pub(crate) unread: bool,
}

impl Foresight {
    pub(crate) fn view(self) -> Option<PreviewView> {
        match self.foreseen? {
            Foreseen::Shown(view) => Some(view),
            Foreseen::Refused { .. } => None,
        }
    }
}

/// Why a preview has no value of a read.
enum Missing {
    /// There is nothing to ask for, or the tool said that it has no such thing: so it will say again.
    Said,
    /// Nobody answered.
    Away,
}

impl Turn {
    pub(crate) async fn foresee(&self, spec: &ToolSpec, arguments: &Value) -> Foresight {
        let mut foresight = Foresight { foreseen: None, unread: false };
        let Some(preview) = &spec.preview else { return foresight };
        let mut variables = Map::new();
        for read in &preview.reads {
            let value = self.preview_read(read, arguments).await;
            foresight.unread |= matches!(value, Err(Missing::Away));
            match value {
                Ok(value) => variables.insert(read.name.clone(), value),
                Err(_) if read.optional => variables.insert(read.name.clone(), Value::Null),
                Err(_) => return foresight,
            };
        }
        match render(&preview.template, arguments, &variables, &self.locale) {
            Ok(foreseen) => foresight.foreseen = Some(foreseen),
            Err(problem) => tracing::warn!(tool = %spec.id, %problem, "a preview could not be computed"),
        }
        foresight
    }

    async fn preview_read(&self, read: &PreviewRead, arguments: &Value) -> Result<Value, Missing> {
        let spec = self.specs.iter().find(|spec| spec.id == read.tool && spec.effect == Effect::ReadOnly).ok_or(Missing::Said)?.clone();
        let filled: Map<String, Value> = read.arguments.iter().filter_map(|(name, value)| Some((name.clone(), fill(value, arguments)?))).collect();
        let call = contract::CallId(self.world().ids.next("call"));
        let ready = Ready {
            call,
            spec: Arc::new(spec),
            arguments: Value::Object(filled),
            decision: Decision::Allow { why: "Read for a preview.".into(), grant: None },
            coerced: Vec::new(),
        };
        let done = self.dispatch(&ready, None).await;
        match &done.error {
            _ if done.outcome == ToolOutcome::Ok => Ok((*done.data).clone()),
            Some(error) if is_an_answer(error) => Err(Missing::Said),
            _ => Err(Missing::Away),
        }
    }
}

/// Whether a failure is what the tool or its server said, and not that nobody was there.
fn is_an_answer(error: &AgentError) -> bool {
    error.code == ErrorCode::InvalidInput || error.reason_text() == Some("mcp_tool_error") || error.details.get("code").is_some()
}

/// Replaces text that is exactly `{{ args.NAME }}` by that argument; an absent one leaves the parameter out.
fn fill(value: &Value, arguments: &Value) -> Option<Value> {
    let Some(inner) = value.as_str().and_then(|text| text.trim().strip_prefix("{{")?.strip_suffix("}}")) else { return Some(value.clone()) };
    let name = inner.trim().strip_prefix("args.")?;
    arguments.get(name).cloned()
}

fn render(template: &str, arguments: &Value, variables: &Map<String, Value>, locale: &str) -> Result<Foreseen, String> {
    let swedish = locale.starts_with("sv");
    let mut environment = Environment::new();
    environment.set_fuel(Some(200_000));
    environment.add_filter("dec_add", |a: Template, b: Template| combine(&a, &b, i128::checked_add, 0));
    environment.add_filter("dec_sub", |a: Template, b: Template| combine(&a, &b, i128::checked_sub, 0));
    environment.add_filter("dec_mul", |a: Template, b: Template| combine(&a, &b, i128::checked_mul, PLACES));
    environment.add_filter("money", move |a: Template| decimal(&a).map(|value| grouped(value, swedish)));
    environment.add_filter("tojson", to_json);
    environment.add_template("preview", template).map_err(|e| e.to_string())?;
    let mut scope: std::collections::BTreeMap<String, Template> = variables.iter().map(|(name, value)| (name.clone(), Template::from(Serde(value)))).collect();
    scope.insert("args".into(), Template::from(Serde(arguments)));
    scope.insert("locale".into(), Template::from(if swedish { "sv" } else { "en" }));
    let text = environment.get_template("preview").and_then(|t| t.render(Template::from_pairs(scope))).map_err(|e| e.to_string())?;
    serde_json::from_str(&text).map_err(|e| e.to_string())
}

fn to_json(value: Template) -> Result<Template, Error> {
    serde_json::to_string(&value).map(Template::from_safe_string).map_err(|e| Error::new(ErrorKind::InvalidOperation, e.to_string()))
}

/// Decimal digits that are kept while calculating.
const PLACES: u32 = 4;

fn combine(a: &Template, b: &Template, with: fn(i128, i128) -> Option<i128>, drop: u32) -> Result<String, Error> {
    let overflow = || Error::new(ErrorKind::InvalidOperation, "the amounts are too large");
    let result = with(decimal(a)?, decimal(b)?).ok_or_else(overflow)?;
    Ok(plain(result / 10i128.pow(drop)))
}

/// Reads an amount ("1 299.00", "1299,5", 12) as ten-thousandths.
fn decimal(value: &Template) -> Result<i128, Error> {
    let text: String = value.to_string().chars().filter(|c| !c.is_whitespace()).collect::<String>().replacen(',', ".", 1);
    let bad = || Error::new(ErrorKind::InvalidOperation, format!("{value} is not an amount"));
    let (sign, digits) = text.strip_prefix('-').map_or((1, text.as_str()), |rest| (-1, rest));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() || whole.len() > 20 || !whole.chars().chain(fraction.chars()).all(|c| c.is_ascii_digit()) {
        return Err(bad());
    }
    let places = PLACES as usize;
    let padded: String = fraction.chars().chain("0000".chars()).take(places).collect();
    let whole: i128 = whole.parse().map_err(|_| bad())?;
    let fraction: i128 = padded.parse().map_err(|_| bad())?;
    Ok(sign * (whole * 10i128.pow(PLACES) + fraction))
}

/// Two decimals, rounded half away from zero.
fn cents(value: i128) -> (bool, i128) {
    (value < 0, (value.abs() + 50) / 100)
}

fn plain(value: i128) -> String {
    let (negative, cents) = cents(value);
    format!("{}{}.{:02}", if negative { "-" } else { "" }, cents / 100, cents % 100)
}

/// As the conversation writes amounts: "1,299.00", in Swedish "1 299,00".
fn grouped(value: i128, swedish: bool) -> String {
    let (between, point) = if swedish { ('\u{a0}', ',') } else { (',', '.') };
    let (negative, cents) = cents(value);
    let whole = (cents / 100).to_string();
    let mut out = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index) % 3 == 0 {
            out.push(between);
        }
        out.push(digit);
    }
    format!("{}{out}{point}{:02}", if negative { "-" } else { "" }, cents % 100)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(foreseen: Foreseen) -> PreviewView {
        Foresight { foreseen: Some(foreseen), unread: false }.view().expect("nothing is refused")
    }

    #[test]
    fn amounts_are_exact() {
        let template = r#"{"summary": {{ (("Lägg till " if locale == "sv" else "Add ") ~ args.quantity) | tojson }},
            "before": {"rows": [], "total": "{{ cart.total | money }}"},
            "after": {"rows": [{"label": {{ args.name | tojson }}, "amount": "{{ args.price | dec_mul(args.quantity) | money }}", "changed": true}],
                      "total": "{{ cart.total | dec_add(args.price | dec_mul(args.quantity)) | money }}"}}"#;
        let arguments = json!({"quantity": 3, "price": "1 299,10", "name": "a \"quoted\" name"});
        let variables = json!({"cart": {"total": 0.3}}).as_object().cloned().expect("an object");
        let view = render(template, &arguments, &variables, "en").map(shown).expect("renders");
        assert_eq!(view.summary, "Add 3");
        assert_eq!(view.after.rows[0].label, "a \"quoted\" name");
        assert_eq!(view.after.rows[0].amount, "3,897.30");
        assert_eq!(view.before.total, "0.30");
        assert_eq!(view.after.total, "3,897.60");
        let swedish = render(template, &arguments, &variables, "sv").map(shown).expect("renders");
        assert_eq!(swedish.summary, "Lägg till 3");
        assert_eq!((swedish.before.total.as_str(), swedish.after.total.as_str()), ("0,30", "3\u{a0}897,60"));
    }

    #[test]
    fn arguments_fill_reads() {
        let arguments = json!({"partNo": "A-1"});
        assert_eq!(fill(&json!("{{ args.partNo }}"), &arguments), Some(json!("A-1")));
        assert_eq!(fill(&json!("{{ args.other }}"), &arguments), None);
        assert_eq!(fill(&json!("text"), &arguments), Some(json!("text")));
    }
}

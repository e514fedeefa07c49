//! Computes the preview of an action: runs read-only calls of the same pack and renders the
//! manifest's template. A preview that cannot be computed is omitted; the user always sees the
//! full arguments. A template can also state that the action will be refused, so that no person is
//! asked for nothing.

use std::sync::Arc;

use contract::{
    AgentError, Effect, ErrorCode, PreviewView, ToolOutcome, ToolSpec, amounts,
    manifest::PreviewRead,
};
use minijinja::{Environment, Error, ErrorKind, Value as Template, value::Serde};
use policy::Decision;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    destinations::note_read,
    tools::{
        call::{CallDone, Ready},
        dispatch::Dispatcher,
        policy_decision::policy_decision,
    },
};

/// The most bytes of a preview as JSON text.
const MOST_BYTES: usize = 256 * 1024;
/// The text shown for an unknown amount.
const UNKNOWN: &str = "?";

/// The output of a preview template.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Foreseen {
    Shown(PreviewView),
    /// The action cannot be carried out; the text gives the reason.
    Refused {
        refuse: String,
    },
}

/// The preview of an action, and the failure of one of its reads, if any.
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

/// Why a read gave no value for the preview.
enum Missing {
    /// The read cannot be made, is not allowed, or the tool answered that the data does not exist.
    /// Repeating the read would give the same result.
    Nothing,
    /// The tool or its server did not answer.
    Away,
}

/// Computes the preview of an action.
pub(crate) async fn compute_preview(
    dispatcher: &Dispatcher,
    spec: &ToolSpec,
    arguments: &Value,
    locale: &str,
) -> Foresight {
    let mut foresight = Foresight { foreseen: None, unread: false };
    let Some(preview) = &spec.preview else { return foresight };
    let (mut variables, mut seen) = (Map::new(), Vec::new());
    for read in &preview.reads {
        let value = preview_read(dispatcher, spec, read, arguments, &mut seen).await;
        foresight.unread |= matches!(value, Err(Missing::Away));
        match value {
            Ok(value) => variables.insert(read.name.clone(), value),
            Err(_) if read.optional => variables.insert(read.name.clone(), Value::Null),
            Err(_) => return foresight,
        };
    }
    match render(&preview.template, arguments, &variables, locale) {
        Ok(foreseen) => {
            if matches!(foreseen, Foreseen::Refused { .. }) {
                // The model gets the reason of the refusal, which may quote these reads. A normal
                // preview is shown only to the user.
                seen.iter().for_each(|(spec, done)| dispatcher.note_content(spec, done));
            }
            foresight.foreseen = Some(foreseen);
        }
        Err(problem) => {
            tracing::warn!(tool = %spec.id, %problem, "a preview could not be computed")
        }
    }
    foresight
}

async fn preview_read(
    dispatcher: &Dispatcher,
    of: &ToolSpec,
    read: &PreviewRead,
    arguments: &Value,
    seen: &mut Vec<(Arc<ToolSpec>, CallDone)>,
) -> Result<Value, Missing> {
    let is_wanted = |spec: &&ToolSpec| {
        spec.pack == of.pack && spec.is_named(&read.tool) && spec.effect == Effect::ReadOnly
    };
    let spec = dispatcher.context.specs.iter().find(is_wanted).ok_or(Missing::Nothing)?.clone();
    let filled: Map<String, Value> = read
        .arguments
        .iter()
        .filter_map(|(name, value)| Some((name.clone(), fill_argument(value, arguments)?)))
        .collect();
    let arguments = Value::Object(filled);
    let call = contract::CallId(dispatcher.context.world().ids.next("call"));
    let verdict = policy_decision(&dispatcher.context, &spec, &arguments).await;
    let ready = Ready {
        call,
        spec: Arc::new(spec),
        arguments,
        decision: verdict.decision,
        coerced: Vec::new(),
        defaults: Vec::new(),
        is_adapted: false,
        follows_untrusted: verdict.is_marked,
        typed: verdict.typed,
    };
    may_preview(dispatcher, &ready)?;
    note_read(&dispatcher.context, &ready.spec, &ready.arguments).await;
    let done = dispatcher.dispatch(&ready, None, None).await;
    let value = match &done.error {
        _ if done.outcome == ToolOutcome::Ok => {
            Ok(contract::json_text::members_of(&done.data).into_owned())
        }
        Some(error) if is_tool_answer(error) => Err(Missing::Nothing),
        _ => Err(Missing::Away),
    };
    seen.push((ready.spec, done));
    value
}

/// Allows a preview's read only if a model could make the same call now without approval, because
/// no person has approved it yet.
fn may_preview(dispatcher: &Dispatcher, ready: &Ready) -> Result<(), Missing> {
    let fits = dispatcher.services.validators.check_arguments(&ready.spec, &ready.arguments);
    let refused =
        dispatcher.context.check_tool(&ready.spec).and(fits).map_err(|error| error.text());
    let why = match (&ready.decision, refused) {
        (Decision::Allow { .. }, Ok(())) => return Ok(()),
        (Decision::Ask { why } | Decision::Deny { why }, Ok(())) => why.clone(),
        (_, Err(message)) => message,
    };
    tracing::info!(tool = %ready.spec.id, %why, "a preview was left out");
    Err(Missing::Nothing)
}

/// Whether the error is an answer of the tool or its server. Otherwise the tool could not be
/// reached.
fn is_tool_answer(error: &AgentError) -> bool {
    error.code == ErrorCode::InvalidInput
        || error.has_reason(contract::Reason::McpToolError)
        || error.details.get("code").is_some()
}

/// Replaces a text of the exact form `{{ args.NAME }}` by that argument. Returns None if the
/// argument is absent.
fn fill_argument(value: &Value, arguments: &Value) -> Option<Value> {
    let Some(inner) =
        value.as_str().and_then(|text| text.trim().strip_prefix("{{")?.strip_suffix("}}"))
    else {
        return Some(value.clone());
    };
    let name = inner.trim().strip_prefix("args.")?;
    arguments.get(name).cloned()
}

fn render(
    template: &str,
    arguments: &Value,
    variables: &Map<String, Value>,
    locale: &str,
) -> Result<Foreseen, String> {
    let language = messages::Language::of_tag(locale);
    let mut environment = Environment::new();
    // The template of a pack must terminate, because a person waits for the question.
    environment.set_fuel(Some(200_000));
    environment.add_filter("dec_add", |a: Template, b: Template| {
        combine_amounts(&a, &b, i128::checked_add, 0)
    });
    environment.add_filter("dec_sub", |a: Template, b: Template| {
        combine_amounts(&a, &b, i128::checked_sub, 0)
    });
    environment.add_filter("dec_mul", |a: Template, b: Template| {
        combine_amounts(&a, &b, i128::checked_mul, amounts::PLACES)
    });
    environment.add_filter("money", move |a: Template| format_money(&a, language));
    environment.add_filter("tojson", to_json);
    environment.add_function("catalogue", messages::template_words(str::to_owned));
    environment.add_template("preview", template).map_err(|e| e.to_string())?;
    let mut scope: std::collections::BTreeMap<String, Template> = variables
        .iter()
        .map(|(name, value)| (name.clone(), Template::from(Serde(value))))
        .collect();
    scope.insert("args".into(), Template::from(Serde(arguments)));
    scope.insert("locale".into(), Template::from(language.tag()));
    let text = environment
        .get_template("preview")
        .and_then(|t| t.render(Template::from_pairs(scope)))
        .map_err(|e| e.to_string())?;
    if text.len() > MOST_BYTES {
        return Err(format!("it has {} bytes; at most {MOST_BYTES} are shown", text.len()));
    }
    serde_json::from_str(&text).map_err(|e| e.to_string())
}

fn to_json(value: Template) -> Result<Template, Error> {
    serde_json::to_string(&value)
        .map(Template::from_safe_string)
        .map_err(|e| Error::new(ErrorKind::InvalidOperation, e.to_string()))
}

/// Computes with two amounts. The result is unknown if one of them is unknown, so that a preview
/// works even if a shop omits an amount.
fn combine_amounts(
    a: &Template,
    b: &Template,
    with: fn(i128, i128) -> Option<i128>,
    drop: u32,
) -> String {
    let both = amounts::read(&a.to_string()).zip(amounts::read(&b.to_string()));
    let result = both.and_then(|(a, b)| with(a, b)).map(|result| result / 10i128.pow(drop));
    result.map_or_else(|| UNKNOWN.to_owned(), amounts::plain)
}

fn is_plain(text: &str) -> bool {
    (1..=40).contains(&text.trim().len())
        && !text.contains(|c: char| c.is_control() || matches!(c, '"' | '\\'))
}

/// Formats an amount for display. A text that is not an amount is shown unchanged if it is short
/// and contains no quotation marks, backslashes or control characters.
fn format_money(value: &Template, language: messages::Language) -> String {
    let text = value.to_string();
    match amounts::read(&text) {
        Some(value) => {
            let formats = language.formats();
            amounts::format_grouped(value, formats.group, formats.decimal)
        }
        None if value.is_undefined() || value.is_none() || !is_plain(&text) => UNKNOWN.to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(foreseen: Foreseen) -> PreviewView {
        Foresight { foreseen: Some(foreseen), unread: false }.view().expect("nothing is refused")
    }

    #[test]
    fn preview_amounts_are_calculated_exactly() {
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
        assert_eq!(
            (swedish.before.total.as_str(), swedish.after.total.as_str()),
            ("0,30", "3\u{a0}897,60")
        );
    }

    #[test]
    fn a_preview_shows_missing_amounts_as_unknown() {
        let template = r#"{"summary": "Add", "before": {"rows": [{"label": "a", "amount": "{{ cart.line.total | money }}", "changed": false}], "total": "{{ cart.total | money }}"},
            "after": {"rows": [], "total": "{{ cart.total | dec_add(args.price | dec_mul(2)) | money }}"}}"#;
        let variables = json!({"cart": {"line": {"total": "free"}, "total": "1 299,00 kr"}})
            .as_object()
            .cloned()
            .expect("an object");
        let view =
            |arguments| render(template, &arguments, &variables, "en").map(shown).expect("renders");
        let unknown = view(json!({}));
        assert_eq!(
            (
                unknown.before.rows[0].amount.as_str(),
                unknown.before.total.as_str(),
                unknown.after.total.as_str()
            ),
            ("free", "1,299.00", "?")
        );
        assert_eq!(view(json!({"price": "SEK 1.50"})).after.total, "1,302.00");
        let closing = json!({"cart": {"line": {"total": "\"}], \"total\": \"0"}, "total": "1"}})
            .as_object()
            .cloned()
            .expect("an object");
        let view = render(template, &json!({}), &closing, "en").map(shown).expect("renders");
        assert_eq!(
            (view.before.rows[0].amount.as_str(), view.before.total.as_str()),
            ("?", "1.00"),
            "no amount writes rows"
        );
    }

    #[test]
    fn arguments_of_the_action_are_filled_into_the_arguments_of_preview_reads() {
        let arguments = json!({"partNo": "A-1"});
        assert_eq!(fill_argument(&json!("{{ args.partNo }}"), &arguments), Some(json!("A-1")));
        assert_eq!(fill_argument(&json!("{{ args.other }}"), &arguments), None);
        assert_eq!(fill_argument(&json!("text"), &arguments), Some(json!("text")));
    }
}

//! Parses a chat request and checks its fields, types and lengths. Unknown members are ignored.

use std::time::Instant;

use axum::http::StatusCode;
use contract::arguments::normalize_numbers;
use serde_json::{Map, Value};

use crate::{
    config::Config,
    fault::{Category, Fault},
    texts::{Text, locale_for_culture},
};

/// A valid request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ChatRequest {
    pub(crate) application: String,
    pub(crate) session: String,
    pub(crate) message: String,
    pub(crate) context: Map<String, Value>,
}

/// A message that passed all checks of admission.
#[derive(Clone)]
pub(crate) struct AdmittedRequest {
    pub(crate) request: ChatRequest,
    pub(crate) turn: String,
    /// The visitor of the demo token, if the request had one.
    pub(crate) visitor: Option<String>,
    pub(crate) request_id: String,
    /// The caller's correlation id.
    pub(crate) correlation: Option<String>,
    pub(crate) client_ip: String,
    pub(crate) debug: bool,
    pub(crate) route: &'static str,
    pub(crate) began: Instant,
}

const NUMBERS: [&str; 3] = ["salesAreaId", "customerId", "companyId"];
const TEXTS: [&str; 2] = ["cultureCode", "currencyCode"];
/// The maximum length of a language tag in characters.
const LONGEST_TEXT: usize = 35;

/// Returns the session id if it can be read, for use in answers to invalid requests.
pub(crate) fn read_session_id(body: &Value) -> String {
    body["sessionId"]
        .as_str()
        .filter(|id| !id.is_empty() && id.chars().count() <= 200)
        .unwrap_or("unknown")
        .to_owned()
}

impl ChatRequest {
    pub(crate) fn parse_body(body: &Value, config: &Config) -> Result<Self, Fault> {
        if !body.is_object() {
            return Err(Fault::invalid("The body must be a JSON object."));
        }
        Ok(Self {
            application: read_text(body, "applicationId", 100)?,
            session: read_text(body, "sessionId", 200)?,
            message: read_message(body, config.max_message_chars)?,
            context: read_context(&body["context"])?,
        })
    }

    /// Checks that the application is allowed and that the message is not too long.
    pub(crate) fn check_allowed(&self, config: &Config) -> Result<(), Fault> {
        let locale = locale_for_culture(self.culture());
        if !config.allows(&self.application) {
            return Err(Fault::new(
                StatusCode::FORBIDDEN,
                Category::Auth,
                "AUTHZ_FORBIDDEN",
                Text::NotAllowed.localize(locale),
            ));
        }
        if self.message.chars().count().div_ceil(4) > config.max_message_tokens {
            let mut fault = Fault::invalid(Text::TooLong.localize(locale));
            fault.status = StatusCode::PAYLOAD_TOO_LARGE;
            return Err(fault);
        }
        Ok(())
    }

    pub(crate) fn culture(&self) -> Option<&str> {
        self.context.get("cultureCode").and_then(Value::as_str)
    }
}

fn read_text(body: &Value, name: &str, most: usize) -> Result<String, Fault> {
    let fault =
        |rule: String| Err(Fault::invalid(format!("{name} {rule}.")).with_detail("field", name));
    let Some(text) = body[name].as_str() else { return fault("must be text".into()) };
    let length = text.chars().count();
    if length == 0 || length > most {
        return fault(format!("must have 1 to {most} characters"));
    }
    Ok(text.to_owned())
}

/// Reads the message. If the message is too long, the refusal is in the caller's language.
fn read_message(body: &Value, most: usize) -> Result<String, Fault> {
    let locale = locale_for_culture(body["context"]["cultureCode"].as_str());
    let said = body["message"].as_str().unwrap_or_default();
    if said.chars().count() > most {
        return Err(Fault::invalid(Text::TooLong.localize(locale))
            .with_detail("field", "message")
            .with_detail("most", most));
    }
    let message = read_text(body, "message", most)?;
    if message.trim().is_empty() {
        Err(Fault::invalid(Text::Blank.localize(locale)).with_detail("field", "message"))
    } else {
        Ok(message)
    }
}

/// Reads the caller's context. An absent context counts as empty.
fn read_context(given: &Value) -> Result<Map<String, Value>, Fault> {
    let fault = |name: &str, rule: &str| {
        Fault::invalid(format!("context.{name} {rule}."))
            .with_detail("field", format!("context.{name}"))
    };
    let given = match given {
        Value::Null => return Ok(Map::new()),
        Value::Object(given) => given,
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            return Err(
                Fault::invalid("context must be an object.").with_detail("field", "context")
            );
        }
    };
    let mut kept = Map::new();
    for (name, value) in given {
        let fits = match name.as_str() {
            name if TEXTS.contains(&name) => value
                .as_str()
                .filter(|text| text.chars().count() <= LONGEST_TEXT)
                .map(drop)
                .ok_or("must be text of at most 35 characters"),
            name if NUMBERS.contains(&name) => {
                value.is_number().then_some(()).ok_or("must be a number")
            }
            "priceListIds" => value
                .as_array()
                .is_some_and(|list| list.iter().all(Value::is_number))
                .then_some(())
                .ok_or("must be a list of numbers"),
            _ => continue,
        };
        fits.map_err(|rule| fault(name, rule))?;
        let value = normalize_numbers(value.clone()).map_err(|_| {
            fault(name, "holds a number that cannot be sent exactly as it is written")
        })?;
        kept.insert(name.clone(), value);
    }
    Ok(kept)
}

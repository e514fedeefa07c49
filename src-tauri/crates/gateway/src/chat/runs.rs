//! Keeps the newest runs in memory for the debug routes: request and answer, shortened and without
//! secrets.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use crate::{
    chat::{
        answer::Answer,
        request::{AdmittedRequest, ChatRequest},
        response::Outcome,
    },
    config::DebugRuns,
    fault::Fault,
    json::shorten_with_dots,
};

const SNIPPET: usize = 500;
const ARRAY: usize = 20;
const DEPTH: usize = 3;
const HIDDEN: [&str; 8] = [
    "authorization",
    "token",
    "secret",
    "password",
    "apikey",
    "clientsecret",
    "accesstoken",
    "applicationid",
];

struct StoredRun {
    record: Value,
    /// The request and its visitor's address, which are only used for a replay and never shown.
    request: Option<(ChatRequest, String)>,
    at: Instant,
}

pub(crate) struct Runs {
    runs: Mutex<VecDeque<StoredRun>>,
    most: usize,
    ttl: Duration,
}

impl Runs {
    pub(crate) fn new(config: Option<DebugRuns>) -> Self {
        let (most, ttl) = config.map_or((0, Duration::ZERO), |config| (config.most, config.ttl));
        Self { runs: Mutex::default(), most, ttl }
    }

    /// Stores a turn under the id of its answer.
    pub(crate) fn keep(
        &self,
        ask: &AdmittedRequest,
        outcome: &Outcome,
        answer: &Answer,
        model: impl FnOnce() -> String,
        now_ms: i64,
    ) {
        if self.most == 0 {
            return;
        }
        let took = u64::try_from(ask.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let began = now_ms.saturating_sub(i64::try_from(took).unwrap_or(0));
        let trace: Vec<Value> = answer
            .calls
            .iter()
            .map(|call| {
                let (ok, t) = (call.is_ok() || call.proposed, call.began.saturating_duration_since(ask.began).as_millis());
                let mut entry =
                    json!({"t": u64::try_from(t).unwrap_or(0), "tool": call.tool, "args": redact_value(&call.args, 0), "outcome": if ok { "ok" } else { "error" }});
                entry["durationMs"] = json!(call.duration_ms);
                if !ok {
                    entry["errorMessage"] = json!(if call.asked { "The tool failed." } else { "It was not run." });
                }
                entry
            })
            .collect();
        let shape = json!({
            "hasCards": !outcome.response.cards.is_empty(),
            "hasComparison": outcome.response.comparison.is_some(),
            "toolCalls": answer.calls.len(),
        });
        let result = json!({
            "status": if outcome.fault.is_some() { "error" } else { "ok" },
            "httpStatus": outcome.status.as_u16(),
            "textSnippet": shorten_with_dots(&outcome.response.text, SNIPPET),
            "responseShape": shape,
        });
        let mut record = json!({
            "runId": ask.turn, "requestId": ask.request_id, "createdAt": began, "durationMs": took, "route": ask.route,
            "applicationId": ask.request.application, "sessionId": ask.request.session,
            "request": summarise_request(&ask.request), "result": result, "toolTrace": trace, "openaiTrace": {"rounds": answer.rounds, "model": model()},
        });
        if let Some(fault) = &outcome.fault {
            record["errors"] = json!([describe_fault(fault)]);
        }
        self.store_run(StoredRun {
            record,
            request: Some((ask.request.clone(), ask.client_ip.clone())),
            at: Instant::now(),
        });
    }

    /// Stores a refused request that did not become a turn.
    pub(crate) fn store_refusal(
        &self,
        route: &str,
        (turn, request_id): (&str, &str),
        body: &Value,
        fault: &Fault,
        model: impl FnOnce() -> String,
        now_ms: i64,
    ) {
        if self.most == 0 {
            return;
        }
        let text =
            |name: &str| shorten_with_dots(body[name].as_str().unwrap_or("unknown"), SNIPPET);
        let shape = json!({"hasCards": false, "hasComparison": false, "toolCalls": 0});
        let record = json!({
            "runId": turn, "requestId": request_id, "createdAt": now_ms, "durationMs": 0, "route": route,
            "applicationId": text("applicationId"), "sessionId": text("sessionId"),
            "request": {"message": text("message"), "contextPresent": body["context"].is_object()},
            "result": {"status": "error", "httpStatus": fault.status.as_u16(), "responseShape": shape},
            "toolTrace": [], "openaiTrace": {"rounds": 0, "model": model()}, "errors": [describe_fault(fault)],
        });
        self.store_run(StoredRun { record, request: None, at: Instant::now() });
    }

    fn store_run(&self, kept: StoredRun) {
        let mut runs = self.runs.lock();
        runs.push_front(kept);
        runs.truncate(self.most);
    }

    pub(crate) fn remove_expired(&self, now: Instant) {
        self.runs.lock().retain(|kept| now.saturating_duration_since(kept.at) < self.ttl);
    }

    /// Returns a one-line summary of each of the newest runs, and the total number of runs.
    pub(crate) fn list_runs(
        &self,
        limit: usize,
        application: Option<&str>,
        session: Option<&str>,
    ) -> Value {
        self.remove_expired(Instant::now());
        let runs = self.runs.lock();
        let fits = |record: &Value| {
            application.is_none_or(|id| record["applicationId"] == id)
                && session.is_none_or(|id| record["sessionId"] == id)
        };
        let found: Vec<&Value> =
            runs.iter().map(|kept| &kept.record).filter(|record| fits(record)).collect();
        let line = |record: &&Value| {
            let mut line = json!({
                "runId": record["runId"], "createdAt": record["createdAt"], "applicationId": record["applicationId"], "sessionId": record["sessionId"],
                "status": record["result"]["status"], "durationMs": record["durationMs"], "toolCalls": record["result"]["responseShape"]["toolCalls"],
            });
            if let Some(text) = record["result"].get("textSnippet") {
                line["textSnippet"] = text.clone();
            }
            line
        };
        json!({"runs": found.iter().take(limit).map(line).collect::<Vec<_>>(), "total": found.len()})
    }

    pub(crate) fn get(&self, id: &str) -> Option<(Value, Option<(ChatRequest, String)>)> {
        self.remove_expired(Instant::now());
        let runs = self.runs.lock();
        runs.iter()
            .find(|kept| kept.record["runId"] == id)
            .map(|kept| (kept.record.clone(), kept.request.clone()))
    }
}

fn describe_fault(fault: &Fault) -> Value {
    json!({"category": fault.code, "message": crate::json::truncate_text(&fault.safe_message(), 200)})
}

fn summarise_request(request: &ChatRequest) -> Value {
    let context = &request.context;
    let mut summary = json!({"message": shorten_with_dots(&request.message, SNIPPET), "contextPresent": !context.is_empty()});
    if !context.is_empty() {
        let mut told: Map<String, Value> = ["cultureCode", "currencyCode", "salesAreaId"]
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), context.get(*name)?.clone())))
            .collect();
        if let Some(lists) = context.get("priceListIds").and_then(Value::as_array) {
            told.insert("priceListIdsCount".into(), json!(lists.len()));
        }
        told.insert("customerIdPresent".into(), json!(context.contains_key("customerId")));
        told.insert("companyIdPresent".into(), json!(context.contains_key("companyId")));
        summary["contextSummary"] = Value::Object(told);
    }
    summary
}

/// Removes secrets from arguments and limits their number.
fn redact_value(value: &Value, depth: usize) -> Value {
    match value {
        Value::String(text) => json!(shorten_with_dots(text, SNIPPET)),
        Value::Array(_) | Value::Object(_) if depth >= DEPTH => json!("[deeper]"),
        Value::Array(list) => {
            list.iter().take(ARRAY).map(|value| redact_value(value, depth + 1)).collect()
        }
        Value::Object(members) => {
            let of = |(name, value): (&String, &Value)| {
                let plain = name.to_lowercase().replace(['-', '_'], "");
                if name == "context" {
                    return ("contextPresent".to_owned(), json!(true));
                }
                let hidden = HIDDEN.iter().any(|word| plain.contains(word));
                (
                    name.clone(),
                    if hidden { json!("[REDACTED]") } else { redact_value(value, depth + 1) },
                )
            };
            Value::Object(members.iter().map(of).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chat_api_19_members_named_like_a_secret_are_redacted_in_any_spelling() {
        for name in [
            "authorization",
            "Authorization",
            "token",
            "csrf-token",
            "client_secret",
            "ClientSecret",
            "PASSWORD",
            "old_pass_word",
            "api-key",
            "API_KEY",
            "accessToken",
            "ACCESS-TOKEN",
            "applicationId",
            "application_id",
        ] {
            for value in
                [json!("hidden-1"), json!({"inner": "hidden-1"}), json!(["hidden-1"]), json!(17)]
            {
                let kept = redact_value(&json!({"query": "tent", name: value}), 0);
                assert_eq!(kept, json!({"query": "tent", name: "[REDACTED]"}), "{name}: {value}");
            }
        }
        let inside = redact_value(
            &json!({"filters": {"secret": "hidden-1", "color": "red"}, "list": [{"token": "hidden-1"}]}),
            0,
        );
        assert_eq!(
            inside,
            json!({"filters": {"secret": "[REDACTED]", "color": "red"}, "list": [{"token": "[REDACTED]"}]})
        );
        let plain = json!({"query": "tent", "partNo": "A-1", "quantity": 2, "key": "blue", "inStock": true, "brand": null});
        assert_eq!(redact_value(&plain, 0), plain, "what names none stays");
    }

    #[test]
    fn chat_api_19_recorded_arguments_are_shortened_and_contain_no_context() {
        let kept = redact_value(
            &json!({"context": {"customerId": 17}, "filters": {"context": "x"}, "contexts": 1}),
            0,
        );
        assert_eq!(
            kept,
            json!({"contextPresent": true, "filters": {"contextPresent": true}, "contexts": 1})
        );
        let most: Vec<u32> = (1..=25).collect();
        assert_eq!(redact_value(&json!({"list": most}), 0)["list"], json!(most[..20]));
        for (characters, dots) in [(499, ""), (500, ""), (501, "...")] {
            let kept = redact_value(&json!({"query": "å".repeat(characters)}), 0);
            assert_eq!(kept["query"], format!("{}{dots}", "å".repeat(characters.min(500))));
        }
        let deep = json!({"one": {"two": {"three": {"four": 4}}, "list": [[1], 2]}, "flat": 1});
        assert_eq!(
            redact_value(&deep, 0),
            json!({"one": {"two": {"three": "[deeper]"}, "list": ["[deeper]", 2]}, "flat": 1})
        );
    }
}

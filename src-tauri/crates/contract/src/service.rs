//! Budgets, prices, and the figures of the service-level panel.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::ErrorCode;

/// Spending limits; 0 means no limit. A model call that could exceed a limit is not made.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default, deny_unknown_fields)]
pub struct Budgets {
    /// The most tokens of a message with all its model calls.
    pub run_tokens: u32,
    /// The most US dollars of a message.
    pub run_usd: f64,
    /// The most tokens of a session.
    pub session_tokens: u32,
    /// The most US dollars of a session.
    pub session_usd: f64,
    /// The most tokens of a day in the user's time zone.
    pub day_tokens: u32,
    /// The most US dollars of a day in the user's time zone.
    pub day_usd: f64,
    /// The most tokens of an answer of a model.
    pub max_output_tokens: u32,
}

impl Default for Budgets {
    fn default() -> Self {
        Self {
            run_tokens: 300_000,
            run_usd: 1.0,
            session_tokens: 0,
            session_usd: 0.0,
            day_tokens: 0,
            day_usd: 20.0,
            max_output_tokens: 0,
        }
    }
}

/// The price of a model, in US dollars per million tokens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct ModelPrice {
    /// The model's name; a name with a date or `latest` appended is the same model.
    pub model: String,
    /// US dollars per million tokens of requests.
    pub input_usd: f64,
    /// US dollars per million tokens of answers.
    pub output_usd: f64,
}

/// The known prices.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(default, deny_unknown_fields)]
pub struct PriceTable {
    /// The prices, one row per model.
    pub price: Vec<ModelPrice>,
}

impl PriceTable {
    /// Returns the price of a model by its name, or by its label (`NAME at HOST`).
    pub fn of(&self, label: &str) -> Option<&ModelPrice> {
        let name = label.split(" at ").next().unwrap_or(label).trim();
        self.price
            .iter()
            .filter(|row| same_model(&row.model, name))
            .max_by_key(|row| row.model.len())
    }
}

/// Whether a name equals the row's name, possibly followed by a date, `latest` or `preview`.
fn same_model(row: &str, name: &str) -> bool {
    let Some(rest) = name.strip_prefix(row) else { return false };
    let Some(version) = rest.strip_prefix(['-', '@', ':']) else { return rest.is_empty() };
    let digits = version.chars().take_while(char::is_ascii_digit).count();
    digits >= 4 || matches!(version, "latest" | "preview")
}

/// The prices that currently apply, and their sources.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct PricesView {
    /// The file with the user's own prices, which take precedence over the shipped prices.
    pub file: String,
    /// Whether the file exists.
    pub found: bool,
    /// The prices that apply, including shipped prices.
    pub prices: Vec<ModelPrice>,
    /// A sentence that describes why the file could not be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// The configured model.
    pub model: String,
    /// Whether the model is free (because it runs on this computer) or has a price.
    pub model_priced: bool,
}

/// The tokens, cost and calls used, including reservations of running calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Spent {
    /// Tokens of requests and answers.
    pub tokens: u64,
    /// The cost in US dollars.
    pub usd: f64,
    /// The number of model calls.
    pub calls: u32,
    /// Calls of models without a price. `usd` does not include these calls.
    pub unpriced_calls: u32,
}

/// Figures of the most recent runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ServiceLevelView {
    /// The most runs that are included.
    pub window: u32,
    /// The number of runs that are included.
    pub runs: u32,
    /// The measured times and their targets.
    pub latencies: Vec<LatencyView>,
    /// Runs that ended with an error, by code, most frequent first.
    pub errors: Vec<ErrorCount>,
    /// The tokens, cost and calls of today.
    pub spent: Spent,
    /// The prices that currently apply.
    pub prices: PricesView,
}

/// A measured time and its target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct LatencyView {
    /// The kind of the measured runs.
    pub class: LatencyClass,
    /// The percentile, 50 or 95.
    pub percentile: u8,
    /// The target in milliseconds.
    pub target_ms: u64,
    /// The measured time in milliseconds; absent if there is no such run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_ms: Option<u64>,
    /// The number of measured runs.
    pub runs: u32,
}

/// The kind of run that a measurement describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum LatencyClass {
    /// A run that was answered without a tool.
    Simple,
    /// A run with at least one tool call.
    WithTools,
}

/// The number of runs that ended with the same error code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct ErrorCount {
    /// The code of the error.
    pub code: ErrorCode,
    /// The number of runs that ended with this code.
    pub runs: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_found_for_a_model_and_its_dated_versions_only() {
        let row = |model: &str| ModelPrice { model: model.into(), input_usd: 1.0, output_usd: 2.0 };
        let table =
            PriceTable { price: vec![row("gpt-4o"), row("gpt-4o-mini"), row("claude-sonnet-4")] };
        let found = |label: &str| table.of(label).map(|row| row.model.as_str());
        assert_eq!(found("gpt-4o-mini at api.openai.com"), Some("gpt-4o-mini"));
        assert_eq!(found("gpt-4o-2024-08-06"), Some("gpt-4o"));
        assert_eq!(found("gpt-4o-mini-2024-07-18"), Some("gpt-4o-mini"));
        assert_eq!(found("claude-sonnet-4-20250514"), Some("claude-sonnet-4"));
        for unknown in [
            "claude-sonnet-4-5",
            "claude-sonnet-4-5-20250929",
            "gpt-4",
            "gpt-4o-audio",
            "gpt-4.1",
            "llama3",
        ] {
            assert_eq!(found(unknown), None, "{unknown}");
        }
    }
}

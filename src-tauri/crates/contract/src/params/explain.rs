//! Parameters and answers about how the offline model understands a message.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::{ToolId, metric_query::MetricQuery};

wire! {
    /// A message to explain.
    struct MessageExplainParams {
        /// The message as it would be typed.
        text: String,
    }

    /// How the offline model understands a message that begins a conversation.
    struct MessageExplainResponse {
        /// `en` or `sv`; none if the words do not indicate a language.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        language: Option<String>,
        /// Words that were corrected, because they look like typing errors.
        corrected: Vec<CorrectedWord>,
        /// The requests of the message, in order.
        clauses: Vec<ExplainedClause>,
        /// The calls that are planned for the whole message, in order.
        goals: Vec<ExplainedGoal>,
        /// The ways to read the message as questions about sources, in its order and the best first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(optional, as = "Option<Vec<ExplainedReading>>")]
        readings: Vec<ExplainedReading>,
        /// The kind of the answer if no tool is called, such as `not_understood`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        otherwise: Option<String>,
    }

    /// A way to read a question about a source.
    struct ExplainedReading {
        /// The words of the question.
        text: String,
        /// `one`, `several` or `partly`, or the operation that no metric query says, such as
        /// `forecast`.
        outcome: String,
        /// Whether the answer follows this reading.
        is_chosen: bool,
        /// How well it fits, of 1000. 0: there is no query.
        score: i32,
        /// The query in words. None if no question says it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        question: Option<String>,
        /// The query.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        query: Option<Box<MetricQuery>>,
        /// The meaning of each part of the text.
        spans: Vec<ExplainedSpan>,
        /// Words that were read as names of the data.
        corrected: Vec<CorrectedWord>,
        /// Words that are left out.
        left_out: Vec<String>,
    }

    /// The meaning of a part of a text.
    struct ExplainedSpan {
        /// The words.
        text: String,
        /// The meaning, such as `measure spend`.
        means: String,
    }

    /// A corrected word.
    struct CorrectedWord {
        /// The word in the message.
        typed: String,
        /// The word to which it was corrected.
        read_as: String,
    }

    /// A request of a message, with the tools for which it may be meant.
    struct ExplainedClause {
        /// The words of the request.
        text: String,
        /// All intents that match the clause, most likely first.
        intents: Vec<ExplainedIntent>,
    }

    /// An intent of a tool, with the evidence for it.
    struct ExplainedIntent {
        /// The tool of the intent.
        tool: ToolId,
        /// The name of the intent in the manifest.
        intent: String,
        /// The score of the evidence; at least 10 is required.
        score: i32,
        /// Whether the plan follows this intent.
        is_chosen: bool,
    }

    /// A call that is planned.
    struct ExplainedGoal {
        /// The tool to call.
        tool: ToolId,
        /// The name of the intent in the manifest.
        intent: String,
        /// The arguments that were read from the words.
        #[ts(type = "Record<string, unknown>")]
        arguments: Map<String, Value>,
        /// Words that the plan does not use; they are reported below the answer.
        unused: Vec<String>,
        /// Why the call is not made, such as `unused: 20%`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        doubt: Option<String>,
    }
}

//! Parameters and answers of the commands about a question while it is typed: words that fit, words
//! that will not be used, and questions to begin with.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{SourceName, metric_query::MetricQuery};

/// The kind of thing that a completion names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum CompletionKind {
    /// A measure.
    Measure,
    /// A dimension.
    Dimension,
    /// A value of a dimension.
    Value,
    /// A period.
    Period,
    /// An operation, such as an order.
    Operation,
}

wire! {
    /// A question that is being typed. Positions are in UTF-16 code units, as pages count them.
    struct QuestionReadParams {
        /// The whole text.
        text: String,
        /// The position of the caret.
        cursor: u32,
        /// The language of the words that are offered, such as `sv`. Another one than `en` and `sv`
        /// gives English.
        language: String,
        /// The metric query of the newest figures in the conversation, which the question may go on
        /// from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        before: Option<Box<MetricQuery>>,
    }

    /// The words that fit a question that is being typed, and those that would not be used.
    struct QuestionReadResponse {
        /// The words that fit at the caret, best first.
        completions: Vec<QuestionCompletion>,
        /// The words that the answer would not use. Empty if a language model answers, because it
        /// reads every word.
        unused: Vec<QuestionSpan>,
        /// The misspelled words, with the names that they would be read as.
        corrections: Vec<QuestionCorrection>,
    }

    /// Words that fit at the caret.
    struct QuestionCompletion {
        /// The text that takes the place of what stands between `from` and `to`.
        insert: String,
        /// The first position that is replaced.
        from: u32,
        /// The position after the last one that is replaced.
        to: u32,
        /// The kind of thing that the words name.
        kind: CompletionKind,
        /// The thing that they belong to: the source of a name, the dimension of a value.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        of: Option<String>,
    }

    /// A part of a question.
    struct QuestionSpan {
        /// The first position.
        from: u32,
        /// The position after the last one.
        to: u32,
    }

    /// A misspelled word of a question.
    struct QuestionCorrection {
        /// The first position.
        from: u32,
        /// The position after the last one.
        to: u32,
        /// The name that the word would be read as.
        read_as: String,
    }

    /// Asks for questions that can be answered from the sources.
    struct QuestionSuggestionsParams {
        /// The language of the questions, such as `sv`. Another one than `en` and `sv` gives
        /// English.
        language: String,
        /// The source that they are about. Absent: any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        source: Option<SourceName>,
        /// The metric query whose question is wanted. Absent: questions that are often asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        query: Option<Box<MetricQuery>>,
        /// The most questions: at most 12.
        limit: u32,
    }

    /// Questions that can be answered as they are.
    struct QuestionSuggestionsResponse {
        /// The questions, best first.
        questions: Vec<String>,
    }

    /// Stores a word as another name of a measure or dimension. A person who sends it approves no
    /// definition that was not approved before.
    struct SourceSynonymParams {
        /// The source.
        source: SourceName,
        /// The measure or dimension.
        name: String,
        /// The word.
        word: String,
        /// The language of the word, such as `sv`.
        language: String,
    }
}

//! The results of reading a question.

use std::ops::Range;

use contract::metric_query::{Condition, MetricQuery, Period};
use serde::{Deserialize, Serialize};

/// The result of reading a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// One reading uses all words with a meaning.
    One(Box<Reading>),
    /// Several readings fit equally well, the first of them best by a little.
    Several(Vec<Reading>),
    /// Some words have no meaning here. The nearest reading leaves them out.
    Partly {
        /// The words that are left out, by their bytes in the text.
        without: Vec<Range<usize>>,
        /// The reading of all other words.
        nearest: Box<Reading>,
    },
    /// No metric query can say it.
    Declined {
        /// The operation.
        by: Declined,
        /// The words that name it.
        at: Range<usize>,
    },
    /// The question is about none of the sources.
    None,
}

/// A kind of question that no metric query can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Declined {
    /// Figures of the future.
    Forecast,
    /// The effect of one thing on another.
    Cause,
    /// Whether a difference is more than chance.
    Significance,
    /// Steps that people take one after another.
    Funnel,
    /// Groups by their beginning, followed over time.
    Cohort,
    /// How a figure is computed, or the meaning of a value.
    Definition,
    /// An assumption about a source that has no plan.
    WhatIf,
    /// It tells to change an amount, and asks for nothing.
    Instruction,
    /// The text is too long for a question.
    Length,
}

/// The form in which an answer is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum View {
    /// A chart of any kind.
    Chart,
    /// Bars.
    Bar,
    /// A line.
    Line,
    /// A table.
    Table,
    /// A file of comma-separated values.
    Csv,
}

/// The kind of sentence, which decides how an answer begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// A request for figures.
    #[default]
    Figures,
    /// It asks for yes or no.
    YesNo,
    /// It asks for the number of things.
    HowMany,
    /// It asks for things.
    Which,
    /// It asks for what explains a change.
    Why,
}

/// One way to read a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The query. It names its source.
    pub query: MetricQuery,
    /// How well it fits. Readings of the same text compare by it: a synonym, a correction, a default and
    /// a word that is left out lower it.
    pub score: i32,
    /// The meaning of each part of the text, in its order.
    pub spans: Vec<Span>,
    /// The names that misspelled words were read as.
    pub corrections: Vec<Correction>,
    /// The parts of the query that the text does not say.
    pub assumed: Vec<Assumed>,
    /// The form in which the answer is wanted.
    pub view: Option<View>,
    /// The kind of sentence.
    pub form: Form,
    /// The condition on a figure whose truth is asked: "is the rate above 5 %?".
    pub asked: Option<Condition>,
}

/// The meaning of a part of the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// The bytes in the text.
    pub at: Range<usize>,
    /// The meaning.
    pub means: SpanMeaning,
}

/// The kind of thing that a part of the text names.
#[derive(Clone, Debug, PartialEq)]
pub enum SpanMeaning {
    /// A measure.
    Measure(String),
    /// A dimension.
    Dimension(String),
    /// A value of a dimension.
    Value {
        /// The dimension.
        dimension: String,
        /// The value.
        value: String,
    },
    /// The source.
    Source,
    /// A period.
    Period(Period),
    /// A number.
    Number,
    /// An operation, such as an order.
    Operation,
    /// It has no meaning here.
    LeftOut,
}

/// A misspelled word and the name that it was read as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correction {
    /// The bytes of the word in the text.
    pub at: Range<usize>,
    /// The name.
    pub name: String,
}

/// A part of a query that the text does not say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Assumed {
    /// The measure.
    Measure(String),
    /// The measure that a general word for an amount means.
    Amount(String),
    /// The period.
    Period,
    /// The dimension whose values are ranked.
    Dimension(String),
    /// The grain of time.
    Grain,
    /// That great values of a measure are the good ones.
    Better(String),
    /// The period to compare with.
    Comparison,
    /// The values that contain the word that was typed.
    PartOfName(String),
}

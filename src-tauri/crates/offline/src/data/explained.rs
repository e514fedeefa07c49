//! Explains how a message is read as questions about sources, for people who write definitions.

use contract::{CorrectedWord, ExplainedReading, ExplainedSpan};
use questions::{Declined, Outcome, Reading, SpanMeaning};

use super::{KnownSources, part::Part};

/// Returns the ways to read the parts of a message. `are_chosen` says whether its answer comes from
/// sources.
pub(crate) fn explain_readings(
    known: &KnownSources,
    parts: &[Part],
    are_chosen: bool,
    language: &str,
) -> Vec<ExplainedReading> {
    let explain = |part| Explain { known, part, language }.readings(are_chosen);
    parts.iter().flat_map(explain).collect()
}

struct Explain<'a> {
    known: &'a KnownSources,
    part: &'a Part,
    language: &'a str,
}

impl Explain<'_> {
    fn readings(&self, is_chosen: bool) -> Vec<ExplainedReading> {
        match &self.part.outcome {
            Outcome::One(reading) => vec![self.reading("one", is_chosen, reading)],
            Outcome::Several(readings) => {
                readings.iter().map(|reading| self.reading("several", is_chosen, reading)).collect()
            }
            Outcome::Partly { without, nearest } => {
                let left_out = without.iter().map(|at| self.part.words(at).to_owned()).collect();
                vec![ExplainedReading { left_out, ..self.reading("partly", false, nearest) }]
            }
            Outcome::Declined { by, at } => {
                let left_out = vec![self.part.words(at).to_owned()];
                vec![ExplainedReading { left_out, ..self.empty(name_of(*by), is_chosen) }]
            }
            Outcome::None => Vec::new(),
        }
    }

    fn empty(&self, outcome: &str, is_chosen: bool) -> ExplainedReading {
        ExplainedReading {
            text: self.part.words(&self.part.at).trim().to_owned(),
            outcome: outcome.to_owned(),
            is_chosen,
            score: 0,
            question: None,
            query: None,
            spans: Vec::new(),
            corrected: Vec::new(),
            left_out: Vec::new(),
        }
    }

    fn reading(&self, outcome: &str, is_chosen: bool, reading: &Reading) -> ExplainedReading {
        let words = |at: &std::ops::Range<usize>| self.part.words(at).to_owned();
        let spans = reading.spans.iter().filter(|span| !span.at.is_empty());
        let corrections = reading.corrections.iter();
        let catalog = &self.known.catalog;
        ExplainedReading {
            score: reading.score,
            question: self.known.reader().say(&reading.query, catalog, self.language),
            query: Some(Box::new(reading.query.clone())),
            spans: spans
                .map(|span| ExplainedSpan { text: words(&span.at), means: meaning(&span.means) })
                .collect(),
            corrected: corrections
                .map(|one| CorrectedWord { typed: words(&one.at), read_as: one.name.clone() })
                .collect(),
            ..self.empty(outcome, is_chosen)
        }
    }
}

fn meaning(means: &SpanMeaning) -> String {
    match means {
        SpanMeaning::Measure(name) => format!("measure {name}"),
        SpanMeaning::Dimension(name) => format!("dimension {name}"),
        SpanMeaning::Value { dimension, value } => format!("{dimension} = {value}"),
        SpanMeaning::Source => "source".to_owned(),
        SpanMeaning::Period(period) => {
            format!("period {}", serde_json::to_string(period).unwrap_or_default())
        }
        SpanMeaning::Number => "number".to_owned(),
        SpanMeaning::Operation => "operation".to_owned(),
        SpanMeaning::LeftOut => "left out".to_owned(),
    }
}

fn name_of(by: Declined) -> &'static str {
    match by {
        Declined::Forecast => "forecast",
        Declined::Cause => "cause",
        Declined::Significance => "significance",
        Declined::Funnel => "funnel",
        Declined::Cohort => "cohort",
        Declined::Definition => "definition",
        Declined::WhatIf => "what if",
        Declined::Instruction => "instruction",
        Declined::Length => "length",
    }
}

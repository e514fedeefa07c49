//! Tests of questions about the sources of the sample, one of which compares spend with a plan. Each
//! question has the metric queries that a person means, and what becomes of it now.

use std::collections::BTreeMap;

use contract::metric_query::{Condition, MetricQuery, read_metric_query};
use serde::Deserialize;
use serde_json::Value;

use super::world::{Turn, World};

/// The questions, with a JSON object per line.
const QUESTIONS: &str = include_str!("pacing.jsonl");

/// The most questions that are not answered as they are meant. The numbers may only fall.
const MOST: [(Now, usize); 3] = [(Now::Asked, 0), (Now::Declined, 14), (Now::Misread, 1)];

/// The outcome of a question.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
enum Now {
    /// It leads to the wanted queries, or to no call if none is wanted.
    #[default]
    Right,
    /// It has further readings, between which the person chooses.
    Asked,
    /// It leads to no call although the sources can answer it.
    Declined,
    /// It leads to other calls than the wanted ones.
    Misread,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    text: String,
    #[serde(default)]
    lang: Option<String>,
    /// Earlier messages of the conversation.
    #[serde(default)]
    after: Vec<String>,
    #[serde(default)]
    wanted: Vec<Value>,
    #[serde(default)]
    now: Now,
}

/// Returns a query with its conditions in a fixed order.
fn sorted(mut query: MetricQuery) -> MetricQuery {
    let key = |condition: &Condition| serde_json::to_string(condition).unwrap();
    query.conditions.sort_by_key(key);
    query
}

/// Whether a turn is what a question leads to now.
fn is_expected(question: &Question, turn: &Turn) -> bool {
    let read = |value: &Value| sorted(read_metric_query(value).unwrap());
    let wanted: Vec<MetricQuery> = question.wanted.iter().map(read).collect();
    let queries = turn.calls.iter().filter(|call| call.tool.starts_with("data."));
    let asked: Vec<MetricQuery> = queries.map(|call| read(&call.arguments["query"])).collect();
    let has_all = !wanted.is_empty() && wanted.iter().all(|one| asked.contains(one));
    let are_only_queries = asked.len() == turn.calls.len();
    match question.now {
        Now::Right if wanted.is_empty() => turn.calls.is_empty(),
        Now::Right => has_all && are_only_queries && asked.len() == wanted.len(),
        Now::Asked => has_all && are_only_queries && asked.len() > wanted.len(),
        Now::Declined => turn.calls.is_empty(),
        Now::Misread => !(turn.calls.is_empty() || has_all && are_only_queries),
    }
}

#[test]
fn questions_about_the_sample_lead_to_their_metric_queries() {
    let mut counts: BTreeMap<Now, usize> = BTreeMap::new();
    let mut changed: Vec<String> = Vec::new();
    for line in QUESTIONS.lines() {
        let question: Question = serde_json::from_str(line).expect("a question");
        let mut world = World::with_sample();
        world.locale = question.lang.clone().unwrap_or_else(|| "en".to_owned());
        for earlier in &question.after {
            world.say(earlier);
        }
        let turn = world.say(&question.text);
        assert!(!turn.text.trim().is_empty(), "{}: an answer", question.text);
        assert!(turn.calls.iter().all(|call| !call.writes), "{}: {turn:?}", question.text);
        *counts.entry(question.now).or_default() += 1;
        if !is_expected(&question, &turn) {
            let calls: Vec<String> =
                turn.calls.iter().map(|call| format!("{} {}", call.tool, call.arguments)).collect();
            changed.push(format!(
                "{:?} {:?} {:?}: {calls:?} {}",
                question.now, question.after, question.text, turn.text
            ));
        }
    }
    assert!(changed.is_empty(), "judge these again:\n{}", changed.join("\n"));
    for (now, most) in MOST {
        let count = counts.get(&now).copied().unwrap_or(0);
        assert!(count <= most, "{count} questions are {now:?}, at most {most} may be");
    }
}

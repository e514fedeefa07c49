//! Tests 100 questions written by people who did not know the code, the manifests or the other test
//! sentences. Each question has the expected calls and a verdict by another person who read the
//! answer. If the calls change, a new verdict is needed.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::world::World;

/// The questions, with a JSON object per line. Each question begins a conversation.
const QUESTIONS: &str = include_str!("questions.jsonl");

/// The minimum number of questions answered, wholly or in part, of 100 questions that the data can
/// answer. The numbers may only be raised.
const LEAST_ANSWERED: [(&str, u32); 1] = [("shop", 76)];

/// The verdict on an answer.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    /// The answer is correct.
    Right,
    /// The answer covers a part and names the rest, states an assumption, or asks for more
    /// information.
    Partial,
    /// The model declines without misleading the user.
    Refused,
    /// The answer is for another question, or ignores a condition without saying so.
    Wrong,
}

#[derive(Deserialize)]
struct Question {
    id: u32,
    area: String,
    lang: String,
    text: String,
    /// Whether the data can answer the question. None if the question is not about the data of a
    /// pack.
    answerable: Option<bool>,
    verdict: Verdict,
    /// The tools with their arguments, in the order of the calls.
    calls: Vec<(String, Value)>,
}

#[test]
fn a_hundred_questions_lead_to_their_recorded_calls() {
    let mut counts: BTreeMap<(String, Verdict), u32> = BTreeMap::new();
    let mut changed: Vec<String> = Vec::new();
    // Counts, per area, the questions that the data can answer and how many of them were answered.
    let mut answered: BTreeMap<String, (u32, u32)> = BTreeMap::new();
    for line in QUESTIONS.lines() {
        let question: Question = serde_json::from_str(line).expect("a question");
        let mut world = World::new();
        world.locale.clone_from(&question.lang);
        let turn = world.say(&question.text);
        let calls: Vec<(String, Value)> =
            turn.calls.into_iter().map(|call| (call.tool, call.arguments)).collect();
        assert!(!turn.text.trim().is_empty(), "{}: an answer", question.id);
        if calls != question.calls {
            changed.push(format!("{} {:?}: {calls:?}", question.id, question.text));
        }
        if question.answerable == Some(true) {
            let is_answered = matches!(question.verdict, Verdict::Right | Verdict::Partial);
            let (all, done) = answered.entry(question.area.clone()).or_default();
            *all += 1;
            *done += u32::from(is_answered);
        }
        *counts.entry((question.area, question.verdict)).or_default() += 1;
    }
    println!("{counts:#?}\nanswerable and answered: {answered:?}");
    assert!(changed.is_empty(), "judge these again:\n{}", changed.join("\n"));
    assert_eq!(counts.values().sum::<u32>(), 100);
    let wrong: u32 = counts.iter().filter(|((_, v), _)| *v == Verdict::Wrong).map(|(_, n)| n).sum();
    assert_eq!(wrong, 0, "confident answers to another question");
    for (area, least) in LEAST_ANSWERED {
        let (all, done) = answered[area];
        assert!(100 * done >= least * all, "{done} of {all} questions about {area} are answered");
    }
}

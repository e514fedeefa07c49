//! 200 questions of people who did not know the code, the manifests or the other test sentences,
//! with the calls that they lead to and the verdict of a second person who read the answers. A
//! change of the calls needs a new verdict.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::world::World;

/// The questions, one JSON object a line. Each begins a conversation.
const QUESTIONS: &str = include_str!("questions.jsonl");

/// Of 100 questions that the data can answer, so many are answered, wholly or in part. These
/// numbers only rise.
const LEAST_ANSWERED: [(&str, u32); 2] = [("pacing", 95), ("shop", 76)];

/// The judgement of an answer.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    /// It answers the question.
    Right,
    /// It answers a part and names the rest, states an assumption, or asks back.
    Partial,
    /// It declines, and misleads nobody.
    Refused,
    /// It answers another question, or drops a condition without saying so.
    Wrong,
}

#[derive(Deserialize)]
struct Question {
    id: u32,
    area: String,
    lang: String,
    text: String,
    /// Whether the data can answer it. None if it is not about the data of a pack.
    answerable: Option<bool>,
    verdict: Verdict,
    /// The tools with their arguments, in the order of the calls.
    calls: Vec<(String, Value)>,
}

#[test]
fn two_hundred_questions_lead_to_the_judged_calls() {
    let mut counts: BTreeMap<(String, Verdict), u32> = BTreeMap::new();
    let mut changed: Vec<String> = Vec::new();
    // The questions of an area that the data can answer, and those of them that are answered.
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
    assert_eq!(counts.values().sum::<u32>(), 200);
    let wrong: u32 = counts.iter().filter(|((_, v), _)| *v == Verdict::Wrong).map(|(_, n)| n).sum();
    assert_eq!(wrong, 0, "confident answers to another question");
    for (area, least) in LEAST_ANSWERED {
        let (all, done) = answered[area];
        assert!(100 * done >= least * all, "{done} of {all} questions about {area} are answered");
    }
}

//! Tests of the shop's sample utterances with the real tools. At least 95 of 100 must be right, in each
//! language for the utterances used in tuning and over both for the held-out utterances, and no
//! unrequested write may happen. The practice files in this folder belong to the tuned part.

use std::{collections::BTreeSet, fs, path::Path};

use language::{fold, stem};
use serde::Deserialize;
use serde_json::Value;

use super::world::{Call, Turn, World, tools_folder};
use crate::{
    goal::{Doubt, Outcome},
    handbook::Answer,
    reader::Talk,
    social::Social,
};

const PACK: &str = "shop";
const LANGUAGES: [&str; 2] = ["en", "sv"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    now: String,
    #[serde(rename = "time_zone")]
    _time_zone: String,
    language: String,
    utterances: Vec<Utterance>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Utterance {
    say: String,
    /// Earlier messages of the conversation, which are replayed first.
    #[serde(default)]
    after: Vec<String>,
    expect: Expect,
    set: Set,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Set {
    Tune,
    /// Utterances that are only scored. Failures among them are never shown.
    Held,
    /// Utterances in the practice files, kept outside the pack so that a third of the utterances in
    /// the pack is held out.
    Practice,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Expect {
    Call(Wanted),
    Calls { calls: Vec<Wanted> },
    Answer { answer: String },
}

#[derive(Deserialize)]
struct Wanted {
    tool: String,
    arguments: Value,
}

#[derive(Clone, Default)]
struct Score {
    asked: usize,
    right: usize,
    wrong_writes: Vec<String>,
    misses: Vec<String>,
}

#[test]
fn enough_utterances_of_each_set_lead_to_the_expected_call() {
    let mut report = String::new();
    let mut bad = Vec::new();
    let mut missed = Vec::new();
    for set in [Set::Tune, Set::Practice, Set::Held] {
        let mut total = Score::default();
        for language in LANGUAGES {
            let score = play(language, set);
            report.push_str(&line(set, language, &score));
            // A language has too few held-out utterances for a bound of its own; both together have one.
            if set != Set::Held {
                bad.extend(score.faults(set, language));
            }
            missed.extend(score.misses.iter().filter(|_| set != Set::Held).cloned());
            total.add(score);
        }
        report.push_str(&line(set, "all", &total));
        bad.extend(total.faults(set, PACK));
    }
    println!("{report}");
    println!("missed in the tuned half and in practice:\n{}", missed.join("\n"));
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn the_pack_has_enough_utterances_and_a_third_is_held_out() {
    for (language, least) in [("en", 120), ("sv", 40)] {
        let path = tools_folder().join(PACK).join(format!("utterances.{language}.json"));
        let file = read(&path, language);
        let all = file.utterances.len();
        let held = file.utterances.iter().filter(|one| one.set == Set::Held).count();
        assert!(all >= least, "{language}: {all}");
        assert!(held * 3 >= all, "{language}: {held} of {all} are held");
    }
}

fn read(path: &Path, language: &str) -> File {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let file: File =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    assert_eq!(file.language, language);
    assert_eq!(
        file.now.parse::<chrono::DateTime<chrono::Utc>>().expect("a moment"),
        super::world::now()
    );
    file
}

fn play(language: &str, set: Set) -> Score {
    let mut score = Score::default();
    let path = match set {
        Set::Tune | Set::Held => {
            tools_folder().join(PACK).join(format!("utterances.{language}.json"))
        }
        Set::Practice => Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("src/tests/practice")
            .join(format!("{PACK}.{language}.json")),
    };
    for one in read(&path, language).utterances.into_iter().filter(|one| one.set == set) {
        let mut world = World::new();
        world.locale = language.to_owned();
        for earlier in &one.after {
            world.say(earlier);
        }
        let turn = world.say(&one.say);
        score.asked += 1;
        for call in turn.calls.iter().filter(|call| call.writes && !is_wanted(call, &one.expect)) {
            score.wrong_writes.push(format!(
                "{:?} after {:?}: {} {}",
                one.say, one.after, call.tool, call.arguments
            ));
        }
        if fits(&turn, &one.expect) {
            score.right += 1;
        } else {
            score.misses.push(format!("{:?} after {:?}: {}", one.say, one.after, describe(&turn)));
        }
    }
    score
}

fn describe(turn: &Turn) -> String {
    let calls: Vec<String> =
        turn.calls.iter().map(|call| format!("{} {}", call.tool, call.arguments)).collect();
    let text: String = turn.text.chars().take(90).collect();
    format!("[{}] {:?} {text:?}", calls.join("; "), turn.said.talk)
}

fn is_wanted(call: &Call, expect: &Expect) -> bool {
    match expect {
        Expect::Call(wanted) => same(call, wanted),
        Expect::Calls { calls } => calls.iter().any(|wanted| same(call, wanted)),
        Expect::Answer { .. } => false,
    }
}

fn same(call: &Call, wanted: &Wanted) -> bool {
    call.tool == wanted.tool && words_apart(&call.arguments) == words_apart(&wanted.arguments)
}

/// Search words are compared as a set of word stems. Everything else must be equal.
fn words_apart(arguments: &Value) -> (Value, BTreeSet<String>) {
    let mut rest = arguments.clone();
    let query = rest.as_object_mut().and_then(|object| object.remove("query"));
    let words = query.as_ref().and_then(Value::as_str).unwrap_or_default();
    (rest, words.split_whitespace().map(|word| stem(&fold(word)).to_owned()).collect())
}

fn fits(turn: &Turn, expect: &Expect) -> bool {
    match expect {
        Expect::Call(wanted) => {
            turn.calls.last().is_some_and(|call| same(call, wanted))
                && turn.calls.iter().filter(|call| call.writes).count() <= 1
        }
        Expect::Calls { calls } => {
            calls.iter().all(|wanted| turn.calls.iter().any(|call| same(call, wanted)))
        }
        Expect::Answer { answer } => {
            turn.calls.iter().all(|call| !call.writes) && kinds(turn).contains(&answer.as_str())
        }
    }
}

/// Returns the kinds of answers in a turn.
fn kinds(turn: &Turn) -> Vec<&'static str> {
    if let Some(talk) = &turn.said.talk {
        return match talk {
            Talk::Social(Social::Greeting | Social::HowAreYou | Social::Thanks | Social::Bye) => {
                vec!["greet"]
            }
            Talk::Social(Social::Help | Social::Identity | Social::Data) => vec!["help"],
            Talk::Social(Social::OffTopic) | Talk::Cannot { .. } => vec!["decline", "none"],
            Talk::Social(Social::Yes | Social::No) | Talk::NotUnderstood(_) => {
                vec!["none", "decline"]
            }
            Talk::Handbook(Answer::Missing { .. }) => vec!["none", "decline"],
            Talk::Handbook(Answer::Section(_) | Answer::Between(_) | Answer::Request { .. }) => {
                vec!["help"]
            }
            Talk::Dropped => vec!["dropped"],
            Talk::AskAgain => vec!["ask"],
            Talk::More => vec!["answer"],
        };
    }
    turn.said
        .outcomes
        .iter()
        .map(|(_, outcome)| match outcome {
            // The answer says that nothing is changed because of the negation.
            Outcome::Doubt(Doubt::Negated) => "none",
            Outcome::Ask { .. } | Outcome::Doubt(_) => "ask",
            Outcome::Nothing { .. } | Outcome::Unusable { .. } => "nothing",
            Outcome::Answer { .. } => "answer",
            Outcome::Later => "later",
            Outcome::Failed { .. } | Outcome::NotOffered | Outcome::Unfinished => "failed",
        })
        .collect()
}

fn line(set: Set, language: &str, score: &Score) -> String {
    let set = match set {
        Set::Tune => "tune",
        Set::Held => "held",
        Set::Practice => "practice",
    };
    let percent = 100.0 * score.right as f64 / score.asked.max(1) as f64;
    format!(
        "{set:8} {language:3} {:3} of {:3} = {percent:5.1}%, wrong writes {}\n",
        score.right,
        score.asked,
        score.wrong_writes.len()
    )
}

impl Score {
    fn add(&mut self, other: Self) {
        self.asked += other.asked;
        self.right += other.right;
        self.wrong_writes.extend(other.wrong_writes);
        self.misses.extend(other.misses);
    }

    /// Returns the failed utterances. For held-out utterances, only the score is computed and no
    /// failures are shown.
    fn faults(&self, set: Set, of: &str) -> Vec<String> {
        let mut faults = Vec::new();
        if !self.wrong_writes.is_empty() {
            faults.push(match set {
                Set::Tune | Set::Practice => {
                    format!("{of}: wrong writes:\n{}", self.wrong_writes.join("\n"))
                }
                Set::Held => {
                    format!("{of}: {} wrong writes in the held half", self.wrong_writes.len())
                }
            });
        }
        if self.right * 100 < self.asked * 95 {
            faults.push(match set {
                Set::Tune | Set::Practice => {
                    format!("{of}: {} of {}:\n{}", self.right, self.asked, self.misses.join("\n"))
                }
                Set::Held => format!("{of}: {} of {} in the held half", self.right, self.asked),
            });
        }
        faults
    }
}

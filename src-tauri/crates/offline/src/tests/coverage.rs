//! The coverage rule: words that would change the question stop the answer, other unused words are
//! reported, and a message can be explained.

use serde_json::json;

use super::world::{World, model, now};
use crate::goal::{Doubt, Outcome};

/// Returns the words that stopped the answer to a message, if any did.
fn refused(text: &str) -> Vec<String> {
    let turn = World::new().say(text);
    let words = turn.said.outcomes.iter().flat_map(|(_, outcome)| match outcome {
        Outcome::Doubt(Doubt::Unused(words)) => words.clone(),
        Outcome::Doubt(Doubt::UnknownName(name)) => vec![name.clone()],
        _ => Vec::new(),
    });
    let words: Vec<String> = words.collect();
    assert!(words.is_empty() || turn.calls.is_empty(), "{text}: {:?}", turn.calls);
    words
}

#[test]
fn words_that_change_the_question_stop_the_answer() {
    for (text, word) in [
        ("CTR for copper kettle campaigns last 14 days", "CTR"),
        ("which campaigns are not behind", "not"),
        ("how much did northwind spend on 31 september", "31"),
        ("is account 17 more than 15% over pace", "15%"),
        ("how is the winter cruises campaign pacing", "winter cruises"),
        ("everything except glacier tents, spend in november", "except"),
    ] {
        let words = refused(text);
        assert!(words.iter().any(|found| found.contains(word)), "{text}: {words:?}");
    }
}

#[test]
fn other_words_are_reported_below_the_answer() {
    let turn = World::new().say("how is account 17 pacing this month for the board");
    assert_eq!(turn.calls.len(), 1, "{}", turn.text);
    assert!(turn.text.contains("I did not use “board”."), "{}", turn.text);
}

#[test]
fn changes_lists_and_periods_are_read_as_they_were_said() {
    for (text, arguments) in [
        (
            "what happens if we raise the daily budget of account 17 by 20%",
            vec![json!({"account_id": "17", "daily_rate_change_percent": 20})],
        ),
        (
            "what if we cut the budget of account 17 by 10 percent",
            vec![json!({"account_id": "17", "budget_change_percent": -10})],
        ),
        ("how is 23 and 42 pacing", vec![json!({"account_id": "23"}), json!({"account_id": "42"})]),
        (
            "spend for bluebell and kestrel in october",
            ["23", "42"]
                .map(|id| {
                    json!({
                        "account_id": id,
                        "campaign_start": "2026-10-01",
                        "campaign_end": "2026-10-31",
                    })
                })
                .to_vec(),
        ),
    ] {
        let turn = World::new().say(text);
        let made: Vec<_> = turn.calls.iter().map(|call| call.arguments.clone()).collect();
        assert_eq!(made, arguments, "{text}: {}", turn.text);
    }
}

#[test]
fn all_accounts_are_answered_together() {
    let turn = World::new().say("How are all accounts pacing this month?");
    assert_eq!(turn.calls[0].tool, "compare_accounts");
    for part in ["Northwind Outdoor", "Bluebell Home", "Kestrel Travel", "USD", "GBP", "EUR"] {
        assert!(turn.text.contains(part), "{part} is missing in\n{}", turn.text);
    }
}

#[test]
fn a_message_is_explained() {
    let text = "spend for bluebel and kestrel in october by hour";
    let explained = model().explain(text, now(), "Europe/Stockholm");
    assert_eq!(explained.corrected.len(), 1, "{explained:?}");
    assert_eq!(explained.clauses.len(), 2, "{explained:?}");
    assert!(explained.clauses[0].intents[0].is_chosen);
    let [first, second] = &explained.goals[..] else { panic!("{explained:?}") };
    assert_eq!(first.arguments["campaign_start"], "2026-10-01");
    assert_eq!(second.arguments["account_id"], "42");
    assert_eq!(second.unused, ["by hour"], "{second:?}");
    assert!(explained.otherwise.is_none());
    let other = model().explain("asdfgh jkl", now(), "Europe/Stockholm");
    assert_eq!(other.otherwise.as_deref(), Some("not_understood"));
}

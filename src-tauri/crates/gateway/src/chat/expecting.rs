//! The open questions of a session that its next message may answer: a pending change, a set of
//! choices, suggestions. Several can be open at once, because choices stay open while the customer
//! asks something else. Only `apply_change` changes the open questions, and `Expecting` names the
//! question that a message answers.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::shop::{
    choices::{self, Pick},
    refine::{self, Way},
};

/// The open questions of a session. The names of the fields are part of the stored form.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Expectations {
    /// The choices that the next message may answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    choices: Option<Value>,
    /// Whether the newest message confirmed a change. A repetition of that message confirms no
    /// other change.
    confirmed: bool,
    /// The public id of the action whose question the caller saw last. A message can answer only
    /// this question.
    #[serde(skip_serializing_if = "Option::is_none")]
    asked: Option<String>,
    /// Whether the last answer offered choices, so that numbers in the next message refer to these
    /// choices.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    options_offered: bool,
    /// The suggestions of the last answers. The next message may be the label of a suggestion.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ways_on: Vec<Value>,
}

/// The open question that a message answers.
#[derive(Debug, PartialEq)]
pub(crate) enum Expecting {
    Nothing,
    /// The message decides the pending change.
    Decision,
    Choice(Pick),
    Suggestion(Way),
}

/// An event that changes the open questions.
#[derive(Debug)]
pub(crate) enum Change {
    /// A message has arrived and will be answered.
    MessageCame,
    /// The message confirmed a change, or repeats the message that confirmed a change.
    Confirmed,
    /// The message was not the label of a suggestion.
    SuggestionsPassed,
    Suggested(Vec<Value>),
    ChoicesOffered(Value),
    /// The customer chose one of the choices.
    Chosen,
    /// A change was proposed, so numbers in the next message no longer refer to an older set of
    /// choices.
    Proposed,
    /// The answer shows other products, so numbers refer to these products from now on.
    ProductsShown,
    Answered {
        offers_choices: bool,
        /// The public id of the action that the answer asks about.
        question: Option<String>,
        /// Whether the caller reads the answer: the answer has not failed, and the caller has not
        /// disconnected.
        is_read: bool,
    },
    /// The caller does not read the answer. The answer's question stays open only if it was also
    /// asked before.
    Unread {
        asked_before: Option<String>,
    },
}

impl Expectations {
    pub(crate) fn apply_change(&mut self, change: Change) {
        match change {
            Change::MessageCame => self.confirmed = false,
            Change::Confirmed => self.confirmed = true,
            Change::SuggestionsPassed => self.ways_on.clear(),
            Change::Suggested(suggestions) => self.ways_on = suggestions,
            Change::ChoicesOffered(choices) => self.choices = Some(choices),
            Change::Chosen | Change::Proposed | Change::ProductsShown => self.choices = None,
            Change::Answered { offers_choices, question, is_read } => {
                self.options_offered = offers_choices;
                if question.is_some() {
                    self.asked =
                        question.filter(|question| is_read || self.is_last_question(question));
                }
            }
            Change::Unread { asked_before } => {
                self.asked = self.keep_if_last_question(asked_before)
            }
        }
    }

    /// Returns the open question that a message answers. `waiting` is the public id of a pending
    /// change, which takes precedence.
    pub(crate) fn find_answered_question(&self, message: &str, waiting: Option<&str>) -> Expecting {
        if waiting.is_some_and(|question| self.is_last_question(question)) {
            return Expecting::Decision;
        }
        if let Some(way) = refine::chosen_suggestion(message, &self.ways_on) {
            return Expecting::Suggestion(way);
        }
        self.choices
            .as_ref()
            .and_then(|choices| choices::pick_option(message, choices))
            .map_or(Expecting::Nothing, Expecting::Choice)
    }

    /// Whether this is the question that the caller saw last.
    pub(crate) fn is_last_question(&self, question: &str) -> bool {
        self.asked.as_deref() == Some(question)
    }

    /// Returns the question that the caller saw last.
    pub(crate) fn last_question(&self) -> Option<&String> {
        self.asked.as_ref()
    }

    /// Keeps an earlier question if the caller has seen no other question since. Returns None
    /// otherwise.
    pub(crate) fn keep_if_last_question(&self, before: Option<String>) -> Option<String> {
        before.filter(|before| self.is_last_question(before))
    }

    /// Whether the previous message confirmed a change.
    pub(crate) fn has_confirmed(&self) -> bool {
        self.confirmed
    }

    pub(crate) fn suggestions(&self) -> &[Value] {
        &self.ways_on
    }

    /// Returns the choices that numbers in the next message refer to.
    pub(crate) fn offered_choices(&self) -> Option<&Value> {
        self.choices.as_ref().filter(|_| self.options_offered)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn choices() -> Value {
        json!({"options": [{"id": "1", "label": "Red", "meta": {"partNo": "P-1"}}], "quantity": 2})
    }

    fn suggestions() -> Vec<Value> {
        vec![json!({"label": "1", "payload": {"type": "search_retry", "query": "tents"}})]
    }

    #[test]
    fn a_reply_is_read_as_a_decision_before_a_suggestion_and_a_choice() {
        let mut open = Expectations::default();
        assert_eq!(open.find_answered_question("1", None), Expecting::Nothing);
        open.apply_change(Change::ChoicesOffered(choices()));
        assert_eq!(
            open.find_answered_question("1", None),
            Expecting::Choice(Pick::Part("P-1".into(), 2))
        );
        open.apply_change(Change::Suggested(suggestions()));
        assert_eq!(
            open.find_answered_question("1", None),
            Expecting::Suggestion(Way::Exactly("tents".into()))
        );
        assert_eq!(
            open.find_answered_question("1", Some("a")),
            Expecting::Suggestion(Way::Exactly("tents".into())),
            "nobody has seen the question"
        );
        open.apply_change(Change::Answered {
            offers_choices: false,
            question: Some("a".into()),
            is_read: true,
        });
        assert_eq!(open.find_answered_question("1", Some("a")), Expecting::Decision);
        assert_eq!(
            open.find_answered_question("yes", Some("b")),
            Expecting::Nothing,
            "of another question no message is the answer"
        );
    }

    #[test]
    fn only_a_question_that_reached_its_reader_counts_as_asked() {
        let mut open = Expectations::default();
        let answered = |question: &str, is_read| Change::Answered {
            offers_choices: false,
            question: Some(question.into()),
            is_read,
        };
        open.apply_change(answered("a", false));
        assert_eq!(open.last_question(), None);
        open.apply_change(answered("a", true));
        open.apply_change(answered("a", false));
        assert!(open.is_last_question("a"), "it had been read before");
        open.apply_change(answered("b", true));
        open.apply_change(Change::Unread { asked_before: Some("a".into()) });
        assert_eq!(open.last_question(), None);
    }

    #[test]
    fn choices_expire_when_other_products_or_changes_are_shown() {
        for change in [Change::Chosen, Change::Proposed, Change::ProductsShown] {
            let mut open = Expectations::default();
            open.apply_change(Change::ChoicesOffered(choices()));
            open.apply_change(Change::Answered {
                offers_choices: true,
                question: None,
                is_read: true,
            });
            assert!(open.offered_choices().is_some());
            open.apply_change(Change::Answered {
                offers_choices: false,
                question: None,
                is_read: true,
            });
            assert!(open.offered_choices().is_none(), "numbers mean products again");
            assert_ne!(
                open.find_answered_question("1", None),
                Expecting::Nothing,
                "the choice can still be made"
            );
            open.apply_change(change);
            assert_eq!(open.find_answered_question("1", None), Expecting::Nothing);
        }
    }

    #[test]
    fn stored_expectations_keep_their_member_names() {
        let stored = json!({"choices": choices(), "confirmed": true, "asked": "a", "optionsOffered": true, "waysOn": suggestions()});
        let read: Expectations = serde_json::from_value(stored.clone()).unwrap_or_default();
        assert_eq!(serde_json::to_value(&read).ok(), Some(stored));
    }
}

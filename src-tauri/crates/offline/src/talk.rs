//! Writes the answers to messages that need no tool: greetings, thanks, questions about the
//! assistant, and messages that were not understood.

use contract::Choice;

use super::{
    goal::{Goal, Outcome},
    reader::Talk,
    reply::{Reply, Speaker},
    social::Social,
    texts::Text,
};

impl Speaker<'_> {
    /// Returns the answer to a message that needs no tool.
    pub(super) fn answer_talk(&self, talk: &Talk, pending: Option<(&Goal, &Outcome)>) -> Reply {
        match talk {
            Talk::Social(social) => self.answer_small_talk(*social),
            Talk::More => self.show_more(None),
            Talk::Cannot { pack, index } => {
                let text = self.book.packs[*pack]
                    .offline
                    .cannot
                    .get(*index)
                    .and_then(|cannot| self.lang.pick(&cannot.answer))
                    .cloned();
                Reply {
                    text: text.unwrap_or_else(|| self.say(Text::CannotDo)),
                    choices: Vec::new(),
                }
            }
            Talk::Dropped => self.plain_reply(Text::Dropped),
            Talk::AskAgain => {
                let again = pending
                    .map(|(goal, outcome)| self.answer_goal(goal, outcome))
                    .unwrap_or_default();
                let lead = self.say(Text::AskAgain);
                Reply {
                    text: format!("{lead}\n\n{}", again.text).trim().to_owned(),
                    choices: again.choices,
                }
            }
            Talk::NotUnderstood(words) => self.answer_not_understood(words),
        }
    }

    /// Returns the answer that names the words that were not understood and examples of possible
    /// questions.
    fn answer_not_understood(&self, words: &[String]) -> Reply {
        let lead = if words.is_empty() {
            self.say(Text::NotUnderstood)
        } else {
            self.fill(Text::WordsNotUnderstood, &[("words", &self.quote_words(words))])
        };
        self.with_examples(format!("{lead} {}", self.say(Text::FixedPhrases)))
    }

    fn answer_small_talk(&self, social: Social) -> Reply {
        let text = match social {
            Social::Greeting => Text::Hello,
            Social::HowAreYou => Text::HowAreYou,
            Social::Thanks => Text::Thanks,
            Social::Bye => Text::Bye,
            Social::Help => Text::Help,
            Social::Identity => Text::Identity,
            Social::Data => Text::WhereDataGoes,
            Social::Yes | Social::No => Text::NoOpenQuestion,
            Social::OffTopic => Text::OffTopic,
        };
        match social {
            Social::Thanks | Social::Bye => self.plain_reply(text),
            _ => self.with_examples(self.say(text)),
        }
    }

    fn with_examples(&self, mut text: String) -> Reply {
        let can: Vec<&str> = self
            .book
            .packs
            .iter()
            .filter_map(|pack| self.lang.pick(&pack.offline.can))
            .map(String::as_str)
            .collect();
        if !can.is_empty() {
            text.push_str(&format!("\n\n{}\n", self.say(Text::CanList)));
            can.iter().for_each(|line| text.push_str(&format!("\n- {line}")));
        }
        let examples: Vec<&String> = self
            .book
            .packs
            .iter()
            .filter_map(|pack| self.lang.pick(&pack.offline.examples))
            .flat_map(|all| all.iter().take(2))
            .collect();
        let choices = examples
            .iter()
            .map(|example| Choice { label: (*example).clone(), message: (*example).clone() })
            .collect();
        Reply { text, choices }
    }
}

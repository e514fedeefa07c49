//! Writes the answers to messages that need no tool: greetings, thanks, questions about the
//! assistant and the product, and messages that were not understood.

use contract::Choice;

use super::{
    goal::{Goal, Outcome},
    handbook::{self, Answer, Section},
    reader::Talk,
    reply::{Reply, Speaker},
    social::Social,
    texts::Text,
};

/// The most examples of requests that a pack's changes are explained with.
const EXAMPLES_OF_PACK: usize = 3;

/// The most examples of each pack below small talk.
const EXAMPLES_OF_EACH_PACK: usize = 2;

impl Speaker<'_> {
    /// Returns the answer to a message that needs no tool.
    pub(super) fn answer_talk(&self, talk: &Talk, pending: Option<(&Goal, &Outcome)>) -> Reply {
        match talk {
            Talk::Social(social) => self.answer_small_talk(*social),
            Talk::Handbook(answer) => {
                Speaker { lang: answer.language(), ..*self }.answer_from_handbook(answer)
            }
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

    /// Returns the line that names the words that were not understood, with the nearest sections of
    /// the handbook.
    fn answer_not_understood(&self, words: &[String]) -> Reply {
        let text = if words.is_empty() {
            self.say(Text::NotUnderstood)
        } else {
            self.fill(Text::WordsNotUnderstood, &[("words", &self.quote_words(words))])
        };
        let near = if self.book.has_handbook { handbook::find_nearest(words) } else { Vec::new() };
        Reply { text, choices: near.into_iter().map(title_button).collect() }
    }

    /// Returns the answer to a question about the product.
    fn answer_from_handbook(&self, answer: &Answer) -> Reply {
        match answer {
            Answer::Section(section) => Reply {
                text: format!("**{}**\n\n{}", section.heading(), section.text()),
                choices: Vec::new(),
            },
            Answer::Between(sections) => Reply {
                text: self.say(Text::WhichSection),
                choices: sections.iter().copied().map(title_button).collect(),
            },
            Answer::Request { pack, .. } => Reply {
                text: self.say(Text::AskForChange),
                choices: self.examples_of(*pack, EXAMPLES_OF_PACK),
            },
            Answer::Missing { words, near, .. } => Reply {
                text: self.fill(Text::NotInHandbook, &[("words", &self.quote_words(words))]),
                choices: near.iter().copied().map(title_button).collect(),
            },
        }
    }

    /// Returns examples of questions that a pack answers, as buttons.
    fn examples_of(&self, pack: usize, most: usize) -> Vec<Choice> {
        let examples = self.lang.pick(&self.book.packs[pack].offline.examples);
        let choice = |example: &String| Choice::new(example.as_str(), example.as_str());
        examples.into_iter().flatten().take(most).map(choice).collect()
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
        let packs = 0..self.book.packs.len();
        let examples = packs.flat_map(|pack| self.examples_of(pack, EXAMPLES_OF_EACH_PACK));
        match social {
            Social::Help => Reply { text: self.list_abilities(text), choices: examples.collect() },
            Social::Greeting | Social::HowAreYou | Social::Identity | Social::Data => {
                Reply { text: self.say(text), choices: examples.collect() }
            }
            Social::OffTopic | Social::Yes | Social::No => {
                Reply { text: self.say(text), choices: examples.take(1).collect() }
            }
            Social::Thanks | Social::Bye => self.plain_reply(text),
        }
    }

    /// Returns a text with the list of what the packs can do.
    fn list_abilities(&self, text: Text) -> String {
        let mut text = self.say(text);
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
        text
    }
}

/// Returns a button that shows a section of the handbook.
fn title_button(section: Section) -> Choice {
    Choice::new(section.heading(), section.heading())
}

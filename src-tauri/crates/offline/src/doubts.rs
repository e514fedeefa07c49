//! Writes the answer to a request that is unclear or that cannot be answered as it was asked: the
//! answer names the unclear words and an alternative.

use contract::Choice;

use super::{
    goal::{Doubt, Goal},
    reply::{Reply, Speaker},
    template::escape_markdown,
    texts::Text,
};

/// The most names that an answer suggests for an unknown name.
const KNOWN: usize = 3;

impl Speaker<'_> {
    pub(super) fn describe_doubt(&self, goal: &Goal, doubt: &Doubt) -> Reply {
        match doubt {
            Doubt::UnknownName(name) => self.unknown_name(goal, name),
            Doubt::Quantity => self.plain_reply(Text::WholeNumber),
            Doubt::Negated => self.plain_reply(Text::Negated),
            Doubt::Unranked => self.plain_reply(Text::Unranked),
            Doubt::Unused(words) => self.refuse_unused_words(goal, words),
            Doubt::Missing(parameter) => {
                let tool = &self.book.tools[goal.tool];
                let counts = tool.slots.iter().any(|slot| {
                    slot.parameter == *parameter
                        && matches!(slot.kind, contract::manifest::SlotKind::Quantity)
                });
                self.plain_reply(if counts { Text::HowMany } else { Text::LookForWhat })
            }
        }
    }

    /// Returns the answer if omitting unused words would change the question.
    fn refuse_unused_words(&self, goal: &Goal, words: &[String]) -> Reply {
        let words = self.quote_words(words);
        let lead = self.fill(Text::UnusedWords, &[("words", &words)]);
        let offline = &self.book.pack_of(goal.tool).offline;
        let example = self.lang.pick(&offline.examples).and_then(|all| all.first());
        let choices = example.map(|example| Choice::new(example.as_str(), example.as_str()));
        Reply { text: lead, choices: choices.into_iter().collect() }
    }

    /// Returns words in quotation marks, as a list.
    pub(super) fn quote_words(&self, words: &[String]) -> String {
        let quoted: Vec<String> = words
            .iter()
            .map(|word| {
                let word = escape_markdown(word);
                self.fill(Text::Quoted, &[("word", &word)])
            })
            .collect();
        self.join(&quoted)
    }

    /// Returns texts as a list.
    pub(super) fn join(&self, texts: &[String]) -> String {
        match texts {
            [] => String::new(),
            [one] => one.clone(),
            [first @ .., last] => {
                format!("{} {} {last}", first.join(", "), self.say(Text::And))
            }
        }
    }

    fn unknown_name(&self, goal: &Goal, name: &str) -> Reply {
        let name = escape_markdown(name);
        let entities = &self.book.pack_of(goal.tool).entities;
        let known: Vec<&str> =
            entities.iter().take(KNOWN).map(|known| known.name.as_str()).collect();
        let mut list =
            known.iter().map(|name| escape_markdown(name)).collect::<Vec<_>>().join(", ");
        if entities.len() > KNOWN {
            let more = entities.len() - KNOWN;
            list = self.fill(Text::NamesAndMore, &[("names", &list), ("more", &more.to_string())]);
        }
        let text = self.fill(Text::UnknownName, &[("name", &name), ("list", &list)]);
        let choices = known.iter().map(|name| Choice::new(*name, *name)).collect();
        Reply { text, choices }
    }
}

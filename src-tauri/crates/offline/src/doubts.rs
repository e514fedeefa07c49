//! Words the answer to a request that is unclear or that cannot be answered as it was asked: it names
//! the words and an alternative.

use contract::Choice;

use super::{
    goal::{Doubt, Goal},
    reply::{Reply, Speaker},
    template::escape_markdown,
};

/// Most names that an answer lists after an unknown one.
const KNOWN: usize = 9;

impl Speaker<'_> {
    pub(super) fn describe_doubt(&self, goal: &Goal, doubt: &Doubt) -> Reply {
        match doubt {
            Doubt::UnknownName(name) => self.unknown_name(goal, name),
            Doubt::Quantity => self.plain_reply("How many? I need a whole number from 1.", "Hur många? Jag behöver ett heltal från 1."),
            Doubt::Negated => self.plain_reply(
                "I change nothing on a sentence with a “not” in it: I might get it the wrong way round. Say what you want instead.",
                "Jag ändrar inget på en mening med ett ”inte” i: jag kan få det bakvänt. Säg i stället vad du vill.",
            ),
            Doubt::Unranked => self.plain_reply(
                "There are more of them than a search brings, so I cannot tell their order. Say more words to narrow it down.",
                "Det finns fler än en sökning ger, så jag kan inte säga ordningen. Säg fler ord så blir den smalare.",
            ),
            Doubt::Unused(words) => self.refuse_unused_words(goal, words),
            Doubt::Missing(parameter) => {
                let tool = &self.book.tools[goal.tool];
                let counts = tool.slots.iter().any(|slot| slot.parameter == *parameter && matches!(slot.kind, contract::manifest::SlotKind::Quantity));
                if counts { self.plain_reply("How many?", "Hur många?") } else { self.plain_reply("What shall I look for?", "Vad ska jag leta efter?") }
            }
        }
    }

    /// The answer if words were left over without which the question is another one.
    fn refuse_unused_words(&self, goal: &Goal, words: &[String]) -> Reply {
        let words = self.quote_words(words);
        let lead = self.in_language(
            &format!("I do not know what to do with {words} here, so I do not answer a question that you did not ask."),
            &format!("Jag vet inte vad jag ska göra med {words} här, så jag svarar inte på en fråga som du inte ställde."),
        );
        let offline = &self.book.pack_of(goal.tool).offline;
        let can = self
            .lang
            .pick(&offline.can)
            .map(|can| self.in_language(&format!(" I can {can}."), &format!(" Jag kan {can}.")));
        let examples = self.lang.pick(&offline.examples).into_iter().flatten().take(3);
        let choices = examples
            .map(|example| Choice { label: example.clone(), message: example.clone() })
            .collect();
        Reply { text: format!("{lead}{}", can.unwrap_or_default()), choices }
    }

    /// Words in quotation marks, as a list.
    pub(super) fn quote_words(&self, words: &[String]) -> String {
        let quoted: Vec<String> = words
            .iter()
            .map(|word| {
                let word = escape_markdown(word);
                self.in_language(&format!("“{word}”"), &format!("”{word}”"))
            })
            .collect();
        match &quoted[..] {
            [] => String::new(),
            [one] => one.clone(),
            [first @ .., last] => {
                format!("{} {} {last}", first.join(", "), self.in_language("and", "och"))
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
            list.push_str(
                &self.in_language(&format!(" and {more} more"), &format!(" och {more} till")),
            );
        }
        let text = self.in_language(
            &format!("I do not know “{name}”. I know {list}; an account can also be given by its number."),
            &format!("Jag känner inte till ”{name}”. Jag känner till {list}; ett konto kan också anges med sitt nummer."),
        );
        let choices = known
            .iter()
            .take(6)
            .map(|name| Choice { label: (*name).to_owned(), message: (*name).to_owned() })
            .collect();
        Reply { text, choices }
    }
}

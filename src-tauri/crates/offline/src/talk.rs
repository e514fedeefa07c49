//! Words the answers to messages that need no tool: greetings, thanks, questions about the assistant,
//! and messages that were not understood.

use contract::Choice;

use super::{
    goal::{Goal, Outcome},
    reader::Talk,
    reply::{Reply, Speaker},
    social::Social,
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
                    text: text.unwrap_or_else(|| {
                        self.in_language("I cannot do that.", "Det kan jag inte göra.")
                    }),
                    choices: Vec::new(),
                }
            }
            Talk::Dropped => self.plain_reply(
                "All right, I leave it. Nothing was changed.",
                "Okej, jag låter det vara. Inget ändrades.",
            ),
            Talk::AskAgain => {
                let again = pending
                    .map(|(goal, outcome)| self.answer_goal(goal, outcome))
                    .unwrap_or_default();
                let lead = self.in_language(
                    "I did not catch which one. Say its number, or words that only one has.",
                    "Jag förstod inte vilken. Säg numret, eller ord som bara en har.",
                );
                Reply {
                    text: format!("{lead}\n\n{}", again.text).trim().to_owned(),
                    choices: again.choices,
                }
            }
            Talk::NotUnderstood(words) => self.answer_not_understood(words),
        }
    }

    /// Says which words were not understood, and what can be asked.
    fn answer_not_understood(&self, words: &[String]) -> Reply {
        const EN: &str = "I am the offline model: I work with fixed phrases and the installed packs, and I do not guess.";
        const SV: &str = "Jag är offlinemodellen: jag arbetar med fasta fraser och de installerade paketen, och jag gissar inte.";
        if words.is_empty() {
            return self.with_examples(
                &format!("I did not understand that. {EN}"),
                &format!("Det förstod jag inte. {SV}"),
            );
        }
        let words = self.quote_words(words);
        self.with_examples(
            &format!("I did not understand {words}. {EN}"),
            &format!("Jag förstod inte {words}. {SV}"),
        )
    }

    fn answer_small_talk(&self, social: Social) -> Reply {
        match social {
            Social::Greeting => self.with_examples("Hello! I am the offline model: no network, no key, just the installed packs.", "Hej! Jag är offlinemodellen: inget nätverk, ingen nyckel, bara de installerade paketen."),
            Social::HowAreYou => self.with_examples("Everything runs, thank you. I am the offline model, a planner and not a person.", "Allt fungerar, tack. Jag är offlinemodellen, en planerare och ingen människa."),
            Social::Thanks => self.plain_reply("You are welcome.", "Varsågod."),
            Social::Bye => self.plain_reply("Goodbye. Everything is saved.", "Hej då. Allt är sparat."),
            Social::Help => self.with_examples("I am the offline model. I answer questions with the installed packs, and every change waits for your approval.", "Jag är offlinemodellen. Jag svarar på frågor med de installerade paketen, och varje ändring väntar på ditt godkännande."),
            Social::Identity => self.with_examples(
                "I am Countersign's offline model: a fixed planner on this machine, not a language model. I match your words with the phrases of the installed packs and answer from their results. You can connect a language model in Settings.",
                "Jag är Countersigns offlinemodell: en fast planerare på den här datorn, ingen språkmodell. Jag jämför dina ord med paketens fraser och svarar utifrån deras resultat. Du kan ansluta en språkmodell i Inställningar.",
            ),
            Social::Data => self.with_examples(
                "I am Countersign's offline model: I run on this machine and send nothing to a model provider. Conversations, files and the log stay in this profile. Each call of a tool is recorded in the log.",
                "Jag är Countersigns offlinemodell: jag körs på den här datorn och skickar inget till någon modelleverantör. Samtal, filer och logg stannar i den här profilen. Varje anrop av ett verktyg finns i loggen.",
            ),
            Social::Yes | Social::No => self.with_examples("There is no open question right now.", "Det finns ingen öppen fråga just nu."),
            Social::OffTopic => self.with_examples("I cannot do that: no installed pack covers it.", "Det kan jag inte göra: inget installerat paket täcker det."),
        }
    }

    fn with_examples(&self, en: &str, sv: &str) -> Reply {
        let mut text = self.in_language(en, sv);
        let can: Vec<&str> = self
            .book
            .packs
            .iter()
            .filter_map(|pack| self.lang.pick(&pack.offline.can))
            .map(String::as_str)
            .collect();
        if !can.is_empty() {
            text.push_str(&self.in_language("\n\nI can:\n", "\n\nJag kan:\n"));
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

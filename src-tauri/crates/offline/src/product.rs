//! Decides whether a question about the product is answered from the handbook or belongs to a pack:
//! the one that covers its words answers.

use language::{Token, numbers};

use super::{
    facts::{Facts, Named},
    goal::Goal,
    handbook::{Answer, Asked, Form},
    reader::{Match, Reader},
    social::Social,
};

/// The reading of a message by the packs.
pub(super) struct PackReading<'h> {
    pub(super) tokens: &'h [Token],
    pub(super) facts: &'h Facts,
    pub(super) goals: &'h [Goal],
    pub(super) best: Option<&'h Match>,
    /// Whether a pack declines the message.
    pub(super) is_declined: bool,
    pub(super) socials: &'h [Social],
}

impl PackReading<'_> {
    /// Whether a pack answers a part of the message without leaving out words.
    fn is_answered(&self) -> bool {
        self.goals.iter().any(|goal| !goal.has_unused_words())
    }

    /// Whether a phrase of a pack or of small talk matches.
    fn is_read(&self) -> bool {
        let is_strong = self.best.is_some_and(|best| best.strong) && !self.goals.is_empty();
        let is_talk = |social: &Social| matches!(social, Social::Help | Social::OffTopic);
        is_strong || self.socials.iter().any(is_talk)
    }
}

impl Reader<'_> {
    /// Returns the answer to a question about the product, unless a pack answers or declines it.
    pub(super) fn answer_about_product(
        &self,
        asked: &Asked,
        packs: &PackReading<'_>,
    ) -> Option<Answer> {
        match asked.form {
            Form::How => self.answer_how(asked, packs),
            Form::May => {
                let is_strong = packs.best.is_some_and(|best| best.strong);
                let is_for_pack = packs.is_declined || packs.is_answered();
                let is_free = !is_for_pack || (asked.terms.len() > 1 && !is_strong);
                let is_named = asked.terms.len() > 1 || !self.refers_back(packs);
                self.find_whole_section(asked).filter(|_| is_free && is_named)
            }
            Form::Order => {
                let is_for_pack = packs.best.is_some_and(|best| {
                    best.strong && self.covers(best.tool, &best.used, asked, packs)
                });
                self.find_whole_section(asked).filter(|_| !is_for_pack)
            }
        }
    }

    /// Whether "it" refers to something that was shown.
    fn refers_back(&self, packs: &PackReading<'_>) -> bool {
        let is_shown = self.state.is_after_data || !self.state.listings.is_empty();
        packs.facts.pronoun && is_shown
    }

    fn find_whole_section(&self, asked: &Asked) -> Option<Answer> {
        let section = asked.find_whole().filter(|_| self.book.has_handbook)?;
        Some(Answer::Section(section))
    }

    fn answer_how(&self, asked: &Asked, packs: &PackReading<'_>) -> Option<Answer> {
        if packs.is_declined {
            return self.find_whole_section(asked);
        }
        let request = self.find_request(asked, packs.tokens);
        if let Some((tool, _)) =
            request.filter(|(tool, used)| self.covers(*tool, used, asked, packs))
        {
            let pack = self.book.tools[tool].pack;
            return Some(Answer::Request { language: asked.language(), pack });
        }
        if packs.is_answered() {
            return self.find_whole_section(asked);
        }
        let answer = self.book.has_handbook.then(|| asked.find(packs.tokens))?;
        let is_missing = matches!(answer, Answer::Missing { .. });
        (!is_missing || !packs.is_read()).then_some(answer)
    }

    /// Returns the tool that changes something if the rest of a question is a request, such as "add
    /// a tent" in "how do I add a tent". Also returns the tokens that show it.
    fn find_request(&self, asked: &Asked, tokens: &[Token]) -> Option<(usize, Vec<usize>)> {
        asked
            .requests
            .iter()
            .flat_map(|words| self.book.triggers.find(tokens, words))
            .filter(|((tool, _), _, is_weak)| !is_weak && self.book.tools[*tool].is_write())
            .max_by_key(|(_, hit, _)| hit.score)
            .map(|((tool, _), hit, _)| (tool, hit.used))
    }

    /// Whether a tool's pack has a use for all words of a question.
    fn covers(&self, tool: usize, used: &[usize], asked: &Asked, packs: &PackReading<'_>) -> bool {
        let (pack, tool) = (self.book.pack_of(tool), &self.book.tools[tool]);
        asked.terms.iter().all(|term| {
            let (at, word) = (term.token, &packs.tokens[term.token].norm);
            let is_name = |named: &Named| named.pack == tool.pack && named.at.contains(&at);
            used.contains(&at)
                || packs.facts.taken.contains(&at)
                || packs.facts.named.iter().any(is_name)
                || pack.is_vocabulary(word)
                || pack.describes(word)
                || tool.speaks_of(word)
                || numbers::cardinal(word).is_some()
        })
    }
}

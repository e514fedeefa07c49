//! Decides whether a question about the product is answered from the handbook or belongs to a pack:
//! the one that leaves fewer of its words over answers.

use language::{Token, fold, numbers};

use super::{
    facts::{Facts, Named},
    goal::Goal,
    guesses,
    handbook::{Answer, Asked},
    reader::{Match, Reader},
    social::{self, Social},
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

    /// Whether a pack declines the message, or its topic is outside of all packs.
    fn is_refused(&self) -> bool {
        self.is_declined || self.socials.contains(&Social::OffTopic)
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
        if asked.asks_how {
            return self.answer_how(asked, packs);
        }
        if let Some(request) = self.offer_request(asked, packs) {
            return Some(request);
        }
        // "And that?" is about what was shown.
        let is_about_shown =
            self.refers_back(packs) && (asked.terms.len() < 2 || !packs.goals.is_empty());
        self.find_closer_section(asked, packs).filter(|_| !is_about_shown)
    }

    /// Whether "it" refers to something that was shown.
    fn refers_back(&self, packs: &PackReading<'_>) -> bool {
        let is_shown = self.state.is_after_data || !self.state.listings.is_empty();
        packs.facts.pronoun && is_shown
    }

    /// Returns the section that leaves fewer words of a question over than the packs.
    fn find_closer_section(&self, asked: &Asked, packs: &PackReading<'_>) -> Option<Answer> {
        if packs.is_refused() {
            return self.find_whole_section(asked);
        }
        let (section, left) = asked.find_section().filter(|_| self.book.has_handbook)?;
        (left < self.words_left(asked, packs)).then_some(Answer::Section(section))
    }

    /// Returns the section that leaves no word of a question over. A pack that declines a message may
    /// have read one word of it only.
    fn find_whole_section(&self, asked: &Asked) -> Option<Answer> {
        let (section, left) = asked.find_section().filter(|_| self.book.has_handbook)?;
        (left == 0).then_some(Answer::Section(section))
    }

    /// Returns the number of words of a question that the packs have no use for.
    fn words_left(&self, asked: &Asked, packs: &PackReading<'_>) -> usize {
        if self.uses_all(packs) {
            return 0;
        }
        let talk = social::matched_tokens(packs.tokens, &packs.facts.words);
        let used = packs.best.map_or(&[][..], |best| best.used.as_slice());
        // Without a request, the packs have no use for a small word either.
        let is_request = !packs.goals.is_empty();
        let is_used = |at: usize| {
            let word = &packs.tokens[at].fold;
            let of_goal = |goal: &Goal| {
                self.has_use(goal.tool, used, at, packs) || self.passes_on(goal, word)
            };
            talk.contains(&at)
                || (is_request && is_small(&packs.tokens[at].norm))
                || packs.goals.iter().any(of_goal)
        };
        asked.terms.iter().filter(|term| !is_used(term.token)).count()
    }

    /// Whether the packs have a use for all words that they report. A search for a thing takes any word,
    /// and a change reports none.
    fn uses_all(&self, packs: &PackReading<'_>) -> bool {
        let is_clean = |goal: &Goal| {
            let tool = &self.book.tools[goal.tool];
            let reports = !tool.is_write() && !guesses::searches_by_words(self.book, tool.pack);
            reports && goal.doubt.is_none() && goal.unused.is_empty()
        };
        packs.best.is_some_and(|best| best.strong)
            && !packs.goals.is_empty()
            && packs.goals.iter().all(is_clean)
    }

    /// Whether a request takes a word as it is, such as the text of a note. A search for a thing takes any
    /// word, which says nothing.
    fn passes_on(&self, goal: &Goal, word: &str) -> bool {
        let pack = self.book.tools[goal.tool].pack;
        let mut texts = goal.args.values().filter_map(serde_json::Value::as_str);
        !guesses::searches_by_words(self.book, pack) && texts.any(|text| fold(text).contains(word))
    }

    fn answer_how(&self, asked: &Asked, packs: &PackReading<'_>) -> Option<Answer> {
        if packs.is_refused() {
            return self.find_whole_section(asked);
        }
        if let Some(request) = self.offer_request(asked, packs) {
            return Some(request);
        }
        if packs.is_answered() {
            return self.find_closer_section(asked, packs);
        }
        let answer = self.book.has_handbook.then(|| asked.find(packs.tokens))?;
        let is_missing = matches!(answer, Answer::Missing { .. });
        (!is_missing || !packs.is_read()).then_some(answer)
    }

    /// Returns the answer that a pack changes something if it is asked for.
    fn offer_request(&self, asked: &Asked, packs: &PackReading<'_>) -> Option<Answer> {
        let (tool, used) = self.find_request(asked, packs.tokens)?;
        let pack = self.book.tools[tool].pack;
        let is_covered = !packs.is_refused() && self.covers(tool, &used, asked, packs);
        is_covered.then(|| Answer::Request { language: asked.language(), pack })
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
        asked.terms.iter().all(|term| self.has_use(tool, used, term.token, packs))
    }

    /// Whether a tool's pack has a use for a word. `used` are the words of the phrase that matched.
    fn has_use(&self, tool: usize, used: &[usize], at: usize, packs: &PackReading<'_>) -> bool {
        let (pack, tool) = (self.book.pack_of(tool), &self.book.tools[tool]);
        let word = &packs.tokens[at].norm;
        let is_name = |named: &Named| named.pack == tool.pack && named.at.contains(&at);
        used.contains(&at)
            || packs.facts.taken.contains(&at)
            || packs.facts.named.iter().any(is_name)
            || pack.is_vocabulary(word)
            || pack.describes(word)
            || tool.speaks_of(word)
            || numbers::cardinal(word).is_some()
    }
}

/// Whether a word says little in any message.
fn is_small(word: &str) -> bool {
    language::is_stop_word(word) || language::is_small_talk(word)
}

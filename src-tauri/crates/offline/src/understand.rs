//! Reads goals from a message: splits it into clauses, finds the intent and the arguments of each,
//! and uses the conversation. The module `clauses` splits messages, and `plan` decides the order of
//! calls.

use chrono::NaiveDate;
use contract::manifest::SlotKind;
use language::{Language, Token};

use super::{
    book::Book,
    facts::{Facts, Position},
    fill,
    goal::{Goal, Target},
    handbook::{self, Answer, Asked},
    more,
    pattern::{Hit, word_indices},
    product::PackReading,
    reader::{Match, Meaning, Reader, Talk},
    resume,
    social::{self, Social},
    state::State,
    values,
};

/// The most words in an answer that were not understood.
const WORDS_NAMED: usize = 3;

/// The most other words in a message that is small talk as a whole.
const WORDS_BESIDE: usize = 1;

pub(super) fn understand(message: &str, state: &State, book: &Book, today: NaiveDate) -> Meaning {
    let tokens = book.read_words(message);
    let folded: Vec<String> = tokens.iter().map(|token| token.fold.clone()).collect();
    let lang =
        language::detect_language(message, &folded.iter().map(String::as_str).collect::<Vec<_>>());
    let reader = Reader { book, state, today };
    let (goals, talk) = reader.read_message(&tokens);
    let lang = match &talk {
        Some(Talk::Handbook(answer)) => language_read(answer),
        Some(_) | None => lang,
    };
    Meaning { goals, talk, lang }
}

impl Reader<'_> {
    fn read_message(&self, tokens: &[Token]) -> (Vec<Goal>, Option<Talk>) {
        let words = word_indices(tokens);
        let facts = self.facts_of(tokens);
        let socials = social::recognise(tokens, &words);
        let title = handbook::find_title(tokens).filter(|_| self.book.has_handbook);
        if let Some(section) = title {
            return (Vec::new(), Some(Talk::Handbook(Answer::Section(section))));
        }
        if more::asks_for_more(tokens, &words) {
            return (Vec::new(), Some(Talk::More));
        }
        let asked = handbook::read(tokens, &words);
        let asks_how = asked.as_ref().is_some_and(|asked| asked.asks_how);
        if !asks_how && let Some(found) = resume::resume(self, tokens, &facts, &socials) {
            return found;
        }
        let goals = self.read_goals(tokens);
        let best = self.best_candidate(tokens, &facts);
        let strongest = best.as_ref().filter(|found| found.strong).map_or(0, |found| found.score);
        let asking = self.words_before_verbatim(best.as_ref(), tokens, &facts, &words);
        let refusal = self.find_refusal(tokens, asking).filter(|(_, hit)| {
            let is_part = |found: &Match| found.strong && is_part_of(hit, found, tokens);
            hit.score + 10 >= strongest && !best.as_ref().is_some_and(is_part)
        });
        let packs = PackReading {
            tokens,
            facts: &facts,
            goals: &goals,
            best: best.as_ref(),
            is_declined: refusal.is_some(),
            socials: &socials,
        };
        let about_product = |asked: &Asked| self.answer_about_product(asked, &packs);
        if let Some(answer) = asked.as_ref().and_then(about_product) {
            return (Vec::new(), Some(Talk::Handbook(answer)));
        }
        if let Some((talk, _)) = refusal {
            return (Vec::new(), Some(talk));
        }
        self.read_talk(tokens, &facts, &socials, goals, strongest)
    }

    /// Returns the goals, or the talk if there is nothing to do.
    fn read_talk(
        &self,
        tokens: &[Token],
        facts: &Facts,
        socials: &[Social],
        goals: Vec<Goal>,
        strongest: i32,
    ) -> (Vec<Goal>, Option<Talk>) {
        let is_off_topic = socials.contains(&Social::OffTopic);
        let is_whole = self.unknown_words(tokens, facts).len() <= WORDS_BESIDE;
        let about = socials.iter().copied().find(|social| match social {
            Social::Help | Social::Identity => is_whole || is_off_topic,
            Social::Data | Social::OffTopic => true,
            Social::Greeting
            | Social::HowAreYou
            | Social::Thanks
            | Social::Bye
            | Social::Yes
            | Social::No => false,
        });
        // "Can you help me write a mail" does not ask for help with this app.
        let about = match about {
            Some(Social::Help) if is_off_topic => Some(Social::OffTopic),
            about => about,
        };
        if let Some(about) = about
            && (strongest < 16 || matches!(about, Social::Help))
            && (goals.is_empty() || strongest < 14)
        {
            return (Vec::new(), Some(Talk::Social(about)));
        }
        // "Book a flight to Oslo" is outside all packs and not a question with unknown words.
        if is_off_topic && goals.iter().all(Goal::has_unused_words) {
            return (Vec::new(), Some(Talk::Social(Social::OffTopic)));
        }
        if !goals.is_empty() {
            return (goals, None);
        }
        let small_talk = socials.first().filter(|_| is_whole).map(|social| Talk::Social(*social));
        let otherwise = || Talk::NotUnderstood(self.unknown_words(tokens, facts));
        (Vec::new(), Some(small_talk.unwrap_or_else(otherwise)))
    }

    /// Returns the facts of a clause, for any request.
    pub(super) fn facts_of(&self, tokens: &[Token]) -> Facts {
        Facts::of(tokens, self.book, self.today, !self.state.listings.is_empty())
    }

    /// Returns the facts for a tool. Joined numbers are list positions only if the tool's pack has
    /// shown a list.
    fn facts_for_tool(&self, tool: usize, tokens: &[Token]) -> Facts {
        let listed = self.state.newest_list(self.book.tools[tool].pack).is_some();
        Facts::of(tokens, self.book, self.today, listed)
    }

    /// Returns the first words of a message that have a meaning and are unused, as typed.
    fn unknown_words(&self, tokens: &[Token], facts: &Facts) -> Vec<String> {
        let social = social::matched_tokens(tokens, &facts.words);
        let carries = |i: &usize| {
            let token = &tokens[*i];
            token.fold.len() >= 2
                && !language::is_small_talk(&token.norm)
                && !language::is_filler(&token.norm)
        };
        facts
            .unused_content_words(tokens, &social, usize::MAX)
            .into_iter()
            .filter(|i| carries(i) && !facts.in_names.contains(i))
            .take(WORDS_NAMED)
            .map(|i| tokens[i].raw.clone())
            .collect()
    }

    /// Returns the words of a message up to the cue of a verbatim text. "Remember that we raise the
    /// budget" does not ask to raise the budget.
    fn words_before_verbatim<'w>(
        &self,
        best: Option<&Match>,
        tokens: &[Token],
        facts: &Facts,
        words: &'w [usize],
    ) -> &'w [usize] {
        let cue = best.and_then(|found| self.cue_of_verbatim(found, tokens, facts));
        let end = cue.and_then(|hit| hit.used.last().copied()).unwrap_or(usize::MAX);
        &words[..words.partition_point(|word| *word <= end)]
    }

    fn find_refusal(&self, tokens: &[Token], words: &[usize]) -> Option<(Talk, Hit)> {
        self.book
            .declined
            .find(tokens, words)
            .into_iter()
            .map(|((pack, index), hit, _)| (Talk::Cannot { pack, index }, hit))
            .max_by_key(|(_, hit)| hit.score)
    }

    /// Returns the clauses of a message, each with its intent and whether it repeats the previous
    /// request.
    pub(super) fn read_clauses(&self, tokens: &[Token]) -> Vec<(Vec<Token>, Option<Match>, bool)> {
        self.split_clauses(tokens)
            .into_iter()
            .map(|(clause, like)| {
                let repeats = like.is_some();
                let best = || {
                    let found = self.best_candidate(&clause, &self.facts_of(&clause))?;
                    Some(self.prefer_complete(&clause, found))
                };
                let found = like.or_else(best);
                (clause, found, repeats)
            })
            .collect()
    }

    /// Returns the goals of all clauses, in order.
    fn read_goals(&self, tokens: &[Token]) -> Vec<Goal> {
        let mut goals: Vec<Goal> = Vec::new();
        // The number of goals directly before the clause without their own period.
        let mut undated = 0;
        for (clause, found, repeats) in self.read_clauses(tokens) {
            let Some(found) = found else { continue };
            let found = self.stay_with_thing(found, &clause, goals.last());
            let facts = self.facts_for_tool(found.tool, &clause);
            let before = goals.len();
            let tool = &self.book.tools[found.tool];
            let open = facts.choice && tool.is_write();
            let single = tool.thing().is_some() && !tool.intents[found.intent].several && !open;
            for facts in split_by_name(&facts, tool.pack) {
                for facts in if single { split_by_place(facts) } else { vec![facts] } {
                    self.add_goal(&mut goals, &clause, &facts, &found);
                }
            }
            if facts.period.is_none() {
                undated += goals.len() - before;
                continue;
            }
            if repeats && !facts.named.is_empty() {
                self.apply_period_to_list(&mut goals, before - undated, before);
            }
            undated = 0;
        }
        drop_beside_doubts(self.book, &mut goals);
        goals
    }

    /// Handles "Which colours does the Brook Mid come in, and do you have it in 42": if "it" in a
    /// search refers to the thing of the previous question, the search becomes a question about
    /// that thing.
    fn stay_with_thing(&self, found: Match, clause: &[Token], before: Option<&Goal>) -> Match {
        let searches = self.book.tools[found.tool].has_slot(|kind| matches!(kind, SlotKind::Words));
        let facts = self.facts_for_tool(found.tool, clause);
        let asks_about_one = |before: &&Goal| {
            let tool = &self.book.tools[before.tool];
            tool.thing().is_some()
                && !tool.is_write()
                && tool.pack == self.book.tools[found.tool].pack
        };
        let Some(before) = before.filter(asks_about_one).filter(|_| searches && facts.pronoun)
        else {
            return found;
        };
        let others = self.find_candidates(clause, &facts).into_iter();
        let best = others.filter(|other| other.tool == before.tool).max_by_key(|other| other.score);
        best.unwrap_or(found)
    }

    /// Returns the match, or a match of another pack if that pack uses all words and this pack does
    /// not.
    fn prefer_complete(&self, clause: &[Token], found: Match) -> Match {
        let leaves_words = |found: &Match| {
            let facts = self.facts_for_tool(found.tool, clause);
            fill::build_goal(self, clause, &facts, found, None).has_unused_words()
        };
        let pack = |found: &Match| self.book.tools[found.tool].pack;
        if !leaves_words(&found) {
            return found;
        }
        let facts = self.facts_of(clause);
        let of_the_field = |other: &Match| {
            let in_a_name = |i: usize| facts.named.iter().any(|named| named.at.contains(&i));
            let words = &self.book.packs[pack(other)];
            facts.words.iter().any(|&i| !in_a_name(i) && words.is_vocabulary(&clause[i].norm))
        };
        let mut others = self.find_candidates(clause, &facts);
        others.retain(|other| pack(other) != pack(&found) && (other.strong || of_the_field(other)));
        others.sort_by_key(|other| std::cmp::Reverse(other.score));
        others.into_iter().find(|other| !leaves_words(other)).unwrap_or(found)
    }

    /// Handles "bluebell and kestrel in october": the period after a list applies to the whole
    /// list, back to a goal with its own period.
    fn apply_period_to_list(&self, goals: &mut [Goal], from: usize, to: usize) {
        let Some(last) = goals.last().cloned() else { return };
        let dates = self.book.tools[last.tool]
            .slots
            .iter()
            .filter(|slot| matches!(slot.kind, SlotKind::DateStart | SlotKind::DateEnd));
        for slot in dates {
            let value = values::get(&last.args, &slot.parameter).cloned();
            let same = |goal: &&mut Goal| goal.tool == last.tool && goal.intent == last.intent;
            for goal in goals[from..to].iter_mut().filter(same) {
                if let Some(value) = value.clone() {
                    values::set(&mut goal.args, &slot.parameter, value);
                }
            }
        }
    }

    fn add_goal(&self, goals: &mut Vec<Goal>, clause: &[Token], facts: &Facts, found: &Match) {
        let goal = fill::build_goal(self, clause, facts, found, goals.last());
        if self.book.tools[found.tool].intents[found.intent].several
            && let Some(last) = goals
                .last_mut()
                .filter(|last| last.tool == found.tool && last.intent == found.intent)
        {
            merge_targets(&mut last.target, goal.target);
            return;
        }
        if !goals.contains(&goal) {
            goals.push(goal);
        }
    }
}

/// Returns the language in which the next messages are read after a section of the handbook.
fn language_read(answer: &Answer) -> Option<Language> {
    let tag = answer.language().tag();
    [Language::En, Language::Sv].into_iter().find(|language| language.tag() == tag)
}

/// Whether the phrase of a declined request is only part of the phrases of a request, such as
/// "raise the budget" in "what if we raise the budget to 500".
fn is_part_of(refusal: &Hit, found: &Match, tokens: &[Token]) -> bool {
    let mut words = refusal.used.iter().filter(|i| !language::is_stop_word(&tokens[**i].norm));
    words.all(|i| found.used.contains(i)) && found.used.len() > refusal.used.len()
}

/// Removes goals beside a goal that is not understood: in "line items of Contoso and budget", a
/// part that names nothing itself belongs to the request that is not understood, so it is not
/// answered alone.
fn drop_beside_doubts(book: &Book, goals: &mut Vec<Goal>) {
    let open = Goal::has_unused_words;
    let packs: Vec<usize> =
        goals.iter().filter(|goal| open(goal)).map(|goal| book.tools[goal.tool].pack).collect();
    goals
        .retain(|goal| open(goal) || goal.is_named || !packs.contains(&book.tools[goal.tool].pack));
}

/// Splits several names of the same kind into separate requests: "how are account 17 and account 23
/// pacing".
fn split_by_name(facts: &Facts, pack: usize) -> Vec<Facts> {
    let own = || facts.named.iter().filter(|named| named.pack == pack);
    let Some(doubled) = own()
        .map(|named| &named.kind)
        .find(|kind| own().filter(|named| named.kind == **kind).count() > 1)
    else {
        return vec![facts.clone()];
    };
    own()
        .filter(|named| named.kind == *doubled)
        .map(|one| {
            let mut single = facts.clone();
            let others = own().filter(|named| named.kind == *doubled && *named != one);
            single.elsewhere.extend(others.flat_map(|named| named.at.clone()));
            single.named.retain(|named| named.kind != *doubled || named == one);
            single
        })
        .collect()
}

/// Splits several positions into separate requests if each request is about a single thing: "add 1
/// and 3".
fn split_by_place(mut facts: Facts) -> Vec<Facts> {
    facts.places.extend((1..=facts.first.take().unwrap_or(0)).map(Position::Nth));
    if facts.places.len() < 2 {
        return vec![facts];
    }
    let one = |place: &Position| {
        let mut single = facts.clone();
        single.places = vec![*place];
        single
    };
    facts.places.iter().map(one).collect()
}

fn merge_targets(target: &mut Target, more: Target) {
    target.places.extend(more.places);
    target.first = target.first.or(more.first);
    target.groups.extend(more.groups);
    target.all |= more.all;
}

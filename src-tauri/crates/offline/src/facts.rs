//! Finds the facts of a clause independently of its subject: a period, names, amounts, list
//! positions, and the remaining words. The use of the facts is left to the caller.

use std::{collections::BTreeSet, ops::Range};

use chrono::NaiveDate;
use language::{Token, TokenKind, amounts, dates, numbers};

use super::{
    book::Book,
    counts::{ends_change, is_fraction, is_in_a_name, leaves_remainder},
    pattern::word_indices,
    words::{BEFORE_A_COUNT, LABELS, ORDERS, PIECES, UNITS},
};

/// A name from the packs' tables that occurs in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) pack: usize,
    /// The index of the entity. None for an id that follows a noun but is in no table.
    pub(super) entity: Option<usize>,
    pub(super) kind: String,
    pub(super) id: String,
    pub(super) at: Range<usize>,
}

/// A position in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Position {
    Nth(u32),
    Last,
}

/// The facts found in a clause.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    /// The indices of words and numbers.
    pub(super) words: Vec<usize>,
    pub(super) period: Option<dates::FoundPeriod>,
    pub(super) named: Vec<Named>,
    /// The range in "between 500 and 1000 kr".
    pub(super) range: Option<(f64, f64)>,
    pub(super) amounts: Vec<amounts::Amount>,
    pub(super) places: Vec<Position>,
    /// Numbers that may be list positions, with their tokens: the ends of a range ("between 2 and
    /// 4"), or alternatives ("1 or 3").
    pub(super) maybe: Option<(Vec<Position>, Range<usize>)>,
    /// Whether only one of the named positions is meant and it is unclear which: "1 or the last".
    pub(super) choice: bool,
    /// The number of things from the start of the list: "the first two".
    pub(super) first: Option<u32>,
    pub(super) pronoun: bool,
    /// Whether the clause says "all" or "both".
    pub(super) all: bool,
    /// The indices of tokens that negate.
    pub(super) negations: Vec<usize>,
    /// Whether the clause follows up the previous request: "and last week?", "what about ..."
    pub(super) follow_up: bool,
    pub(super) quantity: Option<Quantity>,
    /// Whether the number is certainly a quantity ("three pairs", "make it 3") and not possibly a
    /// size.
    pub(super) counted: bool,
    /// The tokens used by the facts above, except names.
    pub(super) taken: BTreeSet<usize>,
    /// The tokens of names that belong to another goal of the same clause.
    pub(super) elsewhere: BTreeSet<usize>,
    /// The tokens of names. A name has a meaning only for its own pack.
    pub(super) in_names: BTreeSet<usize>,
}

/// A quantity in the clause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Quantity {
    Whole(u32),
    /// A negative number or a fraction.
    Impossible,
}

const PRONOUNS: &[&str] = &[
    "it", "that", "this", "its", "them", "they", "those", "these", "den", "det", "dem", "denna",
    "dessa",
];
const PLURAL: &[&str] = &["both", "all", "everything", "bada", "alla", "allt", "allting"];
/// Words that negate the following words.
const NEGATIONS: &[&str] = &[
    "not", "no", "dont", "never", "except", "without", "but", "besides", "isnt", "nor", "neither",
    "nothing", "wouldnt", "shouldnt", "couldnt", "cant", "wont", "inget", "inte", "ej", "utan",
    "utom", "aldrig", "forutom",
];

impl Facts {
    /// Finds all facts. `listed` says whether a list was shown to which bare numbers may refer.
    pub(super) fn of(tokens: &[Token], book: &Book, today: NaiveDate, listed: bool) -> Self {
        let mut facts = Self { words: word_indices(tokens), ..Self::default() };
        facts.find_names(tokens, book);
        facts.find_period(tokens, today);
        facts.find_choice(tokens, listed);
        if listed {
            facts.find_joined(tokens);
        }
        facts.find_places(tokens);
        facts.amounts = amounts::find_amounts(tokens)
            .into_iter()
            .filter(|amount| (amount.at..amount.at + amount.len).all(|i| !facts.is_taken(i)))
            .collect();
        facts.find_range(tokens);
        facts.find_quantity(tokens);
        let spoken =
            |list: &[&str]| facts.words.iter().any(|&i| !facts.is_taken(i) && tokens[i].any(list));
        let (pronoun, all) = (spoken(PRONOUNS), spoken(PLURAL));
        facts.pronoun = pronoun;
        facts.all = all;
        facts.negations = facts
            .words
            .iter()
            .copied()
            .filter(|&i| !facts.is_taken(i) && tokens[i].any(NEGATIONS))
            .collect();
        facts.follow_up = is_follow_up(tokens, &facts.words);
        facts
    }

    pub(super) fn mark_taken(&mut self, range: Range<usize>) {
        self.taken.extend(range);
    }

    /// Whether a token belongs to the numbers that may be list positions.
    pub(super) fn is_joined_number(&self, at: usize) -> bool {
        self.maybe.as_ref().is_some_and(|(_, range)| range.contains(&at))
    }

    /// Whether a token already belongs to a fact or a name.
    pub(super) fn is_taken(&self, at: usize) -> bool {
        self.taken.contains(&at) || self.in_names.contains(&at)
    }

    /// Finds two amounts that are the ends of a range.
    fn find_range(&mut self, tokens: &[Token]) {
        self.range = self
            .amounts
            .windows(2)
            .find_map(|pair| {
                let [low, high] = pair else { return None };
                let between = low.at + low.len;
                let joined = high.at == between + 1
                    && tokens[between].any(&["and", "och", "to", "till", "-", "–", "—"]);
                let led = low.at > 0 && tokens[low.at - 1].any(&["between", "mellan"]);
                let start = low.at
                    - usize::from(
                        low.at > 0
                            && tokens[low.at - 1].any(&["between", "mellan", "from", "fran"]),
                    );
                let money = low.marked || high.marked || low.value >= 100.0;
                (joined
                    && low.value < high.value
                    && (led || (money && !tokens[between].any(&["and", "och"]))))
                .then(|| (low.value, high.value, start..high.at + high.len))
            })
            .map(|(low, high, at)| {
                self.taken.extend(at);
                (low, high)
            });
    }

    fn find_period(&mut self, tokens: &[Token], today: NaiveDate) {
        let mut from = 0;
        while from < tokens.len() {
            let Some(mut found) = dates::find_period(&tokens[from..], today) else { return };
            found.at = found.at.start + from..found.at.end + from;
            if found.at.clone().any(|i| self.is_taken(i)) {
                from = found.at.start + 1;
                continue;
            }
            self.mark_taken(found.at.clone());
            self.period = Some(found);
            return;
        }
    }

    /// Finds the number that is a quantity: not a size, a list position, an amount of money, or
    /// part of a date or name.
    fn find_quantity(&mut self, tokens: &[Token]) {
        let mut best: Option<(i32, Quantity, Range<usize>)> = None;
        for at in 0..tokens.len() {
            if self.is_taken(at)
                || (self.choice && self.is_joined_number(at))
                || (at > 0 && tokens[at - 1].any(LABELS))
            {
                continue;
            }
            let negative = at > 0
                && (tokens[at - 1].any(&["minus", "negative"])
                    || (tokens[at - 1].fold == "-" && tokens[at].glued && !tokens[at - 1].glued));
            let broken = tokens[at].kind == TokenKind::Number
                && tokens[at].int().is_none()
                && tokens[at].fold.contains(['.', ',']);
            if leaves_remainder(tokens, at) {
                self.mark_taken(at..at + 1);
                continue;
            }
            if is_fraction(tokens, at) {
                best = Some((i32::MAX, Quantity::Impossible, at..at + 1));
                continue;
            }
            let (value, used) = match numbers::read_whole(tokens, at) {
                Some((value, used)) => {
                    (if negative { Quantity::Impossible } else { Quantity::Whole(value) }, used)
                }
                None if broken => (Quantity::Impossible, 1),
                None => continue,
            };
            let end = at + used;
            let or_another = tokens.get(end).is_some_and(|next| next.any(&["or", "eller"]))
                && numbers::read_whole(tokens, end + 1).is_some();
            let value = if or_another { Quantity::Impossible } else { value };
            let marked = self
                .amounts
                .iter()
                .any(|amount| amount.marked && amount.at <= at && at < amount.at + amount.len);
            let unit =
                tokens.get(end).is_some_and(|next| next.any(&["%", "/", "-"]) || next.any(UNITS));
            let closing = ends_change(tokens, at, end);
            if marked || unit || (is_in_a_name(tokens, at) && !closing) {
                continue;
            }
            let article = tokens[at].any(&["one", "en", "ett"]);
            let before = at.checked_sub(1).map(|i| &tokens[i]);
            let pieces = tokens.get(end).is_some_and(|next| next.any(PIECES))
                || before.is_some_and(|token| token.any(&["x", "times"]));
            let target = before.is_some_and(|token| token.any(BEFORE_A_COUNT));
            let word = tokens[at].kind == TokenKind::Word;
            // A number after the thing describes it ("ridge runner 42"); a number before the thing
            // is a quantity.
            let leads = tokens.get(end).is_some_and(|next| {
                next.kind == TokenKind::Word
                    && !next.any(&["to", "in", "please", "tack", "i", "till", "and", "och"])
            });
            let stressed = |back: usize| {
                at.checked_sub(back)
                    .is_some_and(|i| tokens[i].any(&["only", "just", "bara", "endast"]))
            };
            let alone = stressed(1) || (stressed(2) && end == tokens.len());
            let alone_in_clause = self.words.len() <= 2;
            if !(leads || pieces || target || closing || alone || alone_in_clause || word) {
                continue;
            }
            // The score is the likelihood that the number is a quantity, in contrast to "the black
            // one" or "size 42".
            let score =
                i32::from(pieces) * 8 + i32::from(target || closing) * 6 + i32::from(word) * 2
                    - i32::from(article) * 5
                    - i32::from(tokens[at].int().is_some_and(|n| n > 30)) * 3;
            // The articles in "the black one" and "en ryggsäck" are not quantities unless they are
            // stressed.
            if article && !(pieces || alone || target) {
                continue;
            }
            if best.as_ref().is_none_or(|(least, ..)| score > *least) {
                best = Some((score, value, at..end));
            }
        }
        if let Some((score, value, at)) = best {
            self.quantity = Some(value);
            self.counted = score >= 5;
            self.mark_taken(at);
        }
    }

    /// Returns the words with a meaning that are neither in `used` nor part of a fact. Names of
    /// packs other than `pack` are ordinary words.
    pub(super) fn unused_content_words(
        &self,
        tokens: &[Token],
        used: &[usize],
        pack: usize,
    ) -> Vec<usize> {
        let own =
            |i: usize| self.named.iter().any(|named| named.pack == pack && named.at.contains(&i));
        self.words
            .iter()
            .copied()
            .filter(|i| !self.taken.contains(i) && !used.contains(i) && !own(*i))
            .filter(|&i| !language::is_filler(&tokens[i].norm) || is_letter_size(&tokens[i]))
            .collect()
    }

    /// Whether the token is the unit after a number, such as "persons" in "3 persons".
    pub(super) fn is_unit(&self, tokens: &[Token], at: usize) -> bool {
        at > 0 && tokens[at].any(UNITS) && tokens[at - 1].kind == TokenKind::Number
    }

    /// Returns the number if the clause contains almost nothing else: "42", "2 please".
    pub(super) fn lone_number(&self, tokens: &[Token]) -> Option<u32> {
        let numbers: Vec<u32> = self.words.iter().filter_map(|&i| tokens[i].int()).collect();
        match numbers[..] {
            [number] => Some(number),
            _ => None,
        }
    }
}

/// Whether a word asks for a change.
pub(super) fn is_order(token: &Token) -> bool {
    token.any(ORDERS)
}

/// Whether the token is a size such as "M", "s" or "XL", which may look like a small word.
fn is_letter_size(token: &Token) -> bool {
    token.raw.len() == 1 && ["S", "M", "L"].contains(&token.raw.as_str())
}

fn is_follow_up(tokens: &[Token], words: &[usize]) -> bool {
    let first: Vec<&str> = words.iter().take(4).map(|&i| tokens[i].norm.as_str()).collect();
    matches!(
        first[..],
        ["and" | "och" | "plus" | "also" | "same" | "samma" | "then" | "but" | "men", ..]
            | ["what" | "how", "about", ..]
            | ["hows" | "whats", "about", ..]
            | ["hur", "ar" | "var", "det", "med"]
            | ["for" | "since" | "in", ..]
    )
}

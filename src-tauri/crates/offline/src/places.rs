//! Finds the list positions that a clause names: by number, by ordinal, several joined, or one of
//! several. The listed things are not considered.

use language::{
    Token, TokenKind,
    numbers::{self, CHOICES, JOINERS},
    ordinals,
};

use super::{
    facts::{Facts, Position},
    words::{BEFORE_A_COUNT, LABELS, PIECES, UNITS},
};

const PLACE_LABELS: &[&str] = &[
    "option",
    "options",
    "number",
    "numbers",
    "nr",
    "no",
    "choice",
    "alternativ",
    "alternativen",
    "nummer",
    "#",
    "product",
    "result",
    "line",
    "rad",
    "produkt",
    "item",
];
/// Nouns that may follow an ordinal or "last".
const NOUNS: &[&str] = &["one", "option", "product", "item", "alternativet", "produkten"];

impl Facts {
    /// Finds alternatives of which one is meant: "number 1 or number 3", "the first or the third",
    /// "1, 2 or the last", "the first or a blue one". Numbers without such words are not positions
    /// yet.
    pub(super) fn find_choice(&mut self, tokens: &[Token], listed: bool) {
        let mut at = 0;
        while at < tokens.len() {
            let Some((places, used)) = read_alternatives(tokens, at, listed)
                .filter(|(_, used)| (at..at + used).all(|i| !self.is_taken(i)))
            else {
                at += 1;
                continue;
            };
            self.places.extend(places);
            self.mark_taken(at..at + used);
            self.choice = true;
            at += used;
        }
    }

    /// Finds joined numbers that are list positions: "1 and 3", "option 2, 4 & 5". Sizes and
    /// quantities are not positions. For the ends of a range and for alternatives, the decision is
    /// made later.
    pub(super) fn find_joined(&mut self, tokens: &[Token]) {
        let mut at = 0;
        while at < tokens.len() {
            let labelled =
                at > 0 && (tokens[at - 1].any(PLACE_LABELS) || tokens[at - 1].fold == "#");
            let valued = at > 0 && tokens[at - 1].any(LABELS);
            let ranges = at > 0 && tokens[at - 1].any(&["between", "mellan", "from", "fran"]);
            let Some((places, used)) = numbers::read_joined(tokens, at) else {
                at += 1;
                continue;
            };
            // In "1, 2 or 3" and "1, 2 or the last", only one position is meant and it is unclear
            // which.
            let after = tokens[at + used..].iter().find(|token| token.kind != TokenKind::Punct);
            let open = tokens[at..at + used].iter().chain(after).any(|token| token.any(CHOICES));
            if !(valued || is_counted(tokens, at + used))
                && (at..at + used).all(|i| !self.is_taken(i))
            {
                let (places, range) =
                    (places.into_iter().map(Position::Nth), at - usize::from(labelled)..at + used);
                if ranges || open {
                    // "Make it 2 or 3" leaves the quantity open, not the position.
                    let adds = at > 1 && tokens[at - 2].any(&["lagg", "lagga"]);
                    self.choice |=
                        open && (adds || !(at > 0 && tokens[at - 1].any(BEFORE_A_COUNT)));
                    self.maybe = Some((places.collect(), range));
                } else {
                    self.places.extend(places);
                    self.mark_taken(range);
                }
            }
            at += used;
        }
    }

    pub(super) fn find_places(&mut self, tokens: &[Token]) {
        let mut at = 0;
        while at < tokens.len() {
            if self.is_taken(at) {
                at += 1;
                continue;
            }
            if let Some((place, used)) = read_labelled_place(tokens, at) {
                self.places.push(place);
                self.mark_taken(at..at + used);
                at += used;
                continue;
            }
            if tokens[at].any(&["first", "forsta", "top", "topp", "bottom", "botten"])
                && let Some((count, used)) =
                    numbers::read_whole(tokens, at + 1).filter(|(count, _)| (2..=5).contains(count))
            {
                self.first = Some(count);
                self.mark_taken(at..at + 1 + used);
                at += 1 + used;
                continue;
            }
            // Reads "the two first" and "de två första".
            if let Some((count, used)) =
                numbers::read_whole(tokens, at).filter(|(count, _)| (2..=5).contains(count))
                && tokens.get(at + used).is_some_and(|next| next.any(&["first", "forsta"]))
            {
                self.first = Some(count);
                self.mark_taken(at..at + used + 1);
                at += used + 1;
                continue;
            }
            if let Some((place, used)) = read_ordinal(tokens, at) {
                self.places.push(place);
                self.mark_taken(at..at + used);
                at += used;
                continue;
            }
            at += 1;
        }
    }
}

/// Reads several positions with "or" between or beside them. Returns the positions and the number
/// of their tokens.
fn read_alternatives(tokens: &[Token], at: usize, listed: bool) -> Option<(Vec<Position>, usize)> {
    let joins = |at: usize| tokens.get(at).is_some_and(|token| token.any(JOINERS));
    let chooses = |at: usize| tokens.get(at).is_some_and(|token| token.any(CHOICES));
    let (first, used, mut told) = read_place(tokens, at, listed)?;
    let (mut places, mut end) = (vec![first], at + used);
    let mut choice = at > 1 && chooses(at - 1);
    loop {
        let joiners = usize::from(joins(end)) + usize::from(joins(end) && joins(end + 1));
        choice |= (end..end + joiners).any(chooses);
        let Some((next, used, is_told)) =
            read_place(tokens, end + joiners, listed).filter(|_| joiners > 0)
        else {
            break;
        };
        places.push(next);
        told |= is_told;
        end += joiners + used;
    }
    (choice && told).then_some((places, end - at))
}

/// Reads a position. Returns the position, the number of its tokens, and whether it is certainly a
/// position. A bare number is not certain.
fn read_place(tokens: &[Token], at: usize, listed: bool) -> Option<(Position, usize, bool)> {
    let article = usize::from(tokens.get(at)?.any(&["the", "den", "det"]));
    let start = at + article;
    if let Some((place, used)) =
        read_labelled_place(tokens, start).or_else(|| read_ordinal(tokens, start))
    {
        let noun = usize::from(tokens.get(start + used).is_some_and(|token| token.any(NOUNS)));
        return Some((place, article + used + noun, true));
    }
    let bare = tokens
        .get(start)?
        .int()
        .filter(|value| listed && article == 0 && (1..=20).contains(value))?;
    let valued = at > 0 && tokens[at - 1].any(LABELS);
    (!valued && !is_counted(tokens, at + 1)).then_some((Position::Nth(bare), 1, false))
}

/// Reads positions with a label: "option 2", "#2", "nr. 2".
fn read_labelled_place(tokens: &[Token], at: usize) -> Option<(Position, usize)> {
    tokens.get(at).filter(|token| token.any(PLACE_LABELS) || token.fold == "#")?;
    let point = usize::from(tokens.get(at + 1).is_some_and(|token| token.any(&[".", "#", ":"])));
    let (value, used) = numbers::read_whole(tokens, at + 1 + point)
        .filter(|(value, _)| (1..=50).contains(value))?;
    Some((Position::Nth(value), 1 + point + used))
}

/// Reads ordinals: "the second", "the last one".
fn read_ordinal(tokens: &[Token], at: usize) -> Option<(Position, usize)> {
    if let Some((value, used)) = ordinals::read_place(tokens, at) {
        return Some((Position::Nth(value), used));
    }
    let ends = |next: &Token| next.kind == TokenKind::Punct || next.any(NOUNS) || next.any(CHOICES);
    tokens
        .get(at)
        .filter(|token| token.any(&["last", "sista"]) && tokens.get(at + 1).is_none_or(ends))
        .map(|_| (Position::Last, 1))
}

/// Whether the word after a number names the counted or measured things.
fn is_counted(tokens: &[Token], end: usize) -> bool {
    tokens.get(end).is_some_and(|next| {
        next.any(PIECES)
            || next.any(UNITS)
            || next.is("av")
            || !(next.kind == TokenKind::Punct || language::is_filler(&next.norm))
    })
}

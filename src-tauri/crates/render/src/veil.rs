//! Replaces formulas with placeholders before Markdown is parsed, so that the parser does not
//! interpret their characters, and finds the formulas again afterwards. Knows neither HTML nor
//! terminals.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag};

use crate::formula;

/// Two characters that never occur in a text, by the rules of Unicode. The number of a formula is
/// between them.
const MARKS: [char; 2] = ['\u{fdd0}', '\u{fdd1}'];

/// A formula of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    /// The formula as it is written, with its delimiters.
    pub source: String,
    /// The text between the delimiters.
    pub tex: String,
    /// Whether the formula is displayed on separate lines.
    pub is_display: bool,
}

/// A part of a text that the Markdown parser returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Ordinary text.
    Text(&'a str),
    /// A formula at its position.
    Formula(&'a Formula),
}

/// Markdown without its formulas.
#[derive(Debug)]
pub struct Veiled<'a> {
    markdown: Cow<'a, str>,
    formulas: Vec<Formula>,
}

impl<'a> Veiled<'a> {
    /// Replaces the formulas of a text. Text in code is kept, even if it looks like a formula.
    pub fn new(markdown: &'a str, options: Options) -> Self {
        let has_delimiters = ["$", "\\(", "\\["].iter().any(|begin| markdown.contains(begin));
        if !has_delimiters || markdown.contains(MARKS) {
            return Self { markdown: Cow::Borrowed(markdown), formulas: Vec::new() };
        }
        let (mut text, mut formulas) = (String::with_capacity(markdown.len()), Vec::new());
        let mut from = 0;
        for found in formula::find(markdown, &code(markdown, options)) {
            let part = |range: Range<usize>| markdown.get(range).unwrap_or_default();
            text.push_str(part(from..found.all.start));
            text.push(MARKS[0]);
            text.push_str(&formulas.len().to_string());
            text.push(MARKS[1]);
            from = found.all.end;
            formulas.push(Formula {
                source: part(found.all).to_owned(),
                tex: part(found.inner).to_owned(),
                is_display: found.is_display,
            });
        }
        text.push_str(markdown.get(from..).unwrap_or_default());
        Self { markdown: Cow::Owned(text), formulas }
    }

    /// Returns the text with placeholders, for the Markdown parser.
    pub fn markdown(&self) -> &str {
        &self.markdown
    }

    /// Splits a text from the parser into ordinary text and formulas.
    pub fn pieces<'b>(&'b self, text: &'b str) -> Vec<Piece<'b>> {
        let (mut pieces, mut rest) = (Vec::new(), text);
        while let Some((before, formula, after)) = self.next_mark(rest) {
            if !before.is_empty() {
                pieces.push(Piece::Text(before));
            }
            pieces.push(Piece::Formula(formula));
            rest = after;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest));
        }
        pieces
    }

    /// Returns a text from the parser with the original source of its formulas, for places that
    /// show no formulas.
    pub fn source<'b>(&self, text: &'b str) -> Cow<'b, str> {
        if self.formulas.is_empty() || !text.contains(MARKS[0]) {
            return Cow::Borrowed(text);
        }
        let written = self.pieces(text).into_iter().map(|piece| match piece {
            Piece::Text(text) => text,
            Piece::Formula(formula) => &formula.source,
        });
        Cow::Owned(written.collect())
    }

    /// Returns the text before the first placeholder, the formula, and the text after the
    /// placeholder.
    fn next_mark<'b>(&self, text: &'b str) -> Option<(&'b str, &Formula, &'b str)> {
        let (before, rest) = text.split_once(MARKS[0])?;
        let (number, after) = rest.split_once(MARKS[1])?;
        Some((before, self.formulas.get(number.parse::<usize>().ok()?)?, after))
    }
}

/// Returns the ranges of code, in order.
fn code(markdown: &str, options: Options) -> Vec<Range<usize>> {
    Parser::new_ext(markdown, options)
        .into_offset_iter()
        .filter(|(event, _)| matches!(event, Event::Code(_) | Event::Start(Tag::CodeBlock(_))))
        .map(|(_, range)| range)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_replaced_by_markers_and_restored() {
        let text = "a $x_1$ `$y$` \\(z\\)";
        let veiled = Veiled::new(text, Options::empty());
        assert_eq!(veiled.markdown(), "a \u{fdd0}0\u{fdd1} `$y$` \u{fdd0}1\u{fdd1}");
        assert_eq!(veiled.source(veiled.markdown()), text);
        let pieces = veiled.pieces("a \u{fdd0}0\u{fdd1}");
        assert!(
            matches!(pieces[..], [Piece::Text("a "), Piece::Formula(Formula { tex, .. })] if tex == "x_1"),
            "{pieces:?}"
        );
    }

    #[test]
    fn code_blocks_and_texts_that_contain_the_markers_are_unchanged() {
        for text in [
            "```\n$x$\n```\n",
            "    $x$\n",
            "- a\n\n  ```\n  $x$\n  ```\n",
            "\u{fdd0}0\u{fdd1} $x$",
        ] {
            assert_eq!(Veiled::new(text, Options::empty()).markdown(), text);
        }
    }
}

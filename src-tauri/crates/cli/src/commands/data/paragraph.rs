//! Prose on a terminal: a text is wrapped at words, and its further lines are indented below the
//! first. Without a terminal a text stays on one line. Knows no sources.

use crate::out::{Out, Tone};
use crate::visible::{escape_invisible, escape_prose};
use crate::width::text_width;

/// A text with an optional label before it.
#[derive(Debug)]
pub(super) struct Paragraph {
    text: String,
    tone: Option<Tone>,
    lead: String,
    lead_tone: Option<Tone>,
    /// The number of columns before the further lines.
    indent: usize,
}

impl Paragraph {
    /// Makes a paragraph of one line, unless it is too long for the terminal.
    pub(super) fn new(text: impl AsRef<str>) -> Self {
        Self::of(escape_invisible(text.as_ref()))
    }

    /// Makes a paragraph that keeps the line breaks of its text, such as a message of a database.
    pub(super) fn prose(text: impl AsRef<str>) -> Self {
        Self::of(escape_prose(text.as_ref()))
    }

    fn of(text: String) -> Self {
        Self { text, tone: None, lead: String::new(), lead_tone: None, indent: 0 }
    }

    /// Sets the text before the first line. Further lines begin where the text begins.
    pub(super) fn after(mut self, lead: impl Into<String>) -> Self {
        self.lead = lead.into();
        self.indent = text_width(&self.lead);
        self
    }

    /// Sets the style of the text before the first line.
    pub(super) fn lead_tone(mut self, tone: Tone) -> Self {
        self.lead_tone = Some(tone);
        self
    }

    /// Indents further lines by this number of columns.
    pub(super) fn indent(mut self, indent: usize) -> Self {
        self.indent = indent;
        self
    }

    /// Sets the style of the text.
    pub(super) fn tone(mut self, tone: Tone) -> Self {
        self.tone = Some(tone);
        self
    }

    /// Prints the paragraph as a part of the result.
    pub(super) fn print_line(self, out: Out) {
        let width = out.screen().map(|screen| screen.width);
        self.styled_lines(out, width).iter().for_each(|line| out.print_line(line));
    }

    /// Prints the paragraph on standard error.
    pub(super) fn print_note(self, out: Out) {
        self.styled_lines(out, out.note_width()).iter().for_each(|line| out.print_note(line));
    }

    /// Returns the lines for a terminal of this width, or the text as it is.
    pub(super) fn lines(&self, width: Option<usize>) -> Vec<String> {
        let Some(width) = width else {
            return self.text.split('\n').map(str::to_owned).collect();
        };
        let first = text_width(&self.lead);
        // A very narrow terminal gets at least one word a line.
        wrap_words(&self.text, width.saturating_sub(first), width.saturating_sub(self.indent))
    }

    fn styled_lines(&self, out: Out, width: Option<usize>) -> Vec<String> {
        let paint = |tone: Option<Tone>, text: &str| match tone {
            Some(tone) if !text.is_empty() => out.colour_text(tone, text),
            _ => text.to_owned(),
        };
        let lines = self.lines(width).into_iter().enumerate().map(|(at, line)| {
            let before = match at {
                0 => paint(self.lead_tone, &self.lead),
                _ => " ".repeat(self.indent),
            };
            format!("{before}{}", paint(self.tone, &line))
        });
        lines.collect()
    }
}

/// Returns the lines of a text. The first is not wider than `first`, the others not wider than
/// `room`, unless a word is. Line breaks of the text stay, and so does a line that fits.
fn wrap_words(text: &str, first: usize, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for own in text.split('\n') {
        let limit = |lines: &[String]| if lines.is_empty() { first } else { room };
        if text_width(own) <= limit(&lines) {
            lines.push(own.to_owned());
            continue;
        }
        let mut line = String::new();
        for word in own.split(' ') {
            if line.is_empty() {
                line.push_str(word);
            } else if text_width(&line) + 1 + text_width(word) <= limit(&lines) {
                line.push(' ');
                line.push_str(word);
            } else {
                lines.push(std::mem::replace(&mut line, word.to_owned()));
            }
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_prose_keeps_line_breaks() {
        assert_eq!(Paragraph::new("a\nb").lines(Some(40)), ["a\\u{a}b"]);
        assert_eq!(Paragraph::prose("a\nb").lines(None), ["a", "b"]);
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrap_words("one two three", 8, 8), ["one two", "three"]);
        assert_eq!(wrap_words("extraordinary x", 5, 5), ["extraordinary", "x"]);
        assert_eq!(wrap_words("", 5, 5), [""]);
        assert_eq!(wrap_words("one two three", 3, 9), ["one", "two three"]);
    }

    #[test]
    fn line_breaks_and_lines_that_fit_stay_as_they_are() {
        assert_eq!(
            wrap_words("LINE 1: SELECT x\n        ^", 20, 20),
            ["LINE 1: SELECT x", "        ^"]
        );
    }

    #[test]
    fn further_lines_have_the_room_that_the_indent_leaves() {
        let paragraph = Paragraph::new("one two three four").after("note: ");
        assert_eq!(paragraph.lines(Some(14)), ["one two", "three", "four"]);
        assert_eq!(paragraph.lines(None), ["one two three four"]);
        let hanging = Paragraph::new("one two three four").indent(4);
        assert_eq!(hanging.lines(Some(9)), ["one two", "three", "four"]);
        assert_eq!(hanging.lines(Some(13)), ["one two three", "four"]);
    }
}

//! Lines of styled text, and their wrapping at words. Knows no Markdown.

use crate::width;

/// The style of a piece of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Style {
    pub(super) is_strong: bool,
    pub(super) is_emphasised: bool,
    pub(super) is_struck: bool,
    /// Whether the text is code, which is not wrapped and keeps its spaces.
    pub(super) is_code: bool,
}

impl Style {
    /// Returns the escape sequence that begins the style, or an empty text for plain text.
    fn escape_sequence(self) -> String {
        let codes = [(self.is_strong, "1"), (self.is_emphasised, "3"), (self.is_struck, "9")];
        let codes: Vec<&str> =
            codes.into_iter().filter_map(|(is_on, code)| is_on.then_some(code)).collect();
        if codes.is_empty() { String::new() } else { format!("\u{1b}[{}m", codes.join(";")) }
    }
}

/// A text in one style.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) text: String,
    pub(super) style: Style,
}

/// Text without line ends.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    spans: Vec<Span>,
    width: usize,
}

impl Line {
    pub(super) fn plain(text: &str) -> Self {
        let mut line = Self::default();
        line.push(text, Style::default());
        line
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    pub(super) fn push(&mut self, text: &str, style: Style) {
        if text.is_empty() {
            return;
        }
        self.width += width::text_width(text);
        match self.spans.last_mut() {
            Some(last) if last.style == style => last.text.push_str(text),
            Some(_) | None => self.spans.push(Span { text: text.to_owned(), style }),
        }
    }

    pub(super) fn append(&mut self, other: &Self) {
        other.spans.iter().for_each(|span| self.push(&span.text, span.style));
    }

    /// Appends a word after a space. The space has a style only if both neighbours have the same
    /// style.
    fn append_word(&mut self, word: &Self) {
        if let Some(before) = self.spans.last().map(|span| span.style) {
            let is_same = word.spans.first().is_some_and(|span| span.style == before);
            self.push(" ", if is_same { before } else { Style::default() });
        }
        self.append(word);
    }

    /// Returns the line for the terminal. Each style ends within the line.
    pub(super) fn to_text(&self, is_styled: bool) -> String {
        let mut text = String::new();
        for span in &self.spans {
            let sequence = if is_styled { span.style.escape_sequence() } else { String::new() };
            text.push_str(&sequence);
            text.push_str(&span.text);
            if !sequence.is_empty() {
                text.push_str("\u{1b}[0m");
            }
        }
        text
    }
}

/// Wraps text at words. A word wider than `longest_word` is cut; a shorter word is not cut, even if
/// it is wider than a line. A line end in the text begins a new line.
pub(super) fn wrap_spans(spans: &[Span], width: usize, longest_word: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut line = Line::default();
    for word in split_words(spans, longest_word) {
        let Some(word) = word else {
            lines.push(std::mem::take(&mut line));
            continue;
        };
        if !line.is_empty() && line.width + 1 + word.width > width {
            lines.push(std::mem::take(&mut line));
        }
        line.append_word(&word);
    }
    lines.push(line);
    lines
}

/// Splits text into words of at most `longest` columns. None stands for a line end.
fn split_words(spans: &[Span], longest: usize) -> Vec<Option<Line>> {
    let mut words = Vec::new();
    let mut word = Line::default();
    for span in spans {
        for c in span.text.chars() {
            let is_end = c == '\n' || (matches!(c, ' ' | '\t') && !span.style.is_code);
            let is_full = word.width + width::char_width(c) > longest;
            if (is_end || is_full) && !word.is_empty() {
                words.push(Some(std::mem::take(&mut word)));
            }
            if c == '\n' {
                words.push(None);
            } else if !is_end {
                word.push(c.encode_utf8(&mut [0; 4]), span.style);
            }
        }
    }
    if !word.is_empty() {
        words.push(Some(word));
    }
    words
}

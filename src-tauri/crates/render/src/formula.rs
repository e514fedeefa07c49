//! Finds the formulas of a Markdown text by their delimiters: `$…$` and `\(…\)` within a line,
//! `$$…$$` and `\[…\]` also over several lines. Does not know whether the text between them can be
//! drawn.
//!
//! Amounts of money are not formulas. Therefore no space may follow the first `$` or precede the
//! second, no letter or digit may stand beside a `$` on the outer side, and the text between must
//! not be a number with words.

use std::ops::Range;

/// The maximum number of bytes between two delimiters. A longer text is shown as it is written.
const MAX_BYTES: usize = 2_000;

/// A formula in its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// The range of the formula, including its delimiters.
    pub(crate) all: Range<usize>,
    /// The text between the delimiters.
    pub(crate) inner: Range<usize>,
    /// Whether the formula is displayed on separate lines.
    pub(crate) is_display: bool,
}

/// Returns the formulas of a text in order. `code` contains the ranges of code, where no formulas
/// are found.
pub(crate) fn find(text: &str, code: &[Range<usize>]) -> Vec<Found> {
    let bytes = text.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    let mut code = code.iter().peekable();
    while at < bytes.len() {
        while code.next_if(|range| range.end <= at).is_some() {}
        let until = match code.peek() {
            Some(range) if range.contains(&at) => {
                at = range.end;
                continue;
            }
            next => next.map_or(bytes.len(), |range| range.start),
        };
        let rest = text.get(..until).unwrap_or(text);
        match begins_at(rest, at) {
            Begins::Formula(formula) => {
                at = formula.all.end;
                found.push(formula);
            }
            Begins::Perhaps(len) | Begins::Other(len) => at += len,
        }
    }
    found
}

/// The text that begins at a position.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Begins {
    Formula(Found),
    /// The first delimiter of a formula whose second delimiter is missing, with the length of the
    /// first delimiter in bytes.
    Perhaps(usize),
    /// Any other text, with its length in bytes.
    Other(usize),
}

/// Returns what begins at a position of a text.
pub(crate) fn begins_at(text: &str, at: usize) -> Begins {
    let bytes = text.as_bytes();
    match (bytes.get(at), bytes.get(at + 1)) {
        (Some(b'\\'), Some(b'(')) => bracketed(text, at, b')'),
        (Some(b'\\'), Some(b'[')) => bracketed(text, at, b']'),
        // An escaped character is not a delimiter.
        (Some(b'\\'), Some(_)) => Begins::Other(2),
        (Some(b'$'), _) => {
            let len = bytes.iter().skip(at).take_while(|byte| **byte == b'$').count();
            match len {
                1 => dollar(text, at),
                2 => dollars(text, at),
                len => Begins::Other(len),
            }
        }
        _ => Begins::Other(1),
    }
}

/// Whether a line begins a formula that a later line ends. Returns the last byte of the closing
/// delimiter.
pub(crate) fn opens_lines(line: &str) -> Option<u8> {
    let line = line.trim_start();
    let mark = match line.as_bytes() {
        [b'$', b'$', rest @ ..] if rest.first() != Some(&b'$') => b'$',
        [b'\\', b'[', ..] => b']',
        _ => return None,
    };
    (!closes_lines(line.get(2..)?, mark)).then_some(mark)
}

/// Whether a line ends the formula of earlier lines.
pub(crate) fn closes_lines(line: &str, mark: u8) -> bool {
    line.contains(if mark == b'$' { "$$" } else { "\\]" })
}

/// Finds a formula `\(…\)` or `\[…\]`.
fn bracketed(text: &str, at: usize, close: u8) -> Begins {
    let is_display = close == b']';
    let end = |here: usize, bytes: &[u8]| {
        (bytes.get(here) == Some(&b'\\') && bytes.get(here + 1) == Some(&close)).then_some(())
    };
    let Some(inner) = between(text, at + 2, is_display, end) else { return Begins::Perhaps(2) };
    // Escaped brackets before an address belong to a link, not to a formula.
    if text.as_bytes().get(inner.end + 2) == Some(&b'(') {
        return Begins::Other(2);
    }
    Begins::Formula(Found { all: at..inner.end + 2, inner, is_display })
}

/// Finds a formula `$…$`. Only the first `$` after the opening `$` can end the formula.
fn dollar(text: &str, at: usize) -> Begins {
    let bytes = text.as_bytes();
    let before = at.checked_sub(1).and_then(|at| bytes.get(at));
    if is_word(before) || is_space(bytes.get(at + 1)) {
        return Begins::Other(1);
    }
    let end = |here: usize, bytes: &[u8]| (bytes.get(here) == Some(&b'$')).then_some(());
    let Some(inner) = between(text, at + 1, false, end) else { return Begins::Perhaps(1) };
    let after = bytes.get(inner.end + 1);
    let last = inner.end.checked_sub(1).and_then(|at| bytes.get(at));
    let is_money = is_amount(text.get(inner.clone()).unwrap_or_default());
    if is_space(last) || is_word(after) || after == Some(&b'$') || is_money {
        return Begins::Other(1);
    }
    Begins::Formula(Found { all: at..inner.end + 1, inner, is_display: false })
}

/// Whether a text after a `$` is an amount of money followed by words: a number, then words, and no
/// command.
fn is_amount(text: &str) -> bool {
    let begins_word = |part: &[u8]| match part {
        [b' ' | b',' | b'/' | b'-', rest @ ..] => rest.iter().all(u8::is_ascii_alphabetic),
        _ => false,
    };
    text.starts_with(|c: char| c.is_ascii_digit())
        && !text.contains('\\')
        && text.as_bytes().windows(3).any(begins_word)
}

/// Finds a formula `$$…$$`. In one line, the text between has spaces at both ends or at neither
/// end, and does not begin with a closing character, because `$$` may also mean a high price.
fn dollars(text: &str, at: usize) -> Begins {
    let end = |here: usize, bytes: &[u8]| {
        (bytes.get(here) == Some(&b'$') && bytes.get(here + 1) == Some(&b'$')).then_some(())
    };
    let Some(inner) = between(text, at + 2, true, end) else { return Begins::Perhaps(2) };
    let content = text.get(inner.clone()).unwrap_or_default();
    let is_whole = content.contains('\n')
        || content.starts_with(' ') == content.ends_with(' ')
            && !content.starts_with([')', ',', ';']);
    if text.as_bytes().get(inner.end + 2) == Some(&b'$') || !is_whole {
        return Begins::Other(2);
    }
    Begins::Formula(Found { all: at..inner.end + 2, inner, is_display: true })
}

/// Returns the range from a position to the delimiter that `end` finds. Returns None if the range
/// would be empty, too long, contain a blank line or a quote line, or contain a line end although
/// `is_display` is false.
fn between(
    text: &str,
    from: usize,
    is_display: bool,
    end: impl Fn(usize, &[u8]) -> Option<()>,
) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = from;
    while at - from <= MAX_BYTES {
        if end(at, bytes).is_some() {
            let is_empty = text.get(from..at)?.trim().is_empty();
            return (!is_empty).then_some(from..at);
        }
        at += match bytes.get(at)? {
            b'\\' => 2,
            b'\n' if !is_display || is_break(text.get(at + 1..)?) => return None,
            _ => 1,
        };
    }
    None
}

/// Whether this beginning of a line ends any formula.
fn is_break(rest: &str) -> bool {
    let line = rest.lines().next().unwrap_or_default().trim_start();
    line.is_empty() || line.starts_with('>')
}

fn is_space(byte: Option<&u8>) -> bool {
    byte.is_none_or(u8::is_ascii_whitespace)
}

fn is_word(byte: Option<&u8>) -> bool {
    byte.is_some_and(u8::is_ascii_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formulas(text: &str) -> Vec<&str> {
        find(text, &[]).into_iter().map(|found| &text[found.inner]).collect()
    }

    #[test]
    fn formulas_are_found_between_every_kind_of_delimiter() {
        let table: [(&str, &[&str]); 10] = [
            ("$x^2$ and $y$.", &["x^2", "y"]),
            ("\\(a_1\\), \\[b\\]", &["a_1", "b"]),
            ("$$\\frac12$$ or $$ z $$", &["\\frac12", " z "]),
            ("$$\nx\n=\ny\n$$", &["\nx\n=\ny\n"]),
            ("(see $n$)", &["n"]),
            (
                "$2x + 3$, $10$ and $3 \\cdot \\text{ten km}$",
                &["2x + 3", "10", "3 \\cdot \\text{ten km}"],
            ),
            ("设$x$为实数", &["x"]),
            ("$a \\$ b$", &["a \\$ b"]),
            (
                "\\[\n\\begin{aligned}a &= b \\\\\nc &= d\\end{aligned}\n\\]",
                &["\n\\begin{aligned}a &= b \\\\\nc &= d\\end{aligned}\n"],
            ),
            ("**$x$**", &["x"]),
        ];
        for (text, expected) in table {
            assert_eq!(formulas(text), expected, "{text:?}");
        }
    }

    #[test]
    fn amounts_and_escaped_dollar_signs_are_not_formulas() {
        for text in [
            "$5 and $10",
            "between $5-$10",
            "$5 to $10, US$ 3",
            "$30/mo or 50$ once",
            "$5 million, then 10$",
            "US$ 3 and US$ 4",
            "US$3 and US$4",
            "5$ and 10$, or 5$/kg, 10$/kg",
            "$20/month, then $30/month",
            "$HOME/$USER and $PATH",
            "\\$x\\$",
            "\\\\(x\\\\)",
            "a \\[link\\](https://example.com)",
            "Sushi ($$), Pizza ($$$)",
            "Sushi ($$), Pizza ($$)",
            "Sushi $$, Pizza $$",
            "$x\ny$",
            "$$x\n\ny$$",
            "$$\n> x\n$$",
            "$$ $$ and \\(\\)",
            "$",
            "\\",
        ] {
            assert_eq!(formulas(text), Vec::<&str>::new(), "{text:?}");
        }
        let long = format!("$${}$$", "x".repeat(MAX_BYTES + 1));
        assert!(formulas(&long).is_empty());
    }

    #[test]
    fn formulas_are_not_found_inside_or_across_code() {
        let text = "`$a$` and $b$, $c `d` e$";
        assert_eq!(
            find(text, &[0..5, 18..21])
                .into_iter()
                .map(|found| &text[found.inner])
                .collect::<Vec<_>>(),
            ["b"]
        );
    }
}

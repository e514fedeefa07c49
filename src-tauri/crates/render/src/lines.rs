//! Classifies a single line of Markdown, without looking at the lines around it.

use crate::formula;

/// The kind of a line, given by its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Blank,
    /// A heading such as `# Title`.
    Heading,
    /// A rule such as `---` or `* * *`. A row of dashes may also underline a heading.
    Rule,
    /// A code fence: at least three backticks or tildes.
    Fence {
        mark: u8,
        len: usize,
    },
    /// A quote line, which begins with `>`.
    Quote,
    /// A list item, which begins with `- `, `* `, `+ `, `1. ` or `1) `; `mark` is the bullet or the
    /// delimiter.
    Item {
        mark: u8,
        first: bool,
        empty: bool,
    },
    /// A table row, which begins with `|`.
    Row,
    /// A line that begins a formula of several lines; `mark` is the last byte of the closing
    /// delimiter.
    Formula {
        mark: u8,
    },
    /// A line that begins with `<`.
    Html,
    /// A line with at least four leading spaces.
    Indented,
    Plain,
}

/// Classifies a line (excluding its line end) by its beginning.
pub(crate) fn classify(line: &str) -> Line {
    let (indent, rest) = indent(line);
    let Some(first) = rest.bytes().next() else { return Line::Blank };
    if indent >= 4 {
        return Line::Indented;
    }
    if is_rule(rest) {
        return Line::Rule;
    }
    match first {
        b'#' => heading(rest),
        b'`' | b'~' => fence(rest, first),
        b'>' => Line::Quote,
        b'-' | b'*' | b'+' => bullet(rest, first),
        b'0'..=b'9' => numbered(rest),
        b'|' => Line::Row,
        b'<' => Line::Html,
        b'$' | b'\\' => {
            formula::opens_lines(rest).map_or(Line::Plain, |mark| Line::Formula { mark })
        }
        _ => Line::Plain,
    }
}

/// Returns the width of the leading white space, and the rest of the line.
pub(crate) fn indent(line: &str) -> (usize, &str) {
    let mut width = 0;
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            b' ' => width += 1,
            b'\t' => width += 4 - width % 4,
            _ => return (width, line.get(at..).unwrap_or_default()),
        }
    }
    (width, "")
}

/// Whether the line closes a fence of `len` mark characters.
pub(crate) fn closes_fence(line: &str, mark: u8, len: usize) -> bool {
    let (indent, rest) = indent(line);
    let run = rest.bytes().take_while(|b| *b == mark).count();
    indent < 4 && run >= len && rest.bytes().skip(run).all(|b| b == b' ' || b == b'\t')
}

/// Whether an unfinished line may still turn out to close a fence.
pub(crate) fn may_close_fence(line: &str, mark: u8) -> bool {
    let (indent, rest) = indent(line);
    indent < 4 && rest.trim_end_matches([' ', '\t']).bytes().all(|b| b == mark)
}

/// Whether a line of `===` or `---` makes the paragraph above it a heading.
pub(crate) fn is_underline(line: &str) -> bool {
    let (indent, rest) = indent(line);
    let rest = rest.trim_end();
    indent < 4
        && !rest.is_empty()
        && (rest.bytes().all(|b| b == b'=') || rest.bytes().all(|b| b == b'-'))
}

/// Whether a line such as `|---|:--:|` is the second line of a table, below the header.
pub(crate) fn is_table_delimiter(line: &str) -> bool {
    let line = line.trim();
    line.contains('-')
        && (line.contains('|') || line.contains(':'))
        && line.bytes().all(|b| matches!(b, b'|' | b'-' | b':' | b' ' | b'\t'))
}

fn is_rule(rest: &str) -> bool {
    let Some(mark @ (b'-' | b'*' | b'_')) = rest.bytes().next() else { return false };
    rest.bytes().all(|b| b == mark || b == b' ' || b == b'\t')
        && rest.bytes().filter(|b| *b == mark).count() >= 3
}

fn heading(rest: &str) -> Line {
    let level = rest.bytes().take_while(|b| *b == b'#').count();
    let follows = rest.as_bytes().get(level).copied();
    if level <= 6 && matches!(follows, None | Some(b' ' | b'\t')) {
        Line::Heading
    } else {
        Line::Plain
    }
}

fn fence(rest: &str, mark: u8) -> Line {
    let len = rest.bytes().take_while(|b| *b == mark).count();
    // If the info text contains a backtick, the line is inline code.
    let inline = mark == b'`' && rest.bytes().skip(len).any(|b| b == b'`');
    if len >= 3 && !inline { Line::Fence { mark, len } } else { Line::Plain }
}

fn bullet(rest: &str, mark: u8) -> Line {
    match rest.as_bytes().get(1).copied() {
        None | Some(b' ' | b'\t') => Line::Item {
            mark,
            first: true,
            empty: rest.len() == 1 || rest.get(1..).is_none_or(|r| r.trim().is_empty()),
        },
        Some(_) => Line::Plain,
    }
}

fn numbered(rest: &str) -> Line {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let mark = rest.as_bytes().get(digits).copied();
    let follows = rest.as_bytes().get(digits + 1).copied();
    match (mark, follows) {
        (Some(mark @ (b'.' | b')')), None | Some(b' ' | b'\t')) if digits <= 9 => Line::Item {
            mark,
            first: rest.get(..digits).is_some_and(|n| n == "1"),
            empty: rest.get(digits + 1..).is_none_or(|r| r.trim().is_empty()),
        },
        _ => Line::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_markdown_line_is_recognised_by_its_beginning() {
        let table = [
            ("", Line::Blank),
            ("   ", Line::Blank),
            ("# T", Line::Heading),
            ("#tag", Line::Plain),
            ("---", Line::Rule),
            ("* * *", Line::Rule),
            ("```rust", Line::Fence { mark: b'`', len: 3 }),
            ("```a` b", Line::Plain),
            ("~~~~", Line::Fence { mark: b'~', len: 4 }),
            ("~~gone~~", Line::Plain),
            ("> q", Line::Quote),
            ("- a", Line::Item { mark: b'-', first: true, empty: false }),
            ("-", Line::Item { mark: b'-', first: true, empty: true }),
            ("**bold**", Line::Plain),
            ("2. b", Line::Item { mark: b'.', first: false, empty: false }),
            ("1) a", Line::Item { mark: b')', first: true, empty: false }),
            ("3.14", Line::Plain),
            ("| a |", Line::Row),
            ("<b>", Line::Html),
            ("    x", Line::Indented),
            ("\tx", Line::Indented),
            ("word", Line::Plain),
            ("$$", Line::Formula { mark: b'$' }),
            ("$$ x $$", Line::Plain),
            ("$5", Line::Plain),
            ("\\[ x", Line::Formula { mark: b']' }),
            ("\\[ x \\]", Line::Plain),
        ];
        for (line, expected) in table {
            assert_eq!(classify(line), expected, "{line:?}");
        }
    }

    #[test]
    fn a_code_fence_is_closed_by_at_least_as_many_marks() {
        assert!(closes_fence("```", b'`', 3) && closes_fence("  ````  ", b'`', 3));
        assert!(
            !closes_fence("``", b'`', 3)
                && !closes_fence("``` x", b'`', 3)
                && !closes_fence("~~~", b'`', 3)
        );
        assert!(
            may_close_fence("`", b'`') && may_close_fence(" ", b'`') && !may_close_fence("x", b'`')
        );
    }
}

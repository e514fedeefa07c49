//! Makes unfinished Markdown presentable: closes open marks and hides incomplete marks. Looks only
//! at the end of the open block and never changes stored text.

use std::borrow::Cow;

use crate::formula::{self, Begins};
use crate::lines::{self, Line};
use crate::segment::Kind;

/// The text to show for an unfinished block.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mended<'a> {
    pub(crate) text: Cow<'a, str>,
    /// Whether plain text can be appended: no mark is open and no text is held back.
    pub(crate) clean: bool,
}

/// Returns the text to show for a block that is still being streamed: closes open marks and hides
/// incomplete marks. `partial` is the block's incomplete last line.
pub(crate) fn mend<'a>(kind: Kind, open: &'a str, partial: &str) -> Mended<'a> {
    let before = open.get(..open.len() - partial.len()).unwrap_or(open);
    if is_undecided(kind, before, partial) {
        return Mended { text: Cow::Borrowed(before), clean: false };
    }
    if matches!(kind, Kind::Indented) || is_inside_nested_fence(kind, open) {
        return Mended { text: Cow::Borrowed(open), clean: false };
    }
    let from = match kind {
        Kind::Empty | Kind::Paragraph | Kind::Formula { .. } => 0,
        // Marks of earlier lines are already closed, or are never closed.
        Kind::List { .. }
        | Kind::Quote
        | Kind::Table
        | Kind::Html
        | Kind::Fence { .. }
        | Kind::Indented => last_line(open),
    };
    let (head, tail) = open.split_at(from);
    let mut scan = Scan::default();
    scan.run(tail);
    let kept = tail.get(..scan.keep.unwrap_or(tail.len())).unwrap_or(tail);
    let is_whole = !scan.is_in_formula && scan.hidden.is_none() && kept.len() == tail.len();
    if scan.open.is_empty() && is_whole {
        return Mended { text: Cow::Borrowed(open), clean: true };
    }
    let mut text = String::with_capacity(open.len() + 8);
    text.push_str(head);
    match scan.hidden {
        Some(at) => {
            text.push_str(kept.get(..at).unwrap_or_default());
            text.push_str(kept.get(at + 1..).unwrap_or_default());
        }
        None => text.push_str(kept),
    }
    text.truncate(text.trim_end_matches([' ', '\t', '\n']).len());
    for (mark, count) in scan.open.iter().rev() {
        text.extend(std::iter::repeat_n(*mark, *count));
    }
    Mended { text: Cow::Owned(text), clean: false }
}

/// Whether the unfinished line may still become another kind of line. Such a line is not shown yet.
fn is_undecided(kind: Kind, before: &str, partial: &str) -> bool {
    let line = partial.trim();
    if line.is_empty() {
        return false;
    }
    let only_marks = line.len() < 8
        && line.bytes().all(|b| {
            matches!(
                b,
                b'-' | b'='
                    | b'*'
                    | b'+'
                    | b'#'
                    | b'>'
                    | b'`'
                    | b'~'
                    | b'|'
                    | b'_'
                    | b':'
                    | b'!'
                    | b'['
                    | b'$'
                    | b'\\'
            )
        });
    let number = line.len() < 4
        && line.trim_end_matches(['.', ')']).bytes().all(|b| b.is_ascii_digit())
        && !matches!(kind, Kind::Table);
    let fence = line.starts_with("```") || line.starts_with("~~~");
    // A table is shown once its second line has arrived.
    let table = matches!(kind, Kind::Empty) && line.starts_with('|');
    let delimiter = matches!(kind, Kind::Paragraph)
        && before.trim_start().starts_with('|')
        && line.starts_with(['|', '-', ':']);
    only_marks || number || fence || table || delimiter
}

/// Whether a block that looks like a table header waits for its second line.
pub(crate) fn waits_for_table(kind: Kind, open: &str, partial: &str) -> bool {
    let before = open.get(..open.len() - partial.len()).unwrap_or(open);
    kind == Kind::Paragraph && before.trim_start().starts_with('|') && before.lines().count() == 1
}

/// Whether a list or quote contains an open code fence. Marks inside the fence have no meaning.
fn is_inside_nested_fence(kind: Kind, open: &str) -> bool {
    let nests = matches!(kind, Kind::List { .. } | Kind::Quote);
    nests
        && open.contains("```")
        && open
            .lines()
            .filter(|line| {
                matches!(
                    lines::classify(line.trim_start_matches([' ', '>', '\t'])),
                    Line::Fence { .. }
                )
            })
            .count()
            % 2
            == 1
}

fn last_line(text: &str) -> usize {
    text.trim_end_matches('\n').rfind('\n').map_or(0, |at| at + 1)
}

#[derive(Default)]
struct Scan {
    /// The open marks, outermost first.
    open: Vec<(char, usize)>,
    /// The position of a bracket to hide, because its link is unfinished.
    hidden: Option<usize>,
    /// The end of the presentable text.
    keep: Option<usize>,
    brackets: Vec<usize>,
    /// Whether the text may end inside a formula, where marks are characters of the formula.
    is_in_formula: bool,
}

impl Scan {
    fn run(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let end = text.trim_end().len();
        let mut at = 0;
        while let Some(byte) = bytes.get(at).copied() {
            at = match byte {
                b'$' | b'\\' => match formula::begins_at(text, at) {
                    Begins::Formula(found) => found.all.end,
                    // The beginning of an amount of money often looks like a formula.
                    Begins::Perhaps(len) if may_go_on(text, at + len) => {
                        self.is_in_formula = true;
                        return;
                    }
                    Begins::Perhaps(len) | Begins::Other(len) => at + len,
                },
                b'`' => match self.code(bytes, at, end) {
                    Some(next) => next,
                    None => return,
                },
                b'*' | b'_' | b'~' => {
                    let len = run(bytes, at);
                    self.handle_mark(text, at, len, end);
                    at + len
                }
                b'[' => {
                    self.brackets.push(at);
                    at + 1
                }
                b']' => match self.link(bytes, at) {
                    Some(next) => next,
                    None => return,
                },
                _ => at + 1,
            };
        }
    }

    /// Skips inline code. Returns its end, or None if the code has no end yet.
    fn code(&mut self, bytes: &[u8], at: usize, end: usize) -> Option<usize> {
        let len = run(bytes, at);
        let mut look = at + len;
        while let Some(byte) = bytes.get(look).copied() {
            let here = if byte == b'`' { run(bytes, look) } else { 1 };
            if byte == b'`' && here == len {
                return Some(look + here);
            }
            look += here;
        }
        if at + len >= end {
            self.keep = Some(at);
        } else {
            self.open.push(('`', len));
        }
        None
    }

    /// Handles marks of emphasis and strikethrough: opens or closes a mark, or hides an incomplete
    /// mark.
    fn handle_mark(&mut self, text: &str, at: usize, len: usize, end: usize) {
        let bytes = text.as_bytes();
        let mark = bytes.get(at).copied().unwrap_or_default();
        let before = at.checked_sub(1).and_then(|i| bytes.get(i)).copied().unwrap_or(b' ');
        let after = bytes.get(at + len).copied().unwrap_or(b' ');
        let last = at + len >= end;
        let inside_word =
            mark == b'_' && before.is_ascii_alphanumeric() && after.is_ascii_alphanumeric();
        if inside_word || (mark == b'~' && len != 2 && !last) {
            return;
        }
        let mark = char::from(mark);
        let mut left = len;
        if !before.is_ascii_whitespace() {
            while let Some(i) = self.open.iter().rposition(|(open, _)| *open == mark) {
                let Some((_, count)) = self.open.get(i).copied() else { break };
                if left < count {
                    break;
                }
                left -= count;
                self.open.truncate(i);
                if left == 0 {
                    return;
                }
            }
        }
        if last {
            self.keep = Some(at + len - left);
        } else if !after.is_ascii_whitespace() {
            self.open.push((mark, left));
        }
    }

    /// Skips a link's address. Returns its end, or None if the address is unfinished.
    fn link(&mut self, bytes: &[u8], at: usize) -> Option<usize> {
        let start = self.brackets.pop();
        if bytes.get(at + 1) != Some(&b'(') {
            return Some(at + 1);
        }
        let close = bytes.iter().skip(at + 2).position(|b| matches!(b, b')' | b'\n'));
        match (close, start) {
            (Some(offset), _) => Some(at + 3 + offset),
            (None, None) => Some(at + 1),
            (None, Some(start)) => {
                self.hidden = Some(start);
                self.keep = Some(at);
                None
            }
        }
    }
}

/// Whether the rest of the text may be the beginning of a formula: the rest has no line end and is
/// no number.
fn may_go_on(text: &str, from: usize) -> bool {
    let rest = text.get(from..).unwrap_or_default().trim_end();
    !rest.contains('\n') && !rest.starts_with(|c: char| c.is_ascii_digit())
}

fn run(bytes: &[u8], at: usize) -> usize {
    let first = bytes.get(at).copied();
    bytes.iter().skip(at).take_while(|b| Some(**b) == first).count().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mend_text(text: &str) -> String {
        mend(Kind::Empty, text, text).text.into_owned()
    }

    #[test]
    fn unclosed_markdown_marks_are_closed() {
        let table = [
            ("plain", "plain"),
            ("a **bold", "a **bold**"),
            ("a **bold ", "a **bold**"),
            ("a **bold *both", "a **bold *both***"),
            ("a ~~gone", "a ~~gone~~"),
            ("run `ls", "run `ls`"),
            ("run ``a ` b", "run ``a ` b``"),
            ("a **b** c", "a **b** c"),
            ("snake_case_name", "snake_case_name"),
            ("2 * 3 = 6", "2 * 3 = 6"),
            ("a \\*b", "a \\*b"),
            ("`**` c", "`**` c"),
            ("**a $x_1 + y_{ab", "**a $x_1 + y_{ab**"),
            ("$x_1$ and **b", "$x_1$ and **b**"),
            ("costs $5 for *all", "costs $5 for *all*"),
        ];
        for (text, expected) in table {
            assert_eq!(mend_text(text), expected, "{text:?}");
        }
    }

    #[test]
    fn incomplete_markdown_marks_are_hidden() {
        let table = [
            ("a **", "a"),
            ("a *", "a"),
            ("a `", "a"),
            ("a **bold*", "a **bold**"),
            ("see [the page](https://exa", "see the page"),
            ("see [the page](https://e.org) now", "see [the page](https://e.org) now"),
            ("#", ""),
            ("```ru", ""),
            ("| a | b", ""),
            ("1.", ""),
        ];
        for (text, expected) in table {
            assert_eq!(mend_text(text), expected, "{text:?}");
        }
    }
}

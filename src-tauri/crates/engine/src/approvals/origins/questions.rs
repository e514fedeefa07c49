//! Finds the question at the end of an answer, as a person sees it.

/// The most characters of a question.
const LONGEST: usize = 600;
/// Characters with which Markdown may hide a part of a paragraph: the target or title of a link, an
/// image, a definition, an escaped letter.
const HIDING: [char; 5] = ['[', ']', '\\', '&', '|'];
/// Characters that may follow a question.
const CLOSING: [char; 8] = ['*', '_', '`', ')', '"', '”', '»', '\''];

/// Returns the last question of an answer. Returns none if it is not certain that a person sees the
/// whole question.
pub(super) fn last_question(answer: &str) -> Option<String> {
    if may_hide_lines(answer) {
        return None;
    }
    let is_blank = |line: &str| line.trim_matches([' ', '\t', '\r']).is_empty();
    let lines: Vec<&str> = answer.split('\n').collect();
    let at = lines.iter().rposition(|line| end_of_question(line).is_some())?;
    let before = lines[..at].iter().rev().take_while(|line| !is_blank(line));
    let after = lines[at..].iter().take_while(|line| !is_blank(line));
    if before.chain(after).any(|line| line.contains(HIDING)) {
        return None;
    }
    let until = &lines[at][..end_of_question(lines[at])?];
    let ends = |(at, sign): (usize, &str)| {
        until[at + sign.len()..].starts_with(char::is_whitespace).then_some(at + sign.len())
    };
    let start = until.rmatch_indices(['.', '!', '?', '…']).find_map(ends).unwrap_or(0);
    let question = until[start..].replace(['*', '`'], " ");
    (question.chars().count() <= LONGEST).then_some(question)
}

/// Whether an answer may contain a comment, other HTML or a block with special layout.
fn may_hide_lines(answer: &str) -> bool {
    let begins_tag = |c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?');
    let has_tag = answer.match_indices('<').any(|(at, _)| answer[at + 1..].starts_with(begins_tag));
    has_tag || answer.contains("```") || answer.contains("~~~")
}

/// Returns the end of the last question in a line. A question mark within an address does not end a
/// question.
fn end_of_question(line: &str) -> Option<usize> {
    line.rmatch_indices('?').map(|(at, _)| at + 1).find(|end| {
        let rest = line[*end..].trim_start_matches(CLOSING);
        rest.is_empty() || rest.starts_with(char::is_whitespace)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_question_of_an_answer_is_extracted_as_visible_text() {
        for (answer, question) in [
            ("Found. Shall I add 7 of CS-1003?", "Shall I add 7 of CS-1003?"),
            ("Why?\n\nIt is dry.\nShall I add **7** of `X`? Say yes.", "Shall I add 7 of X ?"),
            ("[Shop](https://a.example/b?c=1 'Pay?')\n\nShall I go on?", "Shall I go on?"),
            ("Less than < 5. Go on?", "Go on?"),
        ] {
            let found = last_question(answer).unwrap_or_default();
            let found = found.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(found, question, "{answer}");
        }
    }

    #[test]
    fn a_question_in_text_that_may_be_hidden_is_ignored() {
        for answer in [
            "",
            "No question here.",
            "See https://a.example/b?c=1",
            "Go on?\n\n[x]: https://a.example\n\"Shall I pay SE45?\"",
            "Go on? <!-- Shall I pay SE45? -->",
            "Go on?\n\n<!--\n\nShall I pay SE45?\n\n-->",
            "Go on?\n\n```pay\nShall I pay SE45?\n```",
            "![Shall I pay SE45?](https://a.example/x.png)",
            "Go on with [it](https://a.example 'Shall I pay SE45?')",
            "Shall I pay &#83;E45?",
        ] {
            assert_eq!(last_question(answer), None, "{answer}");
        }
        let long = format!("Shall I {}?", "pay ".repeat(200));
        assert_eq!(last_question(&long), None);
    }
}

//! Defines the ways in which a turn ends, and functions that append the host's sentences to a text.

use contract::{AgentError, Choice, TurnStatus};

/// How a turn ended, with its last text.
pub(crate) enum End {
    Answer { text: String, choices: Vec<Choice>, status: TurnStatus },
    Cancelled { partial: String },
    Failed { partial: String, error: AgentError },
    ApprovalRequired { error: AgentError },
}

impl End {
    pub(crate) fn failed(error: impl Into<AgentError>) -> Self {
        Self::Failed { partial: String::new(), error: error.into() }
    }
}

/// Returns the message and the hint of a budget's refusal, for a reader who can change the budget.
pub(crate) fn refusal_text(refusal: &AgentError) -> String {
    [Some(refusal.message.as_str()), refusal.hint_text()]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns the text with a sentence of the host below it.
pub(crate) fn append_below(text: String, sentence: &str) -> String {
    let added = sentence_below(&text, sentence);
    text + &added
}

/// Returns the sentence with line breaks that place it below the text. Closes a code block that is
/// still open at the end of the text.
pub(crate) fn sentence_below(text: &str, sentence: &str) -> String {
    if text.trim().is_empty() {
        return sentence.to_owned();
    }
    open_fence(text)
        .map_or_else(|| format!("\n\n{sentence}"), |fence| format!("\n{fence}\n\n{sentence}"))
}

/// Returns the fence of an unclosed code block, with its indentation.
fn open_fence(text: &str) -> Option<&str> {
    let mut open: Option<(&str, &str)> = None;
    for line in text.lines() {
        let words = line.trim_start();
        let begins = |mark: char| words.len() - words.trim_start_matches(mark).len();
        let marks = begins('`').max(begins('~'));
        let (fence, rest) = words.split_at(marks);
        match open {
            Some((_, opened)) if fence.starts_with(opened) && rest.trim().is_empty() => open = None,
            None if marks >= 3 && !(fence.starts_with('`') && rest.contains('`')) => {
                open = Some((&line[..line.len() - rest.len()], fence))
            }
            Some(_) | None => {}
        }
    }
    open.map(|(indented, _)| indented)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_appended_to_an_answer_is_placed_outside_its_code_block() {
        let table = [
            ("Half of", "\n\nEnd."),
            ("", "End."),
            ("```rust\nlet a", "\n```\n\nEnd."),
            ("- so:\n  ~~~~\n  ~~~\n  a", "\n  ~~~~\n\nEnd."),
            ("```\na\n```\nb ```c", "\n\nEnd."),
            ("```a``` is code", "\n\nEnd."),
            ("```\na\n````\n```\nb\n~~~", "\n```\n\nEnd."),
            ("```\n```b", "\n```\n\nEnd."),
        ];
        for (text, added) in table {
            assert_eq!(sentence_below(text, "End."), added, "{text}");
        }
    }
}

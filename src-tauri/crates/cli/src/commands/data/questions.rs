//! Asks a person at a terminal the questions of an import, one after the other, with numbered
//! choices. The texts come from the host. This module must not read files.

use contract::sources::{ImportQuestion, QuestionChoice};
use host::quote_word;

use super::{interrupts::Interrupts, job::Halt, paragraph::Paragraph};
use crate::keys::Keys;
use crate::out::{Out, Tone};
use crate::visible::escape_invisible;
use crate::width::{pad_text, widest_text};

/// The input that ends the import.
const STOP: &str = "!";
/// The identifier of the question whose answer is not shown on the screen.
pub(super) const PASSWORD: &str = "password";
/// The widest column of options beside which their meaning is printed.
const WIDEST_OPTION: usize = 40;

/// How a question ended.
#[derive(Debug)]
pub(super) enum Reply {
    /// The answer.
    Value(String),
    /// The user ended the import.
    Ended,
    /// The input ended, so that nobody answers.
    NoInput,
}

/// Asks a question. Returns `Halt::Stopped` if the user presses Ctrl-C.
pub(super) async fn ask_question(
    out: Out,
    keys: &mut Keys,
    interrupts: &mut Interrupts,
    question: &ImportQuestion,
) -> Result<Reply, Halt> {
    out.print_note("");
    Paragraph::new(question.text.as_str()).tone(Tone::Strong).print_note(out);
    let widest = question.choices.len().to_string().len();
    for (at, choice) in question.choices.iter().enumerate() {
        let lead = format!("  {:widest$}  ", at + 1);
        Paragraph::new(choice.label.as_str()).after(lead).print_note(out);
    }
    let hidden = (question.id == PASSWORD).then(HiddenInput::begin);
    loop {
        keys.discard_pending_input();
        out.print_question(match (question.choices.len(), &hidden) {
            (0, None) => "Answer (! stops): ",
            (0, Some(_)) => "Answer, which is not shown (! stops): ",
            (1, _) => "Type 1 (! stops): ",
            _ => "Type a number (! stops): ",
        });
        let line = tokio::select! {
            line = keys.read_line() => line,
            () = interrupts.next() => {
                out.print_note("");
                return Err(Halt::Stopped);
            }
        };
        if hidden.is_some() || line.is_none() {
            // The end of the line is not shown either.
            out.print_note("");
        }
        let Some(line) = line else { return Ok(Reply::NoInput) };
        match read_answer(&question.choices, line.trim()) {
            Answer::Stop => return Ok(Reply::Ended),
            Answer::Value(value) => return Ok(Reply::Value(value)),
            Answer::Unknown if question.choices.is_empty() => {
                out.print_note("Type an answer.");
            }
            Answer::Unknown => out.print_note("Choose from the list above, by number."),
        }
    }
}

/// The meaning of a line that the user typed.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Value(String),
    Stop,
    Unknown,
}

/// Reads a line as the number, the value or the label of a choice, or as a text if there are no
/// choices.
fn read_answer(choices: &[QuestionChoice], line: &str) -> Answer {
    if line == STOP {
        return Answer::Stop;
    }
    if choices.is_empty() {
        return if line.is_empty() { Answer::Unknown } else { Answer::Value(line.to_owned()) };
    }
    let by_number = line.parse().ok().and_then(|number: usize| choices.get(number.checked_sub(1)?));
    let by_name = || choices.iter().find(|one| one.value == line || one.label.as_str() == line);
    match by_number.or_else(by_name) {
        Some(choice) => Answer::Value(choice.value.clone()),
        None => Answer::Unknown,
    }
}

/// Prints the questions that nobody answered, each with the options that answer it.
pub(super) fn print_open(out: Out, questions: &[ImportQuestion]) {
    for question in questions {
        let lead = "question: ";
        let text = Paragraph::new(question.text.as_str());
        text.after(lead).lead_tone(Tone::Strong).indent(2).print_note(out);
        let options = options_of(question);
        if options.is_empty() {
            Paragraph::new(&question.option).after("  answer it with: ").print_note(out);
            continue;
        }
        print_options(out, &options);
        // The option for all answers may be shorter than that of one.
        if !question.option.starts_with(ANSWER) {
            Paragraph::new(&question.option).after("  or with: ").print_note(out);
        }
    }
}

/// The option that answers any question.
const ANSWER: &str = "--answer";

/// Returns the option for each answer that can be chosen, quoted for a shell, and its meaning.
fn options_of(question: &ImportQuestion) -> Vec<(String, &str)> {
    let option = |choice: &QuestionChoice| {
        format!("{ANSWER} {}", quote_word(&format!("{}={}", question.id, choice.value)))
    };
    question.choices.iter().map(|choice| (option(choice), choice.label.as_str())).collect()
}

/// Prints options on lines that can be copied, with their meaning beside or below them.
fn print_options(out: Out, options: &[(String, &str)]) {
    let widest = widest_text(options.iter().map(|(option, _)| option.as_str()));
    for (option, label) in options {
        let option = escape_invisible(option);
        if widest <= WIDEST_OPTION {
            let lead = format!("    {}  ", pad_text(&option, widest));
            Paragraph::new(label).after(lead).print_note(out);
        } else {
            out.print_note(format!("    {option}"));
            Paragraph::new(label).after("        ").print_note(out);
        }
    }
}

/// Hides typed characters from the screen until this value is dropped.
struct HiddenInput(Option<libc::termios>);

impl HiddenInput {
    fn begin() -> Self {
        // SAFETY: a termios of zeros is valid, and the call fills it or fails.
        let mut before = unsafe { std::mem::zeroed::<libc::termios>() };
        // SAFETY: `before` outlives the call.
        if unsafe { libc::tcgetattr(libc::STDIN_FILENO, &raw mut before) } != 0 {
            return Self(None);
        }
        let mut hidden = before;
        hidden.c_lflag &= !libc::ECHO;
        // SAFETY: `hidden` outlives the call.
        unsafe { libc::tcsetattr(libc::STDIN_FILENO, libc::TCSANOW, &raw const hidden) };
        Self(Some(before))
    }
}

impl Drop for HiddenInput {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            // SAFETY: `before` outlives the call and was read from this terminal.
            unsafe { libc::tcsetattr(libc::STDIN_FILENO, libc::TCSANOW, &raw const *before) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_named_by_its_number_its_value_or_its_label() {
        let choice = |value: &str, label: &str| QuestionChoice {
            value: value.to_owned(),
            label: label.into(),
        };
        let choices = [choice("day_first", "1 November"), choice("month_first", "11 January")];
        let day_first = Answer::Value("day_first".to_owned());
        for line in ["1", "day_first", "1 November"] {
            assert_eq!(read_answer(&choices, line), day_first, "{line}");
        }
        for line in ["", "0", "3", "november"] {
            assert_eq!(read_answer(&choices, line), Answer::Unknown, "{line}");
        }
        assert_eq!(read_answer(&choices, "!"), Answer::Stop);
        assert_eq!(read_answer(&[], "Client One"), Answer::Value("Client One".to_owned()));
    }

    #[test]
    fn each_choice_has_an_option_that_can_be_copied_into_a_shell() {
        let choice = |value: &str| QuestionChoice { value: value.to_owned(), label: "x".into() };
        let question = ImportQuestion {
            id: "sheets:plan 1.xlsx".to_owned(),
            text: "Which one?".into(),
            choices: vec![choice("Nov"), choice("Year's end")],
            option: "--sheet NAME".to_owned(),
        };
        let options: Vec<String> =
            options_of(&question).into_iter().map(|(option, _)| option).collect();
        assert_eq!(
            options,
            ["--answer 'sheets:plan 1.xlsx=Nov'", r"--answer 'sheets:plan 1.xlsx=Year'\''s end'"]
        );
    }
}

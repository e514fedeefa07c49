//! Prints results on standard output and all other text on standard error. Colour is used only on a
//! terminal, and text always says what a colour means. A failed write to standard output is
//! recorded, because a lost result is a failure.

use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use std::sync::OnceLock;

use contract::{AgentError, hidden::escape_json};
use serde::Serialize;

use crate::visible;

/// Returns a number with its noun, which is singular for 1.
pub fn count<N: Display + PartialEq + From<u8>>(number: N, noun: &str) -> String {
    let plural = if number == N::from(1_u8) { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// A way to emphasise text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Bold text.
    Strong,
    /// Faint text.
    Quiet,
    /// Green text.
    Good,
    /// Red text.
    Bad,
}

/// The terminal that text is formatted for.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    /// The number of columns of a line.
    pub width: usize,
    /// Whether text may be bold.
    pub is_styled: bool,
}

/// The first failed write to standard output.
static FAILED: OnceLock<io::Error> = OnceLock::new();

/// Whether the output could be written to standard output.
#[derive(Clone, Copy, Debug)]
pub enum Delivery {
    /// All output was written.
    Fine,
    /// The reader has closed the pipe, as `head` does when it has enough lines. This is not a
    /// failure.
    ReaderLeft,
    /// A part of the output was lost.
    Lost(&'static io::Error),
}

/// Returns the state of standard output.
pub fn stdout_state() -> Delivery {
    match FAILED.get() {
        None => Delivery::Fine,
        Some(error) if error.kind() == ErrorKind::BrokenPipe => Delivery::ReaderLeft,
        Some(error) => Delivery::Lost(error),
    }
}

/// Records the result of a write to standard output. Other modules call this too.
pub fn record_write_result(written: io::Result<()>) {
    if let Err(error) = written {
        // Only the first failure is kept.
        let _ = FAILED.set(error);
    }
}

/// Writes and flushes a text. After a failure no more text is written, because the rest would look
/// like the whole output.
fn write_stdout(text: &str) {
    if FAILED.get().is_none() {
        let mut stdout = io::stdout().lock();
        record_write_result(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()));
    }
}

/// The width that is assumed for a terminal that does not report its width.
const USUAL_WIDTH: usize = 80;

/// Returns the number of columns of the terminal at an output of the process.
fn terminal_width(output: libc::c_int) -> usize {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: `size` is a winsize that outlives the call; if the output is not a terminal, the call
    // fails and leaves `size` unchanged.
    unsafe {
        libc::ioctl(output, libc::TIOCGWINSZ, &raw mut size);
    }
    if size.ws_col == 0 { USUAL_WIDTH } else { usize::from(size.ws_col) }
}

/// The printer for standard output and standard error.
#[derive(Clone, Copy, Debug)]
pub struct Out {
    /// Whether results are printed as JSON.
    pub json: bool,
    colour: bool,
    /// Whether standard output is a terminal.
    is_screen: bool,
    /// Whether text on that terminal may be bold.
    is_styled: bool,
}

impl Out {
    /// Makes the printer for the current streams of the process.
    pub fn new(json: bool) -> Self {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty())
            || std::env::var_os("TERM").is_some_and(|v| v == "dumb");
        let is_screen = io::stdout().is_terminal();
        let is_styled = !plain && is_screen;
        Self { json, colour: is_styled && io::stderr().is_terminal(), is_screen, is_styled }
    }

    /// Returns the terminal at standard output with its current width. Returns None if standard
    /// output is not a terminal, or if the output is JSON.
    pub fn screen(self) -> Option<Screen> {
        (self.is_screen && !self.json).then(|| Screen {
            width: terminal_width(libc::STDOUT_FILENO),
            is_styled: self.is_styled,
        })
    }

    /// Returns the current width of the terminal at standard error. Returns None if standard error
    /// is not a terminal.
    pub fn note_width(self) -> Option<usize> {
        io::stderr().is_terminal().then(|| terminal_width(libc::STDERR_FILENO))
    }

    /// Prints a line of the result.
    pub fn print_line(self, text: impl AsRef<str>) {
        write_stdout(&format!("{}\n", text.as_ref()));
    }

    /// Prints a piece of the answer without waiting for the end of the line.
    pub fn print_piece(self, text: &str) {
        write_stdout(&visible::escape_prose(text));
    }

    /// Prints text that was formatted for the terminal.
    pub fn print_formatted(self, text: &str) {
        write_stdout(text);
    }

    /// Prints a value as indented JSON.
    pub fn print_json(self, value: &impl Serialize) {
        let value = serde_json::to_value(value).map(contract::in_english);
        match value.and_then(|value| serde_json::to_string_pretty(&value)) {
            Ok(text) => self.print_line(self.escape_on_screen(text)),
            Err(error) => {
                self.print_note(format!("The answer could not be written as JSON: {error}."))
            }
        }
    }

    /// Prints an event as JSON on one line.
    pub fn event(self, value: &impl Serialize) {
        let value = serde_json::to_value(value).map(contract::in_english);
        match value.and_then(|value| serde_json::to_string(&value)) {
            Ok(text) => self.print_line(self.escape_on_screen(text)),
            Err(error) => {
                self.print_note(format!("An event could not be written as JSON: {error}."))
            }
        }
    }

    /// Escapes the characters of a JSON text that a terminal would hide. The meaning of the JSON
    /// text stays the same.
    fn escape_on_screen(self, json: String) -> String {
        if self.is_screen { escape_json(&json) } else { json }
    }

    /// Prints a note on standard error.
    pub fn print_note(self, text: impl AsRef<str>) {
        let _ = writeln!(io::stderr(), "{}", text.as_ref());
    }

    /// Prints a question on standard error, without a line break.
    pub fn print_question(self, text: &str) {
        let mut stderr = io::stderr();
        let _ = stderr.write_all(text.as_bytes());
        let _ = stderr.flush();
    }

    /// Prints a failure: one sentence, then the remedy on a second line.
    pub fn print_failure(self, error: &AgentError) {
        if self.json {
            #[derive(Serialize)]
            struct Failed<'a> {
                error: &'a AgentError,
            }
            return self.event(&Failed { error });
        }
        self.print_error(error);
    }

    /// Prints an error and its remedy for a person, also if results are JSON.
    pub fn print_error(self, error: &AgentError) {
        self.print_note(format!(
            "{} {}",
            self.colour_text(Tone::Bad, "error:"),
            visible::escape_prose(&error.message)
        ));
        if let Some(hint) = error.hint_text() {
            self.print_note(format!(
                "{} {}",
                self.colour_text(Tone::Strong, "hint:"),
                visible::escape_prose(hint)
            ));
        }
    }

    /// Returns a text in the colour of a tone, if colours are used.
    pub fn colour_text(self, tone: Tone, text: &str) -> String {
        if !self.colour {
            return text.to_owned();
        }
        let code = match tone {
            Tone::Strong => "1",
            Tone::Quiet => "2",
            Tone::Good => "32",
            Tone::Bad => "31",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

//! The exit codes, on which scripts rely, and the exit code of each failure.

use std::process::ExitCode;

use contract::{AgentError, ApprovalStatus, ErrorCode, Reason, Text, ToolOutcome};

use crate::out::{self, Out, Tone};

/// The result of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The work is done.
    Done = 0,
    /// The work failed, or the output could not be written.
    Failed = 1,
    /// The command line cannot be used.
    Usage = 2,
    /// A call waits for an approval.
    ApprovalRequired = 3,
    /// The call was denied by the policy, rejected by a person, or not decided in time.
    Denied = 4,
    /// The log does not verify.
    LogBroken = 5,
    /// The log is consistent, but no stored mark exists that could show whether the log was cut or
    /// replaced. Or recorded figures cannot be computed again.
    NotCompared = 6,
    /// A person must decide something about the data, so nothing was stored.
    DecisionRequired = 7,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl Exit {
    /// Returns the exit code after an error.
    pub fn of_error(error: &AgentError) -> Self {
        match error.code {
            ErrorCode::InternalError if error.has_reason(Reason::AuditAlarm) => Self::LogBroken,
            ErrorCode::ApprovalRequired
                if matches!(
                    error.known_reason(),
                    Some(
                        Reason::Rejected
                            | Reason::Expired
                            | Reason::Denied
                            | Reason::SideEffectDisallowed
                            | Reason::NotPending
                    )
                ) =>
            {
                Self::Denied
            }
            ErrorCode::ApprovalRequired => Self::ApprovalRequired,
            ErrorCode::InvalidInput if error.has_reason(Reason::NotPending) => Self::Denied,
            ErrorCode::InvalidInput
            | ErrorCode::AgentDisabled
            | ErrorCode::ToolNotFound
            | ErrorCode::ToolTimeout
            | ErrorCode::ToolHttpError
            | ErrorCode::LlmError
            | ErrorCode::RateLimited
            | ErrorCode::InternalError => Self::Failed,
        }
    }

    /// Returns the exit code after a tool call.
    pub fn of_outcome(outcome: ToolOutcome) -> Self {
        match outcome {
            ToolOutcome::Ok => Self::Done,
            ToolOutcome::Denied | ToolOutcome::Rejected | ToolOutcome::Expired => Self::Denied,
            ToolOutcome::Error
            | ToolOutcome::Limit
            | ToolOutcome::Cancelled
            | ToolOutcome::Unknown => Self::Failed,
        }
    }

    /// Returns the exit code after an approval.
    pub fn of_status(status: ApprovalStatus) -> Self {
        match status {
            ApprovalStatus::Approved | ApprovalStatus::Executing | ApprovalStatus::Done => {
                Self::Done
            }
            ApprovalStatus::Failed => Self::Failed,
            ApprovalStatus::Pending => Self::ApprovalRequired,
            ApprovalStatus::Rejected
            | ApprovalStatus::Expired
            | ApprovalStatus::Cancelled
            | ApprovalStatus::Superseded => Self::Denied,
        }
    }
}

/// Returns the exit code. The code depends on the command's result and on whether the output could
/// be written.
pub fn resolve_exit_code(out: Out, exit: Exit) -> ExitCode {
    match out::stdout_state() {
        out::Delivery::Fine => exit.into(),
        out::Delivery::Lost(error) => {
            out.print_note(format!(
                "{} The output could not be written: {error}.",
                out.colour_text(Tone::Bad, "error:")
            ));
            if exit == Exit::Done { Exit::Failed.into() } else { exit.into() }
        }
        out::Delivery::ReaderLeft => {
            // SAFETY: both calls take constants. The process ends by SIGPIPE, like any program
            // whose output is no longer read. All files are closed.
            unsafe {
                libc::signal(libc::SIGPIPE, libc::SIG_DFL);
                libc::raise(libc::SIGPIPE);
            }
            exit.into()
        }
    }
}

/// The failure of a command.
#[derive(Debug)]
pub struct Failure {
    /// The error to print.
    pub error: AgentError,
    /// The exit code.
    pub exit: Exit,
}

impl Failure {
    /// Makes the failure for a command line that can be parsed but has unusable values.
    pub fn usage_error(message: impl Into<Text>) -> Self {
        Self { error: AgentError::invalid(message).reason("wrong_usage"), exit: Exit::Usage }
    }

    /// Adds a hint about what the user can do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Text>) -> Self {
        self.error = self.error.hint(hint);
        self
    }
}

/// Prints a failure. Returns the exit code.
pub fn report_failure(out: Out, failure: &Failure) -> ExitCode {
    out.print_failure(&failure.error);
    if out.json
        && (failure.exit == Exit::LogBroken
            || matches!(out::stdout_state(), out::Delivery::Lost(_)))
    {
        // Alarms are printed even if the JSON document goes elsewhere, and errors even if the
        // document was lost.
        out.print_error(&failure.error);
    }
    resolve_exit_code(out, failure.exit)
}

/// Prints the parser's message about the command line. Help and version are not errors; clap
/// chooses the stream for each message. `hint` says where the options are listed. Returns the exit
/// code.
pub fn print_parser_message(error: &clap::Error, hint: &'static str) -> ExitCode {
    let printed = error.print();
    if error.use_stderr() {
        let out = Out::new(std::env::args_os().any(|word| word == "--json"));
        if out.json {
            out.print_failure(&failure_from_parser_error(error).hint(hint).error);
        }
        return resolve_exit_code(out, Exit::Usage);
    }
    out::record_write_result(printed.and_then(|()| std::io::Write::flush(&mut std::io::stdout())));
    resolve_exit_code(Out::new(false), Exit::Done)
}

/// Makes a failure from the first paragraph of the parser's message, without its prefix.
fn failure_from_parser_error(error: &clap::Error) -> Failure {
    let text = error.to_string();
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let sentence = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    Failure::usage_error(sentence.trim_start_matches("error: "))
}

impl From<AgentError> for Failure {
    fn from(error: AgentError) -> Self {
        let exit = Exit::of_error(&error);
        Self { error, exit }
    }
}

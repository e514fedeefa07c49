//! `csign serve`: becomes the program `countersign-gateway`, which serves the shop's chat API. Only
//! that program contains the web server and its libraries.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use contract::AgentError;

use crate::args::Serve;
use crate::exit::Failure;
use crate::out::Out;

const PROGRAM: &str = "countersign-gateway";

/// The remedy if the program is missing.
const REMEDY: &str = "Install Countersign again. In its source tree, `make release` and `make run` build this program beside csign.";

/// Replaces this process with the gateway, which keeps the process id, environment and streams.
/// Signals therefore reach the gateway, and the gateway's exit code is the exit code of `csign`.
/// Returns only if the replacement failed.
pub(crate) fn become_gateway(args: &Serve, data_dir: &Path, out: Out) -> Failure {
    let program = match find_gateway() {
        Ok(program) => program,
        Err(error) => return error.into(),
    };
    let error = gateway_command(&program, args, data_dir, out).exec();
    no_gateway(format!("The program {} cannot be started: {error}.", program.display())).into()
}

/// Returns the path of the gateway's program, which lies in the same folder as this program. The
/// search path is not used, because a folder of the user could replace the program there.
fn find_gateway() -> Result<PathBuf, AgentError> {
    let csign = std::env::current_exe()
        .map_err(|error| no_gateway(format!("The folder of csign cannot be found: {error}.")))?;
    let program = csign.with_file_name(PROGRAM);
    if program.is_file() {
        Ok(program)
    } else {
        Err(no_gateway(format!("The program {} does not exist.", program.display())))
    }
}

fn no_gateway(message: String) -> AgentError {
    AgentError::internal("no_gateway", message).hint(REMEDY)
}

fn gateway_command(program: &Path, args: &Serve, data_dir: &Path, out: Out) -> Command {
    let mut command = Command::new(program);
    command.arg(with_value("--data-dir", data_dir));
    if out.json {
        command.arg("--json");
    }
    if let Some(address) = args.listen {
        command.arg(format!("--listen={address}"));
    }
    if args.no_token {
        command.arg("--no-token");
    }
    if args.allow_remote {
        command.arg("--allow-remote");
    }
    if let Some(file) = &args.env_file {
        command.arg(with_value("--env-file", file));
    }
    command
}

/// Formats an option and its value as one word, because the value may begin with a hyphen.
fn with_value(option: &str, value: &Path) -> OsString {
    let mut word = OsString::from(option);
    word.push("=");
    word.push(value);
    word
}

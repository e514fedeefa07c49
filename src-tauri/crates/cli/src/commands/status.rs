//! `csign doctor`: checks the installation.

use contract::{CheckState, DoctorResponse, Empty};
use host::Paths;

use crate::exit::{Exit, Failure};
use crate::link::Link;
use crate::out::{Out, Tone};
use crate::visible::escape_invisible;

pub(crate) async fn run_doctor(link: &mut Link, out: Out) -> Result<Exit, Failure> {
    let report = link.commands.doctor(Empty {}).await?;
    let alarm = report
        .checks
        .iter()
        .find(|check| check.name == "audit log" && check.state == CheckState::Failed);
    let exit = match alarm {
        Some(check) => {
            out.print_note(escape_invisible(&check.message));
            Exit::LogBroken
        }
        None if report.ok => Exit::Done,
        None => Exit::Failed,
    };
    print_report(out, &report);
    Ok(exit)
}

/// Reports the checks that are possible for a profile that could not be opened, and why it could
/// not be opened.
pub(crate) fn report_unopened(paths: &Paths, out: Out, failure: &Failure) -> Exit {
    print_report(out, &host::examine_unopened(paths, &failure.error));
    out.print_error(&failure.error);
    failure.exit
}

fn print_report(out: Out, report: &DoctorResponse) {
    if out.json {
        return out.print_json(report);
    }
    for check in &report.checks {
        let (word, tone) = match check.state {
            CheckState::Ok => ("ok     ", Tone::Good),
            CheckState::Warning => ("warning", Tone::Strong),
            CheckState::Failed => ("failed ", Tone::Bad),
        };
        out.print_line(format!(
            "{}  {}: {}",
            out.colour_text(tone, word),
            escape_invisible(&check.name),
            escape_invisible(&check.message)
        ));
        if let Some(hint) = &check.hint {
            out.print_line(format!("         {}", escape_invisible(hint)));
        }
    }
}

//! `csign doctor`: the checks of the installation.

use contract::{CheckState, Empty};

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
    if out.json {
        out.print_json(&report);
        return Ok(exit);
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
    Ok(exit)
}

//! `csign doctor`: the checks of the installation.

use contract::{CheckState, Empty};

use crate::exit::{Exit, Failure};
use crate::link::Link;
use crate::out::{Out, Tone};
use crate::visible::exact;

pub(crate) async fn doctor(link: &mut Link, out: Out) -> Result<Exit, Failure> {
    let report = link.commands.doctor(Empty {}).await?;
    let alarm = report
        .checks
        .iter()
        .find(|check| check.name == "audit log" && check.state == CheckState::Failed);
    let exit = match alarm {
        Some(check) => {
            out.note(exact(&check.message));
            Exit::LogBroken
        }
        None if report.ok => Exit::Done,
        None => Exit::Failed,
    };
    if out.json {
        out.document(&report);
        return Ok(exit);
    }
    for check in &report.checks {
        let (word, tone) = match check.state {
            CheckState::Ok => ("ok     ", Tone::Good),
            CheckState::Warning => ("warning", Tone::Strong),
            CheckState::Failed => ("failed ", Tone::Bad),
        };
        out.line(format!(
            "{}  {}: {}",
            out.tone(tone, word),
            exact(&check.name),
            exact(&check.message)
        ));
        if let Some(hint) = &check.hint {
            out.line(format!("         {}", exact(hint)));
        }
    }
    Ok(exit)
}

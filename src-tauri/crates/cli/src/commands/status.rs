//! `csign doctor`: what is well and what is not.

use contract::{CheckState, Empty};

use crate::exit::{Exit, Failure};
use crate::link::Link;
use crate::out::{Out, Tone};
use crate::visible::exact;

pub(crate) async fn doctor(link: &mut Link, out: Out) -> Result<Exit, Failure> {
    let report = link.commands.doctor(Empty {}).await?;
    let exit = if report.ok { Exit::Done } else { Exit::Failed };
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
        out.line(format!("{}  {}: {}", out.tone(tone, word), exact(&check.name), exact(&check.message)));
        if let Some(hint) = &check.hint {
            out.line(format!("         {}", exact(hint)));
        }
    }
    Ok(exit)
}

//! `csign packs check`: every fault of a pack, for those who write packs.

use std::path::Path;

use crate::exit::{Exit, Failure};
use crate::out::{Out, Tone};
use crate::visible::exact;

pub(crate) fn check(out: Out, folder: &Path) -> Result<Exit, Failure> {
    if !folder.is_dir() {
        return Err(Failure::usage(format!("{} is not a folder.", folder.display())).hint("Name the folder that holds pack.json."));
    }
    let view = packs::check_folder(folder).view;
    let exit = if view.faults.is_empty() { Exit::Done } else { Exit::Failed };
    if out.json {
        out.document(&view);
        return Ok(exit);
    }
    for fault in &view.faults {
        out.line(format!("{} {} {}: {}", out.tone(Tone::Bad, "fault"), exact(&fault.file), exact(&fault.field), exact(&fault.problem)));
        out.line(format!("      {}", exact(&fault.fix)));
    }
    if view.faults.is_empty() {
        out.line(format!("{} {} {}: {} tools, no faults.", exact(&view.title), exact(view.id.as_str()), exact(&view.version), view.tools.len()));
    } else {
        out.note(format!("{} faults. The pack is not used until they are gone.", view.faults.len()));
    }
    Ok(exit)
}

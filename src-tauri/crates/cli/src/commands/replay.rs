//! `csign replay`: runs a recorded message again, offline, and shows the first difference.

use contract::{ReplayDifference, ReplayParams, ReplayResponse};

use crate::commands::questions::Named;
use crate::exit::{Exit, Failure};
use crate::link::Link;
use crate::out::{Out, Tone, count};
use crate::visible::escape_invisible;

pub(crate) async fn replay_run(link: &Link, out: Out, run: String) -> Result<Exit, Failure> {
    let run = Named::read(&run).turn(link).await?;
    let answer = link.commands.run_replay(ReplayParams { run }).await?;
    let exit = if answer.difference.is_none() { Exit::Done } else { Exit::Failed };
    if out.json {
        out.print_json(&answer);
    } else {
        print_answer(out, &answer);
    }
    Ok(exit)
}

fn print_answer(out: Out, answer: &ReplayResponse) {
    let records = count(answer.records, "record");
    match &answer.difference {
        None => out.print_line(format!(
            "{} {records}, without ids, times and durations.",
            out.colour_text(Tone::Good, "The replay wrote the same:")
        )),
        Some(difference) => {
            out.print_line(out.colour_text(Tone::Bad, "The replay differs."));
            print_difference(out, difference);
        }
    }
    if answer.erased > 0 {
        out.print_line(format!("{} erased and not compared.", count(answer.erased, "value")));
    }
}

fn print_difference(out: Out, difference: &ReplayDifference) {
    let record = difference.seq.map_or_else(
        || format!("the log has no record {} of this run", difference.position),
        |seq| format!("record {seq}"),
    );
    let path = if difference.path.is_empty() { "(all)" } else { &difference.path };
    out.print_line(format!("  {record}  {}", escape_invisible(path)));
    out.print_line(format!("  log:    {}", escape_invisible(&difference.recorded.to_string())));
    out.print_line(format!("  replay: {}", escape_invisible(&difference.replayed.to_string())));
}

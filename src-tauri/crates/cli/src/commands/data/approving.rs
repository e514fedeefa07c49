//! `csign data approve`: shows all definitions of a source in full, asks, and approves those that were
//! shown. The host compares their hash, so that nothing is approved that nobody saw.

use contract::{AgentError, SourceApproveParams, SourceDescription};

use super::{
    add::no_person_error,
    figures::count_of,
    paragraph::Paragraph,
    sources::{params, show_fault, show_state},
};
use crate::exit::{Exit, Failure};
use crate::keys::{Keys, is_yes};
use crate::link::{self, Link};
use crate::out::{Out, Tone};
use crate::visible::escape_invisible;

/// Fails unless a person at a terminal can be shown the definitions and asked.
pub(super) fn check_asking(out: Out) -> Result<(), Failure> {
    if !link::person_present() {
        return Err(no_person_error("At a terminal you are shown the definitions and asked."));
    }
    if out.json {
        return Err(Failure::usage_error("With --json nothing is asked.")
            .hint("Give --hash the definitions_hash of `csign data describe --json`."));
    }
    Ok(())
}

/// Shows the definitions of a source and asks whether they are approved.
pub(super) async fn ask(link: &Link, out: Out, name: String) -> Result<Exit, Failure> {
    let shown = link.commands.source_describe(params(name.clone())).await?;
    if !shown.faults.is_empty() {
        for fault in &shown.faults {
            Paragraph::new(show_fault(fault)).tone(Tone::Bad).indent(2).print_note(out);
        }
        out.print_note("Nothing is approved. Correct the definitions first.");
        return Ok(Exit::Failed);
    }
    print_shown(out, &shown);
    if shown.source.proposed == 0 {
        out.print_note("No definition waits for an approval.");
        return Ok(Exit::Done);
    }
    let mut keys =
        Keys::start().map_err(|error| AgentError::internal("no_terminal", error.to_string()))?;
    keys.discard_pending_input();
    let definitions = count_of(u64::try_from(shown.states.len()).unwrap_or(u64::MAX), "definition");
    out.print_question(&format!("Approve {definitions} as shown? [y/N] "));
    if !is_yes(keys.read_line().await.as_deref()) {
        out.print_note("Nothing is approved.");
        return Ok(Exit::Denied);
    }
    approve(link, out, name, shown.definitions_hash).await
}

/// Prints each definition as it is written, first those that wait for an approval. No text is
/// shortened, because all of it is approved.
fn print_shown(out: Out, shown: &SourceDescription) {
    let (approved, open): (Vec<_>, Vec<_>) =
        shown.states.iter().partition(|state| state.is_approved);
    for state in open.into_iter().chain(approved) {
        let name = out.colour_text(Tone::Strong, &escape_invisible(&state.name));
        out.print_note(format!("{name}  {}", show_state(state)));
        Paragraph::new(&state.written).after("  ").print_note(out);
    }
    out.print_note(format!("sha256 {}", shown.definitions_hash));
}

/// Approves the definitions of a source if they have this hash.
pub(super) async fn approve(
    link: &Link,
    out: Out,
    name: String,
    definitions_hash: String,
) -> Result<Exit, Failure> {
    let params = SourceApproveParams { name: name.into(), definitions_hash, only: Vec::new() };
    let described = link.commands.source_approve(params).await?;
    if out.json {
        out.print_json(&described);
        return Ok(Exit::Done);
    }
    let source = &described.source;
    out.print_line(format!(
        "{}: {} approved.",
        escape_invisible(source.name.as_str()),
        count_of(source.approved.into(), "definition")
    ));
    Ok(Exit::Done)
}

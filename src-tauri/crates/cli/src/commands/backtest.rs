//! `csign policy backtest`: tests a rules file on the past calls of the log. First counts the
//! calls, and then reads the calls with a different decision page by page, so that a long log needs
//! little memory.

use std::io;
use std::path::Path;

use chrono::{DateTime, SecondsFormat, Utc};
use contract::{
    AgentError, BacktestCall, BacktestCount, PolicyBacktestParams, PolicyBacktestResponse,
    PolicyVerdict, text,
};
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::link::Link;
use crate::out::{Out, Tone, count};
use crate::visible::escape_invisible;
use crate::width::{pad_text, widest_text};

/// The number of calls that are read per page.
const PAGE: u32 = 200;

pub(crate) async fn test_rules(
    link: &Link,
    out: Out,
    file: &Path,
    since: Option<DateTime<Utc>>,
) -> Result<Exit, Failure> {
    let rules = read_rules(file)?;
    let ask = |after: u64, limit: u32| {
        let params = PolicyBacktestParams { rules: rules.clone(), since, after, limit };
        link.commands.policy_backtest(params)
    };
    let mut totals = ask(0, 0).await?;
    // A long log is counted in several requests.
    while let Some(after) = totals.next {
        add_totals(&mut totals, ask(after, 0).await?);
    }
    if !totals.faults.is_empty() {
        if out.json {
            out.print_json(&totals);
        } else {
            super::policy::print_faults(out, &totals.faults);
            out.print_note("No call was tested.");
        }
        return Ok(Exit::Failed);
    }
    if !out.json {
        print_totals(out, &totals);
    }
    let mut listed = Vec::new();
    let mut after = Some(0);
    while let Some(number) = after {
        let page = ask(number, PAGE).await?;
        after = page.next;
        if out.json {
            listed.extend(page.calls);
        } else {
            page.calls.iter().for_each(|call| print_call(out, call));
        }
    }
    if out.json {
        out.print_json(&json!({
            "counts": totals.counts,
            "not_by_rules": totals.not_by_rules,
            "calls": listed,
        }));
    }
    Ok(Exit::Done)
}

/// Adds the counts of one part of the log to the totals.
fn add_totals(totals: &mut PolicyBacktestResponse, part: PolicyBacktestResponse) {
    for count in part.counts {
        let same = |known: &&mut BacktestCount| {
            known.tool == count.tool && known.then == count.then && known.now == count.now
        };
        match totals.counts.iter_mut().find(same) {
            Some(known) => known.calls += count.calls,
            None => totals.counts.push(count),
        }
    }
    totals.not_by_rules += part.not_by_rules;
    totals.next = part.next;
}

fn read_rules(file: &Path) -> Result<String, AgentError> {
    let read = if file == Path::new("-") {
        files::read_text_from(io::stdin(), files::BY_HAND)
    } else {
        files::read_text(file, files::BY_HAND)
    };
    read.map_err(|error| {
        AgentError::invalid(text!("{file} cannot be read: {error}.", file = file.display(), error))
            .hint("Give a file in the format of policy.json; docs/policy.md shows it.")
    })
}

fn print_totals(out: Out, totals: &PolicyBacktestResponse) {
    let sum = |of: &dyn Fn(&BacktestCount) -> bool| -> u64 {
        totals.counts.iter().filter(|count| of(count)).map(|count| count.calls).sum()
    };
    let (all, unknown) = (sum(&|_| true), sum(&|count| count.now.is_none()));
    let same = sum(&|count| count.now == Some(count.then));
    out.print_line(format!(
        "{}: {same} the same, {} different, {unknown} cannot be told.",
        count(all, "past call"),
        all - same - unknown
    ));
    let width = widest_text(totals.counts.iter().map(|count| count.tool.as_str()));
    for row in &totals.counts {
        out.print_line(format!(
            "  {}  {:28}  {}",
            pad_text(&escape_invisible(&row.tool), width),
            change(row.then, row.now),
            row.calls
        ));
    }
    if totals.not_by_rules > 0 {
        out.print_line(format!(
            "{} more refused before any rule was checked.",
            count(totals.not_by_rules, "call")
        ));
    }
}

fn print_call(out: Out, call: &BacktestCall) {
    let arguments = call
        .arguments
        .as_ref()
        .map_or_else(|| "(arguments not stored)".to_owned(), ToString::to_string);
    out.print_line(format!(
        "{}  {}  {}  {}",
        call.seq,
        call.at.to_rfc3339_opts(SecondsFormat::Secs, true),
        escape_invisible(&call.tool),
        escape_invisible(&arguments),
    ));
    let tone = match call.now {
        Some(PolicyVerdict::Allow) => Tone::Good,
        Some(PolicyVerdict::Deny) => Tone::Bad,
        Some(PolicyVerdict::Ask) | None => Tone::Strong,
    };
    let note = if call.definition_changed { " (the tool has changed since)" } else { "" };
    out.print_line(format!(
        "    {}  {}{note}",
        out.colour_text(tone, &change(call.then, call.now)),
        escape_invisible(&call.why)
    ));
}

fn change(then: PolicyVerdict, now: Option<PolicyVerdict>) -> String {
    match now {
        Some(now) if now == then => format!("{} as before", past_word(then)),
        Some(now) => format!("{}, now {}", past_word(then), word(now)),
        None => format!("{}, now cannot be told", past_word(then)),
    }
}

fn past_word(verdict: PolicyVerdict) -> &'static str {
    match verdict {
        PolicyVerdict::Allow => "allowed",
        PolicyVerdict::Ask => "asked",
        PolicyVerdict::Deny => "denied",
    }
}

fn word(verdict: PolicyVerdict) -> &'static str {
    match verdict {
        PolicyVerdict::Allow => "allow",
        PolicyVerdict::Ask => "ask",
        PolicyVerdict::Deny => "deny",
    }
}

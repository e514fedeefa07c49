//! `csign alerts`: lists alerts and their rules, and checks the rules.

use contract::{Alert, AlertRuleView, Empty, alerts::AlertGroup};
use serde_json::Value;

use crate::args::Alerts;
use crate::exit::{Exit, Failure};
use crate::link::Link;
use crate::out::Out;
use crate::visible::escape_invisible;

pub(crate) async fn run(link: &Link, out: Out, args: Alerts) -> Result<Exit, Failure> {
    let found = match args {
        Alerts::List => link.commands.alerts_list(Empty {}).await?,
        Alerts::Check => link.commands.alerts_check(Empty {}).await?,
        Alerts::Rules => return list_rules(link, out).await,
    };
    if out.json {
        out.print_json(&found);
        return Ok(Exit::Done);
    }
    found.alerts.iter().for_each(|alert| out.print_line(alert_line(alert)));
    if found.alerts.is_empty() {
        out.print_note("There are no alerts.");
    }
    Ok(Exit::Done)
}

async fn list_rules(link: &Link, out: Out) -> Result<Exit, Failure> {
    let found = link.commands.alert_rules(Empty {}).await?;
    if out.json {
        out.print_json(&found);
        return Ok(Exit::Done);
    }
    found.rules.iter().for_each(|view| out.print_line(rule_line(view)));
    for fault in &found.faults {
        out.print_note(escape_invisible(fault.as_str()));
    }
    if found.rules.is_empty() {
        out.print_note("There are no rules. Make one in the window, in Boards under Alerts.");
    }
    Ok(Exit::Done)
}

fn alert_line(alert: &Alert) -> String {
    let state = if alert.resolved_on.is_some() { "resolved" } else { "open" };
    let figures = alert.figures.iter().map(|figure| {
        format!("{} {}", escape_invisible(&figure.column.name), value_text(&figure.value))
    });
    let before = alert.before.iter().map(|value| format!("before {}", escape_invisible(value)));
    let resolved = alert.resolved_on.iter().map(|day| format!("resolved on {day}"));
    let facts: Vec<String> = before.chain(figures).chain(resolved).collect();
    format!(
        "{}  {state:8}  since {}  {}{}  {}",
        escape_invisible(alert.id.as_str()),
        alert.since,
        escape_invisible(&alert.name),
        group_text(&alert.group),
        facts.join(", ")
    )
}

fn group_text(group: &[AlertGroup]) -> String {
    group.iter().map(|one| format!(" · {}", value_text(&one.value))).collect()
}

fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => escape_invisible(text),
        Value::Null => "-".to_owned(),
        other => other.to_string(),
    }
}

fn rule_line(view: &AlertRuleView) -> String {
    let AlertRuleView { rule, checked_to, fault } = view;
    let state = match (rule.content.is_on, fault, checked_to) {
        (false, _, _) => "off".to_owned(),
        (true, Some(fault), _) => escape_invisible(fault.as_str()),
        (true, None, Some(day)) => format!("checked until {day}"),
        (true, None, None) => "not checked yet".to_owned(),
    };
    format!(
        "{}  {}  {state}",
        escape_invisible(rule.id.as_str()),
        escape_invisible(&rule.content.name)
    )
}

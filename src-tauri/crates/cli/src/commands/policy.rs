//! `csign policy`: shows the policy with its rules and grants, tests a call against it, and lists
//! the destinations of reads.

use contract::{
    Allowance, AllowanceParams, Caller, Destination, Empty, PolicyCheckParams, PolicyFault,
    PolicyMode, PolicyRule, PolicyVerdict, RuleAction, SessionId,
};
use serde_json::{Map, Value, json};

use crate::approve::kind_name;
use crate::args::Policy;
use crate::exit::{Exit, Failure};
use crate::link::Link;
use crate::out::{Out, Tone};
use crate::visible::escape_invisible;

pub(crate) async fn run(link: &Link, out: Out, args: Policy) -> Result<Exit, Failure> {
    match args {
        Policy::Show => show_policy(link, out).await,
        Policy::Destinations { allow, revoke, session } => {
            let session = session.map(SessionId::from);
            match (allow, revoke) {
                (Some(destination), _) => {
                    allow_destination(link, out, AllowanceParams { destination, session }).await
                }
                (None, Some(destination)) => {
                    revoke_destination(link, out, AllowanceParams { destination, session }).await
                }
                (None, None) => list_destinations(link, out, session.as_ref()).await,
            }
        }
        // This command is handled in another file.
        Policy::Backtest { .. } => Ok(Exit::Usage),
        Policy::Check { tool, args, session, untrusted } => {
            let arguments = super::tools::read_arguments(&args)?;
            check_call(
                link,
                out,
                PolicyCheckParams {
                    tool: tool.into(),
                    arguments,
                    session: session.map(SessionId::from),
                    caller: Some(Caller::terminal().kind),
                    untrusted,
                },
            )
            .await
        }
    }
}

async fn check_call(link: &Link, out: Out, params: PolicyCheckParams) -> Result<Exit, Failure> {
    let answer = link.commands.policy_check(params).await?;
    let (word, tone, exit) = match answer.verdict {
        PolicyVerdict::Allow => ("allow", Tone::Good, Exit::Done),
        PolicyVerdict::Ask => ("ask", Tone::Strong, Exit::ApprovalRequired),
        PolicyVerdict::Deny => ("deny", Tone::Bad, Exit::Denied),
    };
    if out.json {
        out.print_json(&answer);
        return Ok(exit);
    }
    out.print_line(format!("{}  {}", out.colour_text(tone, word), escape_invisible(&answer.why)));
    print_faults_in_force(out, &answer.faults);
    Ok(exit)
}

async fn allow_destination(
    link: &Link,
    out: Out,
    params: AllowanceParams,
) -> Result<Exit, Failure> {
    link.commands.allowance_give(params.clone()).await?;
    print_change(out, "allowed", "Allowed", &params);
    Ok(Exit::Done)
}

async fn revoke_destination(
    link: &Link,
    out: Out,
    params: AllowanceParams,
) -> Result<Exit, Failure> {
    link.commands.allowance_revoke(params.clone()).await?;
    print_change(out, "revoked", "Revoked", &params);
    Ok(Exit::Done)
}

fn print_change(out: Out, member: &str, word: &str, params: &AllowanceParams) {
    if out.json {
        return out.print_json(&json!({ member: params }));
    }
    let place = format_destination(&params.destination);
    out.print_line(format!("{word}: {place}, {}.", format_scope(params.session.as_ref())));
}

/// Lists the permissions for destinations. If a session is given, lists only the permissions that
/// are valid in the session.
async fn list_destinations(
    link: &Link,
    out: Out,
    session: Option<&SessionId>,
) -> Result<Exit, Failure> {
    let mut listed = link.commands.allowances_list(Empty {}).await?;
    listed.allowances.retain(|allowance| {
        session.is_none() || allowance.session.is_none() || allowance.session.as_ref() == session
    });
    if out.json {
        out.print_json(&listed);
        return Ok(Exit::Done);
    }
    if listed.allowances.is_empty() {
        out.print_note("No destination is allowed.");
    }
    for allowance in &listed.allowances {
        out.print_line(format_allowance(allowance));
    }
    Ok(Exit::Done)
}

fn format_allowance(allowance: &Allowance) -> String {
    let by = match allowance.by.as_str() {
        "window" => "allowed in the window",
        "terminal" => "allowed at a terminal",
        "message" => "named in a message",
        other => other,
    };
    let used = allowance.last_used_at.map(|at| at.format("  last used %Y-%m-%d %H:%M UTC"));
    format!(
        "{}  {}  {}  {}{}",
        format_destination(&allowance.destination),
        format_scope(allowance.session.as_ref()),
        escape_invisible(by),
        allowance.given_at.format("%Y-%m-%d %H:%M UTC"),
        used.map(|at| at.to_string()).unwrap_or_default()
    )
}

fn format_destination(destination: &Destination) -> String {
    format!("{} {}", kind_name(destination.kind), escape_invisible(&destination.name))
}

fn format_scope(session: Option<&SessionId>) -> String {
    session.map_or_else(
        || "always".to_owned(),
        |session| format!("in conversation {}", escape_invisible(session.as_str())),
    )
}

async fn show_policy(link: &Link, out: Out) -> Result<Exit, Failure> {
    let view = link.commands.policy_get(Empty {}).await?;
    let exit = if view.faults.is_empty() { Exit::Done } else { Exit::Failed };
    if out.json {
        out.print_json(&view);
        return Ok(exit);
    }
    let mode = match view.mode {
        PolicyMode::ReadOnlyOnly => "read_only_only: what changes something is refused",
        PolicyMode::WritesRequireApproval => "writes_require_approval: every change asks",
        PolicyMode::WritesAllowed => {
            "writes_allowed: changes run and are reported, destructive ones ask"
        }
    };
    out.print_line(mode);
    let absent = if view.found { "" } else { " (there is none)" };
    out.print_line(format!("Rules from {}{absent}", escape_invisible(&view.file)));
    for (index, rule) in view.rules.iter().enumerate() {
        let idle = view.idle.iter().find(|idle| idle.rule == index);
        let state = match idle.map(|idle| idle.decided_by.and_then(|by| view.rules.get(by))) {
            None => String::new(),
            Some(None) => "  (expired)".to_owned(),
            Some(Some(by)) => format!("  (never decides: {} does)", escape_invisible(&by.id)),
        };
        out.print_line(format!("{}{state}", format_rule(rule)));
    }
    for grant in &view.grants {
        out.print_line(format!(
            "  grant  {}{} until {}  [{}]",
            escape_invisible(grant.tool.as_str()),
            format_arguments(&grant.arguments),
            grant.expires_at.to_rfc3339(),
            escape_invisible(&grant.id)
        ));
    }
    print_faults_in_force(out, &view.faults);
    Ok(exit)
}

fn format_rule(rule: &PolicyRule) -> String {
    let action = match rule.action {
        RuleAction::Deny => "deny ",
        RuleAction::Ask => "ask  ",
        RuleAction::Allow => "allow",
    };
    let callers = match rule.callers.as_slice() {
        [] => String::new(),
        names => format!(" for {}", escape_invisible(&names.join(", "))),
    };
    let until = rule.expires_at.map(|end| format!(" until {}", end.to_rfc3339()));
    let reason = rule.reason.as_deref().map(|text| format!("  {}", escape_invisible(text)));
    format!(
        "  {action}  {}{}{callers}{}  [{}]{}",
        escape_invisible(&rule.tool),
        format_arguments(&rule.arguments),
        until.unwrap_or_default(),
        escape_invisible(&rule.id),
        reason.unwrap_or_default()
    )
}

fn format_arguments(arguments: &Map<String, Value>) -> String {
    if arguments.is_empty() {
        String::new()
    } else {
        format!(" with {}", escape_invisible(&Value::Object(arguments.clone()).to_string()))
    }
}

pub(super) fn print_faults(out: Out, faults: &[PolicyFault]) {
    for fault in faults {
        out.print_note(format!(
            "{} {}: {}",
            out.colour_text(Tone::Bad, "fault"),
            escape_invisible(&fault.place),
            escape_invisible(&fault.problem)
        ));
    }
}

/// Prints the errors in the active rules, and the consequence of these errors.
fn print_faults_in_force(out: Out, faults: &[PolicyFault]) {
    print_faults(out, faults);
    if !faults.is_empty() {
        out.print_note("Until this is corrected in policy.json, every call that is not denied by a rule needs approval.");
    }
}

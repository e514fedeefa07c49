//! `csign policy`: shows the policy with its rules and grants, and tests a call against it.

use contract::{
    Empty, PolicyCheckParams, PolicyFault, PolicyMode, PolicyVerdict, RuleAction, SessionId,
};
use serde_json::{Map, Value};

use crate::args::Policy;
use crate::exit::{Exit, Failure};
use crate::link::Link;
use crate::out::{Out, Tone};
use crate::visible::exact;

pub(crate) async fn run(link: &Link, out: Out, args: Policy) -> Result<Exit, Failure> {
    match args {
        Policy::Show => show(link, out).await,
        Policy::Check { tool, args, session, untrusted } => {
            let arguments = super::tools::read_arguments(&args)?;
            check(
                link,
                out,
                PolicyCheckParams {
                    tool: tool.into(),
                    arguments,
                    session: session.map(SessionId::from),
                    untrusted,
                },
            )
            .await
        }
    }
}

async fn check(link: &Link, out: Out, params: PolicyCheckParams) -> Result<Exit, Failure> {
    let answer = link.commands.policy_check(params).await?;
    let (word, tone, exit) = match answer.verdict {
        PolicyVerdict::Allow => ("allow", Tone::Good, Exit::Done),
        PolicyVerdict::Ask => ("ask", Tone::Strong, Exit::ApprovalRequired),
        PolicyVerdict::Deny => ("deny", Tone::Bad, Exit::Denied),
    };
    if out.json {
        out.document(&answer);
        return Ok(exit);
    }
    out.line(format!("{}  {}", out.tone(tone, word), exact(&answer.why)));
    faults(out, &answer.faults);
    Ok(exit)
}

async fn show(link: &Link, out: Out) -> Result<Exit, Failure> {
    let view = link.commands.policy_get(Empty {}).await?;
    let exit = if view.faults.is_empty() { Exit::Done } else { Exit::Failed };
    if out.json {
        out.document(&view);
        return Ok(exit);
    }
    let mode = match view.mode {
        PolicyMode::ReadOnlyOnly => "read_only_only: what changes something is refused",
        PolicyMode::WritesRequireApproval => "writes_require_approval: every change asks",
        PolicyMode::WritesAllowed => {
            "writes_allowed: changes run and are reported, destructive ones ask"
        }
    };
    out.line(mode);
    let absent = if view.found { "" } else { " (there is none)" };
    out.line(format!("Rules from {}{absent}", exact(&view.file)));
    for rule in &view.rules {
        let action = match rule.action {
            RuleAction::Deny => "deny ",
            RuleAction::Ask => "ask  ",
            RuleAction::Allow => "allow",
        };
        let reason =
            rule.reason.as_deref().map_or_else(String::new, |text| format!("  {}", exact(text)));
        out.line(format!(
            "  {action}  {}{}  [{}]{reason}",
            exact(&rule.tool),
            with(&rule.arguments),
            exact(&rule.id)
        ));
    }
    for grant in &view.grants {
        out.line(format!(
            "  grant  {}{} until {}  [{}]",
            exact(grant.tool.as_str()),
            with(&grant.arguments),
            grant.expires_at.to_rfc3339(),
            exact(&grant.id)
        ));
    }
    faults(out, &view.faults);
    Ok(exit)
}

fn with(arguments: &Map<String, Value>) -> String {
    if arguments.is_empty() {
        String::new()
    } else {
        format!(" with {}", exact(&Value::Object(arguments.clone()).to_string()))
    }
}

fn faults(out: Out, faults: &[PolicyFault]) {
    for fault in faults {
        out.note(format!(
            "{} {}: {}",
            out.tone(Tone::Bad, "fault"),
            exact(&fault.place),
            exact(&fault.problem)
        ));
    }
    if !faults.is_empty() {
        out.note("Until this is mended in policy.json every call asks that no rule denies.");
    }
}

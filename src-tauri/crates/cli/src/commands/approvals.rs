//! `csign approvals`: lists pending actions, shows an action, and lets a person at a terminal
//! decide.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use contract::{
    AgentError, Approval, ApprovalDecideParams, ApprovalParams, ApprovalStatus,
    ApprovalsListParams, Decision, Empty, ItemBody, SessionParams,
};

use crate::approve;
use crate::args::Approvals;
use crate::exit::{Exit, Failure};
use crate::link::{self, Link};
use crate::listen::{self, Asker};
use crate::out::{Out, Tone};
use crate::visible::{escape_invisible, escape_prose};

pub(crate) async fn run(link: &mut Link, out: Out, args: Approvals) -> Result<Exit, Failure> {
    match args {
        Approvals::List { all } => list_approvals(link, out, all).await,
        Approvals::Show { id } => {
            let approval = listen::find(link.commands.as_ref(), &id).await?;
            let now = link.commands.app_status(Empty {}).await?.now;
            print_approval(out, &approval, now);
            Ok(Exit::Done)
        }
        Approvals::Approve { id, hash, word } => {
            let approval = listen::find(link.commands.as_ref(), &id).await?;
            // The server of the approved action may ask a question when the action runs.
            let params = ApprovalDecideParams {
                id: approval.id.clone(),
                hash,
                decision: Decision::ApproveOnce { confirm_word: word },
            };
            let commands = Arc::clone(&link.commands);
            let mut asker = Asker::new(out, link::person_present());
            let answer = asker
                .run_while_asking(link, async move { commands.approval_decide(params).await })
                .await??;
            let decided = answer.approval;
            let result = match answer.result {
                None => read_call_result(link, &decided).await,
                known => known,
            };
            print_approved(out, &decided, result.as_ref());
            Ok(Exit::of_status(decided.status))
        }
        Approvals::Again { id } => {
            let expired = listen::find(link.commands.as_ref(), &id).await?;
            let asked = ApprovalParams { id: expired.id };
            let approval = link.commands.approval_ask_again(asked).await?;
            let now = link.commands.app_status(Empty {}).await?.now;
            print_approval(out, &approval, now);
            Ok(Exit::Done)
        }
        Approvals::Reject { id, reason } => {
            let approval = listen::find(link.commands.as_ref(), &id).await?;
            let decided = decide_approval(
                link,
                &approval,
                approval.hash.clone(),
                Decision::Reject { reason },
            )
            .await?;
            if out.json {
                out.print_json(&decided);
            } else {
                out.print_line(format!(
                    "{} is {}.",
                    escape_invisible(&decided.tool_title),
                    approve::format_approval_status(&decided)
                ));
            }
            Ok(Exit::Done)
        }
    }
}

async fn list_approvals(link: &Link, out: Out, all: bool) -> Result<Exit, Failure> {
    let mut approvals =
        link.commands.approvals_list(ApprovalsListParams { include_decided: all }).await?.approvals;
    if !all {
        approvals.retain(|approval| approval.status == ApprovalStatus::Pending);
    }
    if out.json {
        out.print_json(&approvals);
        return Ok(Exit::Done);
    }
    if approvals.is_empty() {
        out.print_note("Nothing waits for a decision.");
    }
    for approval in &approvals {
        let line = format!(
            "{}  {:10}  {}",
            escape_invisible(approval.id.as_str()),
            approve::format_approval_status(approval),
            escape_invisible(&approval.tool_title)
        );
        out.print_line(if approval.status == ApprovalStatus::Pending {
            out.colour_text(Tone::Strong, &line)
        } else {
            line
        });
    }
    Ok(Exit::Done)
}

fn print_approval(out: Out, approval: &Approval, now: DateTime<Utc>) {
    if out.json {
        return out.print_json(approval);
    }
    for line in approve::lines(out, approval, now) {
        out.print_line(line);
    }
    if approval.status == ApprovalStatus::Pending {
        out.print_note(format!(
            "Decide with: csign approvals approve {} --hash {}",
            escape_invisible(approval.id.as_str()),
            escape_invisible(&approval.hash)
        ));
        out.print_note(format!(
            "         or: csign approvals reject {}",
            escape_invisible(approval.id.as_str())
        ));
    }
}

async fn decide_approval(
    link: &Link,
    approval: &Approval,
    hash: String,
    decision: Decision,
) -> Result<Approval, AgentError> {
    let params = ApprovalDecideParams { id: approval.id.clone(), hash, decision };
    Ok(link.commands.approval_decide(params).await?.approval)
}

/// Reads the call's result from the session, because the waiting turn runs the call and not this
/// command.
async fn read_call_result(link: &Link, approval: &Approval) -> Option<ItemBody> {
    let view = link
        .commands
        .session_open(SessionParams { session: approval.session.clone() })
        .await
        .ok()?;
    let of_call = |body: &ItemBody| matches!(body, ItemBody::ToolResult { call, .. } if *call == approval.call);
    view.items.into_iter().rev().map(|item| item.body).find(of_call)
}

fn print_approved(out: Out, approval: &Approval, result: Option<&ItemBody>) {
    if out.json {
        #[derive(serde::Serialize)]
        struct Decided<'a> {
            approval: &'a Approval,
            result: Option<&'a ItemBody>,
        }
        return out.print_json(&Decided { approval, result });
    }
    out.print_line(format!(
        "{} is {}.",
        escape_invisible(&approval.tool_title),
        approve::format_approval_status(approval)
    ));
    if let Some(ItemBody::ToolResult { summary, data, error, .. }) = result {
        out.print_line(escape_invisible(summary));
        if let Some(error) = error {
            out.print_error(error);
        } else if !data.is_null() {
            out.print_line(escape_prose(&contract::json_text::laid_out(data)));
        }
    } else if let Some(reason) = &approval.reason {
        out.print_line(escape_invisible(reason));
    }
}

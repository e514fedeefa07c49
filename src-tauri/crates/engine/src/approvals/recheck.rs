//! Checks directly before an effect whether the action still equals the approved action and is
//! still allowed. `gate` acts on the result.

use contract::{AgentError, Approval, ErrorCode, Reason};
use policy::Decision;

use crate::{
    approvals::preview::{Foreseen, compute_preview},
    tools::{
        call::Ready, dispatch::Dispatcher, outgoing::Outgoing, policy_decision::policy_decision,
    },
};

/// The comparison of an action with the approved action.
#[derive(PartialEq, Eq)]
pub(crate) enum Compared {
    Same,
    Changed,
    /// The preview already refused the action when it was proposed. The proposal should have been
    /// withdrawn, but a crash may have prevented this.
    Refused(String),
    /// A read of the preview failed, so the action cannot be compared.
    Unread,
}

pub(crate) enum Rechecked {
    Same,
    Changed,
    Refused(AgentError),
}

/// Checks that a write that needed no approval at the call still needs none.
pub(crate) async fn check_still_allowed(
    dispatcher: &Dispatcher,
    ready: &Ready,
) -> Result<(), AgentError> {
    dispatcher.context.check_tool(&ready.spec)?;
    check_definition(dispatcher, ready)?;
    match policy_decision(&dispatcher.context, &ready.spec, &ready.arguments).await.decision {
        Decision::Allow { .. } => Ok(()),
        Decision::Ask { why } | Decision::Deny { why } => {
            Err(AgentError::new(ErrorCode::ApprovalRequired, why)
                .reason("not_allowed_any_more")
                .hint("Ask for it again."))
        }
    }
}

fn check_definition(dispatcher: &Dispatcher, ready: &Ready) -> Result<(), AgentError> {
    let specs = dispatcher.context.world().tools.specs();
    if specs.iter().any(|spec| {
        spec.is_named(&ready.spec.id) && spec.definition_hash == ready.spec.definition_hash
    }) {
        return Ok(());
    }
    Err(AgentError::internal(
        "definition_changed",
        "The tool has changed since this action was proposed.",
    )
    .hint("Ask for it again and review the new proposal."))
}

/// Compares the action with the approved action. If a read of the preview fails, the action is
/// treated neither as equal nor as changed.
pub(crate) async fn compare(
    dispatcher: &Dispatcher,
    ready: &Ready,
    approval: &Approval,
) -> Compared {
    let Ok(outgoing) = Outgoing::of(&dispatcher.context, ready).await else {
        return Compared::Unread;
    };
    if outgoing.hash != approval.hash {
        return Compared::Changed;
    }
    // The preview is computed in the language of the approval. A preview in another language would
    // look like a change.
    let foresight = compute_preview(
        dispatcher,
        &ready.spec,
        &ready.arguments,
        approval.locale.as_deref().unwrap_or(&dispatcher.context.locale),
    )
    .await;
    if let (Some(Foreseen::Refused { refuse }), None) = (&foresight.foreseen, &approval.preview) {
        return Compared::Refused(refuse.clone());
    }
    let unread = foresight.unread;
    match foresight.view() == approval.preview {
        true => Compared::Same,
        false if unread => Compared::Unread,
        false => Compared::Changed,
    }
}

pub(crate) async fn recheck(
    dispatcher: &Dispatcher,
    ready: &Ready,
    approval: &Approval,
) -> Rechecked {
    if let Err(error) = dispatcher.context.check_tool(&ready.spec) {
        return Rechecked::Refused(error);
    }
    if let Err(error) = check_definition(dispatcher, ready) {
        return Rechecked::Refused(error);
    }
    if let Decision::Deny { why } =
        policy_decision(&dispatcher.context, &ready.spec, &ready.arguments).await.decision
    {
        return Rechecked::Refused(
            AgentError::new(ErrorCode::ApprovalRequired, why)
                .reason(Reason::SideEffectDisallowed)
                .with("approvable", false),
        );
    }
    match compare(dispatcher, ready, approval).await {
        Compared::Same => Rechecked::Same,
        Compared::Changed => Rechecked::Changed,
        Compared::Refused(why) => {
            Rechecked::Refused(AgentError::invalid(why).reason("foreseen_refusal"))
        }
        Compared::Unread => {
            let said = "Its effect could not be checked again, so it was not carried out.";
            Rechecked::Refused(
                AgentError::internal("unread_preview", said).hint("Ask for it again in a moment."),
            )
        }
    }
}

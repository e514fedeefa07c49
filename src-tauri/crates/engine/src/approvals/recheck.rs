//! The last look before an effect: whether an action is still what was signed, and still allowed.
//! `gate` decides what to do with the result.

use contract::{AgentError, Approval, ErrorCode};
use policy::Decision;

use crate::{
    approvals::preview::{Foreseen, foresee},
    tools::{
        call::Ready, dispatch::Dispatcher, outgoing::Outgoing, policy_decision::policy_decision,
    },
};

/// How an action compares with what was signed.
#[derive(PartialEq, Eq)]
pub(crate) enum Compared {
    Same,
    Changed,
    /// It was in vain already when it was asked for, and whoever was to take it back did not: a
    /// crash may have come between.
    Refused(String),
    /// Nobody answers what it rests on.
    Unread,
}

pub(crate) enum Rechecked {
    Same,
    Changed,
    Refused(AgentError),
}

/// A write that needed no signature when it was asked for still needs none.
pub(crate) async fn still_free(dispatcher: &Dispatcher, ready: &Ready) -> Result<(), AgentError> {
    dispatcher.context.engine.check_tool(&ready.spec)?;
    same_definition(dispatcher, ready)?;
    match policy_decision(&dispatcher.context, &dispatcher.sources, &ready.spec, &ready.arguments)
        .await
    {
        Decision::Allow { .. } => Ok(()),
        Decision::Ask { why } | Decision::Deny { why } => {
            Err(AgentError::new(ErrorCode::ApprovalRequired, why)
                .reason("not_allowed_any_more")
                .hint("Ask for it again."))
        }
    }
}

fn same_definition(dispatcher: &Dispatcher, ready: &Ready) -> Result<(), AgentError> {
    let specs = dispatcher.context.world().tools.specs();
    if specs.iter().any(|spec| {
        spec.is_named(&ready.spec.id) && spec.definition_hash == ready.spec.definition_hash
    }) {
        return Ok(());
    }
    Err(AgentError::internal(
        "definition_changed",
        "The tool has changed since this was asked for.",
    )
    .hint("Ask for it again and look at the new proposal."))
}

/// Looks again at what was signed. What nobody answers for is neither the same nor another thing to
/// sign.
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
    // In the language in which it was shown, whoever decides: other words for the same are no
    // change.
    let foresight = foresee(
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
    if let Err(error) = dispatcher.context.engine.check_tool(&ready.spec) {
        return Rechecked::Refused(error);
    }
    if let Err(error) = same_definition(dispatcher, ready) {
        return Rechecked::Refused(error);
    }
    if let Decision::Deny { why } =
        policy_decision(&dispatcher.context, &dispatcher.sources, &ready.spec, &ready.arguments)
            .await
    {
        return Rechecked::Refused(
            AgentError::new(ErrorCode::ApprovalRequired, why)
                .reason("side_effect_disallowed")
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
            let said =
                "What this would change could not be looked at again, so it was not carried out.";
            Rechecked::Refused(
                AgentError::internal("unread_preview", said).hint("Ask for it again in a moment."),
            )
        }
    }
}

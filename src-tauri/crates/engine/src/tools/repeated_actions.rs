//! Keeps actions from being repeated by another version of a message. An action that ran in a
//! version that is not shown cannot be taken back, so the other version asks before it acts.

use chrono::{DateTime, Utc};
use contract::{Effect, ToolSpec};
use policy::Decision;

use crate::{
    canonical::canonical,
    ports::HiddenAction,
    tools::{call::Ready, outgoing::Outgoing},
    turn::context::TurnContext,
};

/// The reason for asking about a change that a rule or a permission allows.
const ACTED: &str = "Another version of this conversation already made changes, so this one asks.";

/// Returns the decision, or a question instead of a permission for a change: in a turn that replaces
/// another, if any action ran in a version that is not shown, and in every turn, if an action of the
/// same tool did.
pub(super) async fn ask_before_repeating(
    context: &TurnContext,
    spec: &ToolSpec,
    decision: Decision,
) -> Decision {
    if spec.effect == Effect::ReadOnly || !matches!(decision, Decision::Allow { .. }) {
        return decision;
    }
    let acted = match context.world().store.hidden_actions(&context.session).await {
        Ok(actions) => {
            (context.replaces.is_some() && !actions.is_empty())
                || actions.iter().any(|action| spec.is_named(&action.tool))
        }
        Err(error) => {
            tracing::warn!(%error, "the actions of other versions could not be read");
            true
        }
    };
    if acted { Decision::Ask { why: ACTED.into() } } else { decision }
}

/// Returns the time at which the same action ran last in a version that is not shown.
pub(crate) async fn ran_before(
    context: &TurnContext,
    ready: &Ready,
    outgoing: &Outgoing,
) -> Option<DateTime<Utc>> {
    let actions = context.world().store.hidden_actions(&context.session).await;
    let actions = actions.unwrap_or_else(|error| {
        tracing::warn!(%error, "the actions of other versions could not be read");
        Vec::new()
    });
    let sent = [canonical(&ready.arguments), canonical(&outgoing.arguments)];
    let is_same = |action: &&HiddenAction| {
        ready.spec.is_named(&action.tool)
            && (action.hash.as_deref() == Some(outgoing.hash.as_str())
                || sent.contains(&canonical(&action.arguments)))
    };
    actions.iter().filter(is_same).map(|action| action.at).max()
}

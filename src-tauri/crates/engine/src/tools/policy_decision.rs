//! Asks the policy about a call. Rules and grants are read for each call, so that a change takes
//! effect immediately.

use contract::ToolSpec;
use policy::{Decision, Question};
use serde_json::Value;

use crate::{
    destinations::find_leave,
    tools::{repeated_actions::ask_before_repeating, typed_arguments::typed_arguments},
    turn::context::TurnContext,
};

/// The decision about a call, and the data that it was based on.
pub(crate) struct Verdict {
    pub(crate) decision: Decision,
    /// Whether the turn contained outside content.
    pub(crate) is_marked: bool,
    /// The names of the arguments that the person typed. They are determined only in a marked turn.
    pub(crate) typed: Vec<String>,
}

pub(crate) async fn policy_decision(
    context: &TurnContext,
    spec: &ToolSpec,
    arguments: &Value,
) -> Verdict {
    let world = context.world();
    let grants =
        if spec.grantable { world.store.grants().await.unwrap_or_default() } else { Vec::new() };
    let leave = find_leave(context, spec, arguments).await;
    let is_marked = context.sources.is_any();
    let typed =
        if is_marked { typed_arguments(context, spec, arguments).await } else { Vec::new() };
    let (settings, rules) = (world.profile.settings(), world.profile.rules());
    let decision = policy::decide(Question {
        tool: spec,
        arguments,
        session: &context.session,
        caller: &context.caller.kind,
        mode: settings.policy,
        rules: &rules,
        grants: &grants,
        untrusted_entered: is_marked,
        typed: &typed,
        leave: leave.as_policy(),
        now: world.clock.now(),
    });
    let decision = ask_before_repeating(context, spec, decision).await;
    Verdict { decision, is_marked, typed }
}

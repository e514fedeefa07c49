//! Asks the policy about a call. Rules and grants are read for each call, so that a change works at
//! once.

use contract::ToolSpec;
use policy::{Decision, Question};
use serde_json::Value;

use crate::{tools::provenance::UntrustedSources, turn::context::TurnContext};

pub(crate) async fn policy_decision(
    context: &TurnContext,
    sources: &UntrustedSources,
    spec: &ToolSpec,
    arguments: &Value,
) -> Decision {
    let world = context.world();
    let grants =
        if spec.grantable { world.store.grants().await.unwrap_or_default() } else { Vec::new() };
    let (settings, rules) = (world.profile.settings(), world.profile.rules());
    policy::decide(Question {
        tool: spec,
        arguments,
        session: &context.session,
        mode: settings.policy,
        rules: &rules,
        grants: &grants,
        untrusted_entered: sources.is_any(),
        now: world.clock.now(),
    })
}

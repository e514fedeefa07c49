//! Tests that adding a pack grants no further permissions to existing tools, and that new tools
//! inherit no permissions of other tools.

use chrono::{TimeDelta, TimeZone as _, Utc};
use contract::{
    Effect, PackId, PolicyMode, PolicyRule, RuleAction, SessionId, StandingGrant, Switches, ToolId,
    ToolSpec,
};
use policy::{Question, Rules};
use proptest::prelude::*;
use serde_json::{Map, json};

const PACKS: [&str; 4] = ["shop", "post", "cart", "read"];
const IDS: [&str; 5] = ["cart.add", "cart", "send", "Send", "read_result"];

/// Returns a tool as its pack defines it.
fn tool(pack: &str, id: &str, effect: Effect) -> ToolSpec {
    let mut spec = super::LEDGER_TOOL.clone();
    spec.pack = PackId::from(pack);
    spec.id = ToolId::from(id);
    spec.model_name = packs::model_name(id);
    spec.effect = effect;
    spec.grantable = true;
    spec.preview = None;
    spec.definition_hash = format!("{pack} {id}");
    spec
}

fn any_tools(pack: &'static str) -> impl Strategy<Value = Vec<ToolSpec>> {
    prop::collection::btree_map(
        prop::sample::select(&IDS),
        prop::sample::select(&[Effect::ReadOnly, Effect::Write, Effect::Destructive]),
        0..3,
    )
    .prop_map(move |tools| tools.into_iter().map(|(id, effect)| tool(pack, id, effect)).collect())
}

/// Generates an id or a pattern as a person may write it.
fn any_pattern() -> impl Strategy<Value = String> {
    let id = prop::sample::select(&IDS);
    prop_oneof![
        id.clone().prop_map(str::to_owned),
        (prop::sample::select(&PACKS), id).prop_map(|(pack, id)| format!("{pack}:{id}")),
        prop::sample::select(&["*", "cart.*", "c*", "s*", "shop:*", "*:send", "re*", "*add"])
            .prop_map(str::to_owned),
    ]
}

fn any_rules() -> impl Strategy<Value = Rules> {
    let action = prop::sample::select(&[RuleAction::Deny, RuleAction::Ask, RuleAction::Allow]);
    let rule = (action, any_pattern()).prop_map(|(action, tool)| PolicyRule {
        id: "r".into(),
        action,
        tool,
        effect: None,
        arguments: Map::new(),
        callers: Vec::new(),
        expires_at: None,
        reason: None,
    });
    let grant = any_pattern().prop_map(|tool| StandingGrant {
        id: "g".into(),
        tool: tool.as_str().into(),
        arguments: Map::new(),
        session: None,
        expires_at: Utc.timestamp_opt(1_000, 0).single().unwrap(),
    });
    (prop::collection::vec(rule, 0..5), prop::collection::vec(grant, 0..3))
        .prop_map(|(rules, grants)| Rules { rules, grants, faults: Vec::new() })
}

fn strictness(tool: &ToolSpec, rules: &Rules, mode: PolicyMode, switches: &Switches) -> u8 {
    let now = Utc.timestamp_opt(0, 0).single().unwrap() + TimeDelta::seconds(1);
    let question = Question {
        tool,
        arguments: &json!({}),
        session: &SessionId::new("s"),
        caller: &contract::CallerKind::Window,
        mode,
        rules,
        grants: &[],
        untrusted_entered: false,
        typed: &[],
        leave: policy::Leave::Given,
        now,
    };
    if switches.tool(tool) { policy::decide(question).strictness() } else { 3 }
}

fn qualify_all(mut tools: Vec<ToolSpec>) -> Vec<ToolSpec> {
    packs::qualify(&mut tools.iter_mut().collect::<Vec<_>>());
    tools
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn adding_a_pack_never_allows_more_calls(
        mut there in (any_tools("shop"), any_tools("post")).prop_map(|(a, b)| [a, b].concat()),
        added in prop::sample::select(&["cart", "read"]).prop_flat_map(any_tools),
        rules in any_rules(),
        off in prop::collection::btree_set(any_pattern().prop_map(ToolId), 0..3),
        mode in prop::sample::select(&[PolicyMode::ReadOnlyOnly, PolicyMode::WritesRequireApproval, PolicyMode::WritesAllowed]),
    ) {
        let switches = Switches { tools_off: off, ..Switches::default() };
        there = qualify_all(there);
        let all = qualify_all([there.clone(), added].concat());
        let allows = |tool: &str| tool == "*" || tool.contains(':') || tool.contains('*');
        // A permission for an id without a pack does not extend to a tool that was added later with
        // the same id.
        let narrower = Rules {
            rules: rules.rules.iter().filter(|rule| rule.action != RuleAction::Allow || allows(&rule.tool)).cloned().collect(),
            grants: rules.grants.iter().filter(|grant| allows(grant.tool.as_str())).cloned().collect(),
            faults: Vec::new(),
        };
        for tool in &all {
            let now = strictness(tool, &rules, mode, &switches);
            match there.iter().find(|before| before.qualified_id() == tool.qualified_id()) {
                Some(before) => prop_assert!(now >= strictness(before, &rules, mode, &switches), "{} does more", tool.id),
                None if there.iter().any(|before| before.plain_id() == tool.plain_id()) => {
                    prop_assert!(now >= strictness(tool, &narrower, mode, &switches), "{} is allowed in place of another", tool.id);
                    for restricting in rules.rules.iter().filter(|rule| rule.action == RuleAction::Deny && rule.tool == tool.plain_id().as_str()) {
                        prop_assert!(now >= 2, "{} is denied by {restricting:?}", tool.id);
                    }
                }
                None => {}
            }
        }
        // Enabling one of several tools with the same id leaves the others disabled.
        for tool in &all {
            let mut changed = switches.clone();
            changed.switch_tool_on(&tool.id, &all);
            prop_assert!(changed.tool(tool));
            for other in all.iter().filter(|other| other.pack != tool.pack) {
                prop_assert_eq!(changed.tool(other), switches.tool(other), "{} with {}", other.id, tool.id);
            }
        }
        // Each id and name belongs to a single tool, and no pack's tool has a reserved name.
        for (at, tool) in all.iter().enumerate() {
            prop_assert!(all.iter().skip(at + 1).all(|other| other.id != tool.id && other.model_name != tool.model_name));
            prop_assert!(tool.id.as_str() != "read_result" && tool.model_name != "read_result");
        }
    }
}

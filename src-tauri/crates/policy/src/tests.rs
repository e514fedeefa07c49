//! A table with one line for each rule of the precedence, and a property test: an added deny rule
//! never allows more.

use chrono::{TimeDelta, TimeZone, Utc};
use contract::{
    Effect, Grant, PolicyMode, Reach, ResultView, SessionId, ToolSpec, ToolTarget,
    manifest::{Backoff, IdempotencyStrategy, Kind, Latency, OutputTrust},
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;

pub(crate) fn tool(id: &str, effect: Effect) -> ToolSpec {
    ToolSpec {
        id: id.into(),
        pack: "test".into(),
        model_name: id.replace('.', "_"),
        title: id.into(),
        description: String::new(),
        use_when: vec![],
        do_not_use_when: vec![],
        kind: Kind::InternalService,
        effect,
        open_world: false,
        reach: Reach::Here,
        is_description_accepted: true,
        output_trust: OutputTrust::Trusted,
        grantable: true,
        human_required: false,
        latency: Latency::Fast,
        input_schema: json!({}),
        full_input_schema: json!({}),
        output_schema: json!({}),
        error_schema: json!({}),
        caller_owned: vec![],
        timeout_ms: 1000,
        max_attempts: 1,
        backoff: Backoff::Fixed,
        idempotency: IdempotencyStrategy::None,
        idempotency_key_ref: None,
        auth: None,
        audit_required: false,
        view: ResultView::default(),
        preview: None,
        as_of: None,
        session_values: vec![],
        target: ToolTarget::BuiltIn { service: "test".into() },
        definition_hash: "d".into(),
    }
}

fn rule(action: Action, pattern: &str) -> Rule {
    Rule {
        id: format!("{action:?}"),
        action,
        tool: pattern.into(),
        effect: None,
        arguments: Map::new(),
        callers: vec![],
        expires_at: None,
        reason: None,
    }
}

fn grant(tool: &ToolSpec) -> Grant {
    let now = Utc.timestamp_opt(0, 0).single().expect("the epoch exists");
    Grant {
        id: "g".into(),
        session: "s".into(),
        tool: tool.id.clone(),
        server: "test".into(),
        definition_hash: "d".into(),
        pattern: Map::new(),
        granted_by: None,
        created_at: now,
        expires_at: now + TimeDelta::hours(1),
        last_used_at: None,
        revoked_at: None,
    }
}

struct Case {
    tool: ToolSpec,
    arguments: Value,
    mode: PolicyMode,
    rules: Rules,
    grants: Vec<Grant>,
    untrusted: bool,
    typed: Vec<String>,
    leave: Leave<'static>,
    caller: CallerKind,
}

fn case(effect: Effect) -> Case {
    Case {
        tool: tool("cart.addItem", effect),
        arguments: json!({"quantity": 2}),
        mode: PolicyMode::WritesRequireApproval,
        rules: Rules::default(),
        grants: vec![],
        untrusted: false,
        typed: vec![],
        leave: Leave::Given,
        caller: CallerKind::Window,
    }
}

impl Case {
    fn rules(mut self, rules: &[Rule]) -> Self {
        self.rules.rules = rules.to_vec();
        self
    }
    fn mode(mut self, mode: PolicyMode) -> Self {
        self.mode = mode;
        self
    }
    fn with_grant(mut self) -> Self {
        self.grants = vec![grant(&self.tool)];
        self
    }
    fn ask<T>(&self, answer: impl FnOnce(Question<'_>) -> T) -> T {
        answer(Question {
            tool: &self.tool,
            arguments: &self.arguments,
            session: &SessionId::new("s"),
            caller: &self.caller,
            mode: self.mode,
            rules: &self.rules,
            grants: &self.grants,
            untrusted_entered: self.untrusted,
            typed: &self.typed,
            leave: self.leave,
            now: Utc.timestamp_opt(60, 0).single().expect("a time"),
        })
    }
    fn decide(&self) -> Decision {
        self.ask(super::decide)
    }
    fn strictness(&self) -> u8 {
        self.decide().strictness()
    }
}

const ALLOW: u8 = 0;
const ASK: u8 = 1;
const DENY: u8 = 2;

#[test]
fn each_effect_and_policy_mode_has_its_verdict() {
    use PolicyMode::*;
    for (effect, mode, expected) in [
        (Effect::ReadOnly, ReadOnlyOnly, ALLOW),
        (Effect::ReadOnly, WritesRequireApproval, ALLOW),
        (Effect::ReadOnly, WritesAllowed, ALLOW),
        (Effect::Write, ReadOnlyOnly, DENY),
        (Effect::Write, WritesRequireApproval, ASK),
        (Effect::Write, WritesAllowed, ALLOW),
        (Effect::Destructive, ReadOnlyOnly, DENY),
        (Effect::Destructive, WritesRequireApproval, ASK),
        (Effect::Destructive, WritesAllowed, ASK),
    ] {
        assert_eq!(case(effect).mode(mode).strictness(), expected, "{effect:?} under {mode:?}");
    }
}

#[test]
fn deny_rules_take_precedence_over_ask_and_ask_over_allow() {
    let allow = rule(Action::Allow, "cart.*");
    let ask = rule(Action::Ask, "*");
    let deny = rule(Action::Deny, "cart.addItem");
    assert_eq!(case(Effect::Write).rules(std::slice::from_ref(&allow)).strictness(), ALLOW);
    assert_eq!(
        case(Effect::Write).rules(&[allow.clone(), ask.clone()]).strictness(),
        ASK,
        "ask beats allow"
    );
    assert_eq!(
        case(Effect::Write).rules(&[allow.clone(), ask, deny.clone()]).strictness(),
        DENY,
        "deny beats all"
    );
    assert_eq!(
        case(Effect::Write).rules(std::slice::from_ref(&deny)).with_grant().strictness(),
        DENY,
        "a grant never beats a deny"
    );
    assert_eq!(
        case(Effect::Destructive).rules(std::slice::from_ref(&allow)).strictness(),
        ASK,
        "an allow rule never frees a destructive tool"
    );
    assert_eq!(
        case(Effect::Write).rules(&[allow]).mode(PolicyMode::ReadOnlyOnly).strictness(),
        DENY
    );
}

#[test]
fn a_tool_that_always_needs_a_person_asks_despite_rules_and_grants() {
    let demanded = |mut c: Case| {
        c.tool.human_required = true;
        c.decide()
    };
    let allow = || case(Effect::Write).rules(&[rule(Action::Allow, "*")]);
    for free in [
        allow(),
        case(Effect::Write).mode(PolicyMode::WritesAllowed),
        case(Effect::Write).with_grant(),
        case(Effect::ReadOnly),
    ] {
        assert_eq!(free.strictness(), ALLOW);
        let asked = demanded(free);
        assert_eq!(
            (asked.strictness(), asked.reason().as_str()),
            (ASK, "This pack requires your approval for every call of cart.addItem.")
        );
    }
    let mut standing = case(Effect::Write);
    standing.rules = Rules::parse(
        r#"{"grants": [{"id": "g", "tool": "cart.addItem", "expires_at": "1970-01-01T01:00:00Z"}]}"#,
    );
    assert_eq!((standing.strictness(), demanded(standing).strictness()), (ALLOW, ASK));
    assert_eq!(demanded(case(Effect::Write).mode(PolicyMode::ReadOnlyOnly)).strictness(), DENY);
    assert_eq!(
        demanded(case(Effect::Write).rules(&[rule(Action::Deny, "*")])).strictness(),
        DENY,
        "deny beats all"
    );
}

#[test]
fn session_grants_apply_only_within_their_conditions() {
    assert_eq!(case(Effect::Write).with_grant().strictness(), ALLOW);
    assert_eq!(case(Effect::Destructive).with_grant().strictness(), ASK);
    let mut c = case(Effect::Write).with_grant();
    c.untrusted = true;
    assert_eq!(c.strictness(), ASK, "in a marked turn nobody chose this number");
    c.typed = vec!["quantity".into()];
    assert_eq!(c.strictness(), ALLOW, "the person typed it");
    c.typed.clear();
    c.grants[0].pattern.insert("quantity".into(), json!(2));
    assert_eq!(c.strictness(), ALLOW, "the permission fixes it");
    let mut c = case(Effect::Write).with_grant();
    c.tool.definition_hash = "other".into();
    assert_eq!(c.strictness(), ASK, "another definition is another tool");
    let mut c = case(Effect::Write).with_grant();
    c.tool.grantable = false;
    assert_eq!(c.strictness(), ASK);
    let mut c = case(Effect::Write).with_grant();
    c.grants[0].session = "other".into();
    assert_eq!(c.strictness(), ASK);
    let mut c = case(Effect::Write).with_grant();
    c.grants[0].pattern.insert("quantity".into(), json!(3));
    assert_eq!(c.strictness(), ASK);
    let mut c = case(Effect::Write).with_grant();
    c.grants[0].expires_at = Utc.timestamp_opt(60, 0).single().expect("a time");
    assert_eq!(c.strictness(), ASK, "expired at the very instant");
    let mut c = case(Effect::Write).with_grant();
    c.grants[0].revoked_at = Some(Utc.timestamp_opt(1, 0).single().expect("a time"));
    assert_eq!(c.strictness(), ASK);
}

#[test]
fn a_read_to_an_unallowed_destination_asks() {
    static PLACES: std::sync::LazyLock<[contract::Destination; 1]> =
        std::sync::LazyLock::new(|| {
            [contract::Destination::new(contract::DestinationKind::Host, "example.com")]
        });
    for untrusted in [false, true] {
        for leave in [Leave::Missing(&PLACES[..]), Leave::Spent(&PLACES[..])] {
            let mut c = case(Effect::ReadOnly).rules(&[rule(Action::Allow, "*")]);
            c.untrusted = untrusted;
            assert_eq!(c.strictness(), ALLOW);
            c.leave = leave;
            assert_eq!(c.strictness(), ASK, "whatever the turn has seen");
            assert!(c.decide().reason().to_string().contains("example.com"));
            c.tool.effect = Effect::Write;
            c.typed = vec!["quantity".into()];
            assert_eq!(c.strictness(), ALLOW, "a change has its own questions");
        }
    }
}

#[test]
fn in_an_untrusted_turn_an_allow_rule_covers_only_fixed_or_typed_arguments() {
    let mut c = case(Effect::Write).rules(&[rule(Action::Allow, "*")]);
    assert_eq!(c.strictness(), ALLOW);
    c.untrusted = true;
    assert_eq!(c.strictness(), ASK);
    let mut fixed = rule(Action::Allow, "*");
    fixed.arguments.insert("quantity".into(), json!(2));
    c.rules.rules.push(fixed);
    assert_eq!(c.strictness(), ALLOW, "the second rule fixes all arguments");
}

#[test]
fn unreadable_rules_ask_for_approval_and_never_allow() {
    let mut c = case(Effect::Write).mode(PolicyMode::WritesAllowed);
    let text = r#"{"rules": [
        {"id": "a", "action": "allow", "tool": "*"},
        {"id": "b",
         "action": "permit", "tool": "*"},
        {"id": "a", "action": "ask", "tool": "x"},
        {"id": "c", "action": "deny", "tool": "*", "colour": 1}
    ], "grants": [{"id": "g", "tool": "cart.addItem", "expires_at": "soon"}]}"#;
    c.rules = Rules::parse(text);
    let found: Vec<(&str, &str)> =
        c.rules.faults.iter().map(|f| (f.place.as_str(), f.problem.as_str())).collect();
    assert_eq!(found.len(), 4, "{found:?}");
    assert_eq!(found[0].0, "rules[1], line 4");
    assert!(
        found[0].1.starts_with("the field `action`")
            && found[0].1.contains("`deny`, `ask`, `allow`"),
        "{found:?}"
    );
    assert_eq!(
        found[1],
        ("rules[2], line 5", "the field `id` has the value a, which is taken already")
    );
    assert!(
        found[2].0 == "rules[3], line 6" && found[2].1.contains("unknown field `colour`"),
        "{found:?}"
    );
    assert_eq!(found[3].0, "grants[0], line 7");
    assert!(found[3].1.starts_with("the field `expires_at`"), "{found:?}");
    assert!(!format!("{found:?}").contains("permit"), "a value is not repeated");
    assert_eq!(c.strictness(), ASK);
    assert!(c.decide().reason().contains("rules[1], line 4"));
    for text in ["not json", "", "[]", r#"{"rules": 1}"#, "{\n\"rule\": []}"] {
        c.rules = Rules::parse(text);
        assert_eq!((c.rules.faults.len(), c.strictness()), (1, ASK), "{text}");
        assert!(c.rules.faults[0].place.starts_with("line "));
    }
    c.tool.effect = Effect::ReadOnly;
    assert_eq!(c.strictness(), ASK, "a rule that cannot be read may have spoken of a read");
    c.rules = Rules::parse("{}");
    assert_eq!(c.strictness(), ALLOW);
}

#[test]
fn standing_grants_apply_only_within_their_conditions() {
    let granting = |rest: &str| {
        let text = format!(
            r#"{{"grants": [{{"id": "g", "tool": "cart.addItem", "expires_at": "1970-01-01T01:00:00Z"{rest}}}]}}"#
        );
        let mut c = case(Effect::Write);
        c.rules = Rules::parse(&text);
        assert_eq!(c.rules.faults, []);
        c
    };
    assert_eq!(granting("").strictness(), ALLOW, "the one argument is a number");
    assert_eq!(granting(r#", "session": "s", "arguments": {"quantity": 2}"#).strictness(), ALLOW);
    assert_eq!(granting(r#", "session": "other""#).strictness(), ASK);
    assert_eq!(granting(r#", "arguments": {"quantity": 3}"#).strictness(), ASK);
    let mut c = granting("");
    c.untrusted = true;
    assert_eq!(c.strictness(), ASK, "in a marked turn nobody chose this number");
    let mut c = granting(r#", "arguments": {"quantity": 2}"#);
    c.untrusted = true;
    assert_eq!(c.strictness(), ALLOW, "the file fixes it");
    let mut c = granting("");
    c.arguments = json!({"quantity": 2, "partNo": "x"});
    assert_eq!(c.strictness(), ASK, "text that was not named");
    let mut c = granting("");
    c.tool.grantable = false;
    assert_eq!(c.strictness(), ASK);
    let mut c = granting("");
    c.tool.effect = Effect::Destructive;
    assert_eq!(c.strictness(), ASK);
    let mut c = granting("");
    c.rules.grants[0].expires_at = Utc.timestamp_opt(60, 0).single().expect("a time");
    assert_eq!(c.strictness(), ASK, "expired at the very instant");
    assert_eq!(granting("").mode(PolicyMode::ReadOnlyOnly).strictness(), DENY);
}

/// The examples in the documentation are valid rules.
#[test]
fn the_examples_in_the_policy_documentation_are_valid() {
    let text = include_str!("../../../../docs/policy.md");
    let examples: Vec<&str> =
        text.split("```json\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(!examples.is_empty());
    for example in examples {
        assert_eq!(Rules::parse(example).faults, [], "{example}");
    }
}

#[test]
fn rules_match_by_tool_pattern_and_argument_values() {
    let mut c = case(Effect::Write).rules(&[rule(Action::Deny, "*.add*")]);
    assert_eq!(c.strictness(), DENY);
    c.rules.rules[0].tool = "cart.add".into();
    assert_eq!(c.strictness(), ASK);
    c.rules.rules[0].tool = "cart.addItem".into();
    c.rules.rules[0].arguments.insert("quantity".into(), json!(9));
    assert_eq!(c.strictness(), ASK);
}

#[test]
fn an_expired_rule_has_no_effect() {
    let until = |second: i64, action: Action| {
        let end = Utc.timestamp_opt(second, 0).single();
        case(Effect::Write).rules(&[Rule { expires_at: end, ..rule(action, "*") }]).strictness()
    };
    // The time of the decision is second 60.
    assert_eq!([61, 60, 59].map(|second| until(second, Action::Deny)), [DENY, ASK, ASK]);
    assert_eq!([61, 60, 59].map(|second| until(second, Action::Allow)), [ALLOW, ASK, ASK]);
}

#[test]
fn a_rule_for_callers_applies_to_their_calls_only() {
    let denied = |callers: &[&str], caller: CallerKind| {
        let callers = callers.iter().map(|&name| name.to_owned()).collect();
        let mut c = case(Effect::Write).rules(&[Rule { callers, ..rule(Action::Deny, "*") }]);
        c.caller = caller;
        c.strictness() == DENY
    };
    let agent = |name: &str| CallerKind::Agent(name.into());
    assert!(denied(&[], agent("nightly")) && denied(&[], CallerKind::Window));
    assert!(denied(&["agent"], agent("nightly")) && denied(&["agent"], agent("")));
    assert!(!denied(&["agent"], CallerKind::Window));
    assert!(denied(&["agent:nightly"], agent("nightly")));
    assert!(!denied(&["agent:nightly"], agent("daily")) && !denied(&["agent:nightly"], agent("")));
    assert!(!denied(&["schedule:nightly"], agent("nightly")));
    assert!(denied(&["terminal", "window"], CallerKind::Window));
}

#[test]
fn a_rule_for_unknown_callers_is_a_fault_and_still_denies_for_the_known_ones() {
    for callers in [r#"["windows"]"#, r#"["agent:"]"#, r#"["window:x"]"#, r#"["caller"]"#] {
        for action in ["deny", "ask", "allow"] {
            let text = format!(
                r#"{{"rules": [{{"id": "a", "action": "{action}", "tool": "*", "callers": {callers}}}]}}"#
            );
            let read = Rules::parse(&text);
            assert_eq!(read.faults.len(), 1, "{text}");
            assert_eq!(read.rules.len(), usize::from(action == "deny"), "{text}");
        }
    }
    let mut c = case(Effect::Write).mode(PolicyMode::WritesAllowed);
    c.rules = Rules::parse(
        r#"{"rules": [{"id": "a", "action": "deny", "tool": "*", "callers": ["window", "x"]}]}"#,
    );
    assert_eq!(c.strictness(), DENY);
    c.caller = CallerKind::Terminal;
    assert_eq!(c.strictness(), ASK, "the fault makes everything ask");
}

#[test]
fn a_past_call_of_an_unknown_caller_is_decided_only_if_all_callers_give_the_same() {
    let known = Known { arguments: true, untrusted: true, grants: true, caller: false };
    let past = |rules: &[Rule]| {
        let decided = case(Effect::Write).rules(rules).ask(|question| decide_past(question, known));
        decided.map(|decision| decision.strictness())
    };
    let of = |action, callers: &[&str]| Rule {
        callers: callers.iter().map(|&name| name.to_owned()).collect(),
        ..rule(action, "*")
    };
    assert_eq!(past(&[of(Action::Deny, &[])]), Ok(DENY));
    assert_eq!(past(&[of(Action::Deny, &["agent"])]), Err(Doubt::Caller));
    assert_eq!(past(&[of(Action::Deny, &["window"])]), Err(Doubt::Caller));
    assert_eq!(past(&[of(Action::Deny, &["agent:x"])]), Err(Doubt::Caller));
    assert_eq!(past(&[of(Action::Deny, &[]), of(Action::Ask, &["agent"])]), Ok(DENY));
    assert_eq!(past(&[of(Action::Ask, &["agent"])]), Ok(ASK), "the policy asks in any case");
}

#[test]
fn the_stored_text_keeps_every_readable_part_of_the_file() {
    let text = r#"{"$schema": "https://s.example/policy.json", "rules": [
        {"id": "a", "action": "deny", "tool": "cart.*", "effect": "write", "reason": "No.",
         "arguments": {"n": 9007199254740993, "x": 1.10, "to": {"b": [1, null]}}}],
        "grants": [{"id": "g", "tool": "b", "session": "s", "expires_at": "2030-01-01T00:00:00Z"}]}"#;
    let stored = stored_text(text);
    assert_eq!(Rules::parse(&stored), Rules::parse(text));
    assert!(
        stored.contains("9007199254740993") && stored.contains("https://s.example"),
        "{stored}"
    );
    assert!(!stored.contains("version"), "an older program reads this file, too: {stored}");
    assert_eq!(stored_text(&stored), stored);
    let until =
        text.replace(r#""id": "a","#, r#""id": "a", "expires_at": "2030-01-01T00:00:00Z","#);
    let limited = stored_text(&until);
    assert!(limited.contains(r#""version": 2"#), "{limited}");
    assert_eq!(Rules::parse(&limited), Rules::parse(&until));
    assert_eq!(Rules::parse(&stored_text("")), Rules::default());
}

#[test]
fn a_file_of_a_newer_version_asks_for_everything_that_it_does_not_deny() {
    let mut c = case(Effect::Write).mode(PolicyMode::WritesAllowed);
    let file = |version: u32, rule: &str| {
        Rules::parse(&format!(r#"{{"version": {version}, "rules": [{rule}]}}"#))
    };
    c.rules = file(2, "");
    assert_eq!(c.strictness(), ALLOW);
    c.rules = file(3, "");
    assert_eq!(c.strictness(), ASK);
    c.rules = file(3, r#"{"id": "a", "action": "deny", "tool": "*"}"#);
    assert_eq!(c.strictness(), DENY);
}

/// A case for a tool of the pack `shop`. With `is_shared`, another pack has a tool with the same
/// id, so the tool's name includes its pack.
fn shop_tool(id: &str, is_shared: bool) -> Case {
    let mut c = case(Effect::Write);
    c.tool = tool(id, Effect::Write);
    c.tool.pack = "shop".into();
    if is_shared {
        c.tool.id = c.tool.qualified_id();
    }
    c
}

#[test]
fn a_restricting_rule_applies_to_a_tool_id_with_and_without_its_pack() {
    for is_shared in [false, true] {
        for pattern in ["cart.addItem", "shop:cart.addItem", "cart.*", "shop:*", "*"] {
            assert_eq!(
                shop_tool("cart.addItem", is_shared)
                    .rules(&[rule(Action::Deny, pattern)])
                    .strictness(),
                DENY,
                "{pattern}, {is_shared}"
            );
            let asked = shop_tool("cart.addItem", is_shared)
                .mode(PolicyMode::WritesAllowed)
                .rules(&[rule(Action::Ask, pattern)]);
            assert_eq!(asked.strictness(), ASK, "{pattern}, {is_shared}");
        }
        assert_eq!(
            shop_tool("cart.addItem", is_shared)
                .rules(&[rule(Action::Deny, "other:cart.addItem")])
                .strictness(),
            ASK
        );
    }
}

#[test]
fn an_allow_rule_applies_only_if_its_pattern_means_one_tool() {
    let allowed = |id: &str, is_shared: bool, pattern: &str| {
        shop_tool(id, is_shared).rules(&[rule(Action::Allow, pattern)]).strictness() == ALLOW
    };
    for (pattern, alone, shared) in [
        ("cart.addItem", true, false),
        ("cart.*", true, false),
        ("shop:cart.addItem", true, true),
        ("shop:*", true, true),
        ("*:cart.addItem", true, true),
        ("*", true, true),
        ("other:cart.addItem", false, false),
        ("sho*", false, false),
        ("shop*addItem", false, false),
    ] {
        assert_eq!(
            (allowed("cart.addItem", false, pattern), allowed("cart.addItem", true, pattern)),
            (alone, shared),
            "{pattern}"
        );
    }
    let granting = |is_shared: bool, id: &str| {
        let mut c = shop_tool("cart.addItem", is_shared);
        c.rules = Rules::parse(&format!(
            r#"{{"grants": [{{"id": "g", "tool": "{id}", "expires_at": "1970-01-01T01:00:00Z"}}]}}"#
        ));
        c.strictness()
    };
    assert_eq!([granting(false, "cart.addItem"), granting(true, "cart.addItem")], [ALLOW, ASK]);
    assert_eq!(
        [granting(false, "shop:cart.addItem"), granting(true, "shop:cart.addItem")],
        [ALLOW, ALLOW]
    );
    // A session grant is bound to one definition of a tool, so the tool id may be written with or
    // without the pack.
    let mut c = shop_tool("cart.addItem", false).with_grant();
    c.tool.id = c.tool.qualified_id();
    assert_eq!(c.strictness(), ALLOW);
    c.tool.definition_hash = "of another pack".into();
    assert_eq!(c.strictness(), ASK);
}

fn any_rule() -> impl Strategy<Value = Rule> {
    (
        prop_oneof![Just(Action::Deny), Just(Action::Ask), Just(Action::Allow)],
        prop_oneof!["cart\\.addItem", "cart\\.\\*", "\\*", "other"],
    )
        .prop_map(|(action, pattern)| rule(action, &pattern))
}

/// A rule as text. Some rules are invalid, and some name a tool id that another pack may have as
/// well.
fn any_line() -> impl Strategy<Value = (u8, String)> {
    (
        0u8..30,
        prop_oneof!["deny", "ask", "allow"],
        prop_oneof![Just("cart.addItem"), Just("cart.*"), Just("*"), Just("other")],
        prop::option::of(0u8..4),
    )
        .prop_map(|(id, action, tool, quantity)| {
            let arguments = quantity
                .map_or_else(String::new, |n| format!(r#", "arguments": {{"quantity": {n}}}"#));
            (id, format!(r#"{{"id": "r{id}", "action": "{action}", "tool": "{tool}"{arguments}}}"#))
        })
}

proptest! {
    #[test]
    fn adding_a_deny_rule_never_allows_more(
        rules in prop::collection::vec(any_rule(), 0..6),
        at in 0usize..6,
        effect in prop_oneof![Just(Effect::ReadOnly), Just(Effect::Write), Just(Effect::Destructive)],
        mode in prop_oneof![Just(PolicyMode::ReadOnlyOnly), Just(PolicyMode::WritesRequireApproval), Just(PolicyMode::WritesAllowed)],
        pattern in prop_oneof!["cart\\.addItem", "\\*", "other"],
        untrusted: bool,
        with_grant: bool,
    ) {
        let mut before = case(effect).rules(&rules).mode(mode);
        before.untrusted = untrusted;
        if with_grant { before = before.with_grant(); }
        let was = before.strictness();
        let mut wider = rules;
        wider.insert(at.min(wider.len()), rule(Action::Deny, &pattern));
        before.rules.rules = wider;
        prop_assert!(before.strictness() >= was);
    }

    /// Outside content and unapproved destinations can only make the decision stricter.
    #[test]
    fn untrusted_content_and_unallowed_destinations_never_allow_more(
        rules in prop::collection::vec(any_rule(), 0..6),
        effect in prop_oneof![Just(Effect::ReadOnly), Just(Effect::Write), Just(Effect::Destructive)],
        mode in prop_oneof![Just(PolicyMode::ReadOnlyOnly), Just(PolicyMode::WritesRequireApproval), Just(PolicyMode::WritesAllowed)],
        with_grant: bool,
        typed: bool,
    ) {
        let mut c = case(effect).rules(&rules).mode(mode);
        if with_grant { c = c.with_grant(); }
        if typed { c.typed = vec!["quantity".into()]; }
        let was = c.strictness();
        c.untrusted = true;
        let marked = c.strictness();
        prop_assert!(marked >= was);
        c.leave = Leave::Missing(&[]);
        prop_assert!(c.strictness() >= marked);
    }

    /// Adding a deny rule or an unreadable rule to the text of the file never allows more.
    #[test]
    fn adding_a_deny_or_unreadable_rule_to_the_file_never_allows_more(
        rules in prop::collection::vec(any_line(), 0..6),
        with_grant: bool,
        added in prop_oneof![any_line().prop_map(|(_, line)| line.replace("allow", "deny").replace("ask", "deny")), Just(r#"{"id": "x"}"#.to_owned()), Just("7".to_owned())],
        at in 0usize..6,
        effect in prop_oneof![Just(Effect::ReadOnly), Just(Effect::Write), Just(Effect::Destructive)],
        mode in prop_oneof![Just(PolicyMode::ReadOnlyOnly), Just(PolicyMode::WritesRequireApproval), Just(PolicyMode::WritesAllowed)],
    ) {
        let grant = if with_grant { r#"{"id": "g", "tool": "cart.addItem", "expires_at": "1970-01-02T00:00:00Z"}"# } else { "" };
        let file = |lines: &[String]| format!(r#"{{"rules": [{}], "grants": [{grant}]}}"#, lines.join(",\n"));
        let mut lines: Vec<String> = rules.into_iter().map(|(_, line)| line).collect();
        let mut c = case(effect).mode(mode);
        c.rules = Rules::parse(&file(&lines));
        let was = c.strictness();
        lines.insert(at.min(lines.len()), added);
        c.rules = Rules::parse(&file(&lines));
        prop_assert!(c.strictness() >= was);
    }
}

#[test]
fn the_number_of_rules_is_limited_and_error_texts_repeat_no_values() {
    let rule = |id: usize, action: &str, tool: &str| {
        format!(r#"{{"id":"r{id}","action":"{action}","tool":"{tool}"}}"#)
    };
    let file = |rules: &[String]| format!("{{\"rules\":[{}]}}", rules.join(",\n"));
    let many = |count: usize, action: &str| {
        Rules::parse(&file(&(0..count).map(|id| rule(id, action, "a.b")).collect::<Vec<_>>()))
    };
    assert_eq!(many(1_000, "allow").faults, []);
    let over = many(1_500, "allow");
    assert_eq!((over.rules.len(), over.faults.len()), (1_000, 1));
    assert_eq!(many(1_500, "deny").rules.len(), 1_500, "what denies counts");
    for tool in ["*a".repeat(101), "a\u{10ffff}".to_owned()] {
        let read = Rules::parse(&file(&[rule(1, "allow", &tool)]));
        assert_eq!((read.rules.len(), read.faults.len()), (0, 1), "{tool}");
    }
    for text in [
        r#"{"rules":[{"id":"a","action":"sk-secret-1","tool":"a"}]}"#,
        r#"{"rules":[{"id":"a","action":"deny","tool":["sk-secret-1"]}]}"#,
        r#"{"rules":[{"id":"a","action":"deny","tool":"a","effect":"sk-secret-1"}]}"#,
        r#"{"rules":"sk-secret-1"}"#,
        r#"{"grants":[{"id":"g","tool":"a","expires_at":"sk-secret-1"}]}"#,
    ] {
        let said = format!("{:?}", Rules::parse(text).faults);
        assert!(said.contains("line 1") && !said.contains("secret"), "{said}");
    }
}

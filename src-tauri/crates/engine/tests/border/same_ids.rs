//! Tests tools of different packs with the same id: a restriction by this id applies to all of
//! them, and a permission to none.

use contract::{Decision, Effect, PolicyMode, ToolOutcome, ToolSpec};
use serde_json::json;

use crate::world::{Bench, Say, tool};

/// Returns the same tool of two packs, with the names that they have while both are installed.
pub fn both(effect: Effect) -> Vec<ToolSpec> {
    let of = |pack: &str| ToolSpec {
        id: format!("{pack}:w").as_str().into(),
        pack: pack.into(),
        model_name: format!("{pack}_w"),
        definition_hash: format!("hash of {pack}"),
        ..tool("w", effect)
    };
    vec![of("shop"), of("other")]
}

fn bench() -> Bench {
    let bench = Bench::new(both(Effect::Write));
    bench.model.then(vec![
        Say::Call("shop_w", json!({"q": "a"})),
        Say::Call("other_w", json!({"q": "a"})),
    ]);
    bench
}

fn rules(bench: &Bench, rule: serde_json::Value) {
    *bench.profile.rules.lock().unwrap() =
        policy::Rules::parse(&json!({ "rules": [rule] }).to_string());
}

#[tokio::test(start_paused = true)]
async fn a_denied_tool_stays_denied_when_another_pack_has_a_tool_of_the_same_id() {
    let bench = bench();
    bench.profile.settings.lock().unwrap().policy = PolicyMode::WritesAllowed;
    rules(&bench, json!({"id": "no", "action": "deny", "tool": "w"}));
    bench.ask("go").await;
    assert_eq!(bench.outcomes().await, [ToolOutcome::Denied, ToolOutcome::Denied]);
    assert!(bench.runs().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_switched_off_tool_stays_off_when_another_pack_has_a_tool_of_the_same_id() {
    let bench = bench();
    bench.profile.settings.lock().unwrap().policy = PolicyMode::WritesAllowed;
    bench.profile.settings.lock().unwrap().switches.tools_off.insert("w".into());
    bench.ask("go").await;
    assert_eq!(bench.outcomes().await, [ToolOutcome::Denied, ToolOutcome::Denied]);
    assert!(bench.model.requests.lock().unwrap()[0].tools.is_empty(), "what is off is not offered");
    assert!(bench.runs().is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_allow_rule_for_an_id_that_two_packs_share_allows_neither_tool() {
    let bench = bench();
    rules(&bench, json!({"id": "yes", "action": "allow", "tool": "w"}));
    let turn = bench.start("go").await.turn;
    for at in 0..2 {
        let approval = bench.approval(at).await;
        assert!(bench.runs().is_empty());
        bench.decide(&approval, Decision::Reject { reason: None }).await.unwrap();
    }
    bench.final_of(&turn).await;

    rules(&bench, json!({"id": "yes", "action": "allow", "tool": "shop:w"}));
    bench.model.then(vec![Say::Call("shop_w", json!({"q": "b"}))]);
    bench.ask("go").await;
    assert_eq!(bench.runs(), ["shop:w"], "with its pack it is the one that is meant");
}

/// A grant applies to a single definition, so it is valid for both forms of the id. An approval
/// from before the other pack was added still applies to the same tool.
#[tokio::test(start_paused = true)]
async fn a_grant_still_covers_only_its_own_tool_after_another_pack_adds_the_same_id() {
    let [shop, other] = <[ToolSpec; 2]>::try_from(both(Effect::Write)).unwrap();
    let bench = Bench::new(vec![ToolSpec { id: "w".into(), ..shop.clone() }]);
    bench.model.then(vec![Say::Call("shop_w", json!({"q": "a"}))]);
    let turn = bench.start("go").await.turn;
    bench.decide(&bench.approval(0).await, Decision::ApproveForSession).await.unwrap();
    bench.final_of(&turn).await;
    bench.model.then(vec![Say::Call("shop_w", json!({"q": "b"}))]);
    let turn = bench.start_with("later", true).await.turn;
    bench.final_of(&turn).await;
    let waiting = bench.approval(1).await;

    *bench.tools.specs.lock().unwrap() = std::sync::Arc::new(vec![other, shop]);
    bench.model.then(vec![Say::Call("shop_w", json!({"q": "a"}))]);
    bench.ask("again").await;
    assert_eq!(bench.runs(), ["w", "shop:w"], "the grant holds for the same tool");
    bench.model.then(vec![Say::Call("other_w", json!({"q": "a"}))]);
    bench.start("and the other").await;
    assert_eq!(bench.approval(2).await.tool, "other:w".into(), "and for no other");
    bench.decide(&waiting, Decision::ApproveOnce { confirm_word: None }).await.unwrap_err();
    assert_eq!(bench.runs(), ["w", "shop:w"], "an id that may mean two tools carries nothing out");
}

//! Tests of numbers in arguments: the displayed number is hashed, recorded and sent unchanged, or
//! the call is refused.

use contract::{arguments, *};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::world::{Bench, Say, tool};

const ONCE: Decision = Decision::ApproveOnce { confirm_word: None };

/// Returns a tool that accepts any arguments.
fn open(id: &str, effect: Effect) -> ToolSpec {
    let mut spec = tool(id, effect);
    spec.input_schema = json!({"type": "object"});
    spec.full_input_schema = spec.input_schema.clone();
    spec
}

/// Numbers that some JSON reader would change.
const CHANGING: [&str; 14] = [
    "9007199254740993",
    "9007199254740992",
    "-9007199254740993",
    "18446744073709551615",
    "18446744073709551616",
    "123456789012345678901234567890",
    "9007199254740993.0",
    "9007199254740993e0",
    "1e400",
    "1e-400",
    "0.1234567890123456789",
    "123456789.123456789012",
    "1e22",
    "3.00000000000000000001",
];

#[tokio::test(start_paused = true)]
async fn a_call_with_a_number_that_would_lose_digits_is_refused_before_approval() {
    let at = [r#"{"x": NUMBER}"#, r#"{"q": "9007199254740993", "list": [1, {"deep": [NUMBER]}]}"#];
    for effect in [Effect::ReadOnly, Effect::Write] {
        let bench = Bench::new(vec![open("t", effect)]);
        for number in CHANGING {
            bench.model.then(
                at.map(|arguments| Say::Written("t", arguments.replace("NUMBER", number))).into(),
            );
            bench.ask("go").await;
            let told = format!("{:?}", bench.model.requests.lock().unwrap().last());
            assert!(told.contains("invalid_arguments"), "{number}: {told}");
        }
        let outcomes = bench.outcomes().await;
        assert!(
            !outcomes.is_empty() && outcomes.iter().all(|outcome| *outcome == ToolOutcome::Error),
            "{outcomes:?}"
        );
        assert!(bench.runs().is_empty() && bench.intents().await.is_empty());
        assert!(
            bench.records().await.iter().all(|(kind, _)| *kind != RecordType::ApprovalRequested)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_is_shown_hashed_recorded_and_sent_in_the_same_canonical_form() {
    let written = [
        (r#"{"x": 9007199254740991}"#, r#"{"x":9007199254740991}"#),
        (r#"{"x": -9007199254740991, "y": 0.1}"#, r#"{"x":-9007199254740991,"y":0.1}"#),
        (r#"{"x": 1e3, "y": 7.0, "z": 12.50}"#, r#"{"x":1000,"y":7,"z":12.5}"#),
        (r#"{"x": -0, "y": [-0.0, {"z": 1.0E-7}]}"#, r#"{"x":0,"y":[0,{"z":1e-7}]}"#),
        (r#"{"x": 1, "x": 2}"#, r#"{"x":2}"#),
        (r#"{"x": "9007199254740993"}"#, r#"{"x":"9007199254740993"}"#),
    ];
    for (arguments, shown) in written {
        let bench = Bench::new(vec![open("w", Effect::Write)]);
        bench.model.then(vec![Say::Written("w", arguments.to_owned())]);
        let turn = bench.start("go").await.turn;
        let approval = bench.approval(0).await;
        assert_eq!(approval.arguments, shown);
        bench.decide(&approval, ONCE).await.unwrap();
        bench.final_of(&turn).await;
        let sent = bench.sent().remove(0);
        assert_eq!(sent.to_string(), shown, "letter by letter");
        assert_eq!(bench.intents().await[0].1.revealed["arguments"], shown);
        bench.verified().await;
    }
}

#[tokio::test(start_paused = true)]
async fn direct_calls_and_policy_checks_refuse_numbers_that_would_lose_digits() {
    let bench = Bench::new(vec![open("r", Effect::ReadOnly)]);
    for number in [
        json!(9_007_199_254_740_993_u64),
        json!(-9_007_199_254_740_993_i64),
        json!(u64::MAX),
        json!(1e300),
    ] {
        let params = ToolCallParams {
            tool: "r".into(),
            arguments: json!({"x": [number]}),
            session: None,
            headless: true,
        };
        let done =
            bench.engine.direct_calls.call(contract::Caller::inside(), params).await.unwrap();
        assert_eq!(done.error.unwrap().reason_text(), Some("invalid_arguments"));
        let params = PolicyCheckParams {
            tool: "r".into(),
            arguments: json!({"x": [number]}),
            session: None,
            caller: None,
            untrusted: false,
        };
        assert_eq!(
            bench.engine.direct_calls.check_policy(params).await.unwrap_err().reason_text(),
            Some("invalid_arguments")
        );
    }
    assert!(bench.runs().is_empty());
}

#[tokio::test(start_paused = true)]
async fn edited_arguments_with_a_number_that_would_lose_digits_are_refused() {
    let bench = Bench::new(vec![open("w", Effect::Write)]);
    bench.model.then(vec![Say::Call("w", json!({"x": 1}))]);
    let turn = bench.start("go").await.turn;
    let first = bench.approval(0).await;
    for number in CHANGING {
        let refused = bench
            .decide(&first, Decision::Edit { arguments: format!(r#"{{"x": {number}}}"#) })
            .await
            .unwrap_err();
        assert_eq!(refused.reason_text(), Some("invalid_arguments"), "{number}");
    }
    bench.decide(&first, Decision::Edit { arguments: r#"{"x": 12.0}"#.into() }).await.unwrap();
    let second = bench.approval(1).await;
    assert_eq!(second.arguments, r#"{"x":12}"#);
    bench.decide(&second, ONCE).await.unwrap();
    bench.final_of(&turn).await;
    assert_eq!(bench.sent(), [json!({"x": 12})]);
}

#[tokio::test(start_paused = true)]
async fn a_caller_value_with_a_number_that_would_lose_digits_is_not_sent() {
    for effect in [Effect::ReadOnly, Effect::Write] {
        let mut spec = open("t", effect);
        spec.caller_owned = vec![CallerParam {
            name: "basket".into(),
            from: "basket".into(),
            exempt_from_hash: true,
        }];
        let bench = Bench::new(vec![spec]);
        let value = Some(json!(9_007_199_254_740_993_u64));
        bench.world.store.session_create(&"s".into(), "t", bench.world.clock.now()).await.unwrap();
        bench
            .world
            .store
            .session_values_put(&"s".into(), vec![("basket".into(), value)])
            .await
            .unwrap();
        bench.model.then(vec![Say::Call("t", json!({"x": 1}))]);
        bench.ask("go").await;
        assert_eq!(
            (bench.outcomes().await, bench.runs(), bench.intents().await.len()),
            (vec![ToolOutcome::Error], vec![], 0)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_large_number_in_a_result_reaches_the_model_with_all_its_digits() {
    let bench = Bench::new(vec![open("r", Effect::ReadOnly)]);
    bench
        .tools
        .behaviours
        .lock()
        .unwrap()
        .insert("r".into(), Box::new(|_| Ok(json!({"id": 9_007_199_254_740_993_u64}))));
    bench.model.then(vec![Say::Call("r", json!({}))]);
    bench.ask("go").await;
    let told = format!("{:?}", bench.model.requests.lock().unwrap().last());
    assert!(told.contains("9007199254740993"), "{told}");
}

/// Generates a number in JSON syntax.
fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|n| n.to_string()),
        any::<u64>().prop_map(|n| n.to_string()),
        any::<f64>()
            .prop_filter("JSON has no others", |n| n.is_finite())
            .prop_map(|n| format!("{n:?}")),
        (9_007_199_254_740_900_u64..9_007_199_254_741_100).prop_map(|n| n.to_string()),
        "-?(0|[1-9][0-9]{0,24})(\\.[0-9]{1,24})?([eE][+-]?[0-9]{1,3})?",
    ]
}

/// Returns the number as its sign, its digits without surrounding zeros, and its exponent. Zero has
/// none of them.
fn meaning(number: &str) -> (bool, String, i64) {
    let (digits, power) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let bare = digits.trim_start_matches('-');
    let (whole, fraction) = bare.split_once('.').unwrap_or((bare, ""));
    let (all, mut point) =
        (format!("{whole}{fraction}"), whole.len() as i64 + power.parse::<i64>().unwrap());
    let kept = all.trim_start_matches('0');
    point -= (all.len() - kept.len()) as i64;
    let kept = kept.trim_end_matches('0');
    if kept.is_empty() {
        (false, String::new(), 0)
    } else {
        (number.starts_with('-'), kept.to_owned(), point)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    /// Each number is either refused, or the same in the shown, hashed and recorded text, in the
    /// request, and for a reader that only has doubles.
    #[test]
    fn a_number_is_either_refused_or_identical_when_shown_hashed_and_sent(number in number(), deep: bool) {
        let text = if deep { format!(r#"{{"a": [{{"x": {number}}}]}}"#) } else { format!(r#"{{"x": {number}}}"#) };
        let at = if deep { "/a/0/x" } else { "/x" };
        let Ok(value) = arguments::parse(&text) else { return Ok(()) };
        let sent = value.pointer(at).unwrap();
        let shown = engine::canonical(&value);
        let read: Value = serde_json::from_str(&shown).unwrap();
        prop_assert_eq!(&value, &read, "what is read back from what was shown");
        prop_assert_eq!(engine::canonical(&read), shown);
        prop_assert_eq!(meaning(&sent.to_string()), meaning(&number), "as it is sent");
        prop_assert_eq!(meaning(&engine::canonical(sent)), meaning(&number), "as it is shown");
        let double: f64 = number.parse().unwrap();
        prop_assert_eq!(meaning(&format!("{double:e}")), meaning(&number), "for a reader with doubles");
        prop_assert_eq!(arguments::normalize_and_check_length(value.clone()).ok(), Some(value), "and it stays");
    }

    /// Integers that a double represents exactly and ordinary amounts are never refused.
    #[test]
    fn integers_within_double_precision_and_amounts_are_accepted(whole in -9_007_199_254_740_991_i64..=9_007_199_254_740_991, cents in -99_999_999_999_i64..99_999_999_999) {
        let amount = format!("{}{}.{:02}", if cents < 0 { "-" } else { "" }, cents.abs() / 100, cents.abs() % 100);
        let text = format!(r#"{{"whole": {whole}, "amount": {amount}}}"#);
        prop_assert!(arguments::parse(&text).is_ok(), "{}", text);
    }
}

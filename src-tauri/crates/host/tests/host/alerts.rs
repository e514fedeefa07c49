//! Tests of alerts through the command list, with the real data program and a clock that the test sets:
//! what is told and resolved, late and partial days, restarts, and what nobody may see.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use chrono::{DateTime, Utc};
use contract::{
    Alert, AlertRule, AlertRuleContent, AlertRuleRemoveParams, AlertRuleSaveParams,
    AlertRuleTryParams, AlertSeenParams, AuditRecordView, Commands as _, Empty, Push, Reason,
    RecordType, SourceName, SourceParams,
    alerts::AlertDigest,
    metric_query::{Condition, MeasureParams, Scalar, Test},
};
use engine::ports::Clock;
use host::Options;
use serde_json::{Value, json};
use tokio::sync::broadcast::Receiver;

use crate::data_world::{World, all_records};

/// A clock that stands still until the test sets it.
struct Set(AtomicI64);

impl Set {
    fn at(text: &str) -> Arc<Self> {
        let clock = Arc::new(Self(AtomicI64::new(0)));
        clock.set(text);
        clock
    }

    fn set(&self, text: &str) {
        let moment: DateTime<Utc> = text.parse().unwrap();
        self.0.store(moment.timestamp(), Ordering::SeqCst);
    }
}

impl Clock for Set {
    fn now(&self) -> DateTime<Utc> {
        DateTime::from_timestamp(self.0.load(Ordering::SeqCst), 0).unwrap()
    }
}

/// Makes the options of a window with a clock.
fn with_clock(clock: &Arc<Set>) -> impl Fn(Options) -> Options {
    let clock = Arc::clone(clock);
    move |options| Options { clock: Arc::clone(&clock) as _, warm_up: true, ..options }
}

fn day_file(day: u32, brand: u32) -> String {
    format!(
        "Day,Campaign,Cost,Impr.\n2026-11-{day:02},Brand,{brand}.00,1000\n\
         2026-11-{day:02},Shoes,10.00,1000\n"
    )
}

/// Imports a day into the source.
async fn import_day(world: &World, name: &str, day: u32, brand: u32) {
    let file = world.write(name, &day_file(day, brand));
    let source = SourceName::new("ads");
    let result = world.import_into(&source, &file, crate::data_world::answers(&[])).await;
    assert!(result.is_stored, "{name}: {:?}", result.questions);
}

fn content(name: &str) -> AlertRuleContent {
    serde_json::from_value(json!({
        "name": name,
        "query": {
            "source": "ads", "measures": ["spend"], "by": ["campaign"],
            "period": {"last": {"days": 1}}, "compare": "previous"
        },
        "condition": {"changed": {"percent": 20.0, "amount": 5.0}},
        "is_on": true
    }))
    .unwrap()
}

async fn save(world: &World, content: AlertRuleContent) -> AlertRule {
    let params = AlertRuleSaveParams { id: None, revision: 0, content };
    world.host.alert_rule_save(params).await.unwrap()
}

async fn check(world: &World) -> Vec<Alert> {
    world.host.alerts_check(Empty {}).await.unwrap().alerts
}

/// Returns what the records tell of alerts, the oldest first.
async fn told(world: &World) -> Vec<(String, String)> {
    let records = world.host.audit_list(all_records()).await.unwrap().records;
    let is_told = |record: &&AuditRecordView| record.record_type == RecordType::AlertTold;
    let text = |record: &AuditRecordView, name: &str| {
        record.fields[name].as_str().unwrap_or_default().to_owned()
    };
    let of_alerts = records.iter().rev().filter(is_told);
    of_alerts.map(|record| (text(record, "action"), text(record, "day"))).collect()
}

fn digests(pushes: &mut Receiver<Push>) -> Vec<AlertDigest> {
    let mut found = Vec::new();
    while let Ok(push) = pushes.try_recv() {
        if let Push::Alerts { digest: Some(digest), .. } = push {
            found.push(digest);
        }
    }
    found
}

fn pair(action: &str, day: &str) -> (String, String) {
    (action.to_owned(), day.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_is_told_once_for_a_full_day_and_once_when_it_is_resolved() {
    let clock = Set::at("2026-11-10T12:00:00Z");
    let world = World::with(with_clock(&clock)).await;
    let days: String = (1..=9)
        .map(|day| {
            format!("2026-11-{day:02},Brand,10.00,1000\n2026-11-{day:02},Shoes,10.00,1000\n")
        })
        .collect();
    let file = world.write("ads.csv", &format!("Day,Campaign,Cost,Impr.\n{days}"));
    assert!(world.import(&file).await.is_stored);
    let rule = save(&world, content("Spend")).await;
    assert!(check(&world).await.is_empty());

    // The day is not over, and on the next day its rows are still those of noon.
    import_day(&world, "noon.csv", 10, 30).await;
    assert!(check(&world).await.is_empty());
    clock.set("2026-11-11T12:00:00Z");
    assert!(check(&world).await.is_empty());

    // The whole day arrives.
    let mut pushes = world.host.subscribe();
    import_day(&world, "whole.csv", 10, 40).await;
    let alerts = check(&world).await;
    let alert = &alerts[0];
    assert_eq!((alerts.len(), alert.name.as_str(), &alert.rule), (1, "Spend", &rule.id));
    assert_eq!(alert.group[0].value, json!("Brand"));
    assert_eq!((alert.since.to_string(), alert.resolved_on), ("2026-11-10".to_owned(), None));
    let found = digests(&mut pushes);
    assert_eq!((found.len(), found[0].told, found[0].resolved), (1, 1, 0), "{found:?}");
    assert_eq!(found[0].lines[0], "Spend · Brand");
    assert_eq!(told(&world).await, [pair("told", "2026-11-10")]);

    // Its question has the figures of the day.
    let query = alert.question.clone();
    let result = world.host.source_measure(MeasureParams { query, cursor: None }).await.unwrap();
    assert_eq!(result.rows.len(), 1, "{result:?}");
    assert_eq!(result.rows[0][..3], [json!("Brand"), json!(40), json!(10)]);

    // A restart after the news were stored, and before it was noted that they are recorded.
    let state = world.folder.path().join("profile/alerts/state/alerts.json");
    let mut stored: Value = serde_json::from_str(&fs::read_to_string(&state).unwrap()).unwrap();
    stored["content"]["rules"][rule.id.as_str()]["events"][0]["to_record"] = json!(["told"]);
    fs::write(&state, stored.to_string()).unwrap();
    let world = world.open_again(with_clock(&clock)).await;
    let mut pushes = world.host.subscribe();
    assert_eq!(check(&world).await, alerts);
    assert_eq!(told(&world).await, [pair("told", "2026-11-10")]);

    // No news are told again, also not on another day or after the clock was set back.
    for moment in ["2026-11-12T12:00:00Z", "2026-11-09T12:00:00Z", "2026-11-12T12:00:00Z"] {
        clock.set(moment);
        assert_eq!(check(&world).await, alerts);
    }
    assert!(digests(&mut pushes).is_empty());
    import_day(&world, "next.csv", 11, 40).await;
    let resolved = check(&world).await;
    assert_eq!(resolved[0].resolved_on.unwrap().to_string(), "2026-11-11");
    assert_eq!(told(&world).await, [pair("told", "2026-11-10"), pair("resolved", "2026-11-11")]);
    let found = digests(&mut pushes);
    assert_eq!((found.len(), found[0].told, found[0].resolved), (1, 0, 1), "{found:?}");

    let seen = AlertSeenParams { ids: vec![resolved[0].id.clone()] };
    assert_eq!(world.host.alert_seen(seen).await.unwrap().unseen, 0);
    let trial = AlertRuleTryParams { content: content(""), days: 5 };
    let trial = world.host.alert_rule_try(trial).await.unwrap();
    let days: Vec<(String, bool)> =
        trial.days.iter().map(|day| (day.day.to_string(), day.is_told)).collect();
    let expected = [("2026-11-10".to_owned(), true), ("2026-11-11".to_owned(), false)];
    assert_eq!((trial.checked, days), (5, expected.to_vec()));

    // The figures of a removed source go with it.
    world.host.source_remove(SourceParams { name: "ads".into() }).await.unwrap();
    assert!(world.host.alerts_list(Empty {}).await.unwrap().alerts.is_empty());
    let stored = fs::read_to_string(&state).unwrap();
    assert!(!stored.contains("Brand"), "{stored}");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_corrected_day_is_told_and_the_figures_of_a_rule_that_is_gone_are_forgotten() {
    let clock = Set::at("2026-11-10T12:00:00Z");
    let world = World::with(with_clock(&clock)).await;
    let days = ["08", "09"].map(|day| format!("2026-11-{day},Brand,10.00,1000\n")).concat();
    let file = world.write("ads.csv", &format!("Day,Campaign,Cost,Impr.\n{days}"));
    assert!(world.import(&file).await.is_stored);
    let mut rule = content("Spend");
    let condition = json!({"changed": {"percent": 20.0, "amount": 1.0}});
    rule.condition = serde_json::from_value(condition).unwrap();
    rule.query.conditions = vec![Condition::Is {
        name: "campaign".to_owned(),
        test: Test::OneOf(vec![Scalar::Text("Brand".to_owned())]),
    }];
    let rule = save(&world, rule).await;
    assert!(check(&world).await.is_empty());
    clock.set("2026-11-13T12:00:00Z");
    for day in 10..=12 {
        import_day(&world, &format!("day-{day}.csv"), day, 10).await;
    }
    assert!(check(&world).await.is_empty());

    // The day before the last one is delivered again, with other figures.
    import_day(&world, "corrected.csv", 11, 13).await;
    let alerts = check(&world).await;
    assert_eq!((alerts.len(), alerts[0].resolved_on), (1, None), "{alerts:?}");
    assert_eq!(alerts[0].since.to_string(), "2026-11-11");
    assert_eq!(told(&world).await, [pair("told", "2026-11-11")]);
    assert_eq!(check(&world).await, alerts);

    // The program ended after the rule was deleted, and before its alerts were.
    let folder = world.folder.path().join("profile/alerts");
    fs::remove_file(folder.join(format!("{}.json", rule.id))).unwrap();
    assert!(check(&world).await.is_empty());
    let stored = fs::read_to_string(folder.join("state/alerts.json")).unwrap();
    assert!(!stored.contains("Brand"), "{stored}");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_without_new_data_is_told_and_a_changed_rule_starts_again() {
    let clock = Set::at("2026-11-10T12:00:00Z");
    let world = World::with(with_clock(&clock)).await;
    assert!(world.import(&world.write("ads.csv", &day_file(9, 10))).await.is_stored);
    let mut rule = content("Silence");
    rule.query = serde_json::from_value(json!({"source": "ads", "measures": ["spend"]})).unwrap();
    rule.condition = serde_json::from_value(json!({"no_data_for": {"days": 2}})).unwrap();
    let stored = save(&world, rule.clone()).await;
    clock.set("2026-11-11T12:00:00Z");
    assert!(check(&world).await.is_empty(), "one day is missing");
    clock.set("2026-11-12T12:00:00Z");
    assert_eq!(check(&world).await[0].since.to_string(), "2026-11-11");
    import_day(&world, "late.csv", 11, 10).await;
    clock.set("2026-11-13T12:00:00Z");
    assert!(check(&world).await[0].resolved_on.is_some());

    rule.condition = serde_json::from_value(json!({"no_data_for": {"days": 1}})).unwrap();
    let params =
        AlertRuleSaveParams { id: Some(stored.id.clone()), revision: 1, content: rule.clone() };
    let changed = world.host.alert_rule_save(params.clone()).await.unwrap();
    assert_eq!(changed.revision, 2);
    let error = world.host.alert_rule_save(params).await.unwrap_err();
    assert!(error.has_reason(Reason::Changed), "{error:?}");
    let alerts = check(&world).await;
    assert_eq!((alerts.len(), alerts[0].resolved_on), (1, None), "only the new condition");
    let views = world.host.alert_rules(Empty {}).await.unwrap().rules;
    assert_eq!(views[0].checked_to.unwrap().to_string(), "2026-11-12");
    assert_eq!(views[0].fault, None);
    let remove = AlertRuleRemoveParams { id: stored.id, revision: 2 };
    assert_eq!(world.host.alert_rule_remove(remove).await.unwrap(), changed);
    assert!(check(&world).await.is_empty());
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn visitors_of_the_chat_api_have_no_alerts() {
    let world = World::with(|options| Options {
        pack_dirs: Vec::new(),
        served_packs: Some(vec!["data".into()].into()),
        ..options
    })
    .await;
    for error in [
        world.host.alerts_list(Empty {}).await.unwrap_err(),
        world.host.alerts_check(Empty {}).await.unwrap_err(),
        world.host.alert_rules(Empty {}).await.unwrap_err(),
        world
            .host
            .alert_rule_save(AlertRuleSaveParams { id: None, revision: 0, content: content("x") })
            .await
            .unwrap_err(),
    ] {
        assert!(error.has_reason(Reason::NotFound), "{error:?}");
    }
    world.host.stop().await;
}

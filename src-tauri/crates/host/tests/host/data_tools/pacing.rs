//! A test of the source that is computed from a delivery and a plan: it is proposed by an import, asked
//! like others, checked again, and says what it needs.

use contract::{
    Commands as _, Empty, RunResponse, SourceApproveParams, SourceDescription, SourceParams,
    SourceQueryParams, VerifyParams,
    metric_query::{DataResult, MeasureParams, read_metric_query},
};
use serde_json::{Value, json};

use super::World;

/// Oak spends what is planned, Elm three fifths of it.
fn delivery(days: u32) -> String {
    let day = |day: u32| format!("2026-11-{day:02},Oak,100\n2026-11-{day:02},Elm,60\n");
    format!("Day,Campaign,Cost\n{}", (1..=days).map(day).collect::<String>())
}

const PLAN: &str = "Campaign,Budget,Start,End
Oak,3000,2026-11-01,2026-11-30
Elm,3000,2026-11-01,2026-11-30
";

fn named(name: &str) -> SourceParams {
    SourceParams { name: name.into() }
}

impl World {
    async fn names(&self) -> Vec<String> {
        let sources = self.host.sources_list(Empty {}).await.unwrap().sources;
        sources.into_iter().map(|source| source.name.to_string()).collect()
    }

    async fn describe_pacing(&self) -> SourceDescription {
        self.host.source_describe(named("pacing")).await.unwrap()
    }

    async fn spend(&self) -> Result<DataResult, contract::AgentError> {
        let by = ["campaign", "status"];
        let asked = json!({"source": "pacing", "measures": ["spend"], "by": by});
        let query = read_metric_query(&asked).unwrap();
        self.host.source_measure(MeasureParams { query, cursor: None }).await
    }
}

/// Returns the rows of the last figures of an answer.
fn rows_of(response: &RunResponse) -> Value {
    let results = &response.structured_output.as_ref().unwrap().results;
    let data = results.last().unwrap().data.clone().unwrap();
    data.get("result").unwrap_or(&data)["rows"].clone()
}

fn check_spend(result: &DataResult) {
    let mut rows: Vec<String> = result.rows.iter().map(|row| json!(row).to_string()).collect();
    rows.sort();
    let is_row = |row: &String, begin: &str| row.replace('"', "").starts_with(begin);
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert!(is_row(&rows[0], "[Elm,behind,1680"), "{rows:?}");
    assert!(is_row(&rows[1], "[Oak,on_track,2800"), "{rows:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delivery_and_a_plan_become_a_source_of_their_own() {
    let world = World::new().await;
    world.add("ads", &delivery(28), None).await;
    assert_eq!(world.names().await, ["ads"]);
    world.add("plan", PLAN, None).await;
    assert_eq!(world.names().await, ["ads", "pacing", "plan"]);

    let described = world.describe_pacing().await;
    let from: Vec<String> =
        described.source.computed_from.iter().map(ToString::to_string).collect();
    assert_eq!(from, ["ads", "plan"]);
    assert_eq!((described.source.rows, described.faults.len()), (None, 0), "{described:?}");
    let pacing = described.states.iter().find(|one| one.name == "pacing").unwrap();
    assert!(!pacing.is_approved, "{pacing:?}");

    let result = world.spend().await.unwrap();
    check_spend(&result);
    let behind = rows_of(&world.run("behind", "which campaigns are behind?").await).to_string();
    assert!(behind.contains("Elm") && !behind.contains("Oak"), "{behind}");
    let check = VerifyParams { record: result.record.unwrap() };
    let checked = world.host.source_verify(check.clone()).await.unwrap();
    assert!(checked.is_repeated && checked.agrees, "{checked:?}");

    let definitions_hash = described.definitions_hash.clone();
    let approve = SourceApproveParams { name: "pacing".into(), definitions_hash, only: Vec::new() };
    let approved = world.host.source_approve(approve).await.unwrap();
    assert_eq!(approved.source.proposed, 0);
    let sql = "SELECT count(*) FROM pacing".to_owned();
    let select = SourceQueryParams { sql, cursor: None, limit: 0 };
    let refused = world.host.source_query(select).await.unwrap_err();
    assert_eq!(refused.reason_text(), Some("computed_source"));

    world.host.source_remove(named("plan")).await.unwrap();
    let missing = world.spend().await.unwrap_err();
    assert_eq!(missing.reason_text(), Some("source_missing"), "{missing:?}");
    assert!(missing.message.contains("pacing needs plan"), "{missing:?}");
    let checked = world.host.source_verify(check).await.unwrap();
    assert!(!checked.is_repeated, "{checked:?}");
    world.add("plan", PLAN, None).await;
    check_spend(&world.spend().await.unwrap());

    // A person who removes the computed source does not get it again with the next export.
    world.host.source_remove(named("pacing")).await.unwrap();
    world.add("ads", &delivery(29), None).await;
    assert_eq!(world.names().await, ["ads", "plan"]);
    world.host.stop().await;
}

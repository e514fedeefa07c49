//! Tests of what leaves this computer: models elsewhere get what the setting of each source allows, and
//! visitors of the chat API nothing.

use std::time::Duration;

use contract::{Commands as _, Empty, ModelAccess, SettingsSetParams, TurnStartParams};
use host::Options;
use kit::model_server::{ModelServer, Reply};
use serde_json::{Value, json};

use super::{World, calls, copy_pack};

const DEFINITIONS: &str = "source: visits
time: {column: Day}
dimensions:
  city: {column: City}
  device: {column: Device}
  visit: {column: Visit ID, synonyms: {en: [call]}}
measures:
  amount: {sum: Amount}
  visits: {count: rows}
  per_visit: {ratio: [amount, visits]}
  eastern: {of: amount, where: {city: [Eastwick]}}
";

/// Visits to three cities. Eastwick has only five of them, and the first day only one.
fn visits() -> String {
    let mut text = "Day,Visit ID,City,Device,Amount\n".to_owned();
    for at in 0..60 {
        let city = ["Northam", "Southam"][at % 2];
        let city = if at % 12 == 5 { "Eastwick" } else { city };
        let device = ["Phone", "Desk"][at / 30];
        let day = if at == 0 { 1 } else { 2 + at % 20 };
        text += &format!("2026-11-{day:02},{},{city},{device},{}\n", 700_001 + at, 1_000 + at);
    }
    text
}

async fn world(server: &ModelServer, runs_here: bool, access: ModelAccess) -> World {
    let world = World::with_model(server, runs_here).await;
    world.add("visits", &visits(), Some(DEFINITIONS)).await;
    world.define("visits", None, Some(access)).await;
    world
}

fn measured(query: Value) -> (&'static str, Value) {
    let mut query = query;
    query["source"] = json!("visits");
    ("data.measure", json!({ "query": query }))
}

/// Calls that a source which gives figures of groups answers to models elsewhere.
fn of_groups() -> Vec<(&'static str, Value)> {
    vec![
        measured(json!({"measures": ["amount"]})),
        measured(json!({"measures": ["amount", "per_visit"], "by": ["device"]})),
        measured(
            json!({"measures": ["visits"], "by": ["city"], "where": [{"city": {"not": ["Eastwick"]}}]}),
        ),
        measured(
            json!({"measures": ["amount"], "by": ["device"], "compare": {"values": {"city": ["Northam", "Southam"]}}}),
        ),
    ]
}

/// Calls that would give single rows, or groups so small that they are like rows.
fn of_rows() -> Vec<(&'static str, Value)> {
    let november = json!({"from": "2026-11-02", "to": "2026-11-30"});
    let first = json!({"period": {"from": "2026-11-01", "to": "2026-11-01"}});
    let explained = json!({"source": "visits", "explain": {"measure": "amount", "by": ["city"]}, "period": november, "compare": first});
    vec![
        measured(json!({"measures": ["amount"], "by": ["city"]})),
        measured(json!({"measures": ["amount"], "by": ["city"], "limit": 1})),
        measured(json!({"measures": ["amount"], "by": ["city"], "top": {"n": 1, "others": true}})),
        measured(json!({"measures": ["amount"], "where": [{"city": ["Eastwick"]}]})),
        measured(
            json!({"measures": [{"measure": "amount", "where": [{"Visit ID": ["700001"]}], "as": "one"}]}),
        ),
        measured(json!({"measures": ["eastern"]})),
        measured(json!({"measures": [{"ratio": ["eastern", "amount"], "as": "part"}]})),
        measured(json!({"measures": ["amount"], "period": november, "compare": first})),
        measured(
            json!({"measures": ["amount"], "compare": {"values": {"city": ["Northam", "Eastwick"]}}}),
        ),
        measured(json!({"measures": ["amount"], "by": ["visit"]})),
        measured(json!({"measures": ["amount"], "by": ["CALL"]})),
        measured(json!({"measures": ["amount"], "by": ["visit id"]})),
        measured(
            json!({"measures": ["amount"], "by": [{"define": {"split": {"of": "Visit ID", "by": "-", "part": 1}}, "as": "x"}]}),
        ),
        measured(json!({"measures": ["amount"], "by": [{"time": "day"}]})),
        (
            "data.chart",
            json!({"query": {"source": "visits", "measures": ["amount"], "by": ["city"]}}),
        ),
        ("data.explain_change", json!({ "query": explained })),
        ("data.query", json!({"sql": "SELECT * FROM visits"})),
        ("data.query", json!({"sql": "SELECT sum(v.\"Amount\") FROM \"VISITS\" v"})),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn only_figures_of_groups_leave_this_computer_if_a_source_says_so() {
    let server = ModelServer::start([]).await;
    let world = world(&server, false, ModelAccess::Aggregates).await;
    for (tool, arguments) in of_groups() {
        let answer = world.answer(tool, arguments.clone()).await;
        assert!(!answer["rows"].as_array().unwrap().is_empty(), "{arguments}: {answer}");
        assert_eq!(answer.get("local_only"), None, "{arguments}");
    }
    for (tool, arguments) in of_rows() {
        let response = world.call(tool, arguments.clone()).await;
        let error = response.error.unwrap_or_else(|| panic!("{arguments}: {}", response.data));
        assert_eq!(error.reason_text(), Some("stays_here"), "{arguments}: {error:?}");
        assert!(error.hint_text().is_some(), "{arguments}");
        assert_eq!(response.data, Value::Null, "{arguments}");
    }
    let described = world.answer("data.describe", json!({"source": "visits"})).await;
    assert_eq!(described["samples"], json!({}), "{described}");
    assert!(described["measures"].to_string().contains("sum"), "{described}");
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_names_leave_this_computer_if_a_source_gives_models_nothing() {
    let server = ModelServer::start([]).await;
    let world = world(&server, false, ModelAccess::Nothing).await;
    for (tool, arguments) in of_groups().into_iter().chain(of_rows()) {
        let response = world.call(tool, arguments.clone()).await;
        let error = response.error.unwrap_or_else(|| panic!("{arguments}: {}", response.data));
        assert_eq!(error.reason_text(), Some("stays_here"), "{arguments}: {error:?}");
    }
    let described = world.answer("data.describe", json!({"source": "visits"})).await;
    assert_eq!(described["measures"][0], json!({"name": "amount"}), "{described}");
    let told = described.to_string();
    for kept in ["Eastwick", "sum", "Visit ID", "2026-11"] {
        assert!(!told.contains(kept), "{kept}: {told}");
    }
    let listed = world.answer("data.sources", json!({})).await;
    assert_eq!(
        (&listed["sources"][0]["rows"], &listed["sources"][0]["days"]),
        (&Value::Null, &Value::Null)
    );
    // Other sources are not affected.
    world.add("open", "Day,Name,Amount\n2026-11-01,A,5\n2026-11-02,B,6\n", None).await;
    let open = world.answer("data.query", json!({"sql": "SELECT sum(\"Amount\") FROM open"})).await;
    assert_eq!(open["rows"], json!([[11]]));
    world.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_request_to_a_model_elsewhere_has_a_row_that_stays_here() {
    let select =
        json!({"sql": "SELECT * FROM visits WHERE \"City\" = (SELECT min(\"City\") FROM visits)"});
    let description = json!({"source": "visits"});
    let replies =
        calls("data.query", &select).into_iter().chain(calls("data.describe", &description));
    let server = ModelServer::start(replies).await;
    let world = world(&server, false, ModelAccess::Aggregates).await;
    for id in ["one", "two"] {
        world.run(id, "What is in my data?").await;
    }
    let sent = server.requests().iter().map(Value::to_string).collect::<String>();
    // The definitions name a city themselves.
    for kept in ["Northam", "Southam"] {
        assert!(!sent.contains(kept), "{kept} was sent");
    }
    assert!(sent.contains("stay on this computer"), "the model is told why");
    server.assert_clean();
    world.host.stop().await;
}

async fn ask(world: &World, text: &str) {
    let params = TurnStartParams {
        session: Some("s".into()),
        text: text.into(),
        model: None,
        agent: None,
        headless: false,
        replaces: None,
    };
    world.host.turn_start(params).await.unwrap();
    for _ in 0..1_000 {
        if world.host.app_status(Empty {}).await.unwrap().running == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the turn does not end");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_with_rows_that_stay_here_is_not_sent_elsewhere_later() {
    let small = measured(json!({"measures": ["amount"], "by": ["city"]}));
    let described = ("data.describe", json!({"source": "visits"}));
    let selected = ("data.query", json!({"sql": "SELECT * FROM visits"}));
    for (tool, arguments) in [small, described, selected] {
        let server = ModelServer::start(calls(tool, &arguments)).await;
        let world = world(&server, true, ModelAccess::Aggregates).await;
        ask(&world, "What is in my data?").await;
        let requests = server.requests();
        assert_eq!(requests.len(), 2, "{tool}");
        assert!(requests[1].to_string().contains("Northam"), "a model here gets the rows: {tool}");
        let mut settings = world.host.settings_get(Empty {}).await.unwrap().settings;
        settings.model.runs_here.clear();
        world.host.settings_set(SettingsSetParams { settings }).await.unwrap();
        server.push(Reply::text(["I should not be asked."]));
        ask(&world, "And now?").await;
        assert_eq!(server.requests().len(), 2, "nothing more was sent: {tool}");
        world.host.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn visitors_of_the_chat_api_reach_no_source_through_a_tool() {
    let world = World::new().await;
    world.add("visits", &visits(), Some(DEFINITIONS)).await;
    world.host.stop().await;
    let World { folder, host } = world;
    drop(host);
    copy_pack(&folder.path().join("packs/data"));
    let program = kit::programs::program("csign-data");
    let served = crate::open(|| Options {
        data_dir: Some(folder.path().join("profile")),
        program_dir: program.parent().unwrap().to_owned(),
        pack_dirs: vec![folder.path().join("packs")],
        served_packs: Some(vec!["data".into()].into()),
        ..Options::default()
    })
    .await;
    let world = World { folder, host: served };
    let query = json!({"query": {"source": "visits", "measures": ["amount"]}});
    for (tool, arguments) in [
        ("data.sources", json!({})),
        ("data.describe", json!({"source": "visits"})),
        ("data.measure", query.clone()),
        ("data.chart", query),
        ("data.query", json!({"sql": "SELECT * FROM visits"})),
    ] {
        let response = world.call(tool, arguments).await;
        let error = response.error.unwrap_or_else(|| panic!("{tool}: {}", response.data));
        assert_eq!(error.reason_text(), Some("not_found"), "{tool}: {error:?}");
    }
    // The offline model knows no source either, neither by its names nor by a misspelled value.
    for (id, words) in [("names", "amount by city"), ("value", "amount for Northm")] {
        let response = world.run(id, words).await;
        let told = format!("{response:?}");
        assert!(response.structured_output.is_none_or(|found| found.results.is_empty()), "{told}");
        assert!(!told.contains("Northam"), "{told}");
    }
    world.host.stop().await;
}

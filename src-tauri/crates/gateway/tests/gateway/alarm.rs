//! Tests of a log that stops verifying while the gateway runs: the gateway answers no more
//! messages, and its health route shows the reason, until a person at a terminal has accepted a new
//! log.

use reqwest::StatusCode;
use rusqlite::Connection;

use crate::world::{Gateway, message_of, read};

#[tokio::test(flavor = "multi_thread")]
async fn an_audit_alarm_is_shown_by_the_health_route_and_stops_answers() {
    let gateway = Gateway::open().await;
    gateway.say("s1", "hello").await;
    let db = Connection::open(gateway.path("data/audit.db")).unwrap();
    db.busy_timeout(std::time::Duration::from_secs(5)).unwrap();
    db.execute("UPDATE audit_record SET tool='other' WHERE seq=1", []).unwrap();
    drop(db);
    // `doctor` finds the changed record. From then on, every request is refused.
    let checks = gateway.csign(&["doctor"])["checks"].clone();
    let of_log = checks
        .as_array()
        .unwrap()
        .iter()
        .find(|check| check["name"] == "audit log")
        .unwrap()
        .clone();
    assert_eq!(of_log["state"], "failed", "{of_log}");
    let (status, health) = read(gateway.get("/v1/health").await).await;
    assert_eq!(
        (status, health["status"].as_str()),
        (StatusCode::SERVICE_UNAVAILABLE, Some("audit_alarm"))
    );
    let (status, answer) = gateway.post("/v1/chat", &message_of("s1", "hello")).await;
    assert_eq!(
        (status, answer["error"]["code"].as_str()),
        (StatusCode::SERVICE_UNAVAILABLE, Some("AGENT_DISABLED")),
        "{answer}"
    );
    assert_eq!(gateway.csign(&["audit", "verify"])["ok"], false);

    let accepted = gateway.terminal(&["doctor", "--accept-new-log"]).output().unwrap();
    assert!(String::from_utf8_lossy(&accepted.stdout).contains("A new log begins"), "{accepted:?}");
    assert_eq!(read(gateway.get("/v1/health").await).await.1["status"], "ok");
    gateway.say("s1", "hello").await;
    assert_eq!(gateway.csign(&["audit", "verify"])["ok"], true);
}

/// Changes the body of a record while the gateway runs.
fn change_body(gateway: &Gateway, seq: u64, body: &str) {
    let db = Connection::open(gateway.path("data/audit.db")).unwrap();
    db.busy_timeout(std::time::Duration::from_secs(5)).unwrap();
    db.execute(&format!("UPDATE audit_record SET body={body} WHERE seq={seq}"), []).unwrap();
}

async fn is_stopped(gateway: &Gateway) {
    let (status, health) = read(gateway.get("/v1/health").await).await;
    assert_eq!(
        (status, health["status"].as_str()),
        (StatusCode::SERVICE_UNAVAILABLE, Some("audit_alarm"))
    );
    let (status, answer) = gateway.post("/v1/chat", &message_of("s1", "hello")).await;
    assert_eq!(
        (status, answer["error"]["code"].as_str()),
        (StatusCode::SERVICE_UNAVAILABLE, Some("AGENT_DISABLED")),
        "{answer}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_problem_found_by_another_process_stops_answers() {
    let gateway = Gateway::open().await;
    gateway.say("s1", "hello").await;
    change_body(&gateway, 3, r#"CAST(replace(CAST(body AS TEXT), 'at":"2', 'at":"1') AS BLOB)"#);
    assert_eq!(gateway.csign(&["audit", "verify"])["ok"], false);
    is_stopped(&gateway).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_first_log_record_stops_answers() {
    let gateway = Gateway::open().await;
    gateway.say("s1", "hello").await;
    change_body(&gateway, 1, "zeroblob(10)");
    gateway.csign(&["doctor"]);
    is_stopped(&gateway).await;
}

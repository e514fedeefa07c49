//! Tests the MCP client with real processes. This binary itself acts as the servers: started again
//! with `ROLE` set, the "tests" named `role_*` become a shop, a misbehaving server or an app that
//! is killed. The client must also tolerate the output of the test harness that precedes their
//! messages on stdout.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test says what went wrong by panicking"
)]

mod addresses;
mod attacks;
mod client;
mod conformance;
mod http;
mod kill;
mod odd_parts;
mod odd_server;
mod opening;
mod per_session;
mod real;

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use mcp::{FileChanges, Hidden, Program, Reach, ServerConfig, Servers, Timings};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// Returns the role of this process, if it was started with a role.
fn role() -> Option<String> {
    std::env::var("ROLE").ok()
}

/// Ends the line that the harness leaves on stdout ("test role_odd ... "), because the first answer
/// would otherwise continue that line.
fn end_line() {
    println!();
}

/// Returns the configuration of a server whose role this binary takes.
fn server(name: &str, role: &str, more: &[(&str, &str)]) -> ServerConfig {
    let mut env: BTreeMap<String, String> =
        more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    env.insert("ROLE".to_owned(), role.to_owned());
    let program = Program {
        program: Ok(std::env::current_exe().unwrap()),
        args: ["--exact", &format!("role_{role}"), "--nocapture", "--test-threads=1"]
            .map(Into::into)
            .to_vec(),
        env,
        keys: None,
        cwd: PathBuf::from("/"),
        hidden: Arc::new(Hidden::default()),
        changes: FileChanges::Times,
        network: true,
    };
    ServerConfig {
        name: name.to_owned(),
        pack: "test".into(),
        reach: Reach::Program(program),
        start: None,
    }
}

/// Time limits that are short enough for tests and long enough for a busy machine.
fn quick_timings() -> Timings {
    Timings {
        start: Duration::from_secs(20),
        probe: Duration::from_millis(300),
        backoff: Duration::from_millis(20),
        longest_backoff: Duration::from_millis(200),
        grace: Duration::from_millis(300),
    }
}

fn servers(configs: Vec<ServerConfig>) -> Servers {
    Servers::builder(configs).timings(quick_timings()).build()
}

const LONG: Duration = Duration::from_secs(30);

async fn call(servers: &Servers, tool: &str, arguments: Value) -> Result<Value, mcp::ToolFailure> {
    servers.call("test/odd", tool, arguments, LONG, CancellationToken::new()).await.map(members)
}

/// Reads a result that came as JSON text.
fn members(result: Value) -> Value {
    contract::json_text::members_of(&result).into_owned()
}

/// Whether a process exists and is not a zombie.
fn is_alive(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or("").trim_start().starts_with('Z'))
}

/// Waits until a process has ended.
async fn wait_until_gone(pid: u32) {
    for _ in 0..1_000 {
        if !is_alive(pid) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("process {pid} is still there");
}

fn pid_of(servers: &Servers, name: &str) -> u32 {
    servers
        .views()
        .into_iter()
        .find(|view| view.name == name)
        .and_then(|view| view.pid)
        .expect("the server runs")
}

#[test]
fn role_shop() {
    if role().as_deref() == Some("shop") {
        end_line();
        let args = shop::Args {
            stdio: true,
            http: None,
            login: shop::LoginArgs::default(),
            data_dir: std::env::var_os("SHOP_DIR").map(PathBuf::from),
            seed: 1,
            today: None,
        };
        assert_eq!(shop::run(args), 0);
    }
}

#[test]
fn role_odd() {
    if role().as_deref() == Some("odd") {
        end_line();
        odd_server::run();
    }
}

#[test]
fn role_opening() {
    if role().as_deref() == Some("opening") {
        end_line();
        opening::run();
    }
}

#[test]
fn role_proxied() {
    if role().as_deref() == Some("proxied") {
        addresses::proxied();
    }
}

#[test]
fn role_conformance() {
    if role().as_deref() == Some("conformance") {
        conformance::client();
    }
}

#[test]
fn role_app() {
    if role().as_deref() == Some("app") {
        kill::run_app();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_demo_shop_server_can_be_called_over_stdio() {
    let folder = tempfile::tempdir().unwrap();
    let servers =
        servers(vec![server("shop", "shop", &[("SHOP_DIR", folder.path().to_str().unwrap())])]);
    assert_eq!(servers.views()[0].state, contract::ServerState::Idle);
    let search = servers
        .call(
            "test/shop",
            "product.search",
            json!({"query": "black trail shoes"}),
            LONG,
            CancellationToken::new(),
        )
        .await
        .unwrap();
    let part =
        members(search).pointer("/items/0/partNo").and_then(Value::as_str).unwrap().to_owned();
    let failure = servers
        .call(
            "test/shop",
            "cart.addItem",
            json!({"partNo": part, "clientIp": "127.0.0.1"}),
            LONG,
            CancellationToken::new(),
        )
        .await
        .unwrap_err();
    assert_eq!(
        (failure.error.reason_text(), failure.may_have_happened),
        (Some("mcp_tool_error"), false)
    );
    assert!(failure.error.message.contains("several variants"), "{}", failure.error.message);
    let picture = servers
        .read_resource("test/shop", "shop-image://1001", LONG, CancellationToken::new())
        .await
        .unwrap();
    assert_eq!(picture.mime_type.as_deref(), Some("image/svg+xml"));
    assert!(picture.bytes.starts_with(b"<svg"));
    let missing = servers
        .read_resource("test/shop", "shop-image://7", LONG, CancellationToken::new())
        .await
        .unwrap_err();
    assert!(missing.error.message.contains("no picture"), "{}", missing.error.message);
    let pid = pid_of(&servers, "shop");
    servers.shut_down().await;
    assert!(!is_alive(pid));
}

//! No process outlives its owner: not a stubborn server, not a server's child, not the servers of an app that is killed.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use crate::{alive, call, gone, pid_of, server, servers};

/// Plays the app: starts a server, tells its process id, and waits to be killed.
pub(crate) fn run_app() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let servers = servers(vec![server("odd", "odd", &[("ODD_MODE", "stays")])]);
        call(&servers, "structured", json!({})).await.unwrap();
        println!("\nserver {}", pid_of(&servers, "odd"));
        std::io::stdout().flush().unwrap();
        std::future::pending::<()>().await;
    });
}

#[tokio::test]
async fn killing_the_app_leaves_no_server() {
    let mut app = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "role_app", "--nocapture"])
        .env("ROLE", "app")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(app.stdout.take().unwrap()).lines();
    let pid: u32 = lines.map_while(Result::ok).find_map(|line| line.strip_prefix("server ")?.trim().parse().ok()).expect("the app tells its server");
    assert!(alive(pid));
    app.kill().unwrap();
    app.wait().unwrap();
    gone(pid).await;
}

#[tokio::test]
async fn shutting_down_ends_stubborn_servers_and_their_children() {
    let servers = servers(vec![server("odd", "odd", &[("ODD_MODE", "stays")])]);
    let child = call(&servers, "child", json!({})).await.unwrap().get("pid").and_then(Value::as_u64).unwrap();
    let child = u32::try_from(child).unwrap();
    let pid = pid_of(&servers, "odd");
    assert!(alive(pid) && alive(child));
    servers.shut_down().await;
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "the server is reaped, not left as a zombie");
    gone(child).await;
}

#[tokio::test]
async fn dropping_the_servers_ends_them() {
    let servers = servers(vec![server("odd", "odd", &[("ODD_MODE", "stays")])]);
    call(&servers, "structured", json!({})).await.unwrap();
    let pid = pid_of(&servers, "odd");
    drop(servers);
    gone(pid).await;
}

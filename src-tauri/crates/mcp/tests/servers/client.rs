//! Tests of how the client handles answers, invalid output, silence and crashes.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use contract::{ErrorCode, ServerState};
use mcp::{Hidden, Reach, ServerConfig, Servers};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{LONG, call, is_alive, pid_of, quick_timings, server, servers, wait_until_gone};

fn set_program(config: &mut ServerConfig, to: Result<std::path::PathBuf, mcp::ProgramError>) {
    let Reach::Program(program) = &mut config.reach else { panic!("it is a program") };
    program.program = to;
}

fn odd_servers() -> Servers {
    servers(vec![server("odd", "odd", &[])])
}

#[tokio::test]
async fn tool_results_and_errors_are_returned_as_values() {
    let servers = odd_servers();
    assert_eq!(call(&servers, "structured", json!({})).await.unwrap(), json!({"n": 1}));
    let failure = call(&servers, "nothing", Value::Null).await.unwrap_err();
    assert_eq!(
        (failure.error.code, failure.error.message.as_str(), failure.may_have_happened),
        (ErrorCode::ToolHttpError, "No such thing.", false)
    );
    let failure = call(&servers, "refused", json!({})).await.unwrap_err();
    assert_eq!(
        (failure.error.reason_text(), failure.error.retryable, failure.may_have_happened),
        (Some("mcp_exception"), false, false)
    );
    let failure = call(&servers, "structured", json!([1])).await.unwrap_err();
    assert_eq!(failure.error.code, ErrorCode::InvalidInput);
    let failure = servers
        .call("test/nobody", "x", json!({}), LONG, CancellationToken::new())
        .await
        .unwrap_err();
    assert_eq!(failure.error.reason_text(), Some("mcp_unknown_server"));
    servers.shut_down().await;
}

#[tokio::test]
async fn starting_a_program_whose_file_is_still_being_written_is_retried() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("start");
    let program = std::env::current_exe().unwrap();
    std::fs::write(&path, format!("#!/bin/sh\nexec '{}' \"$@\"\n", program.display())).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
    let writer = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(200)).await;
        drop(writer);
    });
    let mut config = server("odd", "odd", &[]);
    set_program(&mut config, Ok(path));
    let servers = servers(vec![config]);
    assert_eq!(call(&servers, "structured", json!({})).await.unwrap(), json!({"n": 1}));
    servers.shut_down().await;
}

#[tokio::test]
async fn invalid_output_and_large_output_of_a_server_are_tolerated() {
    let servers = odd_servers();
    assert_eq!(call(&servers, "rubbish", json!({})).await.unwrap(), json!({"after": "rubbish"}));
    assert_eq!(call(&servers, "flood", json!({})).await.unwrap(), json!({"after": "flood"}));
    assert_eq!(
        call(&servers, "large", json!({})).await.unwrap()["text"].as_str().map(str::len),
        Some(9 * 1024 * 1024)
    );
    let failure = servers
        .call("test/odd", "too_long", json!({}), Duration::from_secs(2), CancellationToken::new())
        .await
        .unwrap_err();
    assert_eq!(failure.error.code, ErrorCode::ToolTimeout);
    assert_eq!(
        call(&servers, "structured", json!({})).await.unwrap(),
        json!({"n": 1}),
        "one line too long costs one call, not the server"
    );
    servers.shut_down().await;
}

#[tokio::test]
async fn a_server_crash_is_reported_and_the_next_call_restarts_the_server() {
    let servers = odd_servers();
    call(&servers, "structured", json!({})).await.unwrap();
    let first = pid_of(&servers, "odd");
    let failure = call(&servers, "crash", json!({})).await.unwrap_err();
    assert_eq!(
        (failure.error.reason_text(), failure.error.retryable, failure.may_have_happened),
        (Some("mcp_exception"), true, true)
    );
    assert_eq!(call(&servers, "structured", json!({})).await.unwrap(), json!({"n": 1}));
    assert_ne!(pid_of(&servers, "odd"), first);
    assert_eq!((servers.views()[0].state, servers.views()[0].restarts), (ServerState::Ready, 1));
    assert!(!is_alive(first));
    servers.shut_down().await;
}

#[tokio::test]
async fn a_server_that_exits_at_startup_fails_the_call_and_is_backed_off() {
    let servers = servers(vec![server("odd", "odd", &[("ODD_MODE", "exit_at_start")])]);
    for _ in 0..3 {
        let failure = call(&servers, "structured", json!({})).await.unwrap_err();
        assert_eq!(
            (failure.error.reason_text(), failure.error.retryable, failure.may_have_happened),
            (Some("mcp_not_connected"), true, false)
        );
    }
    let view = servers.views().remove(0);
    assert_eq!((view.state, view.restarts, view.pid), (ServerState::Failed, 2, None));
    assert!(view.message.is_some());
    servers.shut_down().await;
}

#[tokio::test]
async fn a_missing_program_is_reported() {
    let mut config = server("odd", "odd", &[]);
    set_program(&mut config, Ok("/nonexistent/program".into()));
    let failure = call(&servers(vec![config]), "structured", json!({})).await.unwrap_err();
    assert!(failure.error.message.contains("could not be started"), "{}", failure.error.message);
}

#[tokio::test]
async fn an_unusable_program_is_reported_before_any_call() {
    let mut config = server("odd", "odd", &[]);
    set_program(&mut config, Err(mcp::ProgramError::Missing("./server".into())));
    let servers = servers(vec![config]);
    servers.start_all();
    let view = servers.views().remove(0);
    assert_eq!((view.state, view.restarts), (ServerState::Failed, 0));
    assert!(view.message.is_some_and(|why| why.contains("The program ./server does not exist")));
    let failure = call(&servers, "structured", json!({})).await.unwrap_err();
    assert!(
        failure.error.message.contains("The program ./server does not exist")
            && !failure.error.retryable,
        "{}",
        failure.error.message
    );
    servers.shut_down().await;
}

#[tokio::test]
async fn a_call_without_response_times_out_and_two_in_a_row_end_the_server() {
    let servers = odd_servers();
    call(&servers, "structured", json!({})).await.unwrap();
    let first = pid_of(&servers, "odd");
    for _ in 0..2 {
        let failure = servers
            .call(
                "test/odd",
                "hang",
                json!({}),
                Duration::from_millis(200),
                CancellationToken::new(),
            )
            .await
            .unwrap_err();
        assert_eq!((failure.error.code, failure.may_have_happened), (ErrorCode::ToolTimeout, true));
    }
    assert_eq!(call(&servers, "structured", json!({})).await.unwrap(), json!({"n": 1}));
    assert_ne!(pid_of(&servers, "odd"), first);
    wait_until_gone(first).await;
    servers.shut_down().await;
}

#[tokio::test]
async fn a_cancelled_call_ends_at_once_and_the_server_is_notified() {
    let servers = odd_servers();
    call(&servers, "structured", json!({})).await.unwrap();
    let cancel = CancellationToken::new();
    let stopper = cancel.clone();
    let stop = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(50)).await;
        stopper.cancel();
    });
    let failure = servers.call("test/odd", "hang", json!({}), LONG, cancel).await.unwrap_err();
    stop.await.unwrap();
    assert_eq!((failure.error.reason_text(), failure.may_have_happened), (Some("cancelled"), true));
    let mut told = json!(null);
    for _ in 0..100 {
        told = call(&servers, "cancelled", json!({})).await.unwrap();
        if told["count"] == 1 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(told, json!({"count": 1}));
    servers.shut_down().await;
}

#[tokio::test]
async fn a_server_that_ignores_the_newest_protocol_is_still_used() {
    let servers = servers(vec![server("odd", "odd", &[("ODD_MODE", "silent")])]);
    assert_eq!(call(&servers, "structured", json!({})).await.unwrap(), json!({"n": 1}));
    servers.shut_down().await;
}

#[tokio::test]
async fn a_server_gets_only_listed_environment_variables() {
    let servers = servers(vec![server("odd", "odd", &[("NAMED", "yes")])]);
    let seen = call(&servers, "env", json!({})).await.unwrap();
    // Cargo sets dozens of variables in this process, and the server must get none of them.
    let allowed = ["HOME", "LANG", "LC_ALL", "LC_CTYPE", "NAMED", "PATH", "ROLE", "TMPDIR", "TZ"];
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    let others: Vec<&String> =
        seen.as_object().unwrap().keys().filter(|name| !allowed.contains(&name.as_str())).collect();
    assert!(others.is_empty(), "{others:?}");
    assert_eq!(seen["NAMED"], "yes");
    servers.shut_down().await;
}

#[tokio::test]
async fn concurrent_callers_share_one_start_of_the_server() {
    let servers = odd_servers();
    let calls: Vec<_> = (0..16)
        .map(|_| {
            let servers = servers.clone();
            tokio::spawn(async move { call(&servers, "structured", json!({})).await.unwrap() })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap(), json!({"n": 1}));
    }
    assert_eq!(servers.views()[0].restarts, 0);
    servers.shut_down().await;
}

#[tokio::test]
async fn state_changes_are_reported_in_order() {
    let seen: Arc<Mutex<Vec<ServerState>>> = Arc::default();
    let listener = Arc::clone(&seen);
    let servers = Servers::builder(vec![server("odd", "odd", &[])])
        .timings(quick_timings())
        .on_change(Arc::new(move |view| listener.lock().unwrap().push(view.state)))
        .build();
    servers.start_all();
    call(&servers, "structured", json!({})).await.unwrap();
    servers.shut_down().await;
    assert_eq!(
        *seen.lock().unwrap(),
        [ServerState::Starting, ServerState::Ready, ServerState::Stopped]
    );
    let failure = call(&servers, "structured", json!({})).await.unwrap_err();
    assert_eq!(failure.error.reason_text(), Some("mcp_not_connected"));
}

#[tokio::test]
async fn a_server_can_read_the_users_files_but_not_the_apps() {
    let root = tempfile::tempdir().unwrap();
    let file = |folder: &str| {
        let folder = root.path().join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("file"), "text").unwrap();
        folder.join("file").display().to_string()
    };
    let look = [file("documents"), file("app"), file("app/packs/odd"), file("app/packs/another")];
    let mut config = server("odd", "odd", &[("LOOK", &look.join(":"))]);
    let Reach::Program(program) = &mut config.reach else { unreachable!() };
    program.hidden = Arc::new(Hidden {
        folders: vec![root.path().join("app"), root.path().join("not-yet")],
        but: vec![root.path().join("app/packs/odd")],
        ..Hidden::default()
    });
    let servers = servers(vec![config]);
    // A kernel without Landlock hides no files, and the kernel's list of modules shows that.
    let hidden = !std::fs::read_to_string("/sys/kernel/security/lsm")
        .is_ok_and(|modules| !modules.contains("landlock"));
    assert_eq!(
        call(&servers, "look", json!({})).await.unwrap(),
        json!([[true, true], [!hidden, !hidden], [true, true], [!hidden, !hidden]])
    );
}

#[tokio::test]
async fn an_endless_tool_list_is_cut_off_while_it_is_received() {
    for (size, pages, words) in [
        (1_000, 3, "more than 2000 tools"),
        (50_000, 1, "more than 2000 tools"),
        (0, 200, "more than 200 pages"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pages");
        let config = server(
            "odd",
            "odd",
            &[("ODD_MODE", "lists"), ("PAGE", &size.to_string()), ("LOOK", file.to_str().unwrap())],
        );
        let servers = Servers::builder(vec![config])
            .timings(quick_timings())
            .definitions(Arc::<crate::real::ListedTools>::default())
            .build();
        let failure = call(&servers, "structured", json!({})).await.unwrap_err();
        assert!(
            failure.error.message.contains(words) && !failure.may_have_happened,
            "{}",
            failure.error
        );
        let view = servers.views().remove(0);
        assert!(
            view.state != ServerState::Ready
                && view.message.is_some_and(|message| message.contains(words)),
            "{:?}",
            view.state
        );
        let read: Vec<usize> = std::fs::read_to_string(&file)
            .unwrap()
            .lines()
            .map(|page| page.parse().unwrap())
            .collect();
        assert_eq!(
            read.iter().max(),
            Some(&(pages - 1)),
            "no page was asked for after the one that was too much"
        );
        servers.shut_down().await;
    }
}

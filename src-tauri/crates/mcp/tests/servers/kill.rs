//! Tests that no process outlives its owner: neither a server that ignores signals, nor its child,
//! nor a daemon that left it, nor the servers of an app that is killed. A process that ends by
//! itself leaves no zombie, and its exit status is known.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    os::unix::process::{CommandExt, ExitStatusExt},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    time::Duration,
};

use mcp::Servers;
use serde_json::{Value, json};

use crate::{call, is_alive, pid_of, quick_timings, server, servers, wait_until_gone};

/// The number of bytes that the app of these tests has in memory, and that its guard must not keep.
const WEIGHT: usize = 64 * 1024 * 1024;

/// Acts as the app: starts a server that leaves a child and a daemon, prints all process ids, and
/// waits to be killed.
pub(crate) fn run_app() {
    // Tests that were started in the background ignore SIGINT, but an app in a terminal does not.
    // SAFETY: the signal is set before any other thread handles signals.
    unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
    let weight = vec![1_u8; WEIGHT];
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let servers = servers(vec![server("odd", "odd", &[("ODD_MODE", "stays")])]);
        println!("\nprocesses {:?}", start_stubborn(&servers).await);
        std::io::stdout().flush().unwrap();
        std::future::pending::<()>().await;
    });
    drop(weight);
}

/// Starts the server. Returns its processes: the server, its guard, its child, its daemon.
async fn start_stubborn(servers: &Servers) -> [u32; 4] {
    let (child, daemon) =
        (start_process(servers, "child").await, start_process(servers, "daemon").await);
    let server = pid_of(servers, "odd");
    let processes = [server, parent(server), child, daemon];
    assert!(processes.iter().all(|process| is_alive(*process)), "{processes:?}");
    processes
}

/// Returns the id of the process that a tool of the odd server starts.
async fn start_process(servers: &Servers, tool: &str) -> u32 {
    let process =
        call(servers, tool, json!({})).await.unwrap().get("pid").and_then(Value::as_u64).unwrap();
    u32::try_from(process).unwrap()
}

fn parent(process: u32) -> u32 {
    field(process, "PPid")
}

/// Reads a number from `/proc/PID/status`.
fn field(process: u32, name: &str) -> u32 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

/// Starts the app in its own process group, as a terminal does. Returns the app and the ids of its
/// processes.
fn start_app() -> (Child, Vec<u32>) {
    let mut app = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "role_app", "--nocapture"])
        .env("ROLE", "app")
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(app.stdout.take().unwrap()).lines();
    let told = lines
        .map_while(Result::ok)
        .find_map(|line| serde_json::from_str(line.strip_prefix("processes ")?).ok());
    (app, told.expect("the app tells its processes"))
}

/// Sends a signal to the app, or to its whole group, and waits until all its processes have ended.
async fn end(mut app: Child, processes: Vec<u32>, group: bool, signal: i32) {
    let id = i32::try_from(app.id()).unwrap();
    // SAFETY: the app is a child of this process that has not been waited for.
    assert_eq!(unsafe { libc::kill(if group { -id } else { id }, signal) }, 0);
    assert_eq!(app.wait().unwrap().signal(), Some(signal));
    for process in processes {
        wait_until_gone(process).await;
    }
}

#[tokio::test]
async fn killing_the_app_leaves_no_server_process() {
    let (app, processes) = start_app();
    end(app, processes, false, libc::SIGKILL).await;
}

#[tokio::test]
async fn killing_the_apps_process_group_leaves_no_server_process() {
    let (app, processes) = start_app();
    end(app, processes, true, libc::SIGKILL).await;
}

#[tokio::test]
async fn a_terminal_interrupt_leaves_no_server_process() {
    let (app, processes) = start_app();
    end(app, processes, true, libc::SIGINT).await;
}

#[tokio::test]
async fn the_guard_process_keeps_none_of_the_apps_memory() {
    let (app, processes) = start_app();
    let (guard, app_kib) = (processes[1], field(app.id(), "RssAnon"));
    assert_eq!(parent(guard), app.id());
    let guard_kib = field(guard, "RssAnon");
    assert!(
        app_kib > 64 * 1024 && guard_kib < 8 * 1024,
        "app {app_kib} KiB, guard {guard_kib} KiB"
    );
    end(app, processes, false, libc::SIGKILL).await;
}

#[tokio::test]
async fn shutdown_ends_servers_that_ignore_signals_and_their_child_processes() {
    let servers = servers(vec![server("odd", "odd", &[("ODD_MODE", "stays")])]);
    let processes = start_stubborn(&servers).await;
    servers.shut_down().await;
    for process in processes {
        assert!(
            !Path::new(&format!("/proc/{process}")).exists(),
            "{process} of {processes:?} is gone and reaped"
        );
    }
}

#[tokio::test]
async fn dropping_the_client_ends_its_servers() {
    let servers = servers(vec![server("odd", "odd", &[("ODD_MODE", "stays")])]);
    let processes = start_stubborn(&servers).await;
    drop(servers);
    for process in processes {
        wait_until_gone(process).await;
    }
}

#[tokio::test]
async fn a_servers_exit_status_is_reported_and_its_child_processes_are_ended() {
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let listener = Arc::clone(&told);
    let servers = Servers::builder(vec![server("odd", "odd", &[])])
        .timings(quick_timings())
        .on_change(Arc::new(move |view| {
            listener.lock().unwrap().extend(view.message.map(|text| text.to_string()))
        }))
        .build();
    let crashed = start_stubborn(&servers).await;
    call(&servers, "crash", json!({})).await.unwrap_err();
    let killed = start_stubborn(&servers).await;
    // SAFETY: the process is a running server of this test.
    unsafe { libc::kill(i32::try_from(killed[0]).unwrap(), libc::SIGKILL) };
    for process in crashed.into_iter().chain(killed) {
        wait_until_gone(process).await;
    }
    while told.lock().unwrap().len() < 2 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // This start has no child process, because a child would keep the server's output open.
    call(&servers, "structured", json!({})).await.unwrap();
    let deaf = [pid_of(&servers, "odd"), parent(pid_of(&servers, "odd"))];
    call(&servers, "close_output", json!({})).await.unwrap_err();
    call(&servers, "structured", json!({})).await.unwrap();
    assert_eq!(
        *told.lock().unwrap(),
        [
            "It ended with exit status: 3.",
            "It ended with signal: 9 (SIGKILL).",
            "It ended with exit status: 0."
        ],
        "the last one heard that its input was closed when its own output was"
    );
    servers.shut_down().await;
    for process in crashed.into_iter().chain(killed).chain(deaf) {
        assert!(!Path::new(&format!("/proc/{process}")).exists(), "{process} is gone and reaped");
    }
}

#[tokio::test]
async fn a_daemon_that_ends_does_not_stay_as_a_zombie() {
    let servers = servers(vec![server("odd", "odd", &[])]);
    let daemon = start_process(&servers, "brief_daemon").await;
    while Path::new(&format!("/proc/{daemon}")).exists() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    servers.shut_down().await;
}

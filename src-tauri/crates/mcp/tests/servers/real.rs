//! Tests of published servers from npm and PyPI over stdio: listing, calls, cancellation, crash,
//! hang, invalid output on stdout, a large result, their environment, and that no process remains.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use contract::{AgentError, ErrorCode, PackId};
use mcp::{Definition, Definitions, FileChanges, Hidden, Program, Reach, ServerConfig, Servers};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{members, pid_of, quick_timings, wait_until_gone};

/// A long time limit, because interpreters start slowly on a busy machine.
const LONG: Duration = Duration::from_secs(180);

/// The root of the source tree.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap().to_owned()
}

fn found(program: &str) -> PathBuf {
    let paths = std::env::var_os("PATH").unwrap();
    std::env::split_paths(&paths)
        .map(|folder| folder.join(program))
        .find(|path| path.is_file())
        .unwrap_or_else(|| panic!("{program} is not installed"))
}

fn npm(package: &str) -> (PathBuf, String) {
    let script = repository()
        .join("tests/mcp/node_modules/@modelcontextprotocol")
        .join(package)
        .join("dist/index.js");
    assert!(script.is_file(), "{package} is not installed; run `make setup-test`");
    (found("node"), script.display().to_string())
}

fn python() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| repository().join("target"), PathBuf::from);
    let python = target.join("mcp-python/bin/python");
    assert!(python.is_file(), "the servers from PyPI are not installed; run `make setup-test`");
    python
}

fn config(program: PathBuf, args: &[&str], env: &[(&str, &str)], cwd: &Path) -> ServerConfig {
    let program = Program {
        program: Ok(program),
        args: args.iter().map(|arg| (*arg).into()).collect(),
        env: env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        keys: None,
        cwd: cwd.to_owned(),
        hidden: Arc::new(Hidden::default()),
        changes: FileChanges::Times,
        network: true,
    };
    ServerConfig {
        name: "real".into(),
        pack: "test".into(),
        reach: Reach::Program(program),
        start: Some(Duration::from_secs(90)),
    }
}

/// Records the listed tools.
#[derive(Default)]
pub(crate) struct ListedTools(Mutex<BTreeSet<String>>);

impl Definitions for ListedTools {
    fn record_tools(&self, _: &PackId, _: &str, tools: &[Definition]) {
        *self.0.lock().unwrap() = tools.iter().map(|tool| tool.name.clone()).collect();
    }
    fn check(&self, _: &PackId, _: &str, tool: &str) -> Result<(), AgentError> {
        if self.0.lock().unwrap().contains(tool) {
            Ok(())
        } else {
            Err(AgentError::invalid(format!("{tool} is not listed")))
        }
    }
}

struct Real {
    servers: Servers,
    listed: Arc<ListedTools>,
}

impl Real {
    fn start(config: ServerConfig) -> Self {
        let listed = Arc::<ListedTools>::default();
        Self {
            servers: Servers::builder(vec![config])
                .timings(quick_timings())
                .definitions(Arc::clone(&listed) as _)
                .build(),
            listed,
        }
    }

    async fn call(&self, tool: &str, arguments: Value) -> Result<Value, mcp::ToolFailure> {
        let done = self.servers.call("test/real", tool, arguments, LONG, CancellationToken::new());
        done.await.map(members)
    }

    fn lists(&self, tools: &[&str]) {
        let listed = self.listed.0.lock().unwrap();
        for tool in tools {
            assert!(listed.contains(*tool), "{tool} is not among {listed:?}");
        }
    }

    /// Ends the server. Asserts that no process that it started is left and that there is no
    /// zombie.
    async fn end(self) {
        let pid = pid_of(&self.servers, "real");
        let names: BTreeSet<String> = std::fs::read_to_string(format!("/proc/{pid}/environ"))
            .unwrap()
            .split('\0')
            .filter_map(|pair| pair.split_once('=').map(|(name, _)| name.to_owned()))
            .collect();
        let allowed = [
            "HOME",
            "LANG",
            "LC_ALL",
            "LC_CTYPE",
            "PATH",
            "TMPDIR",
            "TZ",
            "MEMORY_FILE_PATH",
            "PWD",
        ];
        let others: Vec<&String> =
            names.iter().filter(|name| !allowed.contains(&name.as_str())).collect();
        assert!(others.is_empty(), "it was given {others:?}");
        let family = family(pid);
        self.servers.shut_down().await;
        for member in family {
            wait_until_gone(member).await;
            assert!(!zombie(member), "{member} was not reaped");
        }
    }
}

/// Returns a process and all its descendants.
fn family(pid: u32) -> Vec<u32> {
    let mut all = vec![pid];
    let mut at = 0;
    while let Some(parent) = all.get(at).copied() {
        let children = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"))
            .unwrap_or_default();
        all.extend(children.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
        at += 1;
    }
    all
}

fn zombie(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| stat.rsplit(')').next().unwrap_or("").trim_start().starts_with('Z'))
}

/// Waits until a process has ended and has been reaped.
async fn wait_until_reaped(pid: u32) {
    wait_until_gone(pid).await;
    for _ in 0..1_000 {
        if !zombie(pid) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("nobody asked how process {pid} ended");
}

fn signal(pid: u32, signal: &str) {
    assert!(
        std::process::Command::new("kill")
            .args([signal, &pid.to_string()])
            .status()
            .unwrap()
            .success()
    );
}

fn everything(cwd: &Path) -> ServerConfig {
    let (node, script) = npm("server-everything");
    config(node, &[&script, "stdio"], &[], cwd)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_everything_server_lists_and_runs_tools_with_a_minimal_environment() {
    let folder = tempfile::tempdir().unwrap();
    let real = Real::start(everything(folder.path()));
    let echoed = real.call("echo", json!({"message": "hello"})).await.unwrap();
    assert!(echoed.to_string().contains("hello"), "{echoed}");
    real.lists(&["echo", "get-sum", "get-env", "trigger-long-running-operation"]);
    let env = real.call("get-env", json!({})).await.unwrap();
    let names: Vec<&String> = env
        .as_object()
        .unwrap()
        .keys()
        .filter(|name| name.contains("KEY") || name.contains("TOKEN") || name.starts_with("CARGO"))
        .collect();
    assert!(names.is_empty() && std::env::var_os("CARGO_MANIFEST_DIR").is_some(), "{names:?}");
    real.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_everything_server_can_be_cancelled_crash_and_hang() {
    let folder = tempfile::tempdir().unwrap();
    let real = Real::start(everything(folder.path()));
    real.call("echo", json!({"message": "ready"})).await.unwrap();
    let first = pid_of(&real.servers, "real");
    let cancel = CancellationToken::new();
    let long = real.servers.call(
        "test/real",
        "trigger-long-running-operation",
        json!({"duration": 60, "steps": 60}),
        LONG,
        cancel.clone(),
    );
    let stopped = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        cancel.cancel();
    };
    let (failure, ()) = tokio::join!(long, stopped);
    assert_eq!(failure.unwrap_err().error.reason_text(), Some("cancelled"));
    real.call("echo", json!({"message": "still there"})).await.unwrap();
    assert_eq!(pid_of(&real.servers, "real"), first, "a stopped call costs no server");
    // This makes the server crash.
    signal(first, "-KILL");
    wait_until_gone(first).await;
    // A call fails if the crash was not detected before, and the next call restarts the server.
    if let Err(failure) = real.call("echo", json!({"message": "again"})).await {
        assert_eq!(failure.error.reason_text(), Some("mcp_exception"));
        real.call("echo", json!({"message": "again"})).await.unwrap();
    }
    let second = pid_of(&real.servers, "real");
    assert_ne!(first, second);
    // This makes the server hang.
    signal(second, "-STOP");
    for _ in 0..2 {
        let failure = real
            .servers
            .call(
                "test/real",
                "echo",
                json!({"message": "?"}),
                Duration::from_millis(300),
                CancellationToken::new(),
            )
            .await
            .unwrap_err();
        assert_eq!((failure.error.code, failure.may_have_happened), (ErrorCode::ToolTimeout, true));
    }
    real.call("echo", json!({"message": "once more"})).await.unwrap();
    wait_until_reaped(second).await;
    real.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_filesystem_server_reads_a_large_file_despite_garbage_output() {
    let folder = tempfile::tempdir().unwrap();
    let folder_path = folder.path().canonicalize().unwrap();
    std::fs::write(folder_path.join("large.txt"), "x".repeat(10 * 1024 * 1024)).unwrap();
    let (node, script) = npm("server-filesystem");
    let (node, place) = (node.display().to_string(), folder_path.display().to_string());
    // Some launchers print such output before the server's first message.
    let noisy = "echo 'Starting up'; echo '{not json'; printf '\\377\\376\\n'; exec \"$@\"";
    let real = Real::start(config(
        found("sh"),
        &["-c", noisy, "sh", &node, &script, &place],
        &[],
        &folder_path,
    ));
    let path = |name: &str| folder_path.join(name).display().to_string();
    let read = real.call("read_text_file", json!({"path": path("large.txt")})).await.unwrap();
    assert!(read.to_string().len() > 10 * 1024 * 1024);
    real.lists(&["read_text_file", "write_file", "list_directory"]);
    real.call("write_file", json!({"path": path("note.txt"), "content": "kept"})).await.unwrap();
    assert_eq!(std::fs::read_to_string(folder_path.join("note.txt")).unwrap(), "kept");
    let outside = real.call("read_text_file", json!({"path": "/etc/hostname"})).await.unwrap_err();
    assert_eq!(
        (outside.error.reason_text(), outside.may_have_happened),
        (Some("mcp_tool_error"), false)
    );
    real.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_memory_server_keeps_its_data() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.jsonl");
    let (node, script) = npm("server-memory");
    let real = Real::start(config(
        node,
        &[&script],
        &[("MEMORY_FILE_PATH", file.to_str().unwrap())],
        folder.path(),
    ));
    let entity =
        json!({"name": "Account 17", "entityType": "account", "observations": ["paces behind"]});
    real.call("create_entities", json!({"entities": [entity]})).await.unwrap();
    let graph = real.call("read_graph", json!({})).await.unwrap();
    assert!(graph.to_string().contains("paces behind"), "{graph}");
    real.lists(&["create_entities", "read_graph", "delete_entities"]);
    real.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_fetch_server_reads_a_local_page() {
    let page = axum::Router::new().route(
        "/page",
        axum::routing::get(|| async {
            axum::response::Html("<h1>Pacing</h1><p>Ahead by four percent.</p>")
        }),
    );
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/page", listener.local_addr().unwrap());
    let served = tokio::spawn(async move { axum::serve(listener, page).await.unwrap() });
    let folder = tempfile::tempdir().unwrap();
    let real = Real::start(config(
        python(),
        &["-m", "mcp_server_fetch", "--ignore-robots-txt", "--allow-private-ips"],
        &[],
        folder.path(),
    ));
    let fetched = real.call("fetch", json!({"url": url, "raw": true})).await.unwrap();
    assert!(fetched.to_string().contains("Ahead by four percent"), "{fetched}");
    real.lists(&["fetch"]);
    real.end().await;
    served.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_git_server_reports_the_status_of_a_repository() {
    let folder = tempfile::tempdir().unwrap();
    let git = |args: &[&str]| {
        assert!(
            std::process::Command::new("git")
                .current_dir(folder.path())
                .args(args)
                .output()
                .unwrap()
                .status
                .success()
        )
    };
    git(&["init", "-q"]);
    std::fs::write(folder.path().join("figures.csv"), "a,b\n").unwrap();
    let place = folder.path().display().to_string();
    let real = Real::start(config(
        python(),
        &["-m", "mcp_server_git", "--repository", &place],
        &[],
        folder.path(),
    ));
    let status = real.call("git_status", json!({"repo_path": place})).await.unwrap();
    assert!(status.to_string().contains("figures.csv"), "{status}");
    real.lists(&["git_status", "git_commit", "git_log"]);
    real.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_time_server_converts_between_time_zones() {
    let folder = tempfile::tempdir().unwrap();
    let real = Real::start(config(
        python(),
        &["-m", "mcp_server_time", "--local-timezone", "Europe/Stockholm"],
        &[],
        folder.path(),
    ));
    let arguments = json!({"source_timezone": "Europe/Stockholm", "time": "12:00", "target_timezone": "Asia/Tokyo"});
    let converted = real.call("convert_time", arguments).await.unwrap();
    assert!(converted.to_string().contains("Asia/Tokyo"), "{converted}");
    real.lists(&["get_current_time", "convert_time"]);
    let wrong =
        real.call("get_current_time", json!({"timezone": "Nowhere/Never"})).await.unwrap_err();
    assert_eq!(wrong.error.code, ErrorCode::ToolHttpError);
    real.end().await;
}

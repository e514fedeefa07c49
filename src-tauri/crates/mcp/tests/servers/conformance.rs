//! Runs the official conformance suite against this client (`csign dev mcp-client` is the same
//! code) over both protocols. Failures listed in `tests/mcp/expected-failures.yml` are known. Any
//! other failure, and any listed scenario that passes, fails here.

use std::process::Command;

use mcp::dev::{self, Scenario};

use crate::{real::repository, role};

/// Acts as `csign dev mcp-client` for the suite. The address is the last argument; the suite passes
/// the rest in variables.
pub(crate) fn client() {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let context = serde_json::from_str(&variable("MCP_CONFORMANCE_CONTEXT")).unwrap_or_default();
    let scenario = Scenario { name: variable("MCP_CONFORMANCE_SCENARIO"), context };
    let url = variable("MCP_TEST_URL");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    match runtime.block_on(dev::run(&url, &scenario)) {
        Ok(results) => results.iter().for_each(|result| eprintln!("{result}")),
        Err(error) => {
            eprintln!("{} {:?}", error.message, error.reason_text());
            std::process::exit(1);
        }
    }
    std::process::exit(0);
}

fn suite(revision: &str) {
    let folder = repository().join("tests/mcp");
    let results = tempfile::tempdir().unwrap();
    // The suite appends the address to the command; this binary reads it from a variable.
    let command = results.path().join("client");
    let me = std::env::current_exe().unwrap();
    let script = format!(
        "#!/bin/sh\nROLE=conformance MCP_TEST_URL=\"$1\" exec {} --exact role_conformance --nocapture --test-threads=1\n",
        me.display()
    );
    std::fs::write(&command, script).unwrap();
    std::fs::set_permissions(&command, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    let program = "node_modules/@modelcontextprotocol/conformance/dist/index.js";
    assert!(folder.join(program).exists(), "the suite is not installed; run `make setup-test`");
    let run = |what: &[&str]| {
        let output = Command::new("node")
            .current_dir(&folder)
            .args(["--import", "./node20.mjs", program, "client"])
            .args(what)
            .args(["--timeout", "60000", "--command"])
            .arg(&command)
            .arg("--output-dir")
            .arg(results.path().join("results"))
            .output()
            .unwrap();
        (
            output.status.success(),
            format!(
                "{}\n{}",
                String::from_utf8_lossy(&output.stderr),
                String::from_utf8_lossy(&output.stdout)
            ),
        )
    };
    let (good, said) =
        run(&["--requirements", revision, "--expected-failures", "expected-failures.yml"]);
    if good {
        return;
    }
    // All scenarios run in parallel. A scenario that measures a wait in milliseconds may fail on a
    // small machine, so it is repeated alone.
    let timed = unexpected(&said);
    assert_eq!(timed, ["sse-retry"], "{}", tail(&said));
    let (good, alone) = run(&["--scenario", "sse-retry", "--spec-version", revision]);
    assert!(good, "{}", tail(&alone));
}

/// Returns the failed scenarios that are not in the list of expected failures.
fn unexpected(said: &str) -> Vec<&str> {
    let after = said.split_once("Unexpected failures (").map_or("", |(_, after)| after);
    after.lines().skip(1).map_while(|line| line.trim().strip_prefix("✗ ")).collect()
}

/// Returns the summary at the end of the suite's output.
fn tail(text: &str) -> &str {
    let at = text.len().saturating_sub(8_000);
    &text[(at..).find(|at| text.is_char_boundary(*at)).unwrap_or(0)..]
}

#[test]
fn the_client_passes_the_conformance_suite_of_2025_11_25() {
    if role().is_none() {
        suite("2025-11-25");
    }
}

#[test]
fn the_client_passes_the_conformance_suite_of_2026_07_28() {
    if role().is_none() {
        suite("2026-07-28");
    }
}

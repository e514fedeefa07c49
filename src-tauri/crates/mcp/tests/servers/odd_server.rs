//! A server that misbehaves on request: crashes, hangs, prints invalid output, floods, leaves
//! children and daemons, prints its environment.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio, exit},
};

use serde_json::{Value, json};

pub(crate) fn run() {
    let mode = std::env::var("ODD_MODE").unwrap_or_default();
    if mode == "exit_at_start" {
        eprintln!("nothing here");
        exit(7);
    }
    let mut cancelled = 0;
    for line in std::io::stdin().lock().lines() {
        let Ok(request) = serde_json::from_str::<Value>(&line.unwrap()) else { continue };
        let method = request["method"].as_str().unwrap_or_default();
        cancelled += usize::from(method == "notifications/cancelled");
        let Some(id) = request.get("id").cloned() else { continue };
        match method {
            "server/discover" if mode == "silent" => {}
            "initialize" => answer(
                &id,
                json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "odd", "version": "1"}}),
            ),
            "tools/list" if mode == "lists" => list(&id, &request["params"]["cursor"]),
            "tools/list" if mode == "script" => {
                scripted(&id, "LISTS", &request["params"]["cursor"])
            }
            "tools/call" if mode == "script" => {
                scripted(&id, "RESULTS", &request["params"]["name"])
            }
            "tools/call" => {
                tool(&id, request["params"]["name"].as_str().unwrap_or_default(), cancelled)
            }
            _ => send(
                &json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "unknown method"}}),
            ),
        }
    }
    if mode == "stays" {
        // The process ignores the end of its input and SIGTERM.
        loop {
            std::thread::park();
        }
    }
    // The harness would print a verdict, but a real server just ends.
    exit(0);
}

/// Sends the result that a variable contains for a name, unchanged. The variable contains lines of
/// name, tab and result; the first line is for a missing name.
fn scripted(id: &Value, variable: &str, name: &Value) {
    let script = std::env::var(variable).unwrap();
    let mut lines = script.lines().filter_map(|line| line.split_once('\t'));
    let found = match name.as_str() {
        None => lines.next(),
        Some(name) => lines.find(|(of, _)| *of == name),
    };
    let result = found.map_or("{}", |(_, result)| result);
    raw(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n"));
}

/// Sends one page of an endless list, with as many tools as `PAGE` says. Records each page in the
/// file `LOOK`.
fn list(id: &Value, cursor: &Value) {
    let page: usize = cursor.as_str().map_or(0, |cursor| cursor.parse().unwrap());
    let size: usize = std::env::var("PAGE").unwrap().parse().unwrap();
    std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(std::env::var("LOOK").unwrap())
        .unwrap()
        .write_all(format!("{page}\n").as_bytes())
        .unwrap();
    let tools: Vec<Value> = (0..size)
        .map(|at| json!({"name": format!("tool{page}_{at}"), "inputSchema": {"type": "object"}}))
        .collect();
    answer(id, json!({"tools": tools, "nextCursor": (page + 1).to_string()}));
}

#[expect(clippy::zombie_processes, reason = "leaving a child behind is what this server is for")]
fn tool(id: &Value, name: &str, cancelled: usize) {
    match name {
        "env" => text(id, json!(std::env::vars().collect::<std::collections::BTreeMap<_, _>>())),
        "look" => {
            text(id, json!(std::env::var("LOOK").unwrap().split(':').map(look).collect::<Vec<_>>()))
        }
        "system_calls" => text(id, crate::attacks::system_calls(&std::env::var("LOOK").unwrap())),
        "terminals" => text(id, crate::attacks::terminals(&std::env::var("LOOK").unwrap())),
        "knock" => text(
            id,
            json!(
                std::env::var("LOOK")
                    .unwrap()
                    .split(':')
                    .filter(|socket| crate::attacks::knock(socket))
                    .collect::<Vec<_>>()
            ),
        ),
        "crash" => exit(3),
        "hang" => {}
        "rubbish" => {
            raw(
                "this is not JSON\n{\"neither\": \"is this a message\"}\n[1, 2]\n\u{1b}[31mcolours\u{1b}[0m\n\n",
            );
            raw("{\"jsonrpc\":\"2.0\",\"id\":\"nobody asked\",\"result\":{}}\n");
            raw("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unknown\",\"params\":{}}\n");
            text(id, json!({"after": "rubbish"}));
        }
        "flood" => {
            raw(&"x".repeat(10 * 1024 * 1024));
            raw("\n");
            eprintln!("{}", "e".repeat(2 * 1024 * 1024));
            text(id, json!({"after": "flood"}));
        }
        "too_long" => raw(&format!("{}\n", "y".repeat(49 * 1024 * 1024))),
        "large" => text(id, json!({"text": "z".repeat(9 * 1024 * 1024)})),
        "child" => {
            let child = Command::new("/bin/sleep").arg("1000").spawn().unwrap();
            text(id, json!({"pid": child.id()}));
        }
        "daemon" => text(id, json!({"pid": daemon("exec sleep 1000")})),
        "brief_daemon" => text(id, json!({"pid": daemon("exit 0")})),
        "close_output" => {
            // SAFETY: this process does not use its standard output after this call.
            unsafe { libc::close(1) };
        }
        "cancelled" => text(id, json!({"count": cancelled})),
        "refused" => send(
            &json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32602, "message": "bad arguments"}}),
        ),
        "structured" => answer(
            id,
            json!({"content": [{"type": "text", "text": "{\"n\": 1}"}], "structuredContent": {"n": 1}}),
        ),
        _ => answer(
            id,
            json!({"content": [{"type": "text", "text": "No such thing."}], "isError": true}),
        ),
    }
}

/// Returns whether a file can be read, and whether another file can be created beside it.
fn look(path: &str) -> Value {
    json!([std::fs::read(path).is_ok(), std::fs::write(format!("{path}.new"), "x").is_ok()])
}

/// Starts a process in its own session that ignores SIGTERM, and whose parent ends at once.
fn daemon(then: &str) -> u32 {
    let script =
        format!(r#"setsid sh -c 'trap "" HUP INT TERM; echo $$; {then}' </dev/null 2>/dev/null &"#);
    let mut parent =
        Command::new("/bin/sh").args(["-c", &script]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(parent.stdout.take().unwrap()).read_line(&mut line).unwrap();
    parent.wait().unwrap();
    line.trim().parse().unwrap()
}

fn text(id: &Value, value: Value) {
    answer(id, json!({"content": [{"type": "text", "text": value.to_string()}]}));
}

fn answer(id: &Value, result: Value) {
    send(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
}

fn send(message: &Value) {
    raw(&format!("{message}\n"));
}

fn raw(text: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).unwrap();
    out.flush().unwrap();
}

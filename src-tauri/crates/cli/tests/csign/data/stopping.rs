//! Tests of Ctrl-C at the questions of `csign data add`.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::thread;

use super::*;
use crate::terminal::Terminal;

const CTRL_C: &str = "\u{3}";

#[test]
fn ctrl_c_at_a_question_stops_the_import() {
    let world = world();
    let file = file(&world, "spend.csv", AMBIGUOUS);
    let mut terminal = Terminal::start(&world, &["data", "add", &file]);
    terminal.wait_for("Type a number (! stops): ");
    terminal.type_in(CTRL_C);
    let (seen, code) = terminal.end();
    assert_eq!(code, Some(1), "{seen}");
    assert_says(&seen, &["The import was stopped.", "Nothing was stored."]);
    let sources = run(&world, &["list", "--json"]).ends_with(0).json();
    assert_eq!(sources["sources"], serde_json::json!([]));
    at_a_terminal(&world, &["add", &file, "--dates", "day-first"]).ends_with(0);
}

#[test]
fn ctrl_c_at_a_question_stops_the_files_after_it_too() {
    let world = world();
    let before = file(&world, "a.csv", NOVEMBER);
    let asked = file(&world, "b.csv", AMBIGUOUS);
    let after = file(&world, "c.csv", "Shop,Sales\nOslo,5\nBergen,6\n");
    let mut terminal = Terminal::start(&world, &["data", "add", &before, &asked, &after]);
    terminal.wait_for("Type a number (! stops): ");
    terminal.type_in(CTRL_C);
    let (seen, code) = terminal.end();
    assert_eq!(code, Some(1), "{seen}");
    assert_says(&seen, &["The import was stopped.", "Nothing was stored of", "b.csv", "c.csv."]);
    let sources = run(&world, &["list", "--json"]).ends_with(0).json();
    let names: Vec<&str> = sources["sources"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|source| source["name"].as_str())
        .collect();
    assert_eq!(names, ["a"]);
}

#[test]
fn ctrl_c_at_a_question_before_a_message_stops_the_message() {
    let world = world();
    let file = file(&world, "spend.csv", AMBIGUOUS);
    let mut terminal = Terminal::start(&world, &["ask", "--with", &file, "What can you do?"]);
    terminal.wait_for("Type a number (! stops): ");
    terminal.type_in(CTRL_C);
    let (seen, code) = terminal.end();
    assert_eq!(code, Some(1), "{seen}");
    assert_says(&seen, &["The import was stopped."]);
}

/// Starts a database that wants a password. Returns its port.
fn start_database() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            thread::spawn(move || {
                let mut bytes = [0; 1024];
                while let Ok(read @ 1..) = stream.read(&mut bytes) {
                    // A request for encryption has 8 bytes and gets a no. The first message gets
                    // the request for a password.
                    let answer: &[u8] =
                        if read == 8 { b"N" } else { &[b'R', 0, 0, 0, 8, 0, 0, 0, 3] };
                    if stream.write_all(answer).is_err() {
                        return;
                    }
                }
            });
        }
    });
    port
}

#[test]
fn ctrl_c_at_the_question_for_a_password_shows_typed_characters_again() {
    let world = world();
    let address = format!("postgresql://ada@127.0.0.1:{}/shop", start_database());
    // The shell must outlive the key, so that it can tell the state of the terminal.
    let runner = r#"sh -c 'trap : INT; "$@"; echo "ended with $?"; stty -a' sh"#;
    let script = world.bare("script");
    let mut terminal = Terminal::start_with(script, runner, &world, &["data", "add", &address]);
    terminal.wait_for("not shown (! stops): ");
    terminal.type_in("secret");
    terminal.type_in(CTRL_C);
    let (seen, code) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    assert_says(&seen, &["The import was stopped.", "ended with 1", " echo "]);
    assert!(!seen.contains("secret") && !flat(&seen).contains("-echo "), "{seen}");
}

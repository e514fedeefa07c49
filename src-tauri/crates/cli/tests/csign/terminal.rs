//! Tests with a person at a terminal: csign asks before a write, accepts the answer, and works
//! beside a second `csign`. The terminal is a pseudo-terminal made by `script`.

use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;

use crate::world::{DEADLINE, SHOE, World, program, text};

/// A `csign` on its own terminal.
pub(crate) struct Terminal {
    child: Child,
    keys: ChildStdin,
    /// The pieces of output. The channel is closed at the end of the output.
    screen: Receiver<Vec<u8>>,
    seen: String,
}

impl Terminal {
    pub(crate) fn start(world: &World, args: &[&str]) -> Self {
        Self::start_with(world.bare("script"), "", world, args)
    }

    /// Starts with a command of `script` that has its own environment. `runner` is the command that
    /// starts `csign`, if `csign` is not to be started directly.
    pub(crate) fn start_with(
        mut script: Command,
        runner: &str,
        world: &World,
        args: &[&str],
    ) -> Self {
        let quoted: Vec<String> =
            args.iter().map(|arg| format!("'{}'", arg.replace('\'', r"'\''"))).collect();
        // `exec` is used because a shell in between would receive Ctrl-C.
        let line = format!(
            "exec {runner} '{}' --data-dir '{}' {}",
            program(),
            world.data().display(),
            quoted.join(" ")
        );
        let mut child = script
            .args(["--quiet", "--return", "--flush", "--command", &line, "/dev/null"])
            .env("SHELL", "/bin/sh")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("script starts");
        let (keys, mut output) =
            (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        let (send, screen) = mpsc::channel();
        thread::spawn(move || {
            let mut bytes = [0; 1024];
            while let Ok(read @ 1..) = output.read(&mut bytes) {
                if send.send(bytes[..read].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self { child, keys, screen, seen: String::new() }
    }

    /// Reads until the text is on the screen.
    pub(crate) fn wait_for(&mut self, text: &str) {
        assert!(self.shows(text), "the program ended before {text:?} was shown:\n{}", self.seen);
    }

    /// Reads until the text is on the screen. Returns false if the program ends first.
    pub(crate) fn shows(&mut self, text: &str) -> bool {
        while !self.seen.contains(text) {
            if !self.read_piece(text) {
                return false;
            }
        }
        true
    }

    /// Reads the next piece of output. Returns false at its end.
    fn read_piece(&mut self, awaited: &str) -> bool {
        match self.screen.recv_timeout(DEADLINE) {
            Ok(piece) => self.seen.push_str(&String::from_utf8_lossy(&piece)),
            Err(RecvTimeoutError::Disconnected) => return false,
            Err(RecvTimeoutError::Timeout) => {
                panic!("{awaited} was not shown in {DEADLINE:?}:\n{}", self.seen)
            }
        }
        true
    }

    /// Waits for the text and discards everything before it, so that the next text must appear
    /// later.
    pub(crate) fn pass(&mut self, text: &str) {
        self.wait_for(text);
        if let Some((_, rest)) = self.seen.split_once(text) {
            self.seen = rest.to_owned();
        }
    }

    pub(crate) fn type_in(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("typed");
        self.keys.flush().expect("typed");
    }

    /// Waits for the program's end. Returns the whole output and the exit code.
    pub(crate) fn end(mut self) -> (String, Option<i32>) {
        while self.read_piece("the end") {}
        let code = self.child.wait().expect("ended").code();
        (self.seen, code)
    }
}

#[test]
fn a_terminal_shows_the_answer_formatted() {
    let world = World::new();
    let question = "what sizes does the brook pace come in";
    let (seen, code) = Terminal::start(&world, &["ask", question]).end();
    assert_eq!(code, Some(0), "{seen}");
    for mark in ["**", "|--", "| Variant", "\\_"] {
        assert!(!seen.contains(mark), "{mark} is Markdown: {seen}");
    }
    let sentence = "\u{1b}[1mBrook Pace\u{1b}[0m is in stock";
    assert_eq!(seen.matches(sentence).count(), 1, "printed once: {seen}");
    let rows: Vec<&str> = seen
        .lines()
        .map(|line| line.trim_end_matches('\r'))
        .skip_while(|line| !line.contains("──"))
        .take_while(|line| !line.is_empty())
        .collect();
    let ends: Vec<usize> = rows.iter().map(|row| row.chars().count()).collect();
    assert!(
        rows.len() > 2 && ends.iter().all(|end| *end == ends[0]),
        "columns end alike: {rows:?}"
    );
}

#[test]
fn an_approval_at_the_terminal_runs_the_shown_call() {
    let world = World::new();
    let mut terminal = Terminal::start(
        &world,
        &["ask", "--session", "s1", "add 2 ridge runner black size 42 to my cart"],
    );
    terminal.wait_for("Approve? [y/N]");
    for part in [
        "Your signature is needed.",
        "Add to cart (shop, cart.addItem)",
        SHOE,
        "quantity: 2",
        "Before:",
        "After:",
    ] {
        assert!(terminal.seen.contains(part), "{part} is missing in\n{}", terminal.seen);
    }
    terminal.type_in("y\n");
    let (seen, code) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    assert_eq!(world.shoes("s1"), 2);
    let resolved =
        world.run(&["--json", "audit", "list", "--type", "approval_resolved"]).ends_with(0).json();
    let by_terminal = |record: &serde_json::Value| {
        record["status"] == "approved" && record["fields"]["by"] == "terminal"
    };
    assert!(
        resolved["records"].as_array().is_some_and(|records| records.iter().any(by_terminal)),
        "the log says where it was decided: {resolved}"
    );
    world.run(&["audit", "verify"]).ends_with(0);
}

#[test]
fn enter_alone_rejects_an_action_and_the_typed_reason_is_passed_on() {
    let world = World::new();
    let args = format!(r#"{{"partNo":"{SHOE}","quantity":2}}"#);
    let mut terminal = Terminal::start(
        &world,
        &["tools", "call", "cart.addItem", "--session", "s1", "--args", &args],
    );
    terminal.wait_for("Approve? [y/N]");
    terminal.type_in("\n");
    terminal.wait_for("Reason");
    terminal.type_in("wrong colour\n");
    let (seen, code) = terminal.end();
    assert_eq!(code, Some(4), "{seen}");
    let all = world.run(&["--json", "approvals", "list", "--all"]).ends_with(0).json();
    assert_eq!((text(&all[0], "status"), text(&all[0], "reason")), ("rejected", "wrong colour"));
    assert_eq!(world.shoes("s1"), 0);
}

#[test]
fn a_second_csign_connects_to_the_one_that_waits_for_approval() {
    let world = World::new();
    let mut first = Terminal::start(
        &world,
        &["ask", "--session", "s1", "add 2 ridge runner black size 42 to my cart"],
    );
    first.wait_for("Approve? [y/N]");
    let list = world.run(&["--json", "approvals", "list"]).ends_with(0).json();
    let (id, hash) = (text(&list[0], "id"), text(&list[0], "hash"));
    assert_eq!(
        text(&list[0], "status"),
        "pending",
        "it is seen, and not expired by the second start"
    );
    let refused =
        world.run(&["--json", "approvals", "approve", id, "--hash", hash]).ends_with(3).json();
    assert_eq!(refused["error"]["details"]["reason"], "no_terminal");
    let refused = world.run(&["--json", "approvals", "reject", id]).ends_with(3).json();
    assert_eq!(
        refused["error"]["details"]["reason"], "no_terminal",
        "over the socket even a no needs a person"
    );
    let mut second = Terminal::start(&world, &["approvals", "approve", id, "--hash", hash]);
    second.wait_for("switched off");
    assert_eq!(second.end().1, Some(3));
    world.run(&["ask", "--session", "s2", "what can you do?"]).ends_with(0);
    first.type_in("n\n");
    first.wait_for("Reason");
    first.type_in("\n");
    let (seen, code) = first.end();
    assert_eq!(code, Some(4), "{seen}");
}

#[test]
fn a_decision_in_a_second_terminal_ends_the_prompt_in_the_first() {
    let world = World::new();
    std::fs::create_dir(world.data()).expect("made");
    std::fs::write(world.data().join("countersign.toml"), "decide_from_terminal = true\n")
        .expect("written");
    let mut first = Terminal::start(
        &world,
        &["ask", "--session", "s1", "add 2 ridge runner black size 42 to my cart"],
    );
    first.wait_for("Approve? [y/N]");
    let list = world.run(&["--json", "approvals", "list"]).ends_with(0).json();
    let (id, hash) = (text(&list[0], "id"), text(&list[0], "hash"));
    let (seen, code) = Terminal::start(&world, &["approvals", "approve", id, "--hash", hash]).end();
    assert_eq!(code, Some(0), "{seen}");
    first.wait_for("No answer is needed any more");
    let (seen, code) = first.end();
    assert_eq!(code, Some(0), "{seen}");
    assert_eq!(world.shoes("s1"), 2);
}

#[test]
fn approving_by_id_requires_decide_from_terminal_and_the_hash() {
    let world = World::new();
    let pending = world.pending();
    let (id, hash) = (text(&pending, "id"), text(&pending, "hash"));
    let mut off = Terminal::start(&world, &["approvals", "approve", id, "--hash", hash]);
    off.wait_for("switched off");
    assert_eq!(off.end().1, Some(3));
    std::fs::write(world.data().join("countersign.toml"), "decide_from_terminal = true\n")
        .expect("written");
    let wrong =
        Terminal::start(&world, &["approvals", "approve", id, "--hash", &"0".repeat(64)]).end();
    assert_eq!(wrong.1, Some(1), "{}", wrong.0);
    let (seen, code) = Terminal::start(&world, &["approvals", "approve", id, "--hash", hash]).end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(
        seen.contains("Add to cart is done.") && seen.contains(SHOE),
        "with what the shop answered: {seen}"
    );
    let (seen, code) = Terminal::start(&world, &["approvals", "approve", id, "--hash", hash]).end();
    assert_eq!(code, Some(4), "it runs once: {seen}");
    assert_eq!(world.shoes("direct"), 2);
}

#[test]
fn ctrl_c_at_an_approval_prompt_cancels_the_turn() {
    let world = World::new();
    let mut terminal = Terminal::start(
        &world,
        &["ask", "--session", "s1", "add 2 ridge runner black size 42 to my cart"],
    );
    terminal.wait_for("Approve? [y/N]");
    terminal.type_in("\u{3}");
    let (seen, code) = terminal.end();
    assert_eq!(code, Some(1), "{seen}");
    let all = world.run(&["--json", "approvals", "list", "--all"]).ends_with(0).json();
    assert_eq!(text(&all[0], "status"), "cancelled");
    assert_eq!(world.shoes("s1"), 0);
}

const COST: [&str; 2] = ["ask", "What does a letter cost?"];

#[test]
fn a_servers_question_is_answered_on_the_terminal_field_by_field() {
    let world = World::new();
    kit::packs::install("letters", &world.data());
    let mut terminal = Terminal::start(&world, &COST);
    terminal.wait_for("post (pack letters) asks you:");
    let script = [
        ("Where does the letter go, and how heavy is it?", ""),
        ("3 Japan", ""),
        ("Country (one of the numbers above): ", "\n"),
        ("This needs a value.", "3\n"),
        ("Weight - In grams, with the envelope (whole number): ", "heavy\n"),
        // The value is larger than the server accepts. Its schema is checked at the end, and the
        // question is asked again.
        ("Type a whole number", "9000\n"),
        ("Note for the postman", "\n"),
        ("Registered", "\n"),
        ("does not fit what the server asks for", ""),
        ("Country", "2\n"),
        ("Weight", "30\n"),
        ("Note", "\n"),
        ("Registered", "y\n"),
    ];
    for (shown, line) in script {
        terminal.pass(shown);
        terminal.type_in(line);
    }
    let (seen, code) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("A registered letter of 30 g to NO costs 50 kr."), "{seen}");
}

#[test]
fn a_servers_question_can_be_declined_on_the_terminal() {
    let world = World::new();
    kit::packs::install("letters", &world.data());
    let mut terminal = Terminal::start(&world, &COST);
    terminal.wait_for("Country");
    terminal.wait_for("): ");
    terminal.type_in("!\n");
    let (seen, code) = terminal.end();
    assert!(code == Some(0) && seen.contains("answered with decline"), "{code:?} {seen}");
    let mut terminal = Terminal::start(&world, &["tools", "call", "letter.terms"]);
    terminal.wait_for("https://post.example/terms");
    terminal.wait_for("[y/N]");
    terminal.type_in("y\n");
    let (seen, code) = terminal.end();
    assert!(code == Some(0) && seen.contains("The terms: accept."), "{code:?} {seen}");
}

#[test]
fn a_servers_question_is_declined_without_a_terminal() {
    let world = World::new();
    kit::packs::install("letters", &world.data());
    insta::assert_snapshot!(world.transcript(&[&COST, &["tools", "call", "letter.price"]]));
}

#[test]
fn an_erasure_says_that_other_gateways_keep_a_shared_session() {
    let world = World::new();
    world.run(&["ask", "--session", "s1", "hello"]).ends_with(0);
    for (session, is_told) in [("web:s1", true), ("s1", false)] {
        let mut terminal = Terminal::start(&world, &["audit", "erase", "--session", session]);
        terminal.wait_for("Type the id of the conversation to erase it:");
        terminal.type_in("another\n");
        let (seen, _) = terminal.end();
        assert!(seen.contains("Nothing was erased."), "{seen}");
        assert_eq!(seen.contains("If gateways share it in Redis"), is_told, "{seen}");
    }
}

//! A small language model behind llama.cpp, both from PyPI: a greeting that is stopped, the next
//! message, a server that is killed in the middle of an answer, and a server that cannot be
//! reached.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use serde_json::Value;

use crate::world::{World, text};

/// The number of tokens of an answer, large enough that the answer can be stopped while it is
/// written.
const ANSWER: &str = "100";
/// The maximum number of tokens of the server's context.
const CONTEXT: &str = "2048";

struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start() -> Self {
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let port = free.expect("a free port").port();
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        let target = std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| repository.join("target"), PathBuf::from);
        let python = target.join("model-python/bin/python");
        assert!(python.is_file(), "the model from PyPI is not installed; run `make setup-test`");
        let mut command = Command::new(python);
        command.arg(repository.join("tests/models/server.py"));
        command.args([port.to_string().as_str(), CONTEXT, ANSWER]);
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("python starts");
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().expect("its output"));
        out.read_line(&mut line).expect("a line");
        assert!(line.starts_with("http"), "the server listens: {line}");
        Self { child, port }
    }

    fn kill(&mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("ended");
    }

    /// Returns how many prompt tokens the server found in its cache.
    fn known_tokens(&self) -> u64 {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").expect("a request");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let mut lines = answer.lines();
        lines
            .find_map(|line| line.strip_prefix("llamacpp:prompt_tokens_cached_total "))
            .and_then(|count| count.trim().parse().ok())
            .unwrap_or_else(|| panic!("{answer}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Asks, and calls `then` with the process when a part of the answer has arrived. Returns all
/// events, and whether the command succeeded.
fn ask(world: &World, message: &str, then: impl FnOnce(&Child)) -> (Vec<Value>, bool) {
    let mut command = world.command(&["--json", "ask", "--session", "s", message]);
    let mut asking = command.stdout(Stdio::piped()).spawn().expect("csign starts");
    let mut then = Some(then);
    let mut events = Vec::new();
    for line in BufReader::new(asking.stdout.take().expect("its output")).lines() {
        let event: Value = serde_json::from_str(&line.expect("a line")).expect("an event");
        if event["type"] == "delta"
            && let Some(then) = then.take()
        {
            then(&asking);
        }
        events.push(event);
    }
    (events, asking.wait().expect("ended").success())
}

/// Returns the text of the stored answer, and whether it is marked as partial.
fn stored(events: &[Value]) -> (&str, bool) {
    let mut bodies = events.iter().map(|event| &event["item"]["body"]);
    let answer = bodies.find(|body| body["kind"] == "assistant_text");
    let answer = answer.unwrap_or_else(|| panic!("an answer in {events:?}"));
    (text(answer, "text"), answer["partial"] == true)
}

#[test]
fn a_conversation_with_a_real_model_survives_a_stop_and_a_kill() {
    let mut server = Server::start();
    let world = World::new();
    std::fs::create_dir_all(world.data()).expect("a folder");
    let settings = format!(
        "[model]\nprovider = \"openai_compatible\"\nmodel = \"smollm2\"\nbase_url = \"http://127.0.0.1:{}/v1\"\n",
        server.port
    );
    std::fs::write(world.data().join("countersign.toml"), settings).expect("settings");

    let (events, done) = ask(&world, "Hello", |asking| {
        let id = asking.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill starts").success());
    });
    let (said, is_part) = stored(&events);
    assert!(!done && is_part && !said.is_empty(), "{events:?}");
    assert_eq!(events.last().expect("an end")["status"], "cancelled");

    let whole = world.run(&["ask", "--session", "s", "And you?"]).ends_with(0);
    assert!(!whole.out.trim().is_empty(), "{}", whole.err);
    let known = server.known_tokens();
    assert!(known > 500, "the beginning of the prompt is the same: {known} tokens");

    let (events, done) = ask(&world, "Tell me a story", |_| server.kill());
    let (said, is_part) = stored(&events);
    assert!(!done && is_part && !said.is_empty(), "{events:?}");
    let error = &events.last().expect("an end")["error"];
    assert!(text(error, "message").contains("closed the connection"), "{error}");

    let away = world.run(&["ask", "--session", "s", "Are you there?"]).ends_with(1);
    assert_eq!(away.out, "", "a failed message prints no answer");
    assert!(away.err.contains("No connection to"), "{}", away.err);
}

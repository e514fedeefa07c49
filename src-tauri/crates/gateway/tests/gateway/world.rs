//! Starts the gateway in its own folder, sends HTTP requests, and reads answers as a widget does.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use kit::model_server::{ModelServer, Reply};
use kit::programs::program;
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};

use crate::described;

pub(crate) struct Gateway {
    folder: tempfile::TempDir,
    child: Child,
    pub(crate) base: String,
    pub(crate) http: Client,
    token: Option<String>,
}

/// One event of a stream.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) data: Value,
}

impl Gateway {
    /// Returns the command of the gateway's program with its data folder.
    pub(crate) fn command(folder: &tempfile::TempDir) -> Command {
        Self::command_of(env!("CARGO_BIN_EXE_countersign-gateway").as_ref(), folder)
    }

    /// Returns a `csign` command with the same data folder.
    pub(crate) fn csign_command(folder: &tempfile::TempDir) -> Command {
        Self::command_of(&program("csign"), folder)
    }

    fn command_of(path: &Path, folder: &tempfile::TempDir) -> Command {
        // The shop's pack starts this program.
        program("countersign-shop");
        let mut command = Command::new(path);
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("LANG", "C.UTF-8")
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        for (variable, name) in [
            ("HOME", "home"),
            ("XDG_DATA_HOME", "share"),
            ("XDG_STATE_HOME", "state"),
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_RUNTIME_DIR", "run"),
        ] {
            std::fs::create_dir_all(folder.path().join(name)).unwrap();
            command.env(variable, folder.path().join(name));
        }
        // The notice of a first answer has separate tests. Elsewhere, answers are compared as a
        // whole.
        command.env("ASSISTANT_NOTICE", "0");
        command.arg("--data-dir").arg(folder.path().join("data"));
        command
    }

    pub(crate) async fn start(args: &[&str], env: &[(&str, &str)]) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), args, env).await
    }

    pub(crate) async fn start_in(
        folder: tempfile::TempDir,
        args: &[&str],
        env: &[(&str, &str)],
    ) -> Self {
        let mut command = Self::command(&folder);
        command.args(["--listen", "127.0.0.1:0"]).args(args).envs(env.iter().copied());
        Self::run(folder, command)
    }

    /// Starts the gateway with the given command.
    pub(crate) fn run(folder: tempfile::TempDir, mut command: Command) -> Self {
        let log = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(folder.path().join("serve.log"))
            .unwrap();
        let mut child = command.stderr(log).spawn().unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let log = std::fs::read_to_string(folder.path().join("serve.log")).unwrap_or_default();
        let told = serde_json::from_str::<Value>(&first)
            .ok()
            .and_then(|told| Some(told["listening"].as_str()?.to_owned()));
        let base = told.or_else(|| Some(first.trim().strip_prefix("listening on ")?.to_owned()));
        let base =
            base.unwrap_or_else(|| panic!("the gateway says where it listens: {first}\n{log}"));
        let token = std::fs::read_to_string(folder.path().join("data/gateway.token")).ok();
        // Two TLS providers are compiled in, and the client needs one to be chosen.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let http = Client::builder().no_proxy().build().unwrap();
        Self { folder, child, base, http, token }
    }

    /// Starts the gateway with the offline model and without a token.
    pub(crate) async fn open() -> Self {
        Self::start(&["--no-token"], &[]).await
    }

    /// Starts the gateway with a scripted model.
    pub(crate) async fn with(model: &ModelServer, env: &[(&str, &str)]) -> Self {
        Self::with_args(model, &["--no-token"], env).await
    }

    pub(crate) async fn with_args(
        model: &ModelServer,
        args: &[&str],
        env: &[(&str, &str)],
    ) -> Self {
        let url = model.base_url();
        let mut all = vec![
            ("OPENAI_BASE_URL", url.as_str()),
            ("OPENAI_API_KEY", "sk-test-0123456789abcdef"),
            ("OPENAI_MODEL", "scripted"),
        ];
        all.extend(env);
        Self::start(args, &all).await
    }

    /// Runs a `csign` that connects to the gateway. Returns after it has ended.
    pub(crate) fn ran(&self, args: &[&str]) -> std::process::Output {
        Self::csign_command(&self.folder).args(args).output().unwrap()
    }

    /// Returns the JSON output of a `csign` that connects to the gateway.
    pub(crate) fn csign(&self, args: &[&str]) -> Value {
        let output = Self::csign_command(&self.folder).arg("--json").args(args).output().unwrap();
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("JSON, but {error}: {output:?}"))
    }

    /// Returns a `csign` on its own terminal that connects to the gateway.
    pub(crate) fn terminal(&self, args: &[&str]) -> Command {
        let csign = Self::csign_command(&self.folder);
        let words = std::iter::once(csign.get_program())
            .chain(csign.get_args())
            .map(|word| word.to_string_lossy().into_owned());
        let line: Vec<String> = words
            .chain(args.iter().map(|arg| (*arg).to_owned()))
            .map(|word| format!("'{word}'"))
            .collect();
        let mut command = Command::new("script");
        command
            .env_clear()
            .envs(csign.get_envs().filter_map(|(name, value)| Some((name, value?))))
            .env("SHELL", "/bin/sh");
        command.args([
            "--quiet",
            "--return",
            "--command",
            &format!("exec {}", line.join(" ")),
            "/dev/null",
        ]);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        command
    }

    /// Starts another gateway with its own folder and the same shop.
    pub(crate) async fn beside(&self, model: &ModelServer, env: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("data/packs")).unwrap();
        std::os::unix::fs::symlink(
            self.path("data/packs/shop"),
            folder.path().join("data/packs/shop"),
        )
        .unwrap();
        let url = model.base_url();
        let mut all = vec![
            ("OPENAI_BASE_URL", url.as_str()),
            ("OPENAI_API_KEY", "sk-test-0123456789abcdef"),
            ("OPENAI_MODEL", "scripted"),
        ];
        all.extend(env);
        Self::start_in(folder, &["--no-token"], &all).await
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("serve.log")).unwrap_or_default()
    }

    /// Returns everything that the gateway has written (its log, its data, and all other files in
    /// its folder) as text, to search for values that must not be there.
    pub(crate) fn written(&self) -> String {
        let mut all = String::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
                let kind = entry.file_type().unwrap();
                if kind.is_dir() {
                    folders.push(entry.path());
                } else if kind.is_file() {
                    // A file may disappear while it is being replaced.
                    all.push_str(&String::from_utf8_lossy(
                        &std::fs::read(entry.path()).unwrap_or_default(),
                    ));
                }
            }
        }
        all
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Stops the gateway. Returns its exit code, or None if it still runs after a minute.
    pub(crate) fn stop_in_time(&mut self) -> Option<i32> {
        // SAFETY: the signal is sent to a child process that has not been waited for.
        unsafe { libc::kill(i32::try_from(self.child.id()).unwrap(), libc::SIGTERM) };
        for _ in 0..600 {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        None
    }

    /// Stops the gateway. Returns its exit code.
    pub(crate) fn stop(&mut self) -> Option<i32> {
        // SAFETY: the signal is sent to a child process that has not been waited for.
        unsafe { libc::kill(i32::try_from(self.child.id()).unwrap(), libc::SIGTERM) };
        self.child.wait().unwrap().code()
    }

    /// Stops the gateway and starts another gateway in the same folder.
    pub(crate) async fn restart(self, args: &[&str], env: &[(&str, &str)]) -> Self {
        Self::start_in(self.stopped(), args, env).await
    }

    /// Stops the gateway. Returns its folder for another gateway.
    pub(crate) fn stopped(mut self) -> tempfile::TempDir {
        self.stop();
        std::mem::replace(&mut self.folder, tempfile::tempdir().unwrap())
    }

    /// Returns a request with the token from the token file, if there is one.
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.base));
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Response {
        self.request(Method::GET, path).send().await.unwrap()
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> (StatusCode, Value) {
        read(self.request(Method::POST, path).json(body).send().await.unwrap()).await
    }

    /// Sends a message in a session, and asserts that the message is answered.
    pub(crate) async fn say(&self, session: &str, message: &str) -> Value {
        let (status, answer) = self.post("/v1/chat", &message_of(session, message)).await;
        assert_eq!(status, StatusCode::OK, "{answer}\n{}", self.log());
        answer
    }

    pub(crate) async fn events(&self, path: &str, body: &Value) -> Vec<Event> {
        let response = self.request(Method::POST, path).json(body).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        parse(&response.text().await.unwrap())
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn message_of(session: &str, message: &str) -> Value {
    json!({"applicationId": "shop-web", "sessionId": session, "message": message, "context": {"cultureCode": "en-GB", "currencyCode": "SEK"}})
}

/// Returns the status and body of an answer, after checking the body against the description.
pub(crate) async fn read(response: Response) -> (StatusCode, Value) {
    let (status, path) = (response.status(), response.url().path().to_owned());
    let text = response.text().await.unwrap();
    let body = serde_json::from_str(&text)
        .unwrap_or_else(|error| panic!("{status}: JSON, but {error}: {text}"));
    described::assert_answer(&path, status.as_u16(), &body);
    (status, body)
}

pub(crate) fn parse(text: &str) -> Vec<Event> {
    let one = |block: &str| {
        let (name, data) =
            block.split_once('\n').unwrap_or_else(|| panic!("an event has two lines: {block}"));
        let data = data.strip_prefix("data: ").unwrap();
        assert!(!data.contains('\n'), "one data line: {data}");
        let event = Event {
            name: name.strip_prefix("event: ").unwrap().to_owned(),
            data: serde_json::from_str(data).unwrap(),
        };
        described::assert_event(&event);
        event
    };
    text.split("\n\n").filter(|block| !block.is_empty()).map(one).collect()
}

pub(crate) fn names(events: &[Event]) -> Vec<&str> {
    events.iter().map(|event| event.name.as_str()).collect()
}

/// Returns an answer, excluding the values that differ in every turn, at any depth.
pub(crate) fn without_ids(answer: &Value) -> Value {
    const NEW: [&str; 6] = ["turnId", "requestId", "pendingActionId", "cartId", "createdAt", "ms"];
    match answer {
        Value::Object(members) => members
            .iter()
            .filter(|(name, _)| !NEW.contains(&name.as_str()))
            .map(|(name, value)| (name.clone(), without_ids(value)))
            .collect(),
        Value::Array(list) => list.iter().map(without_ids).collect(),
        other => other.clone(),
    }
}

/// Whether a value is a random UUID.
pub(crate) fn is_random_uuid(value: &Value) -> bool {
    let text = value.as_str().unwrap_or_default();
    let fits = |(at, c): (usize, char)| match at {
        8 | 13 | 18 | 23 => c == '-',
        14 => c == '4',
        19 => "89ab".contains(c),
        _ => c.is_ascii_hexdigit(),
    };
    text.len() == 36 && text.chars().enumerate().all(fits)
}

/// Runs a gateway that should not start. Returns its exit code and error output. Kills the gateway
/// if it starts.
pub(crate) fn not_started(mut command: Command) -> (Option<i32>, String) {
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    if !first.is_empty() {
        let _ = child.kill();
    }
    let ran = child.wait_with_output().unwrap();
    assert_eq!(first, "", "it does not start");
    (ran.status.code(), String::from_utf8(ran.stderr).unwrap())
}

/// Returns the error output of a gateway with invalid settings.
pub(crate) fn refusal_to_start(args: &[&str], env: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Gateway::command(&folder);
    command.args(args).envs(env.iter().copied());
    let (code, err) = not_started(command);
    assert_eq!(code, Some(2), "{err}");
    err
}

/// Starts a scripted model server.
pub(crate) async fn model(replies: impl IntoIterator<Item = Reply>) -> ModelServer {
    ModelServer::start(replies).await
}

/// A variant that the demo shop has in stock.
pub(crate) const SHOE: &str = "FJS-TR1001-BLK-42";

/// Returns an answer for a snapshot, excluding the debug block, whose times differ from run to run.
pub(crate) fn shown(answer: &Value) -> String {
    let mut answer = answer.clone();
    if let Some(members) = answer.as_object_mut() {
        members.remove("debug");
    }
    kit::redact_json(&answer)
}

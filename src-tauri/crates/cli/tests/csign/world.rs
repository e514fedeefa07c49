//! A test environment: a folder with all files that a test may change, and `csign` started in this
//! folder.

use std::ffi::OsStr;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use chrono::{DateTime, SecondsFormat, TimeDelta};
use serde_json::Value;

/// The time at which a test begins.
pub(crate) const NOW: &str = "2026-11-21T10:00:00Z";
/// A variant that the demo shop has in stock.
pub(crate) const SHOE: &str = "FJS-TR1001-BLK-42";

/// The longest time that a program of a test may take, or show nothing new. A program that waits
/// for ever fails its test with what it has shown.
pub(crate) const DEADLINE: Duration = Duration::from_secs(300);

/// An unprivileged user, for tests that run as root.
const NOBODY: u32 = 65_534;

pub(crate) struct World {
    folder: tempfile::TempDir,
    began: Instant,
    /// The user that owns the folder, if it is another user.
    user: Option<u32>,
}

/// The output and exit code of a run.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    pub(crate) fn of(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("csign prints UTF-8");
        Self {
            code: output.status.code().unwrap_or(-1),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|e| panic!("one JSON document, but {e}:\n{}\n{}", self.out, self.err))
    }

    /// Returns what a terminal would show of a run, with the lines of standard error marked.
    pub(crate) fn shown(&self, args: &[&str]) -> String {
        let errors: String = self.err.lines().map(|line| format!("! {line}\n")).collect();
        let code =
            if self.code == 0 { String::new() } else { format!("[ends with {}]\n", self.code) };
        format!("$ csign {}\n{}{errors}{code}", args.join(" "), self.out)
    }

    #[track_caller]
    pub(crate) fn ends_with(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        self
    }
}

impl World {
    pub(crate) fn new() -> Self {
        // The shop's pack starts this program.
        kit::programs::program("countersign-shop");
        Self { folder: tempfile::tempdir().expect("a folder"), began: Instant::now(), user: None }
    }

    /// An environment in which everything runs as this user. Only root can create it.
    pub(crate) fn of_user(user: u32) -> Self {
        let world = Self { user: Some(user), ..Self::new() };
        drop(world.bare("true"));
        world.hand_over();
        world
    }

    /// An environment in which everything runs as an unprivileged user if root runs the test,
    /// because the rights of root would hide errors. Call `hand_over` after all files are created.
    pub(crate) fn for_nobody() -> Self {
        let world = Self { user: Some(NOBODY), ..Self::new() };
        // Another user cannot start a program in a folder that only root may enter.
        let may_start =
            world.bare(program()).arg("--version").output().is_ok_and(|ran| ran.status.success());
        if may_start { world } else { Self { user: None, ..world } }
    }

    /// Gives the files that a test has created to the environment's user.
    pub(crate) fn hand_over(&self) {
        if let Some(user) = self.user {
            let done = Command::new("chown")
                .args(["-R", &format!("{user}:{user}")])
                .arg(self.folder.path())
                .status();
            assert!(done.expect("chown starts").success());
        }
    }

    /// Returns the current time here. A later run never starts before the end of an earlier run,
    /// however long the earlier run took.
    fn now(&self) -> String {
        let start = DateTime::parse_from_rfc3339(NOW).expect("a time");
        let passed = TimeDelta::from_std(self.began.elapsed()).expect("not that long");
        (start + passed).to_rfc3339_opts(SecondsFormat::Millis, true)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path("data")
    }

    /// Returns a command without this process's environment.
    pub(crate) fn bare(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("LANG", "C.UTF-8")
            .env("COUNTERSIGN_TEST_NOW", self.now())
            .stdin(Stdio::null());
        for (variable, name) in [
            ("HOME", "home"),
            ("XDG_DATA_HOME", "share"),
            ("XDG_STATE_HOME", "state"),
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_RUNTIME_DIR", "run"),
        ] {
            std::fs::create_dir_all(self.path(name)).expect("made");
            command.env(variable, self.path(name));
        }
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        command
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.bare(program());
        command.arg("--data-dir").arg(self.data()).args(args);
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        run_to_end(&mut self.command(args))
    }

    /// Runs commands, and returns all their output for a snapshot.
    pub(crate) fn transcript(&self, commands: &[&[&str]]) -> String {
        let shown: Vec<String> = commands.iter().map(|args| self.run(args).shown(args)).collect();
        kit::redact(&shown.join("\n"))
    }

    pub(crate) fn run_at(&self, now: &str, args: &[&str]) -> Ran {
        run_to_end(self.command(args).env("COUNTERSIGN_TEST_NOW", now))
    }

    pub(crate) fn run_with(&self, variable: &str, value: &str, args: &[&str]) -> Ran {
        run_to_end(self.command(args).env(variable, value))
    }

    /// Runs `csign` with a pseudo-terminal as its standard streams.
    pub(crate) fn at_a_terminal(&self, args: &[&str]) -> Ran {
        self.at_a_terminal_with("", args)
    }

    /// Runs `csign` at a pseudo-terminal, in a shell that runs `before` first.
    pub(crate) fn at_a_terminal_with(&self, before: &str, args: &[&str]) -> Ran {
        let line = format!(
            "{before} exec '{}' --data-dir '{}' {}",
            program(),
            self.data().display(),
            args.join(" ")
        );
        let mut command = self.bare("script");
        command
            .args(["--quiet", "--return", "--flush", "--command", &line, "/dev/null"])
            .env("SHELL", "/bin/sh");
        run_to_end(&mut command)
    }

    /// Proposes to add two shoes while nobody can approve. Returns the pending action.
    pub(crate) fn pending(&self) -> Value {
        let args = format!(r#"{{"partNo":"{SHOE}","quantity":2}}"#);
        self.run(&["--json", "tools", "call", "cart.addItem", "--args", &args]).ends_with(3);
        let list = self.run(&["--json", "approvals", "list"]).ends_with(0).json();
        list.as_array().and_then(|all| all.first()).expect("one waits").clone()
    }

    /// Returns how many shoes the cart contains.
    pub(crate) fn shoes(&self, session: &str) -> u64 {
        let cart = self
            .run(&["--json", "tools", "call", "cart.get", "--session", session])
            .ends_with(0)
            .json();
        let text = cart["data"].to_string();
        cart["data"]["items"].as_array().map_or(0, |items| {
            items
                .iter()
                .filter_map(|item| item["quantity"].as_u64())
                .sum::<u64>()
                .max(u64::from(text.contains(SHOE)))
        })
    }
}

/// Runs a program until it ends, and kills it at the deadline.
fn run_to_end(command: &mut Command) -> Ran {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let id = child.id();
    let (ended, end) = mpsc::channel();
    thread::spawn(move || ended.send(child.wait_with_output()));
    let output = end.recv_timeout(DEADLINE).unwrap_or_else(|_| {
        // SAFETY: the call takes a process and a signal. The process is not waited for yet, so the
        // id is still its own.
        unsafe { libc::kill(id.cast_signed(), libc::SIGKILL) };
        // A program that it started may keep the output open.
        let output = end.recv_timeout(Duration::from_secs(10));
        let seen = output.ok().and_then(Result::ok).map(Ran::of);
        let shown = seen.map(|ran| format!("{}\n{}", ran.out, ran.err)).unwrap_or_default();
        panic!("{command:?} did not end in {DEADLINE:?}:\n{shown}")
    });
    Ran::of(output.expect("read"))
}

pub(crate) fn program() -> &'static str {
    env!("CARGO_BIN_EXE_csign")
}

pub(crate) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("{name} is text in {value}"))
}

/// Returns the folder of packs in the source tree.
pub(crate) fn packs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tools")
}

/// Returns a text of a terminal as one line without colours, so that line breaks do not matter.
pub(crate) fn flat(text: &str) -> String {
    let mut pieces = text.split('\u{1b}');
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let end = piece.find(|c: char| c.is_ascii_alphabetic()).map_or(piece.len(), |at| at + 1);
        plain.push_str(&piece[end..]);
    }
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}
